// Multirate, what its pairwise loops share: who belongs together, and by which communicators and tags.
#pragma once

#include "workloads/multirate.hpp"

#include <vector>

namespace contend {

class MultiratePairs : public Multirate {
public:
  using Multirate::Multirate;

protected:
  [[nodiscard]] int communicator_of(const Entity& entity) const {
    return communicators_[static_cast<std::size_t>(entity.number)];
  }
  [[nodiscard]] int peer_of(const Entity& entity) const {
    return rank_of(entity.role == Role::sender ? Role::receiver : Role::sender, entity.number);
  }
  /// The tag of a pair's message that is the `place`-th of its window; its ready word and acknowledgement come after the window.
  /// The pair is in the low bits, where libraries that map tags to instances look.
  [[nodiscard]] int tag_of(int pair, int place) const {
    return parameters().tags == "pair" ? place * parameters().pairs + pair : place;
  }

private:
  [[nodiscard]] std::int64_t messages_per_iteration() const override {
    return std::int64_t{parameters().pairs} * parameters().window;
  }
  void create_communicators(World& world) override;

  std::vector<int> communicators_; ///< by pair
};

} // namespace contend
