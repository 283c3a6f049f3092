// A job of MPI processes that are coroutines in processes of the operating system.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"
#include "models/coroutines/parameters.hpp"
#include "models/matching/parameters.hpp"
#include "models/memory/parameters.hpp"
#include "models/nic/stream_interface.hpp"
#include "mpi/coroutines/core_share.hpp"
#include "mpi/coroutines/layout.hpp"
#include "mpi/coroutines/os_process.hpp"
#include "mpi/parameters.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace contend {

/// Prices and policies that the whole job shares.
struct CoSettings {
  LibraryDesign library;
  TopologyParameters topology;
  CacheParameters cache;
  FutexParameters futex;
  MatchingParameters matching;
  SoftwareParameters software;
  MemoryParameters memory;
  CoroutineParameters coroutines;
  ChannelParameters channels;
  RouteParameters route;
  Duration noise{}; ///< mean of an exponential jitter per call
  /// Off: every turn of an OS process that waits on a core of its own is an event of its own.
  bool coalesce_idle_polls = true;
};

/// Nodes of the same kind, all pairs connected by the same route.
class CoWorld {
public:
  CoWorld(Engine& engine, CoSettings settings, ProcessLayout layout);
  CoWorld(const CoWorld&) = delete;
  CoWorld& operator=(const CoWorld&) = delete;
  ~CoWorld();

  /// What each process runs.
  using Body = std::function<CoTask(CoProcess&)>;
  /// Starts all OS processes.
  void start(Body body);

  [[nodiscard]] Engine& engine() const { return engine_; }
  [[nodiscard]] const CoSettings& settings() const { return settings_; }
  [[nodiscard]] const ProcessLayout& layout() const { return layout_; }
  [[nodiscard]] OsProcess& os_process(int number) { return *os_processes_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] const OsProcess& os_process(int number) const {
    return *os_processes_[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] OsProcess& os_process_of(int rank) { return os_process(layout_.os_process_of(rank)); }
  [[nodiscard]] const Host& host() const { return host_; }
  [[nodiscard]] int core_of(int os_process) const {
    return os_process % layout_.os_processes_per_node % settings_.topology.hardware_threads();
  }
  [[nodiscard]] CoreShare& core_share(const OsProcess& user);
  /// Busy cores that share a last-level cache.
  [[nodiscard]] int sharers() const;
  /// Counters of all OS processes together.
  [[nodiscard]] CoCounters counters() const;
  [[nodiscard]] std::int64_t os_switches() const;

  /// Where the OS processes of a node meet, see barrier.hpp.
  struct NodeMeeting {
    NodeMeeting(Engine& engine, const Host& host)
        : counter_line(engine, host, "barrier counter"), flag_line(engine, host, "barrier flag") {}
    CacheLine counter_line;
    CacheLine flag_line;
    std::int64_t arrived = 0;
    std::int64_t released = 0;
  };
  [[nodiscard]] NodeMeeting& meeting(int node) { return *meetings_[static_cast<std::size_t>(node)]; }

private:
  friend class OsProcess;

  /// A packet on the wire.
  class Arrival;

  CoPacket* new_packet(const CoPacket& contents);
  void free_packet(CoPacket* packet) { free_packets_.push_back(packet); }
  void transmit(CoPacket& packet, OsProcess& to, std::int64_t bytes);
  /// What the kernels say to each other.
  void acknowledge(CoPacket& packet, OsProcess& to);
  Arrival& take_arrival();

  Engine& engine_;
  CoSettings settings_;
  ProcessLayout layout_;
  Host host_; ///< all nodes are alike
  Body body_;
  std::vector<StreamInterface> interfaces_; ///< by node
  std::vector<std::unique_ptr<NodeMeeting>> meetings_;
  std::deque<CoreShare> core_shares_; ///< by node and core
  std::vector<std::unique_ptr<OsProcess>> os_processes_;
  std::deque<CoPacket> packets_;
  std::vector<CoPacket*> free_packets_;
  std::vector<std::unique_ptr<Arrival>> arrivals_;
  std::vector<Arrival*> free_arrivals_;
};

} // namespace contend
