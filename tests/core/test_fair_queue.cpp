// The run queue of one core: who is next, for how long, and who may interrupt whom.
#include "core/fair_queue.hpp"
#include "support/scheduling.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

using namespace contend;
using Arrival = FairQueue::Arrival;

namespace {

/// Runs the best one for its slice, again and again; returns who ran how long.
template <std::size_t n>
std::array<Duration, n> rotate(FairQueue& queue, std::array<FairEntity, n>& entities, Duration time) {
  std::array<Duration, n> had{};
  for (auto& entity : entities) {
    queue.add(entity, Arrival::started);
  }
  for (Duration used; used < time;) {
    FairEntity* const next = queue.best();
    REQUIRE(next != nullptr);
    queue.run(*next);
    const Duration slice = queue.slice_left();
    REQUIRE(slice > Duration{});
    CHECK_FALSE(queue.expired());
    queue.account(slice);
    CHECK(queue.expired());
    had[static_cast<std::size_t>(next - entities.data())] += slice;
    used += slice;
    queue.stop();
  }
  return had;
}

} // namespace

TEST_CASE("threads of equal weight get equal shares, one slice apart", "[scheduler][queue]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const SchedulerParameters parameters = test::free_scheduler(policy);
  const auto queue = make_fair_queue(parameters);
  std::array<FairEntity, 5> entities;
  const auto had = rotate(*queue, entities, 300_ms);
  for (const Duration time : had) {
    CHECK(time >= 60_ms - 2 * parameters.slice);
    CHECK(time <= 60_ms + 2 * parameters.slice);
  }
}

TEST_CASE("shares follow weights", "[scheduler][queue]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const auto queue = make_fair_queue(test::free_scheduler(policy));
  std::array<FairEntity, 3> entities;
  entities[0].weight = 1024;
  entities[1].weight = 2048;
  entities[2].weight = 5120;
  const auto had = rotate(*queue, entities, 800_ms);
  CHECK(had[0].in_seconds() == Approx(0.100).epsilon(0.1));
  CHECK(had[1].in_seconds() == Approx(0.200).epsilon(0.05));
  CHECK(had[2].in_seconds() == Approx(0.500).epsilon(0.03));
}

TEST_CASE("slices of weights that do not divide are over when their ends were announced", "[scheduler][queue]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const auto queue = make_fair_queue(test::free_scheduler(policy));
  std::array<FairEntity, 3> entities;
  entities[0].weight = 335; // nice values of 5, -1 and -7 in Linux
  entities[1].weight = 1277;
  entities[2].weight = 4904;
  for (auto& entity : entities) {
    queue->add(entity, Arrival::started);
  }
  for (int slice = 0; slice < 100; ++slice) {
    queue->run(*queue->best());
    queue->account(queue->slice_left());
    REQUIRE(queue->expired());
    queue->stop();
  }
}

TEST_CASE("cfs divides its latency among the threads, down to the shortest slice", "[scheduler][queue]") {
  const SchedulerParameters parameters = test::free_scheduler("cfs");
  const auto queue = make_fair_queue(parameters);
  std::array<FairEntity, 16> entities;
  for (std::size_t n = 1; n <= entities.size(); ++n) {
    queue->add(entities[n - 1], Arrival::started);
    if (n == 1) {
      queue->run(entities[0]);
    }
    const auto count = static_cast<std::int64_t>(n);
    CHECK(queue->slice_left() == std::max(Duration::picoseconds(parameters.latency.count() / count), parameters.slice));
  }
}

