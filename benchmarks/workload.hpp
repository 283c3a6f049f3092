// The two workloads, defined once for every engine: what a process does, and the hash that proves that an engine did it.
#pragma once

#include <cstdint>

namespace contend::bench {

/// hold: each process waits for a random span, again and again. Nothing but the future event list is exercised.
struct Hold {
  static constexpr int processes = 40;
};

/// lock: each process takes one FIFO mutex, keeps it, gives it back and stays away for a while.
struct Lock {
  static constexpr int processes = 20;
  static constexpr std::int64_t held_ps = 100'000;
  static constexpr std::int64_t away_ps = 50'000;
};

/// The delays of one process of hold, in picoseconds: uniform integers from a linear congruential generator, which is
/// cheap beside the engines and easy to repeat in any language.
class Delays {
public:
  /// Without ties every date of process p is p modulo 64, so that engines that order equal dates differently (SimGrid's
  /// order depends on its action heap) agree. With ties delays are short, and every engine that orders by insertion must
  /// agree.
  Delays(int process, bool ties)
      : state_(static_cast<std::uint64_t>(process) * 0x9e3779b97f4a7c15ULL + 0x632be59bd9b4e019ULL),
        shift_(ties ? 54 : 44), unit_(ties ? 1 : 64) {}

  std::int64_t next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::int64_t>(((state_ >> shift_) + 1) * unit_);
  }

private:
  std::uint64_t state_;
  unsigned shift_;
  std::uint64_t unit_;
};

/// Counts events up to a number and hashes (time, process) of each in order: two engines with equal hashes took the same
/// steps at the same dates. Hold reports the end of each delay, lock the start of each critical section.
class Recorder {
public:
  explicit Recorder(std::uint64_t events) : left_(events) {}

  /// False when enough events were seen: the process ends.
  bool add(std::int64_t time_ps, int process) {
    if (left_ == 0) {
      return false;
    }
    --left_;
    hash_ =
        (hash_ ^ (static_cast<std::uint64_t>(time_ps) * 64 + static_cast<std::uint64_t>(process))) * 0x100000001b3ULL;
    return true;
  }
  [[nodiscard]] std::uint64_t left() const { return left_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

private:
  std::uint64_t left_;
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

} // namespace contend::bench
