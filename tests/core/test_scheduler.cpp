// Threads that share cores: shares, slices, spinning and yielding, and where the time goes.
#include "core/cache_line.hpp"
#include "core/futex.hpp"
#include "support/lives.hpp"
#include "support/reference_backend.hpp"
#include "support/scheduling.hpp"
#include "support/steps.hpp"
#include "support/waiting.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace contend;
using test::CallEvent;
using test::compute;
using test::compute_until;
using test::in;
using test::live;
using test::Reason;
using test::SharedHost;
using test::total;

TEST_CASE("n equal threads on one core take the sum of their work and of the switches", "[scheduler]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const int threads = GENERATE(1, 2, 3, 8);
  SchedulerParameters parameters = test::free_scheduler(policy);
  parameters.context_switch = 5_us;
  parameters.cache_refill = 2_us;
  SharedHost shared(1, parameters);
  std::vector<SimThread*> all;
  for (int i = 0; i < threads; ++i) {
    all.push_back(&shared.spawn("t" + std::to_string(i), [](SimThread& self) { compute(self, 100_ms); }));
  }
  shared.engine.run();
  const auto switches = static_cast<std::int64_t>(shared.scheduler.counters().switches);
  // Nothing is in the caches of a thread that starts: it has nothing to refill.
  const Duration expected = 100_ms * threads + 5_us * switches + 2_us * (switches - (threads - 1));
  CHECK(shared.elapsed() == expected);
  // With n > 1 everybody has a turn within the latency or n slices.
  const Duration round = std::string(policy) == "cfs" ? 6_ms : 3_ms * threads;
  CHECK(switches >= (threads == 1 ? 0 : 100_ms * threads / round * (threads - 1) / 2));
  CHECK(switches <= (threads == 1 ? 0 : 105_ms * threads / 750_us + threads));
  Duration switching;
  for (const SimThread* thread : all) {
    CHECK(in(*thread, Category::software) == 100_ms);
    switching += in(*thread, Category::context_switch);
  }
  CHECK(switching == expected - 100_ms * threads);
}

TEST_CASE("all threads of a core have the same share at any time", "[scheduler]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  SharedHost shared(1, test::free_scheduler(policy));
  std::vector<SimThread*> all;
  for (int i = 0; i < 7; ++i) {
    all.push_back(
        &shared.spawn("t" + std::to_string(i), [](SimThread& self) { compute_until(self, TimePoint::at(210_ms)); }));
  }
  shared.engine.run();
  for (const SimThread* thread : all) {
    CHECK(in(*thread, Category::software).in_seconds() == Approx(0.030).margin(0.0035)); // a slice
  }
}

TEST_CASE("a thread of twice the weight gets twice the time", "[scheduler]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  SharedHost shared(1, test::free_scheduler(policy));
  const auto run = [](SimThread& self) { compute_until(self, TimePoint::at(300_ms)); };
  const SimThread& light = shared.spawn_weighted(1024, "light", run);
  const SimThread& heavy = shared.spawn_weighted(2048, "heavy", run);
  shared.engine.run();
  CHECK(in(heavy, Category::software).in_seconds() ==
        Approx(2 * in(light, Category::software).in_seconds()).epsilon(0.06));
}

