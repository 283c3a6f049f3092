// Latency between threads of two processes (loop of osu_latency_mt, OSU micro-benchmarks 5.6 to 7.4).
#pragma once

#include "workloads/thread_barrier.hpp"
#include "workloads/workload.hpp"

#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace contend {

/// Round trip i belongs to thread i mod `senders` of the first process and to thread i mod `receivers` of the second: a message
/// there, an answer back, each with a blocking call. With one sender all messages have the same tag, so whichever receiver's call
/// comes first takes the next one; with several each round trip has a tag of its own. Receivers that accept any tag
/// take whatever comes even then, and answer with its tag.
/// Measures: latency (s): half of a round trip, a sender's mean, as the benchmark prints it: the time in which the timed round trips
/// are done, x senders / (2 x round trips). All threads meet before they begin. The clock runs from the first timed round trip in the
/// first process; or, `timing` "slowest-process", all meet once more before that, and it is the clock of the process that takes longest.
class Latency final : public Workload {
public:
  explicit Latency(LatencyParameters parameters) : parameters_(std::move(parameters)) {}

  [[nodiscard]] std::vector<int> host_of_rank() const override { return {0, 1}; }
  [[nodiscard]] Role role_of_rank(int rank) const override { return rank == 0 ? Role::sender : Role::receiver; }
  [[nodiscard]] std::uint64_t planned_operations() const override;
  void start(World& world) override;
  [[nodiscard]] WorkloadResult result(const World& world) const override;

private:
  /// The threads of a process.
  struct Side {
    Process* process = nullptr;
    int peer = 0;
    std::unique_ptr<ThreadBarrier> barrier;
    std::vector<SimThread*> threads;
    TimePoint start; ///< of its timed part
    TimePoint end;
  };

  void spawn(World& world, int rank, int threads);
  void run(SimThread& self, Side& side, int thread);
  int trip(SimThread& self, const Side& side, int first, int end) const;
  void meet(SimThread& self, Side& side, int thread) const;
  void enter_timed_part(SimThread& self, Side& side, int thread, int next) const;
  [[nodiscard]] int receive(SimThread& self, const Side& side, int round_trip) const;
  [[nodiscard]] int tag_of(int round_trip) const;
  [[nodiscard]] int answer_tag(int message_tag) const;
  [[nodiscard]] bool sends_first(const Side& side) const { return &side == &sides_.front(); }
  [[nodiscard]] bool times_each_process() const { return parameters_.timing == "slowest-process"; }
  [[nodiscard]] int all_iterations() const { return parameters_.warmup_iterations + parameters_.iterations; }

  LatencyParameters parameters_;
  int communicator_ = 0;
  std::array<Side, 2> sides_; ///< who asks, and who answers
};

} // namespace contend
