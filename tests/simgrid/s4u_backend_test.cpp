#include "core/step_hash.hpp"
#include "simgrid/s4u_backend.hpp"
#include "workloads.hpp"

#include <catch2/catch.hpp>
#include <sys/wait.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <unistd.h>

using namespace contend;

namespace {

struct Run {
  std::uint64_t hash = 0;
  std::uint64_t steps = 0;
  Duration end{};

  bool operator==(const Run&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Run& run) {
  return out << run.steps << " steps, hash " << run.hash << ", end " << run.end.count() << " ps";
}

using Load = std::function<std::shared_ptr<void>(Engine&)>; ///< returns what must live as long as the run

Run run_on(std::unique_ptr<Backend> backend, std::uint64_t seed, const Load& load) {
  Engine engine(seed, std::move(backend));
  StepHash hash;
  engine.set_observer(&hash);
  const std::shared_ptr<void> models = load(engine);
  engine.run();
  REQUIRE(engine.steps() == hash.steps());
  return {hash.value(), hash.steps(), engine.now().since_start()};
}

void require_same(const Load& load) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Run own = run_on(nullptr, seed, load);
    REQUIRE(own.steps > 0);
    REQUIRE(run_on(make_s4u_backend(), seed, load) == own);
  }
}

class Never final : public Waitable {
public:
  [[nodiscard]] std::string describe() const override { return "nothing that ever comes"; }
};

/// Counts the stacks that were left in order.
struct Guard {
  int& unwound;
  ~Guard() { ++unwound; }
};

} // namespace

TEST_CASE("both engines take the same steps: many ties", "[simgrid]") {
  require_same([](Engine& engine) {
    workloads::hold(engine, 40, 200);
    return nullptr;
  });
}

TEST_CASE("both engines take the same steps: dates of any length", "[simgrid]") {
  require_same([](Engine& engine) {
    workloads::spread(engine, 40, 200);
    return nullptr;
  });
}

TEST_CASE("both engines take the same steps: lock hand-over", "[simgrid]") {
  for (const Duration away : {0_ns, 50_ns, 100_ns, 3000_ns}) {
    require_same([away](Engine& engine) {
      auto mutex = std::make_shared<FifoMutex>("m");
      workloads::hand_over(engine, *mutex, 20, 50, 100_ns, away);
      return mutex;
    });
  }
}

TEST_CASE("both engines take the same steps: threads, events, alarms and locks together", "[simgrid]") {
  require_same([](Engine& engine) { return std::make_shared<workloads::Mixture>(engine, 12, 300); });
}

TEST_CASE("both engines fire events that are due after the last thread has ended", "[simgrid]") {
  class Late final : public Event {
  public:
    using Event::Event;
    void fire() override { ++fired; }
    int fired = 0;
  };
  for (const bool s4u : {false, true}) {
    Engine engine(1, s4u ? make_s4u_backend() : nullptr);
    Late late(engine);
    engine.spawn("t", 0, 0, [&](SimThread& self) {
      engine.schedule(late, engine.now() + 10_us);
      self.spend(1_us, Category::software);
    });
    engine.run();
    CHECK(late.fired == 1);
    CHECK(engine.now() == TimePoint::at(10_us));
    CHECK(engine.steps() == 3);
  }
}

TEST_CASE("dates stay exact to the picosecond late in a run", "[simgrid]") {
  constexpr std::int64_t hour = 3'600'000'000'000'000;
  require_same([](Engine& engine) {
    workloads::spread(engine, 5, 20);
    for (int i = 0; i < 4; ++i) {
      engine.spawn("late" + std::to_string(i), 0, i, [i](SimThread& self) {
        self.spend(Duration::picoseconds(hour / 10 + i), Category::software);
        for (int round = 0; round < 100; ++round) {
          self.spend(Duration::picoseconds(1 + (round + i) % 3), Category::software);
        }
      });
    }
    return nullptr;
  });
}

