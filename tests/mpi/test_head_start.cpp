// Threads that begin before the clock of all does: what they have sent by then counts, so a short timed part is flattered.
#include "simulation/simulation.hpp"
#include "support/point.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace contend;

namespace {

bool says_so(const PointConfig& point) {
  const std::vector<std::string> notes = simulate(point, {}).notes;
  return std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("the clock started, with the last thread") != std::string::npos;
  });
}

} // namespace

TEST_CASE("a timed part that is short against the threads' head start says so", "[mpi][multirate]") {
  PointConfig point = test::small_point();
  MultirateParameters& workload = point.workload.multirate;
  workload.iterations = 1;
  CHECK(says_so(point));
  workload.timing = "slowest-process"; // where all meet first
  CHECK_FALSE(says_so(point));
  workload.timing = "all";
  workload.iterations = 200;
  CHECK_FALSE(says_so(point));
  workload.iterations = 1;
  workload.pairs = 1;
  workload.window = 4096;
  CHECK_FALSE(says_so(point));
}
