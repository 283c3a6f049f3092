#include "mpi/release_gather.hpp"

#include "core/wait_scope.hpp"

#include <algorithm>

namespace contend {

ReleaseGather::Flag::Flag(Engine& engine, const Host& host, const std::string& name)
    : line_(engine, host, name), watchers_(line_, host.cache().hit), name_(name) {}

void ReleaseGather::Flag::set(SimThread& self, std::uint64_t round) {
  line_.store(self, Category::barrier);
  round_ = round;
  watchers_.notify();
}

void ReleaseGather::Flag::await(SimThread& self, std::uint64_t round) {
  watchers_.wait(self, Category::barrier, *this, [&] { return round_ >= round; });
}

ReleaseGather::ReleaseGather(Engine& engine, const Host& host, int processes, const std::string& name) : label_(name) {
  for (int place = 0; place < processes; ++place) {
    members_.emplace_back(engine, host, name + "/process " + std::to_string(place));
  }
}

void ReleaseGather::barrier(SimThread& self, int place) {
  const WaitScope scope(self, label_);
  if (++arrivals_ % members_.size() == 0) { // nobody comes again before all have come
    WaitScope::answer_all(label_, self, arrived_last, self.now());
  }
  Member& own = members_[static_cast<std::size_t>(place)];
  ++own.round;
  const int first_child = branching * place + 1;
  const int end = std::min(first_child + branching, static_cast<int>(members_.size()));
  for (int child = first_child; child < end; ++child) {
    members_[static_cast<std::size_t>(child)].gather.await(self, own.round);
  }
  own.gather.set(self, own.round);
  if (place > 0) {
    members_[static_cast<std::size_t>((place - 1) / branching)].release.await(self, own.round);
  }
  own.release.set(self, own.round);
}

ReleaseGather& SharedMemoryBarriers::among(int first_rank, int ranks) {
  const std::pair<int, int> key(first_rank, ranks);
  const auto found = by_ranks_.find(key);
  if (found != by_ranks_.end()) {
    return found->second;
  }
  const std::string name =
      "barrier of ranks " + std::to_string(first_rank) + " to " + std::to_string(first_rank + ranks - 1);
  return by_ranks_.try_emplace(key, engine_, host_, ranks, name).first->second;
}

} // namespace contend
