// Threads that share cores: shares, slices, preemption, affinity, balancing, and where the time goes.
#include "core/cache_line.hpp"
#include "core/futex.hpp"
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
using test::in;
using test::Reason;
using test::SharedHost;
using test::total;

namespace {

/// Computes in small pieces until a date.
void compute_until(SimThread& self, TimePoint end) {
  while (self.now() < end) {
    compute(self, 10_us);
  }
}

/// A thread of everything: computes, owes, spins, sleeps, touches a line, yields.
void live(SharedHost& shared, SimThread& self, CacheLine& line, const Waitable& reason, int steps,
          RandomStream& random) {
  CallEvent ring(shared.engine, [&self] { self.resume(); });
  for (int step = 0; step < steps; ++step) {
    switch (random.below(7)) {
    case 0:
      self.owe(random.exponential(20_us), Category::copy);
      self.settle();
      break;
    case 1:
      shared.engine.schedule(ring, shared.engine.now() + random.exponential(800_us));
      self.wait(reason, Category::blocked, Waiting::asleep);
      break;
    case 2:
      shared.engine.schedule(ring, shared.engine.now() + random.exponential(100_us));
      self.wait(reason, Category::poll_idle);
      break;
    case 3:
      line.atomic(self, Category::line_transfer);
      break;
    case 4:
      self.yield();
      break;
    default:
      compute(self, random.exponential(500_us));
    }
  }
}

void live(SharedHost& shared, SimThread& self, CacheLine& line, const Waitable& reason, int steps) {
  RandomStream random = shared.engine.stream(self.name());
  live(shared, self, line, reason, steps, random);
}

} // namespace

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

TEST_CASE("a thread that wakes up takes the core from one that has had more", "[scheduler]") {
  const bool at_once = GENERATE(true, false);
  SchedulerParameters parameters = test::free_scheduler("cfs");
  parameters.wakeup_granularity = at_once ? 1_ms : 10_ms; // the sleeper is half of the latency, 3 ms, behind
  parameters.context_switch = 7_us;
  SharedHost shared(1, parameters);
  Reason reason("the alarm");
  TimePoint ran;
  shared.spawn("hog", [](SimThread& self) { compute(self, 100_ms); });
  SimThread& sleeper = shared.spawn("sleeper", [&](SimThread& self) {
    self.wait(reason, Category::blocked, Waiting::asleep);
    ran = self.now();
    compute(self, 10_us);
  });
  CallEvent alarm(shared.engine, [&] { sleeper.resume(); });
  shared.engine.schedule(alarm, TimePoint::at(50_ms));
  shared.engine.run();
  if (at_once) {
    CHECK(ran == TimePoint::at(50_ms + 7_us));
  } else {
    CHECK(ran > TimePoint::at(50_ms + 7_us));
    CHECK(ran <= TimePoint::at(53_ms + 7_us)); // the hog's slice
  }
}

TEST_CASE("eevdf lets a thread that wakes up wait for the end of the slice", "[scheduler]") {
  SharedHost shared(1, test::free_scheduler("eevdf"));
  Reason reason("the alarm");
  TimePoint ran;
  shared.spawn("hog a", [](SimThread& self) { compute(self, 60_ms); });
  shared.spawn("hog b", [](SimThread& self) { compute(self, 60_ms); });
  SimThread& sleeper = shared.spawn("sleeper", [&](SimThread& self) {
    self.wait(reason, Category::blocked, Waiting::asleep);
    ran = self.now();
  });
  CallEvent alarm(shared.engine, [&] { sleeper.resume(); });
  shared.engine.schedule(alarm, TimePoint::at(31_ms));
  shared.engine.run();
  CHECK(ran > TimePoint::at(31_ms));
  CHECK(ran <= TimePoint::at(37_ms)); // one slice, or the turn of both
}

