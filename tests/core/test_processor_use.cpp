// What the operating system would say of simulated threads: processor time and switches.
#include "core/futex.hpp"
#include "core/sleep.hpp"
#include "support/scheduling.hpp"
#include "support/waiting.hpp"

#include <catch2/catch.hpp>

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

Duration processor(const SimThread& thread) { return thread.processor_use().processor; }
std::uint64_t voluntary(const SimThread& thread) { return thread.processor_use().voluntary_switches; }
std::uint64_t involuntary(const SimThread& thread) { return thread.processor_use().involuntary_switches; }

} // namespace

TEST_CASE("a thread with a core of its own uses it but for its sleep", "[processor use]") {
  Engine engine(1);
  const Reason reason("the alarm");
  SimThread& sleeper = engine.spawn("sleeper", 0, 0, [&](SimThread& self) {
    compute(self, 5_us);
    self.wait(reason, Category::blocked, Waiting::asleep);
    self.wait(reason, Category::blocked, Waiting::spinning);
    compute(self, 2_us);
  });
  CallEvent wakes(engine, [&] { sleeper.resume(); });
  engine.schedule(wakes, TimePoint::at(50_us));
  engine.schedule(wakes, TimePoint::at(57_us));
  engine.run();
  CHECK(processor(sleeper) == 14_us); // 5 and 2 of work, and 7 in which it looks and looks
  CHECK(voluntary(sleeper) == 1);
  CHECK(involuntary(sleeper) == 0);
}

TEST_CASE("a thread that sleeps for a time has no processor meanwhile", "[processor use]") {
  const Reason reason("a nap");
  const auto run = [&](SimThread& self) {
    self.owe(1_us, Category::software);
    for (int nap = 0; nap < 3; ++nap) {
      sleep(self, 10_us, Category::barrier, reason);
    }
  };
  Engine engine(1);
  const SimThread& alone = engine.spawn("alone", 0, 0, run);
  engine.run();
  SharedHost shared(1, test::free_scheduler("eevdf"));
  const SimThread& sharing = shared.spawn("sharing", run);
  shared.engine.run();
  for (const SimThread* thread : {&alone, &sharing}) {
    CHECK(processor(*thread) == 1_us);
    CHECK(voluntary(*thread) == 3);
  }
}

TEST_CASE("threads that share a core use it together, and lose it unwillingly", "[processor use][scheduler]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  SharedHost shared(1, test::costly_scheduler(policy));
  std::vector<const SimThread*> threads;
  for (int i = 0; i < 4; ++i) {
    threads.push_back(&shared.spawn("t" + std::to_string(i), [](SimThread& self) { compute(self, 20_ms); }));
  }
  shared.engine.run();
  Duration used;
  std::uint64_t lost = 0;
  for (const SimThread* thread : threads) {
    used += processor(*thread);
    lost += involuntary(*thread);
    CHECK(voluntary(*thread) == 0);
    CHECK(processor(*thread) == total(*thread) - in(*thread, Category::run_queue));
  }
  CHECK(used == shared.engine.last_end().since_start());
  CHECK(lost == shared.scheduler.counters().preemptions);
  CHECK(lost > 4);
}

TEST_CASE("a yield counts as a switch if somebody else gets the core", "[processor use][scheduler]") {
  SharedHost shared(1, test::free_scheduler("eevdf"));
  const auto run = [](SimThread& self) {
    for (int i = 0; i < 10; ++i) {
      compute(self, 10_us);
      self.yield();
    }
  };
  const SimThread& one = shared.spawn("one", run);
  const SimThread& other = shared.spawn("other", run);
  shared.engine.run();
  const auto switches = shared.scheduler.counters().switches;
  CHECK(shared.scheduler.counters().yields == 20);
  CHECK(shared.scheduler.counters().preemptions == 0);
  // Each switch is a yield, but for that to the second thread when the first one has ended.
  CHECK(involuntary(one) + involuntary(other) + 1 >= switches);
  CHECK(involuntary(one) + involuntary(other) <= switches);
  CHECK(switches > 10);
  SharedHost apart(2, test::free_scheduler("eevdf"));
  const SimThread& first = apart.spawn_on(0, "first", run);
  const SimThread& second = apart.spawn_on(1, "second", run);
  apart.engine.run();
  CHECK(involuntary(first) + involuntary(second) == 0);
}

TEST_CASE("sleepers, spinners and hogs on few cores: what is not slept and not queued is used",
          "[processor use][scheduler]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const int cores = GENERATE(1, 2, 3);
  FutexParameters prices;
  prices.wait_call = 503_ns;
  prices.wake_call = 1'203_ns;
  SharedHost shared(cores, test::costly_scheduler(policy), 1, prices);
  Futex futex(shared.engine, shared.host, "word");
  int tokens = 0;
  std::uint64_t slept = 0;
  std::vector<const SimThread*> threads;
  for (int i = 0; i < 5; ++i) {
    threads.push_back(&shared.spawn("taker " + std::to_string(i), [&, i](SimThread& self) {
      for (int step = 0; step < 40; ++step) {
        compute(self, (i + 1) * 37_us);
        while (tokens == 0) {
          slept += futex.wait(self, Category::blocked, [&] { return tokens == 0; }) ? 1 : 0;
        }
        --tokens;
      }
    }));
  }
  threads.push_back(&shared.spawn("giver", [&](SimThread& self) {
    for (int step = 0; step < 200; ++step) {
      compute(self, 101_us);
      self.settle();
      ++tokens;
      futex.wake(self, 1, Category::software);
    }
  }));
  shared.engine.run();
  std::uint64_t fell_asleep = 0;
  for (const SimThread* thread : threads) {
    fell_asleep += voluntary(*thread);
    // Calls that sleep are charged to blocked as a whole: their own time is what is used of it.
    const Duration rest = total(*thread) - in(*thread, Category::run_queue) - in(*thread, Category::blocked);
    CHECK(processor(*thread) >= rest);
    CHECK(processor(*thread) <= rest + 40 * 20 * prices.wait_call);
  }
  CHECK(fell_asleep == slept);
  CHECK(slept > 20);
}

TEST_CASE("of a sleep in which the accounts start afresh the rest counts", "[processor use]") {
  Engine engine(1);
  const Reason reason("the alarm");
  SimThread& sleeper = engine.spawn("sleeper", 0, 0, [&](SimThread& self) {
    compute(self, 5_us);
    self.wait(reason, Category::blocked, Waiting::asleep);
    compute(self, 3_us);
  });
  engine.spawn("other", 0, 1, [&](SimThread& self) {
    compute(self, 20_us);
    self.settle();
    sleeper.reset_times();
    compute(self, 30_us);
    self.settle();
    sleeper.resume();
  });
  engine.run();
  CHECK(processor(sleeper) == 3_us);
  CHECK(total(sleeper) == 33_us);
}
