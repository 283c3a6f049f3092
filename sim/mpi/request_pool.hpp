// The requests of a process: taken from free lists and put back, in simulated memory that moves between cores.
#pragma once

#include "core/cache_line.hpp"
#include "mpi/instances.hpp"
#include "mpi/process_context.hpp"
#include "mpi/request.hpp"

#include <deque>
#include <memory>
#include <vector>

namespace contend {

class RequestPool {
public:
  RequestPool(ProcessContext& process, Instances& instances);

  /// A request that is not complete. `instance`: the one that its messages are mapped to; -1: any.
  Request* allocate(SimThread& self, int instance);
  void free(SimThread& self, Request* request);
  /// `lines` cache lines of a request come from the core that has them, and stay there as well.
  void fetch(SimThread& self, const Request& request, double lines, Category category) const;

private:
  CacheLine& free_list_of(int instance);

  ProcessContext& process_;
  Instances& instances_;
  CacheLine free_list_;
  std::vector<std::unique_ptr<CacheLine>> free_lists_; ///< by instance, when each has requests of its own
  std::deque<Request> requests_;
  std::vector<Request*> free_;
};

} // namespace contend
