#include "workloads/programs/pipeline.hpp"

#include <string>

namespace contend {

namespace {

constexpr std::int64_t candidate_bytes = 4;

bool is_prime(int number) {
  for (int divisor = 2; divisor * divisor <= number; ++divisor) {
    if (number % divisor == 0) {
      return false;
    }
  }
  return number > 1;
}

} // namespace

Pipeline::Pipeline(const PipelineParameters& parameters)
    : Program(parameters), parameters_(parameters), streams_(static_cast<std::size_t>(layout().processes())),
      kept_(streams_.size()) {}

/// Sequential: neighbours in the pipeline share an OS process. Shuffled: they are dealt to the OS processes in turn.
int Pipeline::rank_of(int place) const {
  const ProcessLayout where = layout();
  return parameters_.mapping == "sequential"
             ? place
             : place % where.os_processes() * where.processes_per_os_process + place / where.os_processes();
}

int Pipeline::place_of(int rank) const {
  const ProcessLayout where = layout();
  return parameters_.mapping == "sequential"
             ? rank
             : rank % where.processes_per_os_process * where.os_processes() + rank / where.processes_per_os_process;
}

CoTask Pipeline::pass(CoProcess& self, int place, int number) {
  if (place + 1 < self.size()) {
    streams_[static_cast<std::size_t>(place) + 1].push_back(number);
    co_await self.send(rank_of(place + 1), 0, candidate_bytes);
  }
}

CoTask Pipeline::iterate(CoProcess& self, int /*iteration*/) {
  const int place = place_of(self.rank());
  if (place == 0) {
    for (int number = 2; number < 2 + parameters_.numbers; ++number) {
      co_await pass(self, place, number);
    }
    co_await pass(self, place, end_of_stream);
    co_return;
  }
  std::deque<int>& stream = streams_[static_cast<std::size_t>(place)];
  int mine = 0;
  for (;;) {
    co_await self.recv(rank_of(place - 1), 0, candidate_bytes);
    const int number = stream.front();
    stream.pop_front();
    if (number == end_of_stream) {
      break;
    }
    self.compute(parameters_.work);
    if (mine == 0) {
      mine = number;
    } else if (number % mine != 0) {
      co_await pass(self, place, number);
    }
  }
  kept_[static_cast<std::size_t>(place)] = mine;
  co_await pass(self, place, end_of_stream);
}

void Pipeline::check() const {
  Program::check();
  int last = 1;
  for (std::size_t place = 1; place < kept_.size(); ++place) {
    int next = last + 1;
    while (!is_prime(next)) {
      ++next;
    }
    const int expected = next < 2 + parameters_.numbers && last != 0 ? next : 0;
    if (kept_[place] != expected) {
      throw InvariantViolation("place " + std::to_string(place) + " of the sieve kept " + std::to_string(kept_[place]) +
                               ", not " + std::to_string(expected));
    }
    last = expected;
  }
}

} // namespace contend
