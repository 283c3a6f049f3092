// The same models on SimGrid's S4U actors take the same steps at the same times and give the same results.
#include "designs.hpp"
#include "simgrid/s4u_backend.hpp"

#include <catch2/catch.hpp>

using namespace contend;

TEST_CASE("SimGrid's engine and ours agree on every design") {
  for (const test::Design& design : test::all_designs()) {
    for (const std::uint64_t seed : {1ULL, 42ULL, 20260101ULL}) {
      CAPTURE(design.name, seed);
      PointConfig config = design.config;
      config.run.seed = seed;
      if (seed == 42) {
        config.machine.slow_cores = {0.5, 1.45};
      }
      SimulationOptions options;
      options.hash_steps = true;
      const PointResult ours = simulate(config, options);
      options.make_backend = make_s4u_backend;
      const PointResult theirs = simulate(config, options);
      CHECK(theirs.step_hash == ours.step_hash);
      CHECK(theirs.steps == ours.steps);
      CHECK(theirs.simulated == ours.simulated);
      CHECK(theirs.workload.elapsed == ours.workload.elapsed);
      CHECK(theirs.workload.times == ours.workload.times);
      CHECK(theirs.receiver.out_of_sequence == ours.receiver.out_of_sequence);
      CHECK(theirs.receiver.match_time == ours.receiver.match_time);
    }
  }
}
