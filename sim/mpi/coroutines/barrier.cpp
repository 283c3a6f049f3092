#include "mpi/coroutines/barrier.hpp"

#include "mpi/coroutines/collectives.hpp"
#include "mpi/coroutines/world.hpp"

#include <string>

namespace contend {

namespace {

constexpr int barrier_tag = 1;

/// The leaders of the OS processes of a node, and the nodes.
CoTask meet_other_leaders(CoProcess& self) {
  OsProcess& os = self.os();
  CoWorld& world = os.world();
  const ProcessLayout& layout = world.layout();
  CoWorld::NodeMeeting& node = world.meeting(os.node());
  const Duration meet = world.settings().channels.meet;
  const int first = os.node() * layout.os_processes_per_node;
  if (layout.os_processes_per_node > 1) {
    const std::int64_t round = node.released;
    self.thread().owe(meet, Category::barrier);
    node.counter_line.atomic(self.thread(), Category::barrier);
    ++node.arrived;
    if (os.number() != first) {
      world.os_process(first).activity();
      co_await self.until_not(node.flag_line, node.released, round);
      co_return;
    }
    co_await self.until(node.counter_line, node.arrived, layout.os_processes_per_node);
  }
  if (layout.nodes > 1) {
    const int stride = layout.os_processes_per_node * layout.processes_per_os_process;
    co_await dissemination_barrier(self, {0, stride, layout.nodes});
  }
  if (layout.os_processes_per_node > 1) {
    self.thread().owe(meet, Category::barrier);
    node.flag_line.store(self.thread(), Category::barrier);
    node.arrived = 0;
    ++node.released;
    for (int other = 1; other < layout.os_processes_per_node; ++other) {
      world.os_process(first + other).activity();
    }
  }
}

} // namespace

CoTask hierarchical_barrier(CoProcess& self) {
  OsProcess& os = self.os();
  OsProcess::Meeting& here = os.meeting;
  self.thread().owe(os.world().settings().coroutines.check, Category::barrier); // count oneself in
  ++here.arrived;
  if (self.rank() != os.first_rank()) {
    if (here.arrived == os.processes()) {
      os.notify(os.process(os.first_rank()));
    }
    co_await self.until_not(here.released, here.released);
    co_return;
  }
  co_await self.until(here.arrived, os.processes());
  co_await meet_other_leaders(self);
  here.arrived = 0;
  ++here.released;
  for (std::int64_t i = 1; i < os.processes(); ++i) {
    os.notify(os.process(os.first_rank() + static_cast<int>(i)));
  }
}

CoTask dissemination_barrier(CoProcess& self, ProcessGroup group) {
  const int me = group.index_of(self.rank());
  for (int distance = 1; distance < group.size; distance *= 2) {
    const int to = group.world_rank((me + distance) % group.size);
    const int from = group.world_rank((me + group.size - distance) % group.size);
    CoRequest* const receive = self.irecv(from, barrier_tag, 0, Transfer::copy, group.context);
    co_await self.send(to, barrier_tag, 0, Transfer::copy, group.context);
    co_await self.wait(receive);
  }
}

CoTask tree_barrier(CoProcess& self, ProcessGroup group) {
  co_await reduce(self, group, 0, 0);
  co_await broadcast(self, group, 0, 0);
}

CoTask barrier(CoProcess& self) {
  const std::string& kind = self.os().world().settings().library.coroutines.barrier;
  if (kind == "hierarchical") {
    return hierarchical_barrier(self);
  }
  return kind == "tree" ? tree_barrier(self, ProcessGroup::world(self))
                        : dissemination_barrier(self, ProcessGroup::world(self));
}

} // namespace contend
