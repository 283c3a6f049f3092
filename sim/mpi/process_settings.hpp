// Prices and policies that all processes of a simulation share.
#pragma once

#include "core/time.hpp"
#include "models/locks/lock.hpp"
#include "models/nic/rdma.hpp"
#include "mpi/parameters.hpp"

namespace contend {

struct ProcessSettings {
  LibraryDesign library;
  SoftwareParameters software;
  LockParameters locks;
  MatchingParameters matching;
  RdmaParameters rdma;
  Duration noise{};                ///< mean of an exponential jitter per call
  bool coalesce_idle_polls = true; ///< see IdlePoll
  WaitingParameters waiting{};
  DatatypeParameters datatype{};
};

} // namespace contend