TEST_CASE("eevdf: with a limit for short sleeps, who slept longer waits for the end of the slice", "[scheduler]") {
  SchedulerParameters parameters = test::free_scheduler("eevdf");
  parameters.short_sleep = 1_ms;
  const bool is_short = GENERATE(true, false);
  SharedHost shared(1, parameters);
  Reason reason("the alarm");
  TimePoint ran;
  SimThread& sleeper = shared.spawn("sleeper", [&](SimThread& self) {
    self.wait(reason, Category::blocked, Waiting::asleep);
    ran = self.now();
  });
  shared.spawn("hog", [](SimThread& self) { compute(self, 60_ms); });
  const Duration sleep = is_short ? Duration{500_us} : Duration{1'100_us};
  CallEvent alarm(shared.engine, [&] { sleeper.resume(); });
  shared.engine.schedule(alarm, TimePoint::at(sleep));
  shared.engine.run();
  if (is_short) {
    CHECK(ran == TimePoint::at(sleep));
  } else {
    CHECK(ran > TimePoint::at(sleep));
    CHECK(ran <= TimePoint::at(sleep + parameters.slice));
  }
}

TEST_CASE("lazily, a thread that slept for long takes a core when the running one returns from the kernel",
          "[scheduler]") {
  SchedulerParameters parameters = test::free_scheduler("eevdf");
  parameters.short_sleep = 1_ms;
  parameters.tick = 4_ms;
  parameters.preemption = "lazy";
  const bool calls = GENERATE(true, false); // the hog makes a system call every 100 us
  SharedHost shared(1, parameters);
  Reason reason("the alarm");
  TimePoint ran;
  SimThread& sleeper = shared.spawn("sleeper", [&](SimThread& self) {
    self.wait(reason, Category::blocked, Waiting::asleep);
    ran = self.now();
  });
  shared.spawn("hog", [&](SimThread& self) {
    for (int step = 0; step < 600; ++step) {
      compute(self, 100_us);
      if (calls) {
        self.leave_kernel();
      }
    }
  });
  const Duration sleep = 17'050_us;
  CallEvent alarm(shared.engine, [&] { sleeper.resume(); });
  shared.engine.schedule(alarm, TimePoint::at(sleep));
  shared.engine.run();
  CHECK(ran == TimePoint::at(calls ? Duration{17'100_us} : Duration{20_ms}));
}

TEST_CASE("lazily, a thread that is woken on its waker's core takes it at once", "[scheduler]") {
  SchedulerParameters parameters = test::free_scheduler("eevdf");
  parameters.short_sleep = 1_ms;
  parameters.tick = 4_ms;
  parameters.preemption = GENERATE("immediate", "lazy");
  FutexParameters prices;
  prices.wake_call = 2_us;
  SharedHost shared(1, parameters, 1, prices);
  Futex futex(shared.engine, shared.host, "word");
  TimePoint ran;
  TimePoint went_on;
  shared.spawn("sleeper", [&](SimThread& self) {
    futex.wait(self, Category::blocked, [] { return true; });
    ran = self.now();
  });
  shared.spawn("waker", [&](SimThread& self) {
    compute(self, 17_ms);
    futex.wake(self, 1, Category::blocked);
    self.settle();
    compute(self, 1_ms);
    went_on = self.now();
  });
  shared.engine.run();
  if (parameters.preemption == "lazy") {
    CHECK(ran < TimePoint::at(17'010_us));
  } else {
    CHECK(ran >= went_on);
  }
}

TEST_CASE("waker affinity decides where a thread goes that finds no idle core", "[scheduler]") {
  SchedulerParameters parameters = test::free_scheduler("cfs");
  parameters.balance_period = Duration{};
  parameters.waker_affinity = GENERATE(0.0, 1.0);
  SharedHost shared(2, parameters);
  Futex word(shared.engine, shared.host, "word");
  int woken_on = -1;
  SimThread& sleeper = shared.spawn("sleeper", [&](SimThread& self) {
    word.wait(self, Category::blocked, [] { return true; });
    woken_on = self.core();
  });
  shared.spawn_on(1, "waker", [&](SimThread& self) {
    compute(self, 10_ms);
    word.wake(self, 1, Category::software);
    compute(self, 200_ms);
  });
  shared.spawn_on(0, "hog", [](SimThread& self) { compute(self, 200_ms); });
  shared.engine.run();
  CHECK(sleeper.finished());
  CHECK(woken_on == (parameters.waker_affinity > 0.5 ? 1 : 0));
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

TEST_CASE("pinned threads stay where they are, floating ones spread", "[scheduler]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const bool pinned = GENERATE(true, false);
  SharedHost shared(2, test::free_scheduler(policy));
  std::vector<int> cores;
  for (int i = 0; i < 2; ++i) {
    const auto body = [&](SimThread& self) {
      for (int step = 0; step < 100; ++step) {
        compute(self, 200_us);
        cores.push_back(self.core());
      }
    };
    const std::string name = "t" + std::to_string(i);
    pinned ? shared.spawn_on(0, name, body) : shared.spawn(name, body);
  }
  shared.engine.run();
  CHECK(shared.elapsed() == (pinned ? 40_ms : 20_ms));
  CHECK(std::count(cores.begin(), cores.end(), 1) == (pinned ? 0 : 100));
}

TEST_CASE("a thread begins on its first core, if it may use it", "[scheduler]") {
  SchedulerParameters parameters = test::free_scheduler("eevdf");
  parameters.balance_period = Duration{};
  SharedHost shared(2, parameters);
  std::vector<int> cores;
  const auto begin = [&](int first, int allowed) {
    Scheduler::Placement placement;
    placement.first_core = first;
    if (allowed >= 0) {
      placement.allowed.set(static_cast<std::size_t>(allowed));
    }
    SimThread& thread = shared.scheduler.spawn("thread", placement, [](SimThread& self) { compute(self, 1_us); });
    cores.push_back(thread.core());
  };
  begin(1, -1);
  begin(1, -1);
  begin(1, 0);
  begin(7, -1); // there is none: the shortest queue
  begin(-1, -1);
  shared.engine.run();
  CHECK(cores == std::vector<int>{1, 1, 0, 0, 0});
}

TEST_CASE("threads run only where they may", "[scheduler]") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(1, 2, 3));
  SharedHost shared(4, test::costly_scheduler("cfs"), seed);
  CacheLine line(shared.engine, shared.host, "line");
  Reason reason("its alarm");
  bool allowed = true;
  RandomStream random(seed, "masks");
  for (int i = 0; i < 12; ++i) {
    Scheduler::Placement placement;
    placement.allowed = CoreSet(random.below(15) + 1);
    shared.scheduler.spawn("t" + std::to_string(i), placement, [&, mask = placement.allowed](SimThread& self) {
      RandomStream own = shared.engine.stream(self.name());
      for (int step = 0; step < 60; ++step) {
        live(shared, self, line, reason, 1, own);
        allowed = allowed && mask.test(static_cast<std::size_t>(self.core()));
      }
    });
  }
  shared.engine.run();
  CHECK(allowed);
  CHECK(shared.scheduler.counters().migrations > 0);
}

TEST_CASE("an idle core takes a thread that waits elsewhere, unless its caches are warm there", "[scheduler]") {
  SchedulerParameters parameters = test::free_scheduler("cfs");
  parameters.balance_period = Duration{};
  parameters.cache_hot = GENERATE(0_ms, 500_ms);
  SharedHost shared(2, parameters);
  shared.spawn_on(0, "bound", [](SimThread& self) { compute(self, 40_ms); });
  shared.spawn_on(1, "short", [](SimThread& self) { compute(self, 7_ms); });
  const SimThread& free = shared.spawn("free", [](SimThread& self) { compute(self, 40_ms); });
  shared.engine.run();
  // On core 0: bound until 3 ms, free until 6 ms, bound. At 7 ms core 1 has nothing to do.
  if (parameters.cache_hot == Duration{}) {
    CHECK(shared.elapsed() == 44_ms);
    CHECK(in(free, Category::run_queue) == 4_ms);
  } else {
    CHECK(shared.elapsed() == 80_ms);
  }
}

TEST_CASE("queues of different length are balanced", "[scheduler]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  SchedulerParameters parameters = test::free_scheduler(policy);
  parameters.cache_hot = 1'000_ms; // idle cores take nobody
  SharedHost shared(2, parameters);
  for (int i = 0; i < 4; ++i) {
    shared.spawn_on(1, "bound " + std::to_string(i), [](SimThread& self) { compute(self, 2_ms); });
  }
  std::vector<SimThread*> floating; // they find core 0 free
  for (int i = 0; i < 4; ++i) {
    floating.push_back(
        &shared.spawn("t" + std::to_string(i), [](SimThread& self) { compute_until(self, TimePoint::at(400_ms)); }));
  }
  shared.engine.run();
  for (const SimThread* thread : floating) {
    CHECK(in(*thread, Category::software).in_seconds() == Approx((2 * 0.4 - 0.008) / 4).epsilon(0.05));
  }
  CHECK(shared.scheduler.counters().migrations == 2);
}

TEST_CASE("no core idles for long while a thread that may use it waits", "[scheduler]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(1, 6)));
  const SchedulerParameters parameters = test::costly_scheduler(policy);
  SharedHost shared(3, parameters, seed);
  test::SpanWatcher watcher;
  shared.engine.set_trace(&watcher);
  CacheLine line(shared.engine, shared.host, "line");
  Reason reason("its alarm");
  std::vector<SimThread*> all;
  for (int i = 0; i < 8; ++i) {
    all.push_back(
        &shared.spawn("t" + std::to_string(i), [&](SimThread& self) { live(shared, self, line, reason, 120); }));
  }
  shared.engine.run();
  CHECK(watcher.longest_idle_wait(3) <= parameters.balance_period);

  // Never more threads on cores than there are cores, and never less time in an account than has passed.
  const auto busy = watcher.busy();
  CHECK(std::all_of(busy.begin(), busy.end(), [](const auto& level) { return level.second <= 3; }));
  for (const SimThread* thread : all) {
    TimePoint end;
    for (const auto& span : watcher.spans) {
      if (span.thread == thread->id()) {
        CHECK(span.begin == end); // spans follow each other without a gap
        end = span.end;
      }
    }
    CHECK(total(*thread) == end.since_start());
  }
  shared.engine.set_trace(nullptr);
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
