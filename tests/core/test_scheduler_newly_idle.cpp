// A core that falls idle: whether it looks for a thread that waits elsewhere.
#include "core/newly_idle_ratio.hpp"
#include "support/scheduling.hpp"
#include "support/steps.hpp"
#include "support/waiting.hpp"

#include <catch2/catch.hpp>

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <vector>

using namespace contend;
using test::CallEvent;
using test::compute;
using test::in;
using test::Reason;
using test::SharedHost;

namespace {

/// Of so many cases, how many the core looks in, if that share of looks finds a thread.
int looks(NewlyIdleRatio& ratio, int cases, double success, RandomStream& random) {
  int count = 0;
  for (int i = 0; i < cases; ++i) {
    if (ratio.looks(random)) {
      ++count;
      ratio.found(static_cast<double>(random.below(1'000'000)) < success * 1e6);
    }
  }
  return count;
}

SchedulerParameters unbalanced(const char* policy) {
  SchedulerParameters parameters = test::free_scheduler(policy);
  parameters.balance_period = Duration{};
  return parameters;
}

} // namespace

TEST_CASE("a core looks in the share of cases that it begins with, until 512 have passed", "[scheduler]") {
  RandomStream random(1, "cases");
  const double share = GENERATE(0.0, 0.25, 0.75);
  int count = 0;
  for (int i = 0; i < 100; ++i) {
    NewlyIdleRatio ratio(share);
    count += looks(ratio, 511, 0.5, random);
    CHECK(ratio.share() == Approx(share));
  }
  CHECK(count / 51'100.0 == Approx(share).margin(0.01)); // the die has 1024 sides, and one or two of them always look
}

TEST_CASE("the share follows what looks find", "[scheduler]") {
  RandomStream random(1, "cases");
  NewlyIdleRatio ratio(GENERATE(0.02, 0.5));
  constexpr int cases = 300'000;
  const auto share_with = [&](double success) { return looks(ratio, cases, success, random) / double{cases}; };
  CHECK(share_with(0.1) == Approx(0.1).margin(0.03));
  CHECK(share_with(0.4) == Approx(0.4).margin(0.05));
  CHECK(share_with(0.95) > 0.6); // from two thirds on a look counts once, as whole numbers have it
}

TEST_CASE("a core that always looks does so whatever it finds", "[scheduler]") {
  RandomStream random(1, "cases");
  NewlyIdleRatio ratio(1.0);
  CHECK(looks(ratio, 5'000, 0.0, random) == 5'000);
  CHECK(ratio.share() == 1.0);
  CHECK_THROWS_AS(NewlyIdleRatio(-0.1), std::invalid_argument);
  CHECK_THROWS_AS(NewlyIdleRatio(1.1), std::invalid_argument);
  CHECK_THROWS_AS(NewlyIdleRatio(std::numeric_limits<double>::quiet_NaN()), std::invalid_argument);
}

TEST_CASE("a core that falls idle takes new threads, however short they have waited, if it looks", "[scheduler]") {
  SchedulerParameters parameters = unbalanced("eevdf");
  parameters.cache_hot = 500_ms; // new ones have no caches
  parameters.newidle_ratio = GENERATE(0.0, 1.0);
  SharedHost shared(2, parameters);
  Scheduler::Placement behind;
  behind.first_core = 0;
  shared.spawn_on(0, "bound", [](SimThread& self) { compute(self, 1_ms); });
  shared.spawn_on(1, "short", [](SimThread& self) { compute(self, 100_us); });
  const SimThread& waiting = shared.scheduler.spawn("new", behind, [](SimThread& self) { compute(self, 10_us); });
  shared.engine.run();
  CHECK(in(waiting, Category::run_queue) == (parameters.newidle_ratio == 1.0 ? 100_us : 1_ms));
}

TEST_CASE("cfs: a core that idles for moments only does not look", "[scheduler]") {
  SchedulerParameters parameters = unbalanced("cfs");
  parameters.cache_hot = 500_us;
  const Duration nap = GENERATE(50_us, 400_us, 600_us, 5_ms);
  SharedHost shared(2, parameters);
  const Reason reason("its alarm");
  SimThread* waiting = nullptr;
  shared.spawn_on(1, "napping", [&](SimThread& self) {
    CallEvent alarm(shared.engine, [&self] { self.resume(); });
    for (int i = 0; i < 40; ++i) { // the average is at most 1 ms in the beginning
      compute(self, 10_us);
      shared.engine.schedule(alarm, shared.engine.now() + nap);
      self.wait(reason, Category::blocked, Waiting::asleep);
    }
    Scheduler::Placement behind;
    behind.first_core = 0;
    waiting = &shared.scheduler.spawn("waiting", behind, [](SimThread& one) { compute(one, 10_us); });
    compute(self, 10_us);
  });
  shared.spawn_on(0, "bound", [&](SimThread& self) {
    while (waiting == nullptr || in(*waiting, Category::software) == Duration{}) {
      compute(self, 10_us);
    }
  });
  shared.engine.run();
  REQUIRE(waiting != nullptr);
  CHECK((waiting->core() == 1) == (nap >= parameters.cache_hot));
}

TEST_CASE("siblings are looked at before other cores", "[scheduler]") {
  Engine engine(1);
  const Host host(TopologyParameters{1, 2, 2}, {}, {});
  SchedulerParameters parameters = unbalanced("eevdf");
  Scheduler scheduler(engine, host, 0, parameters, 4);
  std::vector<SimThread*> waiting;
  const auto spawn = [&](int core, Duration computing, bool pinned) -> SimThread& {
    Scheduler::Placement placement;
    placement.first_core = core;
    if (pinned) {
      placement.allowed.set(static_cast<std::size_t>(core));
    }
    return scheduler.spawn("thread", placement, [computing](SimThread& self) { compute(self, computing); });
  };
  for (const int core : {0, 1, 3}) {
    spawn(core, core == 0 ? Duration{10_us} : Duration{2_ms}, true);
  }
  for (const int core : {3, 3, 1}) { // two on another core, one on the sibling of core 0
    waiting.push_back(&spawn(core, 1_ms, false));
  }
  spawn(2, 2_ms, true);
  engine.run();
  CHECK(in(*waiting[2], Category::run_queue) == 10_us);
}

TEST_CASE("after looks in vain one thread with warm caches is taken, and then they count again", "[scheduler]") {
  SchedulerParameters parameters = test::free_scheduler("eevdf");
  parameters.cache_hot = 500_ms;
  parameters.slice = 100_us;
  SharedHost shared(2, parameters);
  const Reason reason("its alarm");
  std::vector<TimePoint> taken;
  const auto done = [&] { return taken.size() == 2; };
  Scheduler::Placement here;
  here.first_core = 0;
  for (int i = 0; i < 2; ++i) {
    shared.scheduler.spawn("free", here, [&](SimThread& self) {
      while (self.core() == 0) {
        compute(self, 10_us);
      }
      taken.push_back(self.now());
    });
  }
  shared.spawn_on(0, "bound", [&](SimThread& self) {
    while (!done()) {
      compute(self, 10_us);
    }
  });
  shared.spawn_on(1, "napping", [&](SimThread& self) {
    CallEvent alarm(shared.engine, [&self] { self.resume(); });
    compute(self, 1_ms); // the others have all run then
    while (!done()) {
      compute(self, 10_us);
      shared.engine.schedule(alarm, shared.engine.now() + 20_us);
      self.wait(reason, Category::blocked, Waiting::asleep);
    }
  });
  shared.engine.run();
  CHECK(taken[0].since_start() > 3_ms); // patience is for two looks, one in 2 or 4 ms
  CHECK(taken[1] - taken[0] > 2_ms);
}
