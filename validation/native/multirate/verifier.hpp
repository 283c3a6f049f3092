// Correctness mode: every message carries a stamp, every message that arrives is checked.
#pragma once

#include "mpi/mpi.hpp"
#include "multirate/workload.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace contend::native {

/// What a message says about itself, in its first 16 bytes; a pattern derived from it fills the rest.
struct Stamp {
  std::uint32_t sender;
  std::uint32_t receiver;  ///< pairwise: the sender's partner
  std::uint32_t iteration; ///< without windows: the messages that this sender has sent before
  std::uint32_t index;     ///< among the messages of this sender to this receiver in this iteration: its place
};

/// What is known of a message before it comes.
struct Expected {
  int source;             ///< rank
  int tag;                ///< or MPI_ANY_TAG
  int sender;             ///< number, or -1: any thread of the source
  int receiver;           ///< number, or -1: a receiver of pairwise, where threads take each other's messages
  std::int64_t iteration; ///< or -1: threads need not be in the same iteration
  std::int64_t posting =
      -1; ///< its number among the receives of its thread, or -1: they are checked as they were posted
};

/// Shared by the threads of a process.
class Verifier {
public:
  explicit Verifier(const Workload& workload);

  [[nodiscard]] bool stamps() const { return workload_.message_size >= static_cast<std::int64_t>(sizeof(Stamp)); }
  /// Of one thread's receives.
  class Order {
  private:
    friend class Verifier;
    std::vector<std::int64_t> last_;      ///< by sender and tag: the last message that came
    std::map<std::int64_t, Stamp> early_; ///< by posting: complete before one that was posted before
    std::int64_t next_ = 0;               ///< posting to be checked
  };

  void write(std::span<std::byte> payload, const Stamp& stamp) const;
  void check(std::span<const std::byte> payload, const MPI_Status& status, const Expected& expected, Order& order);
  /// After the run: every message of the channels that end in this process came. `sent`: by channel and place. `receiver`: -1
  /// for all.
  void check_complete(const std::vector<std::int64_t>& sent, int receiver);

  [[nodiscard]] std::int64_t errors() const { return errors_.load(); }
  [[nodiscard]] std::int64_t overtaken() const { return overtaken_.load(); }
  [[nodiscard]] std::int64_t checked() const { return checked_.load(); }

private:
  void report(const std::string& what);
  [[nodiscard]] std::size_t channel(const Stamp& stamp) const;
  void check_stamp(std::span<const std::byte> payload, const MPI_Status& status, const Expected& expected,
                   Order& order);
  void check_order(const Stamp& stamp, bool any_tag, Order& order);

  const Workload& workload_;
  std::vector<std::atomic<std::int64_t>> seen_; ///< by channel and index: messages that came
  std::atomic<std::int64_t> errors_{0};
  std::atomic<std::int64_t> overtaken_{0};
  std::atomic<std::int64_t> checked_{0};
};

} // namespace contend::native
