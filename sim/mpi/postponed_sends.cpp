#include "mpi/postponed_sends.hpp"

#include <numeric>

namespace contend {

PostponedSends::PostponedSends(ProcessContext& process, Instances& instances, CompletionPath& completion)
    : process_(process), instances_(instances), completion_(completion),
      queues_(static_cast<std::size_t>(instances.count())),
      label_(process.name() + "/postponed sends", process.rank()) {}

void PostponedSends::add(const DelayedSend& send) {
  ++process_.counters().delayed_sends;
  queues_[static_cast<std::size_t>(send.instance)].push_back(send);
  show();
}

int PostponedSends::run(SimThread& self, int instance) {
  RingQueue<DelayedSend>& queue = queues_[static_cast<std::size_t>(instance)];
  if (queue.empty()) {
    return 0;
  }
  const DelayedSend first = queue.front();
  Connection& connection = instances_[instance].connection_to(first.destination);
  const bool is_packed = first.envelope.header == Header::eager && !process_.copied_by_transport();
  if (is_packed && connection.has_room(process_.wire_bytes(first.envelope))) {
    process_.copy(self, first.envelope.bytes);
  }
  if (!connection.post(self, first.envelope, process_.wire_bytes(first.envelope))) {
    return 0;
  }
  queue.pop_front();
  show();
  if (first.envelope.header == Header::eager) {
    completion_.complete(self, *first.request);
  }
  self.settle();
  return 1;
}

void PostponedSends::show() const {
  if (process_.engine().trace() != nullptr) [[unlikely]] {
    const std::size_t length = std::accumulate(queues_.begin(), queues_.end(), std::size_t{0},
                                               [](std::size_t sum, const auto& queue) { return sum + queue.size(); });
    process_.show_length(label_, static_cast<std::int64_t>(length));
  }
}

} // namespace contend
