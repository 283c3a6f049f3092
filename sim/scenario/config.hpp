// The typed form of a scenario: what the loader produces and the simulation consumes. Plain data, no behaviour.
#pragma once

#include "core/machine_parameters.hpp"
#include "models/coroutines/parameters.hpp"
#include "models/fabric/parameters.hpp"
#include "models/locks/parameters.hpp"
#include "models/matching/parameters.hpp"
#include "models/memory/compute_parameters.hpp"
#include "models/memory/parameters.hpp"
#include "models/nic/parameters.hpp"
#include "models/nic/rdma_parameters.hpp"
#include "models/nic/shared_memory_parameters.hpp"
#include "models/nic/tcp_parameters.hpp"
#include "mpi/parameters.hpp"
#include "mpi/placement.hpp"
#include "workloads/parameters.hpp"

#include <cstdint>
#include <string>

namespace contend {

/// Everything that is measured about a machine, by section; a profile file gives each value with source and uncertainty.
struct MachineConfig {
  std::string profile;
  TopologyParameters topology;
  SlowCoreParameters slow_cores;
  CacheParameters cache;
  FutexParameters futex;
  SchedulerParameters scheduler;
  LockParameters locks;
  NicParameters nic;
  RdmaParameters rdma;
  TcpParameters tcp;                    ///< none in a profile: designs cannot use it
  SharedMemoryParameters shared_memory; ///< none in a profile: designs cannot use it
  MatchingParameters matching;
  SoftwareParameters software;
  WaitingParameters waiting;
  DatatypeParameters datatype;
  MemoryParameters memory;
  ComputeParameters compute;
  CoroutineParameters coroutines;
  ChannelParameters channels;
  Duration noise{}; ///< mean of the exponential jitter added to each library call (timer ticks, cache noise)
};

struct RunConfig {
  std::uint64_t seed = 1;
  int replications = 5;
  bool coalesce_idle_polls = true; ///< off: every empty poll is an event of its own (for checking the engine)
  // Most designs need a few hundred steps for each message. Threads that poll on a core they share may need millions, but
  // then messages arrive now and then.
  int steps_without_operation = 500'000'000; ///< a run that takes more in a row has failed
  int steps_per_operation =
      10'000'000; ///< a run that takes more than ten million, and so many for each message, has failed
};

/// One point of a scenario: all sweep axes are fixed.
struct PointConfig {
  std::string name;
  MachineConfig machine;
  RouteParameters route;
  LibraryDesign library;
  WorkloadParameters workload;
  PlacementParameters placement;
  RunConfig run;
};

} // namespace contend
