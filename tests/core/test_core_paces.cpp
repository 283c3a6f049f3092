// Cores that differ in pace: what is work takes longer on a slow one, what is time does not, and accounts and traces agree
// with the clock.
#include "support/paces.hpp"
#include "support/times.hpp"
#include "support/waiting.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace contend;
using test::CallEvent;
using test::half_thrice;
using test::in;
using test::mix_cores;
using test::MixedCores;
using test::total;

namespace {

constexpr Duration unit = 1'000'000'000_ps; ///< long enough for all digits of a factor that matter

std::vector<Duration> units(const CorePaces& paces, int cores) {
  std::vector<Duration> times;
  for (int core = 0; core < cores; ++core) {
    times.push_back(paces.on(core, unit));
  }
  return times;
}

std::vector<Duration> units(const SlowCoreParameters& parameters, int cores, std::uint64_t seed) {
  const TopologyParameters topology{.sockets = 1, .cores_per_socket = cores};
  return units(CorePaces(parameters, topology, RandomStream(seed, "slow cores")), cores);
}

/// Checks that the spans of each thread follow each other, from where it was first seen on.
class Spans final : public TraceSink {
public:
  void span(const SimThread& thread, Category category, TimePoint begin, TimePoint end) override {
    const auto last = last_.find(thread.id());
    CHECK((last == last_.end() || last->second == begin));
    CHECK(begin <= end);
    first_.try_emplace(thread.id(), begin);
    last_[thread.id()] = end;
    in_[{thread.id(), category}] += end - begin;
    ++count;
  }
  [[nodiscard]] TimePoint first(const SimThread& thread) const { return first_.at(thread.id()); }
  [[nodiscard]] TimePoint last(const SimThread& thread) const { return last_.at(thread.id()); }
  [[nodiscard]] bool has(const SimThread& thread) const { return first_.count(thread.id()) == 1; }
  [[nodiscard]] Duration in(const SimThread& thread, Category category) const {
    const auto found = in_.find({thread.id(), category});
    return found == in_.end() ? Duration{} : found->second;
  }

  int count = 0;

private:
  std::map<int, TimePoint> first_;
  std::map<int, TimePoint> last_;
  std::map<std::pair<int, Category>, Duration> in_;
};

/// One step of each kind, each with a category of its own: 100 ns by price, then 100 ns by the clock.
void one_of_each(SimThread& self) {
  self.owe(100_ns, Category::software);
  self.owe_time(100_ns, Category::line_transfer);
  self.spend(100_ns, Category::matching);
  self.spend_time(100_ns, Category::compute);
  self.stall(100_ns, Category::lock_wait);
  self.owe(100_ns, Category::copy);
  if (!self.spend_alone(100_ns, Category::nic_post)) {
    self.spend(100_ns, Category::nic_post);
  }
}

} // namespace

TEST_CASE("the hardware threads of a core are slow together", "[core][paces]") {
  const TopologyParameters topology{.sockets = 1, .cores_per_socket = 50, .threads_per_core = 2};
  const CorePaces paces({.share = 0.5, .slowdown = 1.5}, topology, RandomStream(1, "slow cores"));
  const std::vector<Duration> times = units(paces, 100);
  for (std::size_t thread = 0; thread < times.size(); thread += 2) {
    CHECK(times[thread] == times[thread + 1]);
  }
  CHECK(std::count(times.begin(), times.end(), times.front()) < 100);
}

TEST_CASE("prices are means over quick and slow cores", "[core][slow cores]") {
  for (const double share : {0.1, 0.5, 0.9}) {
    for (const double slowdown : {1.0, 1.45, 3.0, 100.0}) {
      CAPTURE(share, slowdown);
      Duration quick = Duration::max();
      Duration slow;
      for (const Duration time : units({share, slowdown}, 200, 7)) {
        quick = std::min(quick, time);
        slow = std::max(slow, time);
      }
      CHECK(slow.in_seconds() == Approx(slowdown * quick.in_seconds()).epsilon(1e-6));
      CHECK(share * slow.in_seconds() + (1 - share) * quick.in_seconds() == Approx(unit.in_seconds()).epsilon(1e-6));
      for (const Duration time : units({share, slowdown}, 200, 7)) { // nothing in between
        CHECK((time == quick || time == slow));
      }
    }
  }
}

