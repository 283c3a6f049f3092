#include "workloads/programs/flocking.hpp"

#include "mpi/coroutines/barrier.hpp"

#include <algorithm>

namespace contend {

namespace {

enum Tag : int { ask_view, ask_location, tell_view, tell_bird, tell_location };

} // namespace

int Flocking::cell_of(int bird, int step) const {
  const int home = bird % cells();
  const int row = home / parameters_.grid;
  return row * parameters_.grid + (home + step) % parameters_.grid;
}

std::vector<int> Flocking::birds_of(const CoProcess& self, int cell, int step) const {
  const int row = cell / parameters_.grid;
  const int back = step % parameters_.grid;
  const int home = row * parameters_.grid + (cell % parameters_.grid + parameters_.grid - back) % parameters_.grid;
  std::vector<int> ranks;
  for (int rank = 2 * cells() + home; rank < self.size(); rank += cells()) {
    ranks.push_back(rank);
  }
  return ranks;
}

std::vector<int> Flocking::neighbourhood(int cell) const {
  const int side = parameters_.grid;
  std::vector<int> around;
  for (int down = -1; down <= 1; ++down) {
    for (int right = -1; right <= 1; ++right) {
      around.push_back((cell / side + down + side) % side * side + (cell % side + right + side) % side);
    }
  }
  std::sort(around.begin(), around.end());
  around.erase(std::unique(around.begin(), around.end()), around.end());
  return around;
}

std::int64_t Flocking::seen_bytes(const CoProcess& self, int cell, int step) const {
  return parameters_.bird_bytes * static_cast<std::int64_t>(birds_of(self, cell, step).size());
}

CoTask Flocking::be_location(CoProcess& self, int cell, int step) {
  co_await barrier(self); // birds have asked their views
  const std::vector<int> around = neighbourhood(cell);
  std::vector<CoRequest*> requests;
  requests.reserve(around.size());
  for (const int other : around) { // a view asks for what is around it: who is around us asks us
    requests.push_back(self.irecv(view(other), ask_location, parameters_.bird_bytes));
  }
  co_await self.waitall(requests);
  requests.clear();
  const std::int64_t known = seen_bytes(self, cell, step);
  for (const int other : around) {
    requests.push_back(self.isend(view(other), tell_view, known));
  }
  co_await self.waitall(requests);
  co_await barrier(self); // views know
  co_await barrier(self); // birds know
  requests.clear();
  for (const int bird : birds_of(self, cell, step + 1)) {
    requests.push_back(self.irecv(bird, tell_location, parameters_.bird_bytes));
  }
  co_await self.waitall(requests);
  co_await barrier(self);
}

CoTask Flocking::be_view(CoProcess& self, int cell, int step) {
  const std::vector<int> birds = birds_of(self, cell, step);
  const std::vector<int> around = neighbourhood(cell);
  std::vector<CoRequest*> requests;
  requests.reserve(std::max(birds.size(), 2 * around.size()));
  for (const int bird : birds) {
    requests.push_back(self.irecv(bird, ask_view, parameters_.bird_bytes));
  }
  co_await self.waitall(requests);
  co_await barrier(self);
  requests.clear();
  std::int64_t seen = 0;
  for (const int other : around) {
    const std::int64_t bytes = seen_bytes(self, other, step);
    seen += bytes;
    requests.push_back(self.irecv(location(other), tell_view, bytes));
    requests.push_back(self.isend(location(other), ask_location, parameters_.bird_bytes));
  }
  co_await self.waitall(requests);
  co_await barrier(self);
  requests.clear();
  for (const int bird : birds) {
    requests.push_back(self.isend(bird, tell_bird, seen));
  }
  co_await self.waitall(requests);
  co_await barrier(self);
  co_await barrier(self);
}

CoTask Flocking::be_bird(CoProcess& self, int step) {
  const int bird = self.rank() - 2 * cells();
  const int cell = cell_of(bird, step);
  co_await self.send(view(cell), ask_view, parameters_.bird_bytes);
  co_await barrier(self);
  co_await barrier(self);
  std::int64_t seen = 0;
  for (const int other : neighbourhood(cell)) {
    seen += seen_bytes(self, other, step);
  }
  co_await self.recv(view(cell), tell_bird, seen);
  self.compute(parameters_.work);
  co_await barrier(self);
  co_await self.send(location(cell_of(bird, step + 1)), tell_location, parameters_.bird_bytes);
  co_await barrier(self);
}

CoTask Flocking::iterate(CoProcess& self, int iteration) {
  if (self.rank() < cells()) {
    co_await be_location(self, self.rank(), iteration);
  } else if (self.rank() < 2 * cells()) {
    co_await be_view(self, self.rank() - cells(), iteration);
  } else {
    co_await be_bird(self, iteration);
  }
}

} // namespace contend
