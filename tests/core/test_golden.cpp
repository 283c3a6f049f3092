// A small mixed workload whose step sequence must be the same in every build, on every machine, in every version.
// A change that is meant is accepted with tests/accept_golden.py and reviewed like any other change.
#include "core/engine.hpp"
#include "core/fifo_mutex.hpp"
#include "support/steps.hpp"
#include "support/waiting.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

using namespace contend;
using test::CallEvent;
using test::Reason;

namespace {

/// Everything the engine offers, with many equal dates; returns what the golden file holds.
std::string mixed_workload() {
  Engine engine(20240229);
  test::StepHash hash;
  engine.set_observer(&hash);
  FifoMutex coarse("coarse");
  FifoMutex fine("fine");
  Reason alarm("an alarm");
  for (int i = 0; i < 16; ++i) {
    engine.spawn("worker[" + std::to_string(i) + "]", i / 8, i % 8, [&](SimThread& self) {
      RandomStream random = engine.stream(self.name());
      CallEvent ring(engine, [&self] { self.resume(); });
      for (int step = 0; step < 500; ++step) {
        switch (random.below(8)) {
        case 0:
          coarse.lock(self);
          self.spend(random.exponential(80_ns), Category::matching);
          coarse.unlock(self);
          break;
        case 1:
          fine.lock(self);
          self.spend(10_ns, Category::software);
          fine.unlock(self);
          break;
        case 2:
          engine.schedule(ring, engine.now() + random.exponential(100_ns));
          self.wait(alarm, Category::blocked);
          break;
        case 3:
          self.resume_at(engine.now() + 10_ns);
          self.wait(alarm, Category::poll_idle);
          break;
        case 4:
          self.spend(Duration{}, Category::software);
          break;
        case 5:
          self.spend(Duration::nanoseconds(random.uniform() * 40.0), Category::copy);
          break;
        default:
          self.spend(10_ns * static_cast<std::int64_t>(random.below(4)), Category::software);
        }
        if (step == 250) {
          engine.spawn(self.name() + ".child", 0, 0, [&](SimThread& child) {
            RandomStream own = engine.stream(child.name());
            for (int turn = 0; turn < 50; ++turn) {
              child.spend(own.exponential(30_ns), Category::software);
            }
          });
        }
      }
    });
  }
  engine.run();
  std::ostringstream text;
  text << "steps " << engine.steps() << "\n"
       << "end_ps " << engine.now().since_start().count() << "\n"
       << "hash " << std::hex << hash.value() << "\n";
  return text.str();
}

} // namespace

TEST_CASE("the mixed workload takes its golden steps", "[golden]") {
  const std::string path = CONTEND_GOLDEN_DIR "/mixed_workload.txt";
  const std::string actual = mixed_workload();
  if (std::getenv("CONTEND_ACCEPT_GOLDEN") != nullptr) {
    std::ofstream(path) << actual;
  }
  std::ifstream file(path);
  REQUIRE(file.is_open());
  const std::string golden{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  CHECK(actual == golden);
}

TEST_CASE("the same seed gives the same steps twice in a process", "[golden]") {
  CHECK(mixed_workload() == mixed_workload());
}
