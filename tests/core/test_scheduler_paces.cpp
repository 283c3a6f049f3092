// Threads that share cores of which some are slow: who has a slow one pays its pace, for as long as it is there.
#include "core/futex.hpp"
#include "support/paces.hpp"
#include "support/scheduling.hpp"
#include "support/waiting.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

using namespace contend;
using test::CallEvent;
using test::compute;
using test::half_thrice;
using test::in;
using test::mix_cores;
using test::MixedCores;

namespace {

/// SharedHost on whose cores work does not take the same.
struct MixedHost {
  explicit MixedHost(int cores, const SchedulerParameters& parameters, std::uint64_t seed = 1,
                     const FutexParameters& futex = {})
      : engine(seed), mixed(mix_cores(engine, cores)), host({1, 8, 1}, {}, futex),
        scheduler(engine, host, 0, parameters, cores) {
    engine.set_step_limit(20'000'000);
  }
  ~MixedHost() { engine.abandon(); }
  MixedHost(const MixedHost&) = delete;
  MixedHost& operator=(const MixedHost&) = delete;

  SimThread& spawn(const std::string& name, SimThread::Body body) { return scheduler.spawn(name, {}, std::move(body)); }
  SimThread& spawn_on(int core, const std::string& name, SimThread::Body body) {
    Scheduler::Placement placement;
    placement.allowed.set(static_cast<std::size_t>(core));
    return scheduler.spawn(name, placement, std::move(body));
  }
  [[nodiscard]] int core(bool slow) const { return slow ? mixed.slow : mixed.quick; }
  [[nodiscard]] Duration elapsed() const { return engine.now().since_start(); }

  Engine engine;
  MixedCores mixed;
  Host host;
  Scheduler scheduler;
};

constexpr double factor(bool slow) { return slow ? 1.5 : 0.5; }

} // namespace

TEST_CASE("work and switches between threads take as long as their core makes them", "[scheduler][slow cores]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const bool slow = GENERATE(false, true);
  SchedulerParameters parameters = test::free_scheduler(policy);
  parameters.context_switch = 5_us;
  parameters.cache_refill = 2_us;
  MixedHost shared(8, parameters);
  std::vector<SimThread*> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(
        &shared.spawn_on(shared.core(slow), "t" + std::to_string(i), [](SimThread& self) { compute(self, 40_ms); }));
  }
  shared.engine.run();
  const auto switches = static_cast<std::int64_t>(shared.scheduler.counters().switches);
  CHECK(switches >= 3);
  const Duration price = 40_ms * 3 + 5_us * switches + 2_us * (switches - 2);
  CHECK(shared.elapsed() == price.scaled(factor(slow)));
  Duration switching;
  for (const SimThread* thread : all) {
    CHECK(in(*thread, Category::software) == (40_ms).scaled(factor(slow)));
    switching += in(*thread, Category::context_switch);
  }
  CHECK(switching == (price - 120_ms).scaled(factor(slow)));
}

TEST_CASE("owed work and stolen time are at the pace of the core, prescribed time is not", "[scheduler][slow cores]") {
  const bool slow = GENERATE(false, true);
  SchedulerParameters parameters = test::costly_scheduler("cfs");
  MixedHost shared(8, parameters);
  const SimThread& alone = shared.spawn_on(shared.core(slow), "alone", [](SimThread& self) {
    for (int i = 0; i < 1'000; ++i) {
      self.owe(30_us, Category::copy); // the timer comes in the middle of it
      compute(self, 20_us);
      self.owe_time(7_us, Category::line_transfer);
      self.spend_time(5_us, Category::compute);
      self.stall(3_us, Category::lock_wait);
    }
  });
  shared.engine.run();
  CHECK(in(alone, Category::copy) == (30_ms).scaled(factor(slow)));
  CHECK(in(alone, Category::software) == (20_ms).scaled(factor(slow)));
  CHECK(in(alone, Category::line_transfer) == 7_ms);
  CHECK(in(alone, Category::compute) == 5_ms);
  CHECK(in(alone, Category::lock_wait) == 3_ms);
  const Duration tick = parameters.tick_cost.scaled(factor(slow));
  CHECK(in(alone, Category::context_switch) == tick * (shared.elapsed() / parameters.tick));
  CHECK(shared.elapsed() == test::total(alone));
}

