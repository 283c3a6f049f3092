// Multirate, pairwise: sender i streams windows of messages to receiver i (loop of the published benchmark).
#pragma once

#include "workloads/multirate_pairs.hpp"

namespace contend {

class MultiratePairwise final : public MultiratePairs {
public:
  using MultiratePairs::MultiratePairs;

private:
  void run(SimThread& self, const Entity& entity) override;
  void run_sender(SimThread& self, const Entity& entity);
  void run_receiver(SimThread& self, const Entity& entity);
  /// Where the ready words and acknowledgements of a pair travel whose data takes `data`.
  [[nodiscard]] int handshake_communicator(int data) const {
    return parameters().handshake == "world" ? world_communicator() : data;
  }
};

} // namespace contend
