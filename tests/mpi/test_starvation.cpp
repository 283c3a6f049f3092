// An unfair lock and a poller that is back within the time of a line transfer: the poller wins every race, and as nothing
// in its loop is random, for ever. Hidden: it shows what the model predicts, not what anybody should want.
#include "simulation/simulation.hpp"
#include "support/point.hpp"

#include <catch2/catch.hpp>

using namespace contend;

TEST_CASE("a poller by try-lock starves the spinners of a TTAS lock", "[.][mpi][starvation]") {
  int never_ended = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    PointConfig point = test::small_point();
    test::add_jitter(point);
    point.library.progress.engine = "serial-try-lock";
    point.library.instances.lock = "ttas";
    point.workload.multirate.pairs = 4;
    point.run.seed = seed;
    SimulationOptions options;
    options.step_limit = 3'000'000; // a run that ends takes some ten thousand
    try {
      static_cast<void>(simulate(point, options));
    } catch (const StepLimit&) {
      ++never_ended;
    }
  }
  CHECK(never_ended == 0);
}