TEST_CASE("a thread that moves pays the pace of the core where it is", "[scheduler][slow cores]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  std::uint64_t seed = 1;
  const auto differ = [](std::uint64_t candidate) {
    const CorePaces paces(half_thrice, {.sockets = 1, .cores_per_socket = 2}, Engine(candidate).stream("slow cores"));
    return paces.on(0, 1_ms) != paces.on(1, 1_ms);
  };
  while (!differ(seed)) {
    ++seed;
  }
  MixedHost shared(2, test::costly_scheduler(policy), seed);
  std::set<int> cores_used;
  int wrong = 0;
  for (int i = 0; i < 3; ++i) { // three threads on two cores: one has to move now and then
    shared.spawn("t" + std::to_string(i), [&](SimThread& self) {
      for (int step = 0; step < 2'000; ++step) {
        const int core = self.core();
        const Duration before = in(self, Category::software);
        compute(self, 20_us);
        wrong += in(self, Category::software) - before == (20_us).scaled(factor(core == shared.mixed.slow)) ? 0 : 1;
        cores_used.insert(core * 10 + self.id());
      }
    });
  }
  shared.engine.run();
  CHECK(wrong == 0);
  CHECK(cores_used.size() > 3); // somebody has been on both
  CHECK(shared.scheduler.counters().migrations > 0);
}

TEST_CASE("a thread alone on a shared core is alone for as long as its core takes", "[scheduler][slow cores]") {
  for (const bool slow : {false, true}) {
    MixedHost shared(8, test::free_scheduler("eevdf"));
    CallEvent other(shared.engine, [] {});
    shared.engine.schedule(other, TimePoint::at(160_ns));
    shared.spawn_on(shared.core(slow), "alone", [slow](SimThread& self) {
      const TimePoint start = self.now();
      CHECK_FALSE(self.spend_alone_on_shared_core(slow ? 110_ns : 330_ns, Category::software));
      CHECK(self.spend_alone_on_shared_core(100_ns, Category::software));
      CHECK(self.now() - start == (100_ns).scaled(factor(slow)));
      CHECK(in(self, Category::software) == self.now() - start);
    });
    shared.engine.run();
  }
}

TEST_CASE("an interrupt of a thread that computes does not cost it work", "[scheduler][slow cores]") {
  SchedulerParameters parameters = test::free_scheduler("cfs");
  MixedHost shared(8, parameters);
  TimePoint long_end;
  shared.spawn_on(shared.mixed.slow, "long", [&](SimThread& self) {
    compute(self, 50_ms); // one call
    long_end = self.now();
  });
  shared.spawn_on(shared.mixed.slow, "short", [](SimThread& self) { compute(self, 1_ms); });
  shared.engine.run();
  CHECK(long_end == TimePoint::at(76'500_us));
  CHECK(shared.scheduler.counters().preemptions == 1);
}

TEST_CASE("a waker on a shared slow core wakes when its own call is over", "[scheduler][slow cores]") {
  FutexParameters futex;
  futex.wait_call = 1_us;
  futex.wake_call = 2_us;
  futex.wake_latency = 30_us;
  const bool slow = GENERATE(false, true);
  MixedHost shared(8, test::free_scheduler("cfs"), 1, futex);
  Futex word(shared.engine, shared.host, "word");
  TimePoint called;
  TimePoint over;
  TimePoint ran;
  shared.spawn_on(shared.core(!slow), "sleeper", [&](SimThread& self) {
    word.wait(self, Category::blocked, [] { return true; });
    ran = self.now();
  });
  shared.spawn_on(shared.core(slow), "waker", [&](SimThread& self) {
    compute(self, 100_us);
    called = self.now();
    word.wake(self, 1, Category::software);
    over = self.now();
  });
  shared.engine.run();
  CHECK(over - called == (2_us).scaled(factor(slow)));
  CHECK(ran == over + 30_us);
}
