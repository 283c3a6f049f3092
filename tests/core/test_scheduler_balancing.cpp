// Balancing: which threads change cores although none idles.
#include "support/lives.hpp"
#include "support/scheduling.hpp"
#include "support/steps.hpp"
#include "support/waiting.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace contend;
using test::compute;
using test::compute_until;
using test::in;
using test::SharedHost;

namespace {

/// How much of the cores each of `threads` has had, of a second, on a host of that shape; all want a core all the time.
std::vector<double> shares(const TopologyParameters& topology, const SchedulerParameters& parameters, int threads) {
  Engine engine(1);
  const Host host(topology, {}, {});
  Scheduler scheduler(engine, host, 0, parameters, topology.hardware_threads());
  std::vector<SimThread*> all;
  all.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    all.push_back(&scheduler.spawn("t" + std::to_string(i), {},
                                   [](SimThread& self) { compute_until(self, TimePoint::at(4'000_ms)); }));
  }
  engine.run();
  std::vector<double> had;
  had.reserve(all.size());
  for (const SimThread* thread : all) {
    had.push_back(in(*thread, Category::software).in_seconds() / 4.0);
  }
  return had;
}

} // namespace

TEST_CASE("one thread too many goes round", "[scheduler]") {
  SchedulerParameters parameters = test::costly_scheduler(GENERATE("cfs", "eevdf"));
  parameters.busy_factor = 16;
  const TopologyParameters topology = GENERATE(TopologyParameters{1, 2, 1}, TopologyParameters{1, 1, 2},
                                               TopologyParameters{1, 4, 1}, TopologyParameters{1, 2, 2});
  const int threads = topology.hardware_threads() + 1;
  const double fair = static_cast<double>(topology.hardware_threads()) / threads;
  for (const double share : shares(topology, parameters, threads)) {
    CHECK(share == Approx(fair).epsilon(0.25)); // were it to stay where it is, two would have half and the others all
  }
}

TEST_CASE("threads begin where there is least to do, sockets first", "[scheduler]") {
  Engine engine(1);
  const Host host(TopologyParameters{2, 2, 2}, {}, {});
  Scheduler scheduler(engine, host, 0, test::free_scheduler("cfs"), 8);
  std::vector<int> cores;
  for (int i = 0; i < 10; ++i) {
    cores.push_back(scheduler.spawn("t", {}, [](SimThread& self) { self.spend(1_us, Category::software); }).core());
  }
  engine.run();
  CHECK(cores == std::vector<int>{0, 4, 2, 6, 1, 5, 3, 7, 0, 4});
}

TEST_CASE("load that differs little between sockets stays where it is", "[scheduler]") {
  const auto had = shares(TopologyParameters{2, 4, 1}, test::costly_scheduler("cfs"), 9); // five and four
  const auto alone = std::count_if(had.begin(), had.end(), [](double share) { return share > 0.95; });
  CHECK(alone == 4); // 125 % would be too much
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
    CHECK(in(*thread, Category::software).in_seconds() == Approx((2 * 0.4 - 0.008) / 4).epsilon(0.2));
  }
  CHECK(shared.scheduler.counters().migrations >= 2);
}

TEST_CASE("a core that balancing has just emptied runs what balancing brings", "[scheduler]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  SchedulerParameters parameters = test::free_scheduler(policy);
  parameters.wakeup_granularity = 1_us;
  SharedHost shared(3, parameters);
  int ended = 0;
  const auto spawn = [&](int first, int second) {
    Scheduler::Placement placement;
    placement.allowed.set(static_cast<std::size_t>(first));
    placement.allowed.set(static_cast<std::size_t>(second));
    placement.first_core = first;
    shared.scheduler.spawn("thread", placement, [&](SimThread& self) {
      for (int step = 0; step < 2000; ++step) {
        self.spend(20_us, Category::software);
      }
      ++ended;
    });
  };
  for (int thread = 0; thread < 4; ++thread) {
    spawn(0, 1);
  }
  spawn(1, 2); // may go to the core that idles, when it has lost its own
  shared.engine.run();
  CHECK(ended == 5);
}

TEST_CASE("eevdf: a thread that is moved does not end a slice that is protected", "[scheduler]") {
  const bool slept = GENERATE(true, false);
  SchedulerParameters parameters = test::free_scheduler("eevdf");
  parameters.short_sleep = 1_ms;
  parameters.slice = 10_ms;
  SharedHost shared(2, parameters);
  const test::Reason reason("a bell");
  const auto spawn = [&](int core, bool pinned, bool sleeps) -> SimThread& {
    Scheduler::Placement placement;
    placement.first_core = core;
    if (pinned) {
      placement.allowed.set(static_cast<std::size_t>(core));
    }
    return shared.scheduler.spawn("thread", placement, [&reason, sleeps](SimThread& self) {
      if (sleeps) {
        self.wait(reason, Category::blocked, Waiting::asleep);
      }
      self.spend(30_ms, Category::software);
    });
  };
  SimThread& protected_one = spawn(1, true, false); // until it has run for 5 ms, half a slice
  SimThread& first = spawn(0, false, slept);
  SimThread& second = spawn(0, false, slept);
  spawn(0, true, false);
  const auto wake = [&] {
    if (slept) {
      first.resume();
      second.resume();
    }
  };
  test::CallEvent bell(shared.engine, wake);
  shared.engine.schedule(bell, TimePoint::at(3_ms));
  bool has_core = false;
  const auto look = [&] { has_core = shared.scheduler.has_core(protected_one); };
  test::CallEvent looking(shared.engine, look);
  shared.engine.schedule(looking, TimePoint::at(4500_us));
  shared.engine.run();
  CHECK(has_core);
  CHECK(shared.elapsed() < 70_ms); // four threads of 30 ms were balanced
}

TEST_CASE("an idle core is interrupted to look for load at a timer's interrupt, and after that not for long",
          "[scheduler]") {
  SchedulerParameters parameters = test::free_scheduler("eevdf");
  parameters.newidle_ratio = 0.0;
  parameters.tick = 1_ms;
  parameters.busy_factor = 16; // two cores look every 31 ms, and idle ones at each interrupt
  FutexParameters futex;
  futex.wake_latency = 20_us;
  SharedHost shared(2, parameters, 1, futex);
  std::vector<Duration> taken;
  Scheduler::Placement here;
  here.first_core = 0;
  for (int i = 0; i < 3; ++i) {
    shared.scheduler.spawn("free", here, [&](SimThread& self) {
      while (self.core() == 0) {
        compute(self, 10_us);
      }
      taken.push_back(self.now().since_start());
    });
  }
  shared.spawn_on(0, "bound", [&](SimThread& self) {
    while (taken.size() < 3) {
      compute(self, 10_us);
    }
  });
  shared.engine.run();
  // Core 1 looks first 2 ms after 1 ms, where it would have begun as a busy one; two of four threads are its share, which end at once.
  REQUIRE(taken.size() == 3);
  CHECK(taken[0] - 3'020_us < 1_us);
  CHECK(taken[1] - taken[0] < 10_us);
  CHECK(taken[2] - taken[0] < 31'001_us);
  CHECK(taken[2] - taken[0] > 30'980_us);
}