TEST_CASE("where all cores are slow, or none is, work takes what its price says", "[core][slow cores]") {
  for (const double slowdown : {1.0, 1.1, 1.45, 3.0, 49.0, 1000.0}) { // 1/49 * 49 is not 1
    CAPTURE(slowdown);
    for (const double share : {0.0, 1.0}) {
      CHECK(units({share, slowdown}, 50, 3) == std::vector<Duration>(50, unit));
    }
  }
  CHECK(units({0.5, 1.0}, 50, 3) == std::vector<Duration>(50, unit));
  CHECK(SlowCoreParameters{}.none());
  CHECK(SlowCoreParameters{0.0, 3.0}.none());
  CHECK(SlowCoreParameters{0.5, 1.0}.none());
  CHECK_FALSE(half_thrice.none());
}

TEST_CASE("each core is slow with the probability that is its share", "[core][slow cores]") {
  constexpr int cores = 20'000;
  for (const double share : {0.05, 0.3, 0.5, 0.8}) {
    const std::vector<Duration> times = units({share, 2.0}, cores, 11);
    const auto slow = std::count_if(times.begin(), times.end(), [](Duration time) { return time > unit; });
    // Five standard deviations.
    const double margin = 5 * std::sqrt(share * (1 - share) / cores);
    CHECK(static_cast<double>(slow) / cores == Approx(share).margin(margin));
  }
}

TEST_CASE("which cores are slow depends on the stream only", "[core][slow cores]") {
  CHECK(units(half_thrice, 64, 5) == units(half_thrice, 64, 5));
  CHECK(units(half_thrice, 64, 5) != units(half_thrice, 64, 6));
  // More cores, or slower ones, leave the others what they are.
  const std::vector<Duration> some = units(half_thrice, 16, 5);
  std::vector<Duration> more = units(half_thrice, 64, 5);
  more.resize(16);
  CHECK(some == more);
  const std::vector<Duration> slower = units({0.5, 5.0}, 16, 5);
  for (std::size_t core = 0; core < some.size(); ++core) {
    CHECK((some[core] > unit) == (slower[core] > unit));
  }
}

TEST_CASE("work takes longer on a slow core, time does not", "[core][slow cores]") {
  Engine engine(1);
  const MixedCores cores = mix_cores(engine);
  CHECK(engine.core_paces(0) != nullptr);
  CHECK(engine.core_paces(1) == nullptr);
  const bool watched = GENERATE(false, true);
  const bool company = GENERATE(false, true); // others are due in between: nothing is done alone
  CAPTURE(watched, company);
  Spans spans;
  engine.set_trace(watched ? &spans : nullptr);
  std::map<std::string, TimePoint> ends;
  const auto add = [&](const std::string& name, int host, int core) -> SimThread& {
    return engine.spawn(name, host, core, [&](SimThread& self) {
      one_of_each(self);
      self.owe(100_ns, Category::barrier);
      ends[self.name()] = self.now(); // owed time included
    });
  };
  const SimThread& quick = add("quick", 0, cores.quick);
  const SimThread& slow = add("slow", 0, cores.slow);
  const SimThread& elsewhere = add("elsewhere", 1, cores.slow);
  if (company) {
    engine.spawn("company", 1, 0, [](SimThread& self) {
      for (int i = 0; i < 1'000; ++i) {
        self.spend(1_ns, Category::software);
      }
    });
  }
  engine.run();
  engine.set_trace(nullptr);
  for (const auto& [thread, work] :
       std::map<const SimThread*, Duration>{{&quick, 50_ns}, {&slow, 150_ns}, {&elsewhere, 100_ns}}) {
    CAPTURE(thread->name());
    for (const Category category :
         {Category::software, Category::matching, Category::copy, Category::nic_post, Category::barrier}) {
      CHECK(in(*thread, category) == work);
    }
    for (const Category category : {Category::line_transfer, Category::compute, Category::lock_wait}) {
      CHECK(in(*thread, category) == 100_ns);
    }
    CHECK(ends.at(thread->name()) == TimePoint::at(5 * work + 3 * 100_ns));
    CHECK(total(*thread) == 5 * work + 3 * 100_ns);
    if (watched) {
      CHECK(spans.first(*thread) == TimePoint());
      CHECK(spans.last(*thread) == ends.at(thread->name()));
      for (std::size_t i = 0; i < category_count; ++i) {
        CHECK(spans.in(*thread, static_cast<Category>(i)) == thread->times()[i]);
      }
    }
  }
}