TEST_CASE("a thread alone is never due", "[scheduler][queue]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const auto queue = make_fair_queue(test::free_scheduler(policy));
  FairEntity only;
  queue->add(only, Arrival::started);
  queue->run(only);
  queue->account(1'000_ms);
  CHECK_FALSE(queue->expired());
  CHECK(queue->best() == &only);
  queue->leave();
  CHECK(queue->best() == nullptr);
  CHECK(queue->length() == 0);
}

TEST_CASE("cfs: a sleeper's credit is limited, and decides on preemption", "[scheduler][queue]") {
  SchedulerParameters parameters = test::free_scheduler("cfs");
  const bool small = GENERATE(true, false);
  parameters.wakeup_granularity = small ? 2'999_us : 3'001_us; // around half of the latency
  const auto queue = make_fair_queue(parameters);
  FairEntity hog;
  FairEntity sleeper;
  queue->add(hog, Arrival::started);
  queue->add(sleeper, Arrival::started);
  queue->run(sleeper);
  queue->leave();
  queue->run(hog);
  queue->account(500_ms); // the sleeper is 500 ms behind now, but for the limit
  queue->add(sleeper, Arrival::woken);
  CHECK(hog.vruntime - sleeper.vruntime == (parameters.latency.count() / 2));
  CHECK(queue->preempts(sleeper, FairQueue::Arrival::woken) == small);
}

TEST_CASE("cfs: a new thread comes after a slice of everybody, one that exists since the beginning does not",
          "[scheduler][queue]") {
  const SchedulerParameters parameters = test::free_scheduler("cfs");
  const auto queue = make_fair_queue(parameters);
  std::array<FairEntity, 4> entities;
  queue->add(entities[0], Arrival::started);
  queue->add(entities[1], Arrival::started);
  CHECK(entities[1].vruntime == entities[0].vruntime);
  queue->add(entities[2], Arrival::forked);
  const std::int64_t slice = std::max(parameters.latency, parameters.slice * 3).count() / 3;
  CHECK(entities[2].vruntime - entities[0].vruntime == slice);
  // It is behind the others, who therefore take the core from it when they wake up.
  CHECK(queue->best() == &entities[0]);
  queue->remove(entities[0]);
  queue->remove(entities[1]);
  queue->run(*queue->best());
  queue->add(entities[0], Arrival::woken);
  CHECK(queue->preempts(entities[0], FairQueue::Arrival::woken) == (slice > parameters.wakeup_granularity.count()));
}

TEST_CASE("cfs: a new thread in a crowd comes after a shortest slice, its own counted", "[scheduler][queue]") {
  const SchedulerParameters parameters = test::free_scheduler("cfs");
  const auto queue = make_fair_queue(parameters);
  std::array<FairEntity, 12> crowd;
  REQUIRE(parameters.slice * 12 > parameters.latency);
  for (auto& entity : crowd) {
    queue->add(entity, Arrival::started);
  }
  FairEntity late;
  queue->add(late, Arrival::forked);
  CHECK(late.vruntime - crowd[0].vruntime == parameters.slice.count());
}

TEST_CASE("eevdf: the running thread is protected until its slice is over", "[scheduler][queue]") {
  const SchedulerParameters parameters = test::free_scheduler("eevdf");
  const auto queue = make_fair_queue(parameters);
  FairEntity hog;
  FairEntity sleeper;
  queue->add(hog, Arrival::started);
  queue->run(hog);
  queue->account(1_ms);
  queue->add(sleeper, Arrival::woken);
  CHECK_FALSE(queue->preempts(sleeper, FairQueue::Arrival::woken));
  queue->account(3_ms);
  CHECK(queue->expired());
  CHECK(queue->preempts(sleeper, FairQueue::Arrival::woken));
}

TEST_CASE("eevdf: who has had more than its share is not protected, whatever is left of its slice",
          "[scheduler][queue]") {
  const auto queue = make_fair_queue(test::free_scheduler("eevdf"));
  FairEntity hog;
  FairEntity sleeper;
  queue->add(hog, Arrival::started);
  queue->add(sleeper, Arrival::started);
  queue->run(hog);
  queue->account(2_ms);
  queue->stop();
  queue->run(sleeper);
  queue->account(500_us); // 0.75 ms less than half of the 2.5 ms
  queue->leave();
  queue->run(hog);
  queue->account(1_us);
  CHECK(queue->best() == &hog);
  queue->add(sleeper, Arrival::woken);
  CHECK_FALSE(queue->expired());
  CHECK(queue->preempts(sleeper, FairQueue::Arrival::woken));
  CHECK(queue->best() == &sleeper);
}

TEST_CASE("eevdf, lazily: who has had less than its share keeps its core from threads that it wakes",
          "[scheduler][queue]") {
  SchedulerParameters parameters = test::free_scheduler("eevdf");
  parameters.preemption = "lazy";
  parameters.short_sleep = 1_ms;
  const bool owed = GENERATE(true, false);
  const auto queue = make_fair_queue(parameters);
  FairEntity waker;
  FairEntity other;
  FairEntity sleeper;
  sleeper.woken_here = true;
  sleeper.slept = 5_ms;
  queue->add(waker, Arrival::started);
  queue->add(other, Arrival::started);
  queue->run(other);
  queue->account(2_ms); // twice its share
  queue->stop();
  queue->run(waker);
  queue->account(owed ? 1_ms : 2_ms); // half of that, or as much
  queue->add(sleeper, Arrival::woken);
  CHECK(queue->preempts(sleeper, FairQueue::Arrival::woken) == !owed);
}

TEST_CASE("eevdf, lazily: who has woken up goes next, whoever else wakes up meanwhile", "[scheduler][queue]") {
  SchedulerParameters parameters = test::free_scheduler("eevdf");
  parameters.preemption = "lazy";
  parameters.short_sleep = 50_us;
  const auto queue = make_fair_queue(parameters);
  FairEntity waker;
  FairEntity first;
  FairEntity second;
  first.slept = 10_us;
  second.slept = 5_ms;
  queue->add(waker, Arrival::started);
  queue->run(waker);
  queue->account(100_us);
  queue->add(first, Arrival::woken);
  CHECK(queue->preempts(first, FairQueue::Arrival::woken));
  queue->add(second, Arrival::woken);
  CHECK_FALSE(queue->preempts(second, FairQueue::Arrival::woken));
  CHECK(queue->best() == &first);
}

TEST_CASE("eevdf: sleeping neither wins nor loses time that was owed", "[scheduler][queue]") {
  const auto queue = make_fair_queue(test::free_scheduler("eevdf"));
  FairEntity hog;
  FairEntity greedy;
  queue->add(hog, Arrival::started);
  queue->add(greedy, Arrival::started);
  queue->run(greedy);
  queue->account(2_ms); // 1 ms more than its share of the 2 ms
  queue->leave();
  queue->run(hog);
  queue->account(20_ms);
  queue->add(greedy, Arrival::woken);
  // Half of what it is ahead goes into the average that it is ahead of.
  const std::int64_t ahead = greedy.vruntime - (greedy.vruntime + hog.vruntime) / 2;
  CHECK(Duration::picoseconds(ahead).in_seconds() == Approx(0.001).epsilon(0.01));
}

TEST_CASE("eevdf: what is owed at the departure is two slices at most, or a tick that is longer",
          "[scheduler][queue]") {
  SchedulerParameters parameters = test::free_scheduler("eevdf");
  parameters.tick = GENERATE(Duration{}, 1_ms, 10_ms);
  const auto queue = make_fair_queue(parameters);
  FairEntity patient;
  FairEntity greedy;
  queue->add(patient, Arrival::started);
  queue->add(greedy, Arrival::started);
  queue->run(greedy);
  queue->account(50_ms); // each is 25 ms from the average
  queue->leave();
  const std::int64_t most = std::max(parameters.slice * 2, parameters.tick).count();
  CHECK(greedy.lag == -most);
}

TEST_CASE("eevdf: who gets another weight is owed the same time as before", "[scheduler][queue]") {
  const int weight = GENERATE(256, 512, 1024, 2048);
  const SchedulerParameters parameters = test::free_scheduler("eevdf");
  const auto queue = make_fair_queue(parameters);
  FairEntity hog;
  FairEntity waiting;
  queue->add(hog, Arrival::started);
  queue->add(waiting, Arrival::started);
  queue->run(hog);
  queue->account(2_ms); // the other one is owed the millisecond that this one had too much
  queue->reweigh(waiting, weight);
  const auto of_normal_weight = [&](std::int64_t span) { return static_cast<double>(span) * weight / 1024 * 1e-12; };
  // Lag is the distance from the average, of which this one is a part again.
  const std::int64_t average = (hog.vruntime * 1024 + waiting.vruntime * weight) / (1024 + weight);
  CHECK(of_normal_weight(average - waiting.vruntime) == Approx(0.001).epsilon(0.01));
  // A new thread has half a slice to its deadline.
  CHECK(of_normal_weight(waiting.deadline - waiting.vruntime) ==
        Approx(parameters.slice.in_seconds() / 2).epsilon(0.01));
}

TEST_CASE("who yields lets the others go first", "[scheduler][queue]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const auto queue = make_fair_queue(test::free_scheduler(policy));
  std::array<FairEntity, 3> entities;
  for (auto& entity : entities) {
    queue->add(entity, Arrival::started);
  }
  std::vector<int> order;
  for (int turn = 0; turn < 9; ++turn) {
    FairEntity* const next = queue->best();
    order.push_back(static_cast<int>(next - entities.data()));
    queue->run(*next);
    queue->account(1_us);
    queue->yielded();
    CHECK(queue->best() != next);
    queue->stop();
  }
  for (int i = 0; i < 3; ++i) {
    CHECK(std::count(order.begin(), order.end(), i) == 3);
  }
}

TEST_CASE("eevdf: who yields gives up the rest of its slice, unless it has had more than its share",
          "[scheduler][queue]") {
  const SchedulerParameters parameters = test::free_scheduler("eevdf");
  const auto queue = make_fair_queue(parameters);
  FairEntity other;
  FairEntity yielding;
  queue->add(other, Arrival::started);
  queue->add(yielding, Arrival::started);
  queue->run(yielding);
  const std::int64_t deadline = yielding.deadline;
  queue->yielded(); // at the average
  CHECK(yielding.vruntime == deadline);
  CHECK(yielding.deadline == deadline + parameters.slice.count());
  queue->yielded(); // beyond it by now
  CHECK(yielding.vruntime == deadline);
  CHECK(yielding.deadline == deadline + parameters.slice.count());
}

TEST_CASE("cfs: who yields is passed over for one ahead by no more than the granularity of that one's weight",
          "[scheduler][queue]") {
  const int weight = GENERATE(512, 1024, 2048);
  const SchedulerParameters parameters = test::free_scheduler("cfs");
  const Duration granularity = parameters.wakeup_granularity;
  for (const bool further : {false, true}) {
    const auto queue = make_fair_queue(parameters);
    FairEntity other;
    other.weight = weight;
    FairEntity yielding;
    queue->add(other, Arrival::started);
    queue->add(yielding, Arrival::started);
    queue->run(other);
    queue->account(granularity + (further ? 1_us : -1_us)); // in its own time, whatever its weight
    queue->stop();
    queue->run(yielding);
    queue->yielded();
    CHECK(queue->best() == (further ? &yielding : &other));
  }
}

TEST_CASE("cfs: who wakes up takes the core from one that is ahead by the granularity of the woken one's weight",
          "[scheduler][queue]") {
  const int weight = GENERATE(512, 1024, 2048);
  const SchedulerParameters parameters = test::free_scheduler("cfs");
  const auto queue = make_fair_queue(parameters);
  FairEntity running;
  FairEntity woken;
  woken.weight = weight;
  queue->add(running, Arrival::started);
  queue->add(woken, Arrival::started);
  queue->run(running);
  queue->account(Duration::picoseconds(parameters.wakeup_granularity.count() * 1024 / weight));
  CHECK_FALSE(queue->preempts(woken, Arrival::woken));
  queue->account(1_us);
  CHECK(queue->preempts(woken, Arrival::woken));
}

TEST_CASE("a thread that moves to another core keeps its place", "[scheduler][queue]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const SchedulerParameters parameters = test::free_scheduler(policy);
  const auto here = make_fair_queue(parameters);
  const auto there = make_fair_queue(parameters);
  std::array<FairEntity, 2> here_first;
  std::array<FairEntity, 2> there_first;
  rotate(*here, here_first, 900_ms); // virtual times have gone different ways
  rotate(*there, there_first, 60_ms);
  FairEntity& moving = here_first[0];
  here->remove(moving);
  there->add(moving, Arrival::migrated);
  CHECK(moving.vruntime < 40_ms .count());
  std::array<Duration, 3> had{};
  for (int i = 0; i < 60; ++i) {
    FairEntity* const next = there->best();
    there->run(*next);
    const Duration slice = there->slice_left();
    there->account(slice);
    had[next == &moving ? 2 : static_cast<std::size_t>(next - there_first.data())] += slice;
    there->stop();
  }
  for (const Duration time : had) {
    CHECK(time.in_seconds() == Approx(had[0].in_seconds()).epsilon(0.15));
  }
}

TEST_CASE("an unknown policy is refused", "[scheduler][queue]") {
  SchedulerParameters parameters = test::free_scheduler("cfs");
  parameters.policy = "lottery";
  CHECK_THROWS_WITH(make_fair_queue(parameters), Catch::Contains("lottery"));
}

TEST_CASE("cfs: a slice is over when its end was announced, by either rule", "[scheduler]") {
  SchedulerParameters parameters = test::free_scheduler("cfs");
  parameters.latency = 24_ms;
  parameters.slice = 3_ms;
  const Duration ahead = GENERATE(1_ms, 4_ms, 11_ms, 30_ms);
  const auto queue = make_fair_queue(parameters);
  FairEntity behind;
  FairEntity leading;
  queue->add(behind, Arrival::started);
  queue->add(leading, Arrival::started);
  queue->run(leading);
  queue->account(ahead);
  queue->stop();
  queue->run(leading); // again
  const Duration left = queue->slice_left();
  CHECK(left <= 12_ms);
  CHECK(left >= 3_ms);
  queue->account(left - Duration::picoseconds(1));
  CHECK_FALSE(queue->expired());
  queue->account(Duration::picoseconds(1));
  CHECK(queue->expired());
}
