// A simulation that runs longer allocates no more: everything that comes and goes is kept for the next of its kind.
#include "designs.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <new>

using namespace contend;

namespace {

std::int64_t allocations = 0; // Catch runs one test at a time, and a simulation is one thread

struct Run {
  std::int64_t allocations = 0;
  std::int64_t steps = 0;
};

Run run(PointConfig config, int iterations) {
  config.workload.multirate.iterations = iterations;
  const std::int64_t before = allocations;
  const PointResult result = simulate(config, {});
  return {allocations - before, static_cast<std::int64_t>(result.steps)};
}

} // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size); memory != nullptr) {
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

TEST_CASE("a simulation that runs longer allocates no more", "[allocations]") {
  for (const test::Design& design : test::all_designs()) {
    // Transfers that share the fabric's links are solved anew whenever one begins or ends.
    if (design.config.workload.kind != "multirate" || design.name == "100 kB by get, flows") {
      continue;
    }
    const Run some = run(design.config, 200);
    const Run more = run(design.config, 400);
    CAPTURE(design.name, some.allocations, more.allocations, some.steps, more.steps);
    REQUIRE(more.steps > some.steps + some.steps / 2);
    // Queues become longer than ever before now and then.
    CHECK(more.allocations - some.allocations <= (more.steps - some.steps) / 2000 + 50);
  }
}
