// Unfair locks and a poller that is back within the time of a line transfer: it wins every race in which nothing is random.
#include "models/locks/lock.hpp"
#include "simulation/simulation.hpp"
#include "support/point.hpp"

#include <catch2/catch.hpp>

using namespace contend;

TEST_CASE("a poller that takes its lock again at once leaves it to others in the end", "[mpi][starvation]") {
  const std::string kind = GENERATE(from_range(lock_registry().names()));
  const std::string engine = GENERATE("serial-try-lock", "serial-blocking");
  const bool home_order = GENERATE(false, true);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    PointConfig point = test::small_point();
    test::add_jitter(point);
    point.library.progress.engine = engine;
    point.library.progress.lock = kind;
    point.library.instances.lock = kind;
    point.workload.multirate.pairs = 4;
    point.machine.cache.home_order = home_order;
    point.run.seed = seed;
    SimulationOptions options;
    options.step_limit = 3'000'000; // a run that ends takes some ten thousand
    CAPTURE(kind, engine, home_order, seed);
    CHECK_NOTHROW(simulate(point, options));
  }
}

TEST_CASE("a helper comes into the section around every call beside a packer that polls", "[mpi][starvation]") {
  const std::string kind = GENERATE(from_range(lock_registry().names()));
  for (int transfer_ns = 10; transfer_ns <= 200; transfer_ns += 10) { // with some of them both are in step
    CAPTURE(kind, transfer_ns);
    PointConfig point = test::small_point();
    point.machine.cache.transfer_socket = transfer_ns * 1_ns;
    point.library.critical_section = "global";
    point.library.instances.lock = kind;
    point.workload.kind = "pack";
    point.workload.pack.helpers = 1;
    SimulationOptions options;
    options.step_limit = 1'000'000; // a run that ends takes some thousand
    CHECK_NOTHROW(simulate(point, options));
  }
}
