// What Multirate is asked to do: the same keys as a scenario's workload, and who the entities are.
#pragma once

#include "support/json.hpp"
#include "support/options.hpp"

#include <cstdint>
#include <string>

namespace contend::native {

enum class Role { sender = 0, receiver = 1 };

struct Workload {
  std::string pattern = "pairwise";
  std::string mode = "thread";
  std::int64_t pairs = 1;
  std::int64_t senders = 1;
  std::int64_t receivers = 1;
  std::int64_t message_size = 0;
  std::int64_t window = 128;
  std::int64_t iterations = 1000;
  std::int64_t warmup_iterations = 10;
  bool barrier_every_iteration = true;
  std::string completion = "window"; ///< pairwise: window, all at once; or how requests are found one by one
  bool communicator_per_pair = false;
  std::string handshake = "pair"; ///< pairwise: where ready words and acknowledgements travel: pair, world
  std::string tags = "window";    ///< pairwise: what a tag says: window, a message's place; pair, also whose it is
  bool allow_overtaking = false;
  bool any_tag = false;

  void declare(Options& options);
  /// Refuses options that do not fit the pattern. Throws Failure(bad_options).
  void check() const;

  [[nodiscard]] bool pairwise() const { return pattern == "pairwise"; }
  /// Else requests are posted again one by one.
  [[nodiscard]] bool windows() const { return completion == "window"; }
  [[nodiscard]] int entities(Role role) const;
  /// The entities of a role are threads of one process, else processes.
  [[nodiscard]] bool threads(Role role) const;
  [[nodiscard]] int ranks(Role role) const { return threads(role) ? 1 : entities(role); }
  [[nodiscard]] int ranks() const { return ranks(Role::sender) + ranks(Role::receiver); }
  [[nodiscard]] int first_rank(Role role) const { return role == Role::sender ? 0 : ranks(Role::sender); }
  [[nodiscard]] int rank_of(Role role, int number) const { return first_rank(role) + (threads(role) ? 0 : number); }
  [[nodiscard]] Role role_of_rank(int rank) const { return rank < ranks(Role::sender) ? Role::sender : Role::receiver; }
  [[nodiscard]] int threads_per_rank(Role role) const { return threads(role) ? entities(role) : 1; }
  /// The tag of a pair's message that is the `place`-th of its window.
  [[nodiscard]] int tag_of(int pair, std::int64_t place) const {
    return static_cast<int>(tags == "pair" ? place * pairs + pair : place);
  }
  /// A receive of one pair cannot match what another pair sends.
  [[nodiscard]] bool tells_pairs_apart() const;
  /// Receivers that drift apart can hold parts of the last windows of a sender that is done, and then nobody goes on.
  [[nodiscard]] bool pairs_can_starve() const;
  /// Pairs of a sender and a receiver that exchange messages.
  [[nodiscard]] std::int64_t channels() const;
  [[nodiscard]] std::int64_t messages_per_iteration() const { return channels() * window; }

  /// The scenario's "workload" with the iterations that were run.
  [[nodiscard]] Json describe() const;
  /// {"pairs"} or {"senders", "receivers"}
  [[nodiscard]] Json parameters() const;
};

} // namespace contend::native
