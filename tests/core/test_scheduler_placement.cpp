// Which core: where threads begin, may run, and are moved to.
#include "core/futex.hpp"
#include "support/lives.hpp"
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
using test::compute_until;
using test::in;
using test::live;
using test::Reason;
using test::SharedHost;
using test::total;

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
  CHECK(watcher.longest_idle_wait(3) <= parameters.balance_period * 3); // of a domain of three cores

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
