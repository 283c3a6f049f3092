#include "mpi/request_pool.hpp"

namespace contend {

RequestPool::RequestPool(ProcessContext& process, Instances& instances)
    : process_(process), instances_(instances),
      free_list_(process.engine(), process.host(), process.name() + "/request free list") {
  if (instances.guard_queues()) {
    for (const Instance& instance : instances) {
      free_lists_.push_back(
          std::make_unique<CacheLine>(process.engine(), process.host(), instance.lock->name() + "/request free list"));
    }
  }
}

CacheLine& RequestPool::free_list_of(int instance) {
  return instance < 0 || free_lists_.empty() ? free_list_ : *free_lists_[static_cast<std::size_t>(instance)];
}

Request* RequestPool::allocate(SimThread& self, int instance) {
  process_.update_shared(self, free_list_of(instance), Category::line_transfer);
  self.owe(process_.settings().software.request_allocate, Category::software);
  if (free_.empty()) {
    free_.push_back(&requests_.emplace_back());
  }
  Request* const request = free_.back();
  free_.pop_back();
  fetch(self, *request, process_.library().lines.request, Category::line_transfer);
  *request = Request();
  request->held_by = self.core();
  request->complete = false;
  request->instance = instance;
  return request;
}

void RequestPool::free(SimThread& self, Request* request) {
  const bool guarded = process_.library().instances.frees_requests && request->instance >= 0 && !process_.single();
  if (guarded) {
    instances_[request->instance].lock->lock(self);
  }
  process_.update_shared(self, free_list_of(request->instance), Category::line_transfer);
  free_.push_back(request);
  if (guarded) {
    instances_[request->instance].lock->unlock(self);
  }
}

void RequestPool::fetch(SimThread& self, const Request& request, double lines, Category category) const {
  if (lines > 0.0 && request.held_by >= 0 && request.held_by != self.core()) {
    const Duration line = process_.host().transfer(request.held_by, self.core());
    self.owe_time(Duration::picoseconds(static_cast<std::int64_t>(lines * static_cast<double>(line.count()))),
                  category);
  }
}

} // namespace contend
