#include "workloads/multirate_pairs.hpp"

namespace contend {

void MultiratePairs::create_communicators(World& world) {
  communicators_.assign(static_cast<std::size_t>(parameters().pairs), world_communicator());
  if (parameters().communicator_per_pair) {
    for (int& communicator : communicators_) {
      communicator = world.create_communicator(parameters().allow_overtaking);
    }
  }
}

} // namespace contend
