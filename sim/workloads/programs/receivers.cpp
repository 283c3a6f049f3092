#include "workloads/programs/receivers.hpp"

#include "mpi/coroutines/barrier.hpp"

#include <vector>

namespace contend {

CoTask Receivers::receive_any(CoProcess& self, int sender) const {
  const int messages = parameters_.processes_per_os_process - 2;
  std::vector<CoRequest*> requests;
  requests.reserve(static_cast<std::size_t>(messages));
  for (int tag = 0; tag < messages; ++tag) {
    requests.push_back(self.irecv(sender, tag, parameters_.message_size_bytes));
  }
  for (int left = messages; left > 0; --left) {
    static_cast<void>(co_await self.waitany(requests));
  }
}

CoTask Receivers::iterate(CoProcess& self, int /*iteration*/) {
  const ProcessLayout where = layout();
  const int own = where.processes_per_os_process;
  const int place = self.rank() % own;
  const int os = where.os_process_of(self.rank());
  const int sender = (os + 1) % where.os_processes() * own;
  const int target = (os + where.os_processes() - 1) % where.os_processes() * own;
  const bool any = parameters_.receivers == "waitany";
  if (place == 0) {
    for (int tag = 0; tag < own - 2; ++tag) {
      co_await self.send(target + (any ? 1 : 1 + tag), tag, parameters_.message_size_bytes);
    }
  } else if (place == own - 1) {
    self.compute(parameters_.work);
    co_await self.yield();
  } else if (!any) {
    co_await self.recv(sender, place - 1, parameters_.message_size_bytes);
  } else if (place == 1) {
    co_await receive_any(self, sender);
  }
  co_await barrier(self);
}

} // namespace contend