TEST_CASE("dates are exact up to 2^53 ps", "[simgrid]") {
  // In a child, because it uses up SimGrid's clock, which earlier cases have moved on by less than `used`.
  constexpr std::int64_t used = std::int64_t{1} << 51;
  constexpr std::int64_t range = std::int64_t{1} << 53;
  const pid_t child = fork();
  if (child == 0) {
    Engine engine(1, make_s4u_backend());
    engine.spawn("t", 0, 0, [](SimThread& self) {
      self.spend(Duration::picoseconds(range - used), Category::software);
      for (std::int64_t step = used / 2; step > 0; step /= 2) { // the backend compares each date with SimGrid's clock
        try {
          self.spend(Duration::picoseconds(step), Category::software);
        } catch (const std::overflow_error&) {
          continue; // beyond the last date: a smaller step may still do
        }
        self.spend(1_ps, Category::software);
      }
    });
    int status = 1;
    try {
      engine.run();
      status = 0;
    } catch (const std::overflow_error&) {
      status = 0; // the last picosecond has passed
    } catch (const std::exception&) {
      status = 1;
    }
    _exit(status);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("a date beyond the exact range ends the run", "[simgrid]") {
  Engine engine(1, make_s4u_backend());
  engine.spawn("t", 0, 0, [](SimThread& self) { self.spend(Duration::seconds(9008), Category::software); });
  CHECK_THROWS_AS(engine.run(), std::overflow_error);
}

TEST_CASE("a deadlock is reported by contend, and the stacks are unwound", "[simgrid]") {
  for (const bool s4u : {false, true}) {
    int unwound = 0;
    {
      const Never never;
      Engine engine(1, s4u ? make_s4u_backend() : nullptr);
      for (int i = 0; i < 3; ++i) {
        engine.spawn("stuck" + std::to_string(i), 0, i, [&](SimThread& self) {
          const Guard guard{unwound};
          self.spend(5_ns, Category::software);
          self.wait(never, Category::software);
        });
      }
      engine.spawn("fine", 0, 3, [](SimThread& self) { self.spend(7_ns, Category::software); });
      CHECK_THROWS_WITH(engine.run(),
                        Catch::Contains("deadlock at 7000 ps") &&
                            Catch::Contains("stuck2 (host 0, core 2) waits for nothing that ever comes") &&
                            !Catch::Contains("fine"));
      CHECK(unwound == 0);
      engine.abandon();
      CHECK(unwound == 3);
    }
  }
}

TEST_CASE("what a thread throws reaches the caller, and the others are unwound", "[simgrid]") {
  for (const bool s4u : {false, true}) {
    int unwound = 0;
    {
      const Never never;
      Engine engine(1, s4u ? make_s4u_backend() : nullptr);
      engine.spawn("sleeps", 0, 0, [&](SimThread& self) {
        const Guard guard{unwound};
        self.spend(5_ms, Category::software);
      });
      engine.spawn("waits", 0, 1, [&](SimThread& self) {
        const Guard guard{unwound};
        self.resume_at(TimePoint::at(4_ms));
        self.wait(never, Category::software);
      });
      engine.spawn("due at the same time", 0, 2, [&](SimThread& self) {
        const Guard guard{unwound};
        self.spend(3_ns, Category::software);
        self.spend(1_ns, Category::software);
      });
      engine.spawn("throws", 0, 3, [&](SimThread& self) {
        self.spend(2_ns, Category::software);
        self.spend(1_ns, Category::software);
        throw std::domain_error("a thread failed");
      });
      CHECK_THROWS_WITH(engine.run(), "a thread failed");
      CHECK(engine.now() == TimePoint::at(3_ns));
      CHECK(unwound == 0);
    }
    CHECK(unwound == 3);
  }
}

TEST_CASE("what an event throws reaches the caller", "[simgrid]") {
  class Bad final : public Event {
  public:
    using Event::Event;
    void fire() override { throw std::domain_error("an event failed"); }
  };
  for (const bool s4u : {false, true}) {
    for (const Duration date : {0_ns, 5_ns, 100_ns, 200_ns}) { // while threads run, and after the last has ended
      Engine engine(1, s4u ? make_s4u_backend() : nullptr);
      Bad bad(engine);
      engine.spawn("t", 0, 0, [&](SimThread& self) {
        engine.schedule(bad, TimePoint::at(date));
        self.spend(10_ns, Category::software);
        self.spend(90_ns, Category::software);
      });
      CHECK_THROWS_WITH(engine.run(), "an event failed");
      CHECK(engine.now() == TimePoint::at(date));
    }
  }
}

TEST_CASE("the stop flag ends a run on either engine", "[simgrid]") {
  for (const bool s4u : {false, true}) {
    const std::atomic<bool> stop = true;
    Engine engine(1, s4u ? make_s4u_backend() : nullptr);
    engine.set_stop_flag(&stop);
    engine.spawn("endless", 0, 0, [](SimThread& self) {
      for (;;) {
        self.spend(1_ns, Category::software);
      }
    });
    CHECK_THROWS_AS(engine.run(), Stopped);
    CHECK(engine.steps() == 4096);
  }
}

TEST_CASE("one S4U simulation at a time", "[simgrid]") {
  const auto first = make_s4u_backend();
  CHECK_THROWS_AS(make_s4u_backend(), std::logic_error);
}
