// How runs end that do not end well.
#include "core/engine.hpp"
#include "core/fifo_mutex.hpp"
#include "support/waiting.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>

using namespace contend;
using test::CallEvent;
using test::Reason;

namespace {

/// Counts the objects that are alive on simulated stacks.
class Counted {
public:
  explicit Counted(int& count) : count_(count) { ++count_; }
  ~Counted() { --count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

private:
  int& count_;
};

/// Leaves its scope the way a lock guard with a price does: by spending time.
class CostlyGuard {
public:
  explicit CostlyGuard(SimThread& self) : self_(self) {}
  ~CostlyGuard() { self_.spend(5_ns, Category::software); }
  CostlyGuard(const CostlyGuard&) = delete;
  CostlyGuard& operator=(const CostlyGuard&) = delete;

private:
  SimThread& self_;
};

} // namespace

TEST_CASE("an exception in a thread reaches run()", "[engine][failures]") {
  Engine engine(1);
  engine.spawn("bystander", 0, 0, [](SimThread& self) { self.spend(1_us, Category::software); });
  engine.spawn("thrower", 0, 0, [](SimThread& self) {
    self.spend(10_ns, Category::software);
    throw std::runtime_error("from a thread");
  });
  CHECK_THROWS_WITH(engine.run(), "from a thread");
  CHECK(engine.now() == TimePoint::at(10_ns));
}

TEST_CASE("an exception in an event reaches run()", "[engine][failures]") {
  Engine engine(1);
  CallEvent event(engine, [] { throw std::runtime_error("from an event"); });
  engine.schedule(event, TimePoint::at(10_ns));
  SECTION("fired from run() itself") { CHECK_THROWS_WITH(engine.run(), "from an event"); }
  SECTION("fired from the stack of a thread that waits") {
    engine.spawn("bystander", 0, 0, [](SimThread& self) { self.spend(1_us, Category::software); });
    CHECK_THROWS_WITH(engine.run(), "from an event");
  }
}

TEST_CASE("an exception in an event fired from the stack of a thread that has ended reaches run()",
          "[engine][failures]") {
  Engine engine(1);
  CallEvent event(engine, [] { throw std::runtime_error("from an event"); });
  engine.schedule(event, TimePoint::at(10_ns));
  engine.spawn("short", 0, 0, [](SimThread&) {});
  CHECK_THROWS_WITH(engine.run(), "from an event");
}

TEST_CASE("an exception in an event cannot be caught by the thread on whose stack it fires", "[engine][failures]") {
  Engine engine(1);
  bool caught = false;
  CallEvent event(engine, [] { throw std::runtime_error("from an event"); });
  engine.schedule(event, TimePoint::at(10_ns));
  engine.spawn("bystander", 0, 0, [&](SimThread& self) {
    try {
      self.spend(1_us, Category::software);
    } catch (const std::exception&) {
      caught = true;
    }
  });
  CHECK_THROWS_WITH(engine.run(), "from an event");
  CHECK_FALSE(caught);
  engine.abandon();
}

TEST_CASE("a broken rule of the mutex is reported by name", "[engine][failures]") {
  Engine engine(1);
  FifoMutex mutex("matching lock");
  engine.spawn("thief", 0, 0, [&](SimThread& self) { mutex.unlock(self); });
  CHECK_THROWS_AS(engine.run(), InvariantViolation);
}

TEST_CASE("dates in the past are refused", "[engine][failures]") {
  Engine engine(1);
  CallEvent event(engine, [] {});
  SimThread* self_handle = nullptr;
  SECTION("of events") {
    engine.spawn("a", 0, 0, [&](SimThread& self) {
      self.spend(2_ns, Category::software);
      engine.schedule(event, TimePoint::at(1_ns));
    });
    CHECK_THROWS_AS(engine.run(), InvariantViolation);
  }
  SECTION("of threads, by name") {
    Reason gate("the gate");
    self_handle = &engine.spawn("sleeper", 0, 0, [&](SimThread& self) { self.wait(gate, Category::blocked); });
    engine.spawn("a", 0, 0, [&](SimThread& self) {
      self.spend(2_ns, Category::software);
      self_handle->resume_at(TimePoint::at(1_ns));
    });
    CHECK_THROWS_WITH(engine.run(), Catch::Contains("sleeper") && Catch::Contains("past"));
    engine.abandon();
  }
  SECTION("now is not the past") {
    engine.spawn("a", 0, 0, [&](SimThread& self) { engine.schedule(event, self.engine().now()); });
    CHECK_NOTHROW(engine.run());
  }
}

TEST_CASE("a thread is resumed once for each wait, and not after its end", "[engine][failures]") {
  Engine engine(1);
  Reason gate("the gate");
  SimThread& sleeper = engine.spawn("sleeper", 0, 0, [&](SimThread& self) { self.wait(gate, Category::blocked); });
  SECTION("twice at the same date") {
    engine.spawn("a", 0, 0, [&](SimThread& self) {
      self.spend(2_ns, Category::software);
      sleeper.resume();
      sleeper.resume();
    });
  }
  SECTION("twice, the second time earlier") {
    engine.spawn("a", 0, 0, [&](SimThread& self) {
      self.spend(2_ns, Category::software);
      sleeper.resume_at(engine.now() + 5_ns);
      sleeper.resume_at(engine.now() + 3_ns);
    });
  }
  SECTION("after its end") {
    engine.spawn("a", 0, 0, [&](SimThread& self) {
      self.spend(2_ns, Category::software);
      sleeper.resume();
      self.spend(2_ns, Category::software);
      sleeper.resume();
    });
  }
  CHECK_THROWS_WITH(engine.run(), Catch::Contains("sleeper") && Catch::Contains("resumed"));
  engine.abandon();
}

TEST_CASE("a deadlock names each thread and what it waits for, and nobody else", "[engine][failures]") {
  Engine engine(1);
  FifoMutex first("first lock");
  FifoMutex second("second lock");
  engine.spawn("left", 0, 3, [&](SimThread& self) {
    first.lock(self);
    self.spend(10_ns, Category::software);
    second.lock(self);
  });
  engine.spawn("right", 1, 4, [&](SimThread& self) {
    second.lock(self);
    self.spend(10_ns, Category::software);
    first.lock(self);
  });
  engine.spawn("bystander", 0, 0, [](SimThread& self) { self.spend(1_us, Category::software); });
  std::string report;
  try {
    engine.run();
  } catch (const Deadlock& deadlock) {
    report = deadlock.what();
  }
  CAPTURE(report);
  CHECK_THAT(report, Catch::Contains("deadlock at 1000000 ps"));
  CHECK_THAT(report, Catch::Contains("left (host 0, core 3) waits for mutex 'second lock' held by right"));
  CHECK_THAT(report, Catch::Contains("right (host 1, core 4) waits for mutex 'first lock' held by left"));
  CHECK_THAT(report, !Catch::Contains("bystander"));
  engine.abandon();
}

TEST_CASE("the stop flag ends a busy run", "[engine][failures]") {
  Engine engine(1);
  std::atomic<bool> stop = false;
  engine.set_stop_flag(&stop);
  int alive = 0;
  std::uint64_t steps_when_asked = 0;
  const auto busy = [&](SimThread& self) {
    const Counted counted(alive);
    for (;;) {
      self.spend(1_ns, Category::software);
      if (engine.steps() >= 20'000 && !stop) {
        stop = true;
        steps_when_asked = engine.steps();
      }
    }
  };
  SECTION("of a single thread, which never leaves its stack") { engine.spawn("busy", 0, 0, busy); }
  SECTION("of many threads") {
    for (int i = 0; i < 50; ++i) {
      engine.spawn("busy " + std::to_string(i), 0, i, busy);
    }
  }
  SECTION("of threads that only hand over to each other") {
    FifoMutex mutex("m");
    for (int i = 0; i < 3; ++i) {
      engine.spawn("hand over " + std::to_string(i), 0, i, [&](SimThread& self) {
        const Counted counted(alive);
        for (;;) {
          mutex.lock(self);
          self.spend(Duration{}, Category::software);
          mutex.unlock(self);
          if (engine.steps() >= 20'000 && !stop) {
            stop = true;
            steps_when_asked = engine.steps();
          }
        }
      });
    }
    CHECK_THROWS_AS(engine.run(), Stopped);
    engine.abandon();
    CHECK(alive == 0);
    return;
  }
  SECTION("of a thread beside an event that schedules itself for ever") {
    class Forever final : public Event {
    public:
      Forever(Engine& engine, std::atomic<bool>& stop) : Event(engine), stop_(stop) {}
      void fire() override {
        stop_ = engine_.steps() > 20'000;
        engine_.schedule(*this, engine_.now() + 1_ns);
      }

    private:
      std::atomic<bool>& stop_;
    } forever(engine, stop);
    Reason gate("nothing");
    engine.spawn("waiting", 0, 0, [&](SimThread& self) {
      const Counted counted(alive);
      self.wait(gate, Category::blocked);
    });
    engine.schedule(forever, TimePoint{});
    CHECK_THROWS_AS(engine.run(), Stopped);
    engine.abandon();
    CHECK(alive == 0);
    return;
  }
  CHECK_THROWS_AS(engine.run(), Stopped);
  CHECK(engine.steps() - steps_when_asked <= 4'096);
  engine.abandon();
  CHECK(alive == 0);
}

TEST_CASE("the step limit ends a model that polls for ever and says who does", "[engine][failures]") {
  Engine engine(1);
  engine.set_step_limit(10'000);
  Reason never("something that never comes");
  engine.spawn("poller", 0, 0, [](SimThread& self) {
    for (;;) {
      self.spend(1_ns, Category::poll_idle);
    }
  });
  engine.spawn("sleeper", 0, 1, [&](SimThread& self) { self.wait(never, Category::blocked); });
  std::string report;
  try {
    engine.run();
  } catch (const StepLimit& limit) {
    report = limit.what();
  }
  CAPTURE(report);
  CHECK_THAT(report, Catch::Contains("poller (host 0, core 0) runs"));
  CHECK_THAT(report, Catch::Contains("sleeper (host 0, core 1) waits for something that never comes"));
  CHECK(engine.steps() <= 10'000 + 4'096);
  engine.abandon();
}

TEST_CASE("a run that completes operations may take more steps than one that does not", "[engine][failures]") {
  for (const bool completes : {true, false}) {
    CAPTURE(completes);
    Engine engine(1);
    engine.set_idle_step_limit(10'000, "the test's limit");
    engine.spawn("worker", 0, 0, [&](SimThread& self) {
      for (int i = 0; i < 60'000; ++i) {
        self.spend(1_ns, Category::poll_idle);
        if (i % 5'000 == 0 && (completes || i == 0)) {
          engine.note_operation();
        }
      }
    });
    if (completes) {
      CHECK_NOTHROW(engine.run());
      CHECK(engine.steps() >= 60'000);
    } else {
      CHECK_THROWS_WITH(engine.run(), Catch::Contains("no operation has completed in") &&
                                          Catch::Contains("the test's limit") && Catch::Contains("worker (host 0"));
      CHECK(engine.steps() <= 10'000 + 2 * 4'096);
      engine.abandon();
    }
  }
}

TEST_CASE("a stop flag that is never set changes nothing", "[engine][failures]") {
  Engine engine(1);
  const std::atomic<bool> stop = false;
  engine.set_stop_flag(&stop);
  engine.spawn("busy", 0, 0, [](SimThread& self) {
    for (int i = 0; i < 20'000; ++i) {
      self.spend(1_ns, Category::software);
    }
  });
  CHECK_NOTHROW(engine.run());
}

TEST_CASE("abandon() runs the destructors on every stack", "[engine][failures]") {
  int alive = 0;
  Engine engine(1);
  Reason never("something that never comes");
  FifoMutex mutex("m");
  engine.spawn("spends", 0, 0, [&](SimThread& self) {
    const Counted counted(alive);
    self.spend(1_ms, Category::software);
  });
  engine.spawn("waits", 0, 0, [&](SimThread& self) {
    const Counted counted(alive);
    self.wait(never, Category::blocked);
  });
  engine.spawn("holds", 0, 0, [&](SimThread& self) {
    const Counted counted(alive);
    mutex.lock(self);
    self.wait(never, Category::blocked);
  });
  engine.spawn("queues", 0, 0, [&](SimThread& self) {
    const auto on_heap = std::make_unique<Counted>(alive);
    mutex.lock(self);
  });
  engine.spawn("throws", 0, 0, [&](SimThread& self) {
    self.spend(1_us, Category::software);
    CHECK(alive == 4);
    engine.spawn("never started", 0, 0, [&](SimThread&) { FAIL("must not start"); });
    throw std::runtime_error("enough");
  });
  CHECK_THROWS_WITH(engine.run(), "enough");
  engine.abandon();
  CHECK(alive == 0);
  engine.abandon(); // once more does no harm
}

TEST_CASE("the engine's destructor abandons what is left", "[engine][failures]") {
  int alive = 0;
  const Reason never("something that never comes");
  {
    Engine engine(1);
    engine.spawn("waits", 0, 0, [&](SimThread& self) {
      const Counted counted(alive);
      self.wait(never, Category::blocked);
    });
    CHECK_THROWS_AS(engine.run(), Deadlock);
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
}

TEST_CASE("destructors that spend time do not disturb the unwinding", "[engine][failures]") {
  int alive = 0;
  Engine engine(1);
  Reason never("something that never comes");
  for (int i = 0; i < 3; ++i) {
    engine.spawn("waits " + std::to_string(i), 0, i, [&](SimThread& self) {
      const Counted counted(alive);
      const CostlyGuard guard(self);
      self.wait(never, Category::blocked);
    });
    engine.spawn("spends " + std::to_string(i), 0, i, [&](SimThread& self) {
      const Counted counted(alive);
      const CostlyGuard guard(self);
      self.spend(12_ns, Category::software); // due before the guards would be done
    });
  }
  engine.spawn("throws", 0, 0, [](SimThread& self) {
    self.spend(10_ns, Category::software);
    throw std::runtime_error("enough");
  });
  CHECK_THROWS_WITH(engine.run(), "enough");
  engine.abandon();
  CHECK(alive == 0);
}

TEST_CASE("a destructor that spends time while its thread throws does so in simulated time", "[engine][failures]") {
  Engine engine(1);
  engine.spawn("a", 0, 0, [](SimThread& self) {
    try {
      const CostlyGuard guard(self);
      throw std::runtime_error("inner");
    } catch (const std::runtime_error&) { // the guard spent 5 ns on the way here
    }
    CHECK(self.engine().now() == TimePoint::at(5_ns));
  });
  engine.spawn("b", 0, 0, [](SimThread& self) {
    self.spend(3_ns, Category::software);
    self.spend(1_ns, Category::software);
  });
  CHECK_NOTHROW(engine.run());
}

TEST_CASE("a run that needs more time than there is ends with an error", "[engine][failures]") {
  constexpr Duration long_span = Duration::seconds(5e6); // twice this is too much
  Engine engine(1);
  const Reason reason("nothing");
  CallEvent last(engine, [] {});
  CallEvent first(engine, [&] { engine.schedule(last, engine.now() + long_span); });
  const auto bystanders = [&] { // so that others are due, too
    for (int i = 0; i < 3; ++i) {
      engine.spawn("bystander", 0, i + 1, [](SimThread& self) {
        for (int turn = 0; turn < 1000; ++turn) {
          self.spend(1_ns, Category::software);
        }
      });
    }
  };
  SECTION("alone") {
    engine.spawn("slow", 0, 0, [&](SimThread& self) {
      self.spend(long_span, Category::software);
      self.spend(long_span, Category::software);
    });
  }
  SECTION("beside others") {
    bystanders();
    engine.spawn("slow", 0, 0, [&](SimThread& self) {
      self.spend(1_ns, Category::software);
      self.owe(long_span, Category::software);
      self.owe(long_span, Category::software);
      self.settle();
    });
  }
  SECTION("in an event") {
    bystanders();
    engine.schedule(first, TimePoint::at(long_span));
  }
  SECTION("in a wait") {
    engine.spawn("slow", 0, 0, [&](SimThread& self) {
      self.spend(long_span, Category::software);
      self.resume_at(self.now() + long_span);
      self.wait(reason, Category::software);
    });
  }
  CHECK_THROWS_AS(engine.run(), BeyondTime);
}