TEST_CASE("a long computation is interrupted in its middle and goes on there", "[scheduler]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  SharedHost shared(1, test::free_scheduler(policy));
  TimePoint short_end;
  TimePoint long_end;
  shared.spawn("long", [&](SimThread& self) {
    compute(self, 50_ms); // one call
    long_end = self.now();
  });
  shared.spawn("short", [&](SimThread& self) {
    compute(self, 1_ms);
    short_end = self.now();
  });
  shared.engine.run();
  // After one slice: 3 ms are half of cfs's latency, and half of eevdf's slice is what a new thread gets.
  CHECK(short_end == TimePoint::at(std::string(policy) == "cfs" ? 4_ms : 2'500_us));
  CHECK(long_end == TimePoint::at(51_ms));
  CHECK(shared.scheduler.counters().preemptions == 1);
}

TEST_CASE("slices end at interrupts of the timer, which take time themselves", "[scheduler]") {
  SchedulerParameters parameters = test::free_scheduler("cfs");
  parameters.tick = 4_ms;
  parameters.tick_cost = 10_us;
  SharedHost shared(1, parameters);
  TimePoint first;
  shared.spawn("a", [](SimThread& self) { compute(self, 30_ms); });
  shared.spawn("b", [&](SimThread& self) {
    first = self.now();
    compute(self, 30_ms);
  });
  shared.engine.run();
  CHECK(first == TimePoint::at(4_ms + 10_us)); // the slice of 3 ms was over before
  const std::int64_t ticks = shared.elapsed() / 4_ms;
  CHECK(shared.elapsed() == 60_ms + 10_us * ticks);
}

TEST_CASE("a lone thread pays for the timer, and for nothing else", "[scheduler]") {
  SchedulerParameters parameters = test::costly_scheduler("cfs");
  SharedHost shared(1, parameters);
  const SimThread& alone = shared.spawn("alone", [](SimThread& self) {
    for (int i = 0; i < 1'000; ++i) {
      self.owe(30_us, Category::copy); // the timer comes in the middle of it
      compute(self, 20_us);
    }
  });
  shared.engine.run();
  const Duration noise = in(alone, Category::context_switch);
  CHECK(noise == parameters.tick_cost * (shared.elapsed() / parameters.tick));
  CHECK(shared.elapsed() == 50_ms + noise);
}

TEST_CASE("an idle core lets a thread that wakes up start after the latency", "[scheduler]") {
  FutexParameters futex;
  futex.wait_call = 1_us;
  futex.wake_call = 2_us;
  futex.wake_latency = 30_us;
  SchedulerParameters parameters = test::free_scheduler("cfs");
  parameters.context_switch = 5_us;
  parameters.wake_call = 1_us;
  parameters.wakeup_granularity = Duration{};
  const bool own_core = GENERATE(true, false);
  SharedHost shared(2, parameters, 1, futex);
  Futex word(shared.engine, shared.host, "word");
  TimePoint ran;
  shared.spawn_on(0, "sleeper", [&](SimThread& self) {
    word.wait(self, Category::blocked, [] { return true; });
    ran = self.now();
  });
  shared.spawn_on(own_core ? 1 : 0, "waker", [&](SimThread& self) {
    compute(self, 100_us);
    word.wake(self, 1, Category::software);
    compute(self, 50_ms);
  });
  shared.engine.run();
  if (own_core) {
    CHECK(ran == TimePoint::at(132_us)); // the call, then the latency
  } else {
    // The sleeper slept at 1 us, the waker came on the core with a switch; no idle core had to wake up.
    CHECK(ran == TimePoint::at(1_us + 5_us + 101_us + 5_us));
  }
}

TEST_CASE("a thread that spins burns its slices, one that sleeps does not", "[scheduler]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const bool spins = GENERATE(true, false);
  SharedHost shared(1, test::free_scheduler(policy));
  Reason reason("the worker");
  TimePoint noticed;
  SimThread& waiter = shared.spawn("waiter", [&](SimThread& self) {
    self.wait(reason, Category::poll_idle, spins ? Waiting::spinning : Waiting::asleep);
    noticed = self.now();
  });
  TimePoint done;
  shared.spawn("worker", [&](SimThread& self) {
    compute(self, 29'300_us);
    done = self.now();
    waiter.resume();
    compute(self, 1_ms);
  });
  shared.engine.run();
  if (spins) {
    CHECK(done.since_start().in_seconds() == Approx(0.0586).margin(0.0031));
    CHECK(noticed > done); // it has to get the core to see it
  } else {
    CHECK(done == TimePoint::at(29'300_us));
  }
}

TEST_CASE("yielding hands the core over, polling without it does not", "[scheduler]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const bool yields = GENERATE(true, false);
  SharedHost shared(1, test::free_scheduler(policy));
  bool ready = false;
  TimePoint seen;
  shared.spawn("poller", [&](SimThread& self) {
    while (!ready) {
      self.spend(1_us, Category::poll_idle);
      if (yields) {
        self.yield();
      }
    }
    seen = self.now();
  });
  shared.spawn("worker", [&](SimThread& self) {
    compute(self, 500_us);
    ready = true;
    compute(self, 100_us);
  });
  shared.engine.run();
  if (yields) {
    CHECK(seen <= TimePoint::at(610_us));
    CHECK(shared.scheduler.counters().yields >= 1);
  } else {
    CHECK(seen >= TimePoint::at(2_ms)); // the poller's slice comes first
  }
}

TEST_CASE("yielding costs nothing where a core is not shared", "[scheduler]") {
  Engine engine(1);
  engine.spawn("t", 0, 0, [](SimThread& self) {
    self.yield();
    self.preemption_point();
  });
  engine.run();
  CHECK(engine.now() == TimePoint());
  CHECK(engine.steps() == 1);
}

TEST_CASE("an access to a cache line is over before its thread loses the core", "[scheduler]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  constexpr int threads = 6;
  constexpr int accesses = 3'000;
  CacheParameters cache;
  cache.hit = 1_ns;
  cache.atomic_hit = 5_ns;
  cache.transfer_socket = 100_ns;
  cache.l3_hit = 20_ns;
  Engine engine(3);
  const Host host({1, 2, 1}, cache, {});
  SchedulerParameters parameters = test::free_scheduler(policy);
  parameters.latency = 60_us;
  parameters.slice = 10_us;
  Scheduler scheduler(engine, host, 0, parameters, 2);
  CacheLine line(engine, host, "counter");
  int counter = 0;
  for (int i = 0; i < threads; ++i) {
    scheduler.spawn("t" + std::to_string(i), {}, [&](SimThread& self) {
      for (int k = 0; k < accesses; ++k) {
        line.atomic(self, Category::line_transfer);
        ++counter;
      }
    });
  }
  engine.run();
  CHECK(counter == threads * accesses);
  // A thread that took the line into its time off the core would keep the other core waiting for whole slices.
  CHECK(engine.now().since_start() <= 110_ns * (threads * accesses));
  CHECK(scheduler.counters().preemptions > 20);
}

TEST_CASE("processes on one core pay for the change of address space", "[scheduler]") {
  SchedulerParameters parameters = test::free_scheduler("cfs");
  parameters.context_switch = 1_us;
  parameters.process_switch = 10_us;
  const bool same = GENERATE(true, false);
  SharedHost shared(1, parameters);
  for (int i = 0; i < 2; ++i) {
    shared.spawn("t" + std::to_string(i), [](SimThread& self) { compute(self, 12_ms); }).set_process(same ? 0 : i);
  }
  shared.engine.run();
  const auto switches = static_cast<std::int64_t>(shared.scheduler.counters().switches);
  CHECK(shared.elapsed() == 24_ms + (same ? 1_us : 11_us) * switches);
}

TEST_CASE("the same seed gives the same steps where cores are shared", "[scheduler]") {
  const auto run = [](std::uint64_t seed) {
    SharedHost shared(2, test::costly_scheduler("cfs"), seed);
    test::StepHash hash;
    shared.engine.set_observer(&hash);
    CacheLine line(shared.engine, shared.host, "line");
    Reason reason("its alarm");
    for (int i = 0; i < 6; ++i) {
      shared.spawn("t" + std::to_string(i), [&](SimThread& self) { live(shared, self, line, reason, 200); });
    }
    shared.engine.run();
    return hash.value();
  };
  CHECK(run(7) == run(7));
  CHECK(run(7) != run(8));
}

TEST_CASE("watching does not change a run where cores are shared", "[scheduler]") {
  const auto run = [](bool watch) {
    SharedHost shared(2, test::costly_scheduler("eevdf"), 5);
    test::SpanWatcher watcher;
    test::StepHash hash;
    shared.engine.set_observer(&hash);
    shared.engine.set_trace(watch ? &watcher : nullptr);
    CacheLine line(shared.engine, shared.host, "line");
    Reason reason("its alarm");
    for (int i = 0; i < 5; ++i) {
      shared.spawn("t" + std::to_string(i), [&](SimThread& self) { live(shared, self, line, reason, 100); });
    }
    shared.engine.run();
    shared.engine.set_trace(nullptr);
    return hash.value();
  };
  CHECK(run(true) == run(false));
}

TEST_CASE("threads that spin for ever on one core are a deadlock", "[scheduler]") {
  const bool ticks = GENERATE(true, false);
  SchedulerParameters parameters = ticks ? test::costly_scheduler("cfs") : test::free_scheduler("eevdf");
  SharedHost shared(2, parameters);
  Reason never("what never comes");
  for (int i = 0; i < 5; ++i) {
    shared.spawn("spinner " + std::to_string(i), [&](SimThread& self) {
      compute(self, 1_ms);
      self.wait(never, Category::poll_idle);
    });
  }
  shared.spawn("sleeper", [&](SimThread& self) { self.wait(never, Category::blocked, Waiting::asleep); });
  CHECK_THROWS_AS(shared.engine.run(), Deadlock);
  CHECK_THAT(shared.engine.thread_report(),
             Catch::Contains("spinner 4") && Catch::Contains("sleeper") && Catch::Contains("what never comes"));
}

TEST_CASE("spinning threads are no deadlock while another host still works", "[scheduler]") {
  Engine engine(1);
  engine.set_step_limit(1'000'000);
  const Host host({1, 2, 1}, {}, {});
  Scheduler here(engine, host, 0, test::free_scheduler("cfs"), 1);
  Scheduler there(engine, host, 1, test::free_scheduler("cfs"), 1);
  Reason reason("the other host");
  std::vector<SimThread*> spinners;
  for (int i = 0; i < 2; ++i) {
    spinners.push_back(&here.spawn("spinner " + std::to_string(i), {},
                                   [&](SimThread& self) { self.wait(reason, Category::poll_idle); }));
  }
  for (int i = 0; i < 2; ++i) {
    there.spawn("worker " + std::to_string(i), {}, [&, i](SimThread& self) {
      compute(self, 70_ms);
      spinners[static_cast<std::size_t>(i)]->resume();
    });
  }
  engine.run();
  CHECK(engine.now() >= TimePoint::at(140_ms));
  engine.abandon();
}

TEST_CASE("what a scheduler cannot do is refused", "[scheduler]") {
  Engine engine(1);
  const Host host({1, 2, 1}, {}, {});
  const SchedulerParameters parameters = test::free_scheduler("cfs");
  CHECK_THROWS_AS(Scheduler(engine, host, 0, parameters, 0), std::invalid_argument);
  CHECK_THROWS_AS(Scheduler(engine, host, 0, parameters, 3), std::invalid_argument);
  CHECK_THROWS_WITH(Scheduler(engine, host, 0, SchedulerParameters{}, 1), Catch::Contains("time slice"));
  Scheduler scheduler(engine, host, 0, parameters, 1);
  Scheduler::Placement elsewhere;
  elsewhere.allowed.set(1);
  CHECK_THROWS_WITH(scheduler.spawn("lost", elsewhere, [](SimThread&) {}), Catch::Contains("lost"));
  Engine other(1, std::make_unique<test::ReferenceBackend>());
  CHECK_THROWS_WITH(Scheduler(other, host, 0, parameters, 1), Catch::Contains("own engine"));
}
