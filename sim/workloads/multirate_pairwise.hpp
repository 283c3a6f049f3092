// Multirate, pairwise: sender i streams windows of messages to receiver i (loop of the published benchmark).
#pragma once

#include "workloads/multirate.hpp"

namespace contend {

class MultiratePairwise final : public Multirate {
public:
  using Multirate::Multirate;

private:
  [[nodiscard]] int entities(Role /*role*/) const override { return parameters().pairs; }
  [[nodiscard]] std::int64_t messages_per_iteration() const override {
    return std::int64_t{parameters().pairs} * parameters().window;
  }
  void create_communicators(World& world) override;
  void run(SimThread& self, const Entity& entity) override;
  void run_sender(SimThread& self, const Entity& entity, int communicator);
  void run_receiver(SimThread& self, const Entity& entity, int communicator);
  /// Where the ready words and acknowledgements of a pair travel whose data takes `data`.
  [[nodiscard]] int handshake_communicator(int data) const {
    return parameters().handshake == "world" ? world_communicator() : data;
  }
  /// The tag of a pair's message that is the `place`-th of its window; its ready word and acknowledgement come after the window.
  /// The pair is in the low bits, where libraries that map tags to instances look.
  [[nodiscard]] int tag_of(int pair, int place) const {
    return parameters().tags == "pair" ? place * parameters().pairs + pair : place;
  }

  std::vector<int> communicators_; ///< by pair
};

} // namespace contend
