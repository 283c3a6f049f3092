// Random programs take the same steps on the engine, with its ready list, its vacancy and its way past the queue, as on
// a backend that has one priority queue and nothing else.
#include "core/engine.hpp"
#include "core/fifo_mutex.hpp"
#include "support/reference_backend.hpp"
#include "support/steps.hpp"
#include "support/waiting.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

using namespace contend;
using test::Reason;
using test::ReferenceBackend;
using test::StepRecorder;

namespace {

/// What a program may do. The kinds differ in what they need from the engine: only some need dates equal to now.
struct Mix {
  const char* name;
  std::uint64_t longest_delay; ///< in ps; small values make most dates equal
  bool zero_delays;
};

/// Resumes the thread that waits for it.
class Alarm final : public Event {
public:
  Alarm(Engine& engine, SimThread& owner) : Event(engine), owner_(owner) {}
  void fire() override { owner_.resume(); }

private:
  SimThread& owner_;
};

/// Threads that spend, lock, sleep by events and alarms, and create further threads, by their own random streams.
class Program {
public:
  Program(Engine& engine, const Mix& mix) : engine_(engine), mix_(mix) {
    const auto threads = 1 + engine.stream("shape").below(8);
    for (std::uint64_t i = 0; i < threads; ++i) {
      spawn(std::to_string(i), 2);
    }
  }

private:
  void spawn(const std::string& name, int generations) {
    engine_.spawn(name, 0, 0, [this, generations](SimThread& self) { body(self, generations); });
  }

  Duration delay(RandomStream& random) const {
    const std::uint64_t least = mix_.zero_delays ? 0 : 1;
    return Duration::picoseconds(static_cast<std::int64_t>(least + random.below(mix_.longest_delay)));
  }

  void body(SimThread& self, int generations) {
    RandomStream random = engine_.stream(self.name());
    Alarm alarm(engine_, self);
    const auto steps = random.below(40);
    for (std::uint64_t i = 0; i < steps; ++i) {
      switch (random.below(10)) {
      case 0: {
        FifoMutex& mutex = mutexes_[random.below(mutexes_.size())];
        mutex.lock(self);
        self.spend(delay(random), Category::software);
        mutex.unlock(self);
        break;
      }
      case 1:
        mutexes_[0].lock(self);
        mutexes_[0].unlock(self);
        break;
      case 2:
        engine_.schedule(alarm, engine_.now() + delay(random));
        self.wait(reason_, Category::blocked);
        break;
      case 3:
        self.resume_at(engine_.now() + delay(random));
        self.wait(reason_, Category::blocked);
        break;
      case 4:
        if (generations > 0 && random.below(4) == 0) {
          spawn(self.name() + "." + std::to_string(i), generations - 1);
        }
        break;
      default:
        self.spend(delay(random), Category::software);
      }
    }
  }

  Engine& engine_;
  const Mix& mix_;
  std::array<FifoMutex, 2> mutexes_{FifoMutex("m0"), FifoMutex("m1")};
  Reason reason_{"an alarm"};
};

std::vector<StepRecorder::Step> steps_of(std::uint64_t seed, const Mix& mix, bool on_reference) {
  std::unique_ptr<ReferenceBackend> backend;
  ReferenceBackend* reference = nullptr;
  if (on_reference) {
    backend = std::make_unique<ReferenceBackend>();
    reference = backend.get();
  }
  Engine engine(seed, std::move(backend));
  if (reference != nullptr) {
    reference->attach(engine);
  }
  StepRecorder recorder;
  engine.set_observer(&recorder);
  const Program program(engine, mix);
  engine.run();
  return recorder.steps();
}

void compare(const Mix& mix) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto expected = steps_of(seed, mix, true);
    const auto actual = steps_of(seed, mix, false);
    const auto difference = std::mismatch(actual.begin(), actual.end(), expected.begin(), expected.end());
    const auto index = difference.first - actual.begin();
    CAPTURE(seed, mix.name, index, actual.size(), expected.size());
    const bool equal = actual == expected; // not in REQUIRE: the sequences are long
    REQUIRE(equal);
  }
}

} // namespace

TEST_CASE("random programs with long delays take the reference's steps", "[engine][property]") {
  compare({"long delays", 1'000'000, false});
}

TEST_CASE("random programs with many equal dates take the reference's steps", "[engine][property]") {
  compare({"many ties", 3, false});
}

TEST_CASE("random programs with dates equal to now take the reference's steps", "[engine][property]") {
  compare({"zero delays", 3, true});
}