TEST_CASE("a thread has nobody beside it for as long as its core takes", "[core][slow cores]") {
  for (const auto& [is_slow, others_due, alone] :
       std::vector<std::tuple<bool, Duration, bool>>{{true, 120_ns, false}, // its price would fit
                                                     {true, 151_ns, true},
                                                     {false, 70_ns, true}, // its price would not
                                                     {false, 40_ns, false}}) {
    CAPTURE(is_slow, others_due.count());
    Engine engine(1);
    const MixedCores cores = mix_cores(engine);
    bool was_alone = !alone;
    CallEvent other(engine, [] {});
    engine.schedule(other, TimePoint::at(others_due));
    const SimThread& thread = engine.spawn("t", 0, is_slow ? cores.slow : cores.quick, [&](SimThread& self) {
      was_alone = self.spend_alone(100_ns, Category::software);
      CHECK(self.now() == TimePoint::at(!was_alone ? 0_ns : is_slow ? 150_ns : 50_ns));
    });
    engine.run();
    CHECK(was_alone == alone);
    CHECK(total(thread) == (!alone ? 0_ns : is_slow ? 150_ns : 50_ns));
  }
}

TEST_CASE("work that the clock has no room for is refused on a slow core, too", "[core][slow cores]") {
  Engine engine(1);
  const MixedCores cores = mix_cores(engine);
  engine.spawn("t", 0, cores.slow, [](SimThread& self) { self.spend(Duration::max(), Category::software); });
  CHECK_THROWS_AS(engine.run(), BeyondTime);
}

TEST_CASE("a trace begins and ends in the middle of a run", "[core][trace]") {
  const bool mixed = GENERATE(false, true);
  Engine engine(1);
  Spans spans;
  int core = 0;
  if (mixed) {
    core = mix_cores(engine).slow;
  }
  const Duration step = mixed ? 15_ns : 10_ns;
  const auto work = [](SimThread& self) {
    for (int i = 0; i < 100; ++i) {
      self.owe(10_ns, Category::copy);
      self.spend(10_ns, Category::software);
      self.spend_time(5_ns, Category::compute);
    }
  };
  const SimThread& before = engine.spawn("before", 0, core, work);
  const SimThread* during = nullptr;
  const SimThread* after = nullptr;
  int seen = 0;
  CallEvent begin(engine, [&] {
    engine.set_trace(&spans);
    during = &engine.spawn("during", 0, core, work);
  });
  CallEvent end(engine, [&] {
    engine.set_trace(nullptr);
    seen = spans.count;
    after = &engine.spawn("after", 0, core, work);
  });
  engine.schedule(begin, TimePoint::at(501_ns));
  engine.schedule(end, TimePoint::at(1'001_ns));
  engine.run();
  CHECK(seen > 20);
  CHECK(spans.count == seen); // nobody tells it of anything once it is out
  CHECK_FALSE(spans.has(*after));
  CHECK(spans.first(*during) == TimePoint::at(501_ns));
  // What was under way when the trace came had been told of, to nobody; the next step begins within a step's time.
  CHECK(spans.first(before) >= TimePoint::at(501_ns));
  CHECK(spans.first(before) <= TimePoint::at(501_ns + 2 * step + 5_ns));
  for (const SimThread* thread : {&before, during}) {
    CHECK(spans.last(*thread) >= TimePoint::at(1'001_ns));
    CHECK(spans.last(*thread) <= TimePoint::at(1'001_ns + 2 * step + 5_ns));
    CHECK(spans.in(*thread, Category::copy) + spans.in(*thread, Category::software) +
              spans.in(*thread, Category::compute) ==
          spans.last(*thread) - spans.first(*thread));
  }
  for (const SimThread* thread : {&before, during, after}) { // watched or not
    CHECK(in(*thread, Category::software) == 100 * step);
    CHECK(in(*thread, Category::copy) == 100 * step);
    CHECK(in(*thread, Category::compute) == 500_ns);
  }
}

TEST_CASE("a sink that takes itself out is told of nothing more", "[core][trace]") {
  class OneSpan final : public TraceSink {
  public:
    explicit OneSpan(Engine& engine) : engine_(engine) {}
    void span(const SimThread& /*thread*/, Category /*category*/, TimePoint /*begin*/, TimePoint /*end*/) override {
      ++count;
      engine_.set_trace(nullptr);
    }
    int count = 0;

  private:
    Engine& engine_;
  };
  const bool mixed = GENERATE(false, true);
  Engine engine(1);
  int core = 0;
  if (mixed) {
    core = mix_cores(engine).slow;
  }
  OneSpan sink(engine);
  engine.set_trace(&sink);
  for (int i = 0; i < 2; ++i) {
    engine.spawn("t" + std::to_string(i), 0, core, one_of_each);
  }
  engine.run();
  CHECK(sink.count == 1);
}
