// Threads that wake up: whether, when and where they take a core from others.
#include "core/futex.hpp"
#include "support/scheduling.hpp"
#include "support/steps.hpp"
#include "support/waiting.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
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

/// A thread that sleeps until `word` is woken, and notes on which core it is then.
SimThread& spawn_sleeper(SharedHost& shared, Futex& word, int& woken_on) {
  return shared.spawn("sleeper", [&](SimThread& self) {
    word.wait(self, Category::blocked, [] { return true; });
    woken_on = self.core();
  });
}

} // namespace

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
  // The hog makes a system call every 100 us: one of a socket, one that wakes nobody, one that waits in vain.
  const auto* const call = GENERATE("none", "socket", "wake", "wait");
  SharedHost shared(1, parameters);
  Futex futex(shared.engine, shared.host, "word");
  Reason reason("the alarm");
  TimePoint ran;
  SimThread& sleeper = shared.spawn("sleeper", [&](SimThread& self) {
    self.wait(reason, Category::blocked, Waiting::asleep);
    ran = self.now();
  });
  shared.spawn("hog", [&](SimThread& self) {
    for (int step = 0; step < 600; ++step) {
      compute(self, 100_us);
      if (call == std::string("socket")) {
        self.leave_kernel();
      } else if (call == std::string("wake")) {
        CHECK(futex.wake(self, 1, Category::software) == 0);
      } else if (call == std::string("wait")) {
        CHECK_FALSE(futex.wait(self, Category::software, [] { return false; }));
      }
    }
  });
  const Duration sleep = 17'050_us;
  CallEvent alarm(shared.engine, [&] { sleeper.resume(); });
  shared.engine.schedule(alarm, TimePoint::at(sleep));
  shared.engine.run();
  CHECK(ran == TimePoint::at(call == std::string("none") ? Duration{20_ms} : Duration{17'100_us}));
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

TEST_CASE("whom a call wakes is in a run queue when it is over, however short it is", "[futex][scheduler]") {
  SchedulerParameters parameters = test::free_scheduler("eevdf");
  parameters.wake_call = GENERATE(2_us, 0_ns);
  SharedHost shared(1, parameters);
  Futex futex(shared.engine, shared.host, "word");
  shared.spawn("sleeper", [&](SimThread& self) { futex.wait(self, Category::blocked, [] { return true; }); });
  shared.spawn("waker", [&](SimThread& self) {
    compute(self, 17_ms);
    const auto before = shared.scheduler.counters().wakeups;
    CHECK(futex.wake(self, 1, Category::blocked) == 1);
    self.settle();
    CHECK(shared.scheduler.counters().wakeups == before + 1);
  });
  shared.engine.run();
}

TEST_CASE("eevdf: a thread goes to its waker's core if that has less load", "[scheduler]") {
  SchedulerParameters parameters = test::free_scheduler("eevdf");
  parameters.balance_period = Duration{};
  const int hogs = GENERATE(2, 3);
  SharedHost shared(2, parameters);
  Futex word(shared.engine, shared.host, "word");
  int woken_on = -1;
  const SimThread& sleeper = spawn_sleeper(shared, word, woken_on);
  REQUIRE(sleeper.core() == 0);
  shared.spawn_on(1, "waker", [&](SimThread& self) {
    compute(self, 200_ms);
    word.wake(self, 1, Category::software);
    compute(self, 200_ms);
  });
  for (int hog = 0; hog < hogs; ++hog) {
    shared.spawn_on(0, "hog", [](SimThread& self) { compute(self, 400_ms); });
  }
  shared.engine.run();
  CHECK(sleeper.finished());
  // The sleeper counts as one thread, as it did when it fell asleep: 1 + 1 against 2 - 1 or 3 - 1, and the latter by 1.08.
  CHECK(woken_on == (hogs == 3 ? 1 : 0));
}

TEST_CASE("eevdf: where cores were busy of late nobody looks for an idle one", "[scheduler]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const Duration idle = GENERATE(1_ms, 300_ms);
  SchedulerParameters parameters = test::free_scheduler(policy);
  parameters.balance_period = Duration{};
  SharedHost shared(2, parameters);
  Futex word(shared.engine, shared.host, "word");
  int woken_on = -1;
  const SimThread& sleeper = spawn_sleeper(shared, word, woken_on);
  REQUIRE(sleeper.core() == 0);
  shared.spawn_on(0, "waker", [&](SimThread& self) {
    compute(self, 200_ms + idle);
    word.wake(self, 1, Category::software);
    compute(self, 200_ms);
  });
  shared.spawn_on(1, "neighbour", [](SimThread& self) { compute(self, 200_ms); });
  shared.engine.run();
  CHECK(sleeper.finished());
  const bool looks = std::string(policy) == "cfs" || idle > 100_ms;
  CHECK(woken_on == (looks ? 1 : 0));
}

TEST_CASE("waker affinity decides where a thread goes that finds no idle core", "[scheduler]") {
  SchedulerParameters parameters = test::free_scheduler("cfs");
  parameters.balance_period = Duration{};
  parameters.waker_affinity = GENERATE(0.0, 1.0);
  SharedHost shared(2, parameters);
  Futex word(shared.engine, shared.host, "word");
  int woken_on = -1;
  const SimThread& sleeper = spawn_sleeper(shared, word, woken_on);
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
