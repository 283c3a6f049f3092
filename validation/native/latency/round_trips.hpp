// Messages and their answers between the threads of two processes.
#pragma once

#include "latency/workload.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend::native {

/// One process's part: rank 0 sends first, rank 1 answers.
class RoundTrips {
public:
  /// `verify`: messages carry the number of their round trip, as far as they have room, and answers what was received.
  /// `corrupt`: the answer to this round trip is wrong, so that tests can see it found; -1: none.
  RoundTrips(const LatencyWorkload& workload, int rank, bool verify, std::int64_t corrupt);

  /// A thread's round trips of one round.
  void iterate(int thread, std::int64_t round);
  /// Answers that were not what had been sent.
  [[nodiscard]] std::int64_t errors() const { return errors_.load(); }
  /// Messages are long enough to carry a number.
  [[nodiscard]] bool numbered() const {
    return workload_.message_size >= static_cast<std::int64_t>(sizeof(std::int64_t));
  }

private:
  struct alignas(128) Thread {
    std::vector<std::byte> sent;
    std::vector<std::byte> received;
  };
  void ask(Thread& self, std::int64_t round_trip);
  void answer(Thread& self, std::int64_t round_trip);
  void check(const Thread& self, std::int64_t round_trip, int bytes);
  [[nodiscard]] int tag(std::int64_t round_trip, bool is_answer) const;
  [[nodiscard]] int bytes() const { return static_cast<int>(workload_.message_size); }
  [[nodiscard]] std::int64_t threads() const { return rank_ == 0 ? workload_.senders : workload_.receivers; }

  const LatencyWorkload& workload_;
  int rank_;
  bool verify_;
  std::int64_t corrupt_;
  std::vector<Thread> threads_;
  std::atomic<std::int64_t> errors_{0};
};

} // namespace contend::native
