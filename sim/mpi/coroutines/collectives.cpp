#include "mpi/coroutines/collectives.hpp"

namespace contend {

namespace {

enum Tag : int { broadcast_tag = 2, reduce_tag, all_reduce_tag, gather_tag, scatter_tag, all_to_all_tag };

/// What comes is combined with what one has.
void combine(CoProcess& self, std::int64_t bytes) { self.compute(self.memory().copy(bytes)); }

} // namespace

CoTask broadcast(CoProcess& self, ProcessGroup group, int root, std::int64_t bytes) {
  const int me = (group.index_of(self.rank()) - root + group.size) % group.size; // relative to the root
  const auto world_rank = [&](int relative) { return group.world_rank((relative + root) % group.size); };
  int bit = 1;
  while (bit < group.size && (me & bit) == 0) {
    bit *= 2;
  }
  if (me != 0) {
    co_await self.recv(world_rank(me - bit), broadcast_tag, bytes, Transfer::copy, group.context);
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    if (me + bit < group.size) {
      co_await self.send(world_rank(me + bit), broadcast_tag, bytes, Transfer::copy, group.context);
    }
  }
}

CoTask reduce(CoProcess& self, ProcessGroup group, int root, std::int64_t bytes) {
  const int me = (group.index_of(self.rank()) - root + group.size) % group.size;
  const auto world_rank = [&](int relative) { return group.world_rank((relative + root) % group.size); };
  for (int bit = 1; bit < group.size; bit *= 2) {
    if ((me & bit) != 0) {
      co_await self.send(world_rank(me - bit), reduce_tag, bytes, Transfer::copy, group.context);
      co_return;
    }
    if (me + bit < group.size) {
      co_await self.recv(world_rank(me + bit), reduce_tag, bytes, Transfer::copy, group.context);
      combine(self, bytes);
    }
  }
}

CoTask all_reduce(CoProcess& self, ProcessGroup group, std::int64_t bytes) {
  const int me = group.index_of(self.rank());
  int power = 1;
  while (power * 2 <= group.size) {
    power *= 2;
  }
  const int beyond = group.size - power; // this many have no place in the hypercube
  if (me >= power) {
    const int partner = group.world_rank(me - power);
    co_await self.send(partner, all_reduce_tag, bytes, Transfer::copy, group.context);
    co_await self.recv(partner, all_reduce_tag, bytes, Transfer::copy, group.context);
    co_return;
  }
  if (me < beyond) {
    co_await self.recv(group.world_rank(me + power), all_reduce_tag, bytes, Transfer::copy, group.context);
    combine(self, bytes);
  }
  for (int bit = 1; bit < power; bit *= 2) {
    const int partner = group.world_rank(me ^ bit);
    CoRequest* const receive = self.irecv(partner, all_reduce_tag, bytes, Transfer::copy, group.context);
    CoRequest* const send = self.isend(partner, all_reduce_tag, bytes, Transfer::copy, group.context);
    co_await self.wait(receive);
    co_await self.wait(send);
    combine(self, bytes);
  }
  if (me < beyond) {
    co_await self.send(group.world_rank(me + power), all_reduce_tag, bytes, Transfer::copy, group.context);
  }
}

CoTask gather(CoProcess& self, ProcessGroup group, int root, std::int64_t bytes) {
  const int me = group.index_of(self.rank());
  if (me != root) {
    co_await self.send(group.world_rank(root), gather_tag, bytes, Transfer::copy, group.context);
    co_return;
  }
  for (int other = 0; other < group.size; ++other) {
    if (other != root) {
      co_await self.recv(group.world_rank(other), gather_tag, bytes, Transfer::copy, group.context);
    }
  }
}

CoTask scatter(CoProcess& self, ProcessGroup group, int root, std::int64_t bytes) {
  const int me = group.index_of(self.rank());
  if (me != root) {
    co_await self.recv(group.world_rank(root), scatter_tag, bytes, Transfer::copy, group.context);
    co_return;
  }
  for (int other = 0; other < group.size; ++other) {
    if (other != root) {
      co_await self.send(group.world_rank(other), scatter_tag, bytes, Transfer::copy, group.context);
    }
  }
}

CoTask all_to_all(CoProcess& self, ProcessGroup group, std::int64_t bytes) {
  const int me = group.index_of(self.rank());
  for (int step = 1; step < group.size; ++step) {
    const int to = group.world_rank((me + step) % group.size);
    const int from = group.world_rank((me + group.size - step) % group.size);
    CoRequest* const receive = self.irecv(from, all_to_all_tag, bytes, Transfer::copy, group.context);
    CoRequest* const send = self.isend(to, all_to_all_tag, bytes, Transfer::copy, group.context);
    co_await self.wait(receive);
    co_await self.wait(send);
  }
}

} // namespace contend
