// Whole runs have the same steps and results in every build, on every machine, in every version, until a change is meant:
// then tests/accept_golden.py rewrites the file, and the change is reviewed like any other.
#include "designs.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace contend;

namespace {

std::string results_of_all_designs() {
  std::ostringstream text;
  for (const test::Design& design : test::small_designs()) {
    SimulationOptions options;
    options.hash_steps = true;
    const PointResult result = simulate(design.config, options);
    text << design.name << ": elapsed " << result.workload.elapsed.count() << " ps, out of sequence "
         << result.receiver.out_of_sequence << ", match time " << result.receiver.match_time.count() << " ps, delayed "
         << result.sender.delayed_sends << ", steps " << result.steps << ", hash " << std::hex << result.step_hash
         << std::dec << '\n';
  }
  return text.str();
}

} // namespace

TEST_CASE("results of whole runs are the golden ones", "[golden]") {
  const std::string path = CONTEND_GOLDEN_DIR "/designs.txt";
  const std::string now = results_of_all_designs();
  if (std::getenv("CONTEND_ACCEPT_GOLDEN") != nullptr) {
    std::ofstream(path) << now;
  }
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  CHECK(now == golden.str());
}

TEST_CASE("a replication depends on its number and the seed only") {
  PointConfig config = test::small_point();
  SimulationOptions options;
  options.hash_steps = true;
  const auto hash = [&](std::uint64_t seed, int replication) {
    config.run.seed = seed;
    options.replication = replication;
    return simulate(config, options).step_hash;
  };
  CHECK(hash(1, 0) == hash(1, 0));
  CHECK(hash(1, 0) != hash(1, 1));
  CHECK(hash(1, 0) != hash(2, 0));
}
