// Groups of threads that compete for cores: shares of groups, of threads within them, and what a yield does there.
#include "core/grouped_queue.hpp"
#include "support/scheduling.hpp"
#include "support/steps.hpp"
#include "support/waiting.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace contend;
using test::free_scheduler;

namespace {

struct GroupedHost {
  GroupedHost(int cores, const SchedulerParameters& parameters, bool grouped = true)
      : engine(1), host({1, 8, 1}, CacheParameters{}, FutexParameters{}),
        scheduler(engine, host, 0, parameters, cores, grouped) {
    engine.set_step_limit(20'000'000);
  }
  ~GroupedHost() { engine.abandon(); }
  GroupedHost(const GroupedHost&) = delete;
  GroupedHost& operator=(const GroupedHost&) = delete;

  SimThread& spawn(int group, SimThread::Body body, int first_core = -1) {
    Scheduler::Placement placement;
    placement.group = group;
    placement.first_core = first_core;
    return scheduler.spawn("thread of " + std::to_string(group), placement, std::move(body));
  }

  Engine engine;
  Host host;
  Scheduler scheduler;
};

/// What a thread has computed when the time is over.
struct Worker {
  Duration had{};
  void work(SimThread& self, Duration until) {
    while (self.now().since_start() < until) {
      self.spend(20_us, Category::software);
      had += 20_us;
    }
  }
};

} // namespace

TEST_CASE("groups have equal shares, whatever their number of threads", "[scheduler][groups]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  GroupedHost shared(1, free_scheduler(policy));
  std::vector<Worker> workers(5); // one thread of group 0, four of group 1
  for (std::size_t i = 0; i < workers.size(); ++i) {
    shared.spawn(i == 0 ? 0 : 1, [&workers, i](SimThread& self) { workers[i].work(self, 800_ms); });
  }
  shared.engine.run();
  CHECK(workers[0].had.in_seconds() == Approx(0.4).epsilon(0.05));
  for (std::size_t i = 1; i < workers.size(); ++i) {
    CHECK(workers[i].had.in_seconds() == Approx(0.1).epsilon(0.15));
  }
}

TEST_CASE("a group's weight on a core is the share of its threads that are there", "[scheduler][groups]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  SchedulerParameters parameters = free_scheduler(policy);
  parameters
      .balance_period = {}; // threads stay where they begin: core 0 has one thread of each group, core 1 one of group 1
  GroupedHost shared(2, parameters);
  std::vector<Worker> workers(3);
  shared.spawn(0, [&](SimThread& self) { workers[0].work(self, 600_ms); });
  shared.spawn(1, [&](SimThread& self) { workers[1].work(self, 600_ms); });
  shared.spawn(1, [&](SimThread& self) { workers[2].work(self, 600_ms); });
  shared.engine.run();
  CHECK(workers[1].had.in_seconds() == Approx(0.6).epsilon(0.02));
  CHECK(workers[0].had.in_seconds() == Approx(0.4).epsilon(0.1)); // 1024 against 512
  CHECK(workers[2].had.in_seconds() == Approx(0.2).epsilon(0.1));
}

TEST_CASE("a group is as much load as another one, whatever its number of threads", "[scheduler][groups]") {
  const bool grouped = GENERATE(false, true);
  GroupedHost shared(2, free_scheduler("eevdf"), grouped);
  std::vector<Worker> workers(8); // six threads of group 0 begin on core 0, two of group 1 on core 1
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const int group = i < 6 ? 0 : 1;
    shared.spawn(
        group, [&workers, i](SimThread& self) { workers[i].work(self, 600_ms); }, group);
  }
  shared.engine.run();
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const double sorted = i < 6 ? 0.1 : 0.3;
    CHECK(workers[i].had.in_seconds() == Approx(grouped ? sorted : 0.15).epsilon(0.1));
  }
}

TEST_CASE("cores with different numbers of groups are balanced", "[scheduler][groups]") {
  SchedulerParameters parameters = free_scheduler("eevdf");
  GroupedHost shared(2, parameters);
  std::vector<Worker> workers(4); // three groups of one thread each begin on core 0, one on core 1
  for (std::size_t i = 0; i < workers.size(); ++i) {
    shared.spawn(
        static_cast<int>(i), [&workers, i](SimThread& self) { workers[i].work(self, 600_ms); }, i < 3 ? 0 : 1);
  }
  shared.engine.run();
  for (const Worker& worker : workers) {
    CHECK(worker.had.in_seconds() == Approx(0.3).epsilon(0.1));
  }
}

TEST_CASE("who yields gives a core away to all threads, but not to other groups than its own", "[scheduler][groups]") {
  const bool grouped = GENERATE(false, true);
  GroupedHost shared(1, free_scheduler("eevdf"), grouped);
  Worker worker;
  Worker waiting; // polls and yields
  shared.spawn(0, [&](SimThread& self) { worker.work(self, 400_ms); });
  shared.spawn(1, [&](SimThread& self) {
    while (self.now().since_start() < 400_ms) {
      self.spend(1_us, Category::poll_idle);
      waiting.had += 1_us;
      self.yield();
    }
  });
  shared.engine.run();
  if (grouped) { // it uses up its share all the same
    CHECK(waiting.had.in_seconds() == Approx(0.2).epsilon(0.1));
    CHECK(worker.had.in_seconds() == Approx(0.2).epsilon(0.1));
  } else {
    CHECK(waiting.had < 4_ms);
    CHECK(worker.had > 390_ms);
  }
}

TEST_CASE("cfs: who yields is passed over with its group", "[scheduler][groups]") {
  const bool near = GENERATE(true, false);
  SchedulerParameters parameters = free_scheduler("cfs");
  const Engine clock(1);
  GroupedQueue queue(parameters, std::make_shared<GroupSizes>(), clock);
  FairEntity yielding;
  FairEntity other;
  yielding.group = 0;
  other.group = 1;
  queue.add(yielding, FairQueue::Arrival::started);
  queue.add(other, FairQueue::Arrival::started);
  queue.run(other);
  queue.account(near ? 500_us : 1'500_us); // the other group is that far ahead, around the granularity of wake-ups
  queue.stop();
  queue.run(yielding);
  queue.yielded();
  CHECK(queue.best() == (near ? &other : &yielding));
}

TEST_CASE("a group that is to be next stays so when another of its threads changes its weight", "[scheduler][groups]") {
  SchedulerParameters parameters = free_scheduler("eevdf");
  parameters.short_sleep = 100_us;
  const auto sizes = std::make_shared<GroupSizes>();
  const Engine clock(1);
  GroupedQueue here(parameters, sizes, clock);
  GroupedQueue there(parameters, sizes, clock);
  FairEntity running;
  FairEntity woken;
  FairEntity comes_along;
  running.group = 0;
  woken.group = comes_along.group = 1;
  there.add(comes_along, FairQueue::Arrival::started);
  here.add(running, FairQueue::Arrival::started);
  here.run(running);
  woken.slept = 1_us;
  here.add(woken, FairQueue::Arrival::woken);
  REQUIRE(here.preempts(woken, FairQueue::Arrival::woken));
  there.remove(comes_along);
  here.add(comes_along, FairQueue::Arrival::migrated);
  CHECK(here.load() == 2.0);
  CHECK(here.best() != &running);
}

TEST_CASE("who has ended has no part in its group's weight", "[scheduler][groups]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const auto sizes = std::make_shared<GroupSizes>();
  const Engine clock(1);
  GroupedQueue here(free_scheduler(policy), sizes, clock);
  GroupedQueue there(free_scheduler(policy), sizes, clock);
  std::vector<FairEntity> group(4); // two threads on each core
  for (std::size_t i = 0; i < group.size(); ++i) {
    group[i].group = 5;
    (i < 2 ? here : there).add(group[i], FairQueue::Arrival::started);
  }
  here.run(group[0]);
  here.end();
  CHECK(here.load() == Approx(1.0 / 3).epsilon(0.01));
  there.run(group[2]);
  there.account(1_ms);
  there.stop();
  CHECK(there.load() == Approx(2.0 / 3).epsilon(0.01));
  here.run(group[1]);
  here.end();
  CHECK(here.load() == 0.0);
  there.run(group[2]);
  there.stop();
  CHECK(there.load() == 1.0);
}

TEST_CASE("who yields gives the core to threads of its group", "[scheduler][groups]") {
  GroupedHost shared(1, free_scheduler("eevdf"));
  Worker worker;
  Worker waiting;
  shared.spawn(3, [&](SimThread& self) { worker.work(self, 200_ms); });
  shared.spawn(3, [&](SimThread& self) {
    while (self.now().since_start() < 200_ms) {
      self.spend(1_us, Category::poll_idle);
      waiting.had += 1_us;
      self.yield();
    }
  });
  shared.engine.run();
  CHECK(waiting.had < 4_ms);
  CHECK(worker.had > 190_ms);
}

TEST_CASE("groups of one thread each share like threads", "[scheduler][groups]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const auto finished = [&](bool grouped) {
    GroupedHost shared(2, free_scheduler(policy), grouped);
    std::vector<TimePoint> ends(6);
    for (int i = 0; i < 6; ++i) {
      shared.spawn(i, [&ends, i](SimThread& self) {
        for (int step = 0; step < 10 + i; ++step) {
          self.spend(700_us, Category::software);
        }
        ends[static_cast<std::size_t>(i)] = self.now();
      });
    }
    shared.engine.run();
    return ends;
  };
  CHECK(finished(true) == finished(false));
}

TEST_CASE("a group that balancing brings back to a core has as much as the others there", "[scheduler][groups]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  SchedulerParameters parameters = free_scheduler(policy);
  GroupedHost shared(2, parameters);
  const auto pinned = [](int group, int core) {
    Scheduler::Placement placement;
    placement.group = group;
    placement.first_core = core;
    placement.allowed.set(static_cast<std::size_t>(core));
    return placement;
  };
  const auto work = [](SimThread& self) {
    while (self.now().since_start() < 1500_ms) {
      self.spend(20_us, Category::software);
    }
  };
  TimePoint last;
  Duration longest_without;
  shared.scheduler.spawn("stays", pinned(0, 0), [&](SimThread& self) {
    while (self.now().since_start() < 1500_ms) {
      self.spend(20_us, Category::software);
      longest_without = std::max(longest_without, self.now() - last);
      last = self.now();
    }
  });
  shared.spawn(1, work, 0); // goes to the idle core, and comes back when that has others
  const test::Reason reason("a bell");
  std::vector<SimThread*> sleepers;
  for (int group = 2; group < 6; ++group) {
    sleepers.push_back(&shared.scheduler.spawn("sleeper", pinned(group, 1), [&](SimThread& self) {
      self.wait(reason, Category::blocked, Waiting::asleep);
      work(self);
    }));
  }
  const auto ring = [&] {
    for (SimThread* sleeper : sleepers) {
      sleeper->resume();
    }
  };
  test::CallEvent bell(shared.engine, ring);
  shared.engine.schedule(bell, TimePoint::at(600_ms));
  shared.engine.run();
  CHECK(longest_without < 30_ms);
}

TEST_CASE("eevdf: a group goes on with its slice when its thread sleeps and another one waits", "[scheduler][groups]") {
  const Engine clock(1);
  GroupedQueue queue(free_scheduler("eevdf"), std::make_shared<GroupSizes>(), clock);
  FairEntity first;
  FairEntity second;
  FairEntity other;
  FairEntity far_ahead;
  other.group = 1;
  far_ahead.group = 2;
  first.group = second.group = 0;
  queue.add(other, FairQueue::Arrival::started);
  queue.add(far_ahead, FairQueue::Arrival::started);
  queue.add(first, FairQueue::Arrival::started);
  const auto turn = [&](FairEntity& entity, Duration span) {
    queue.run(entity);
    queue.account(span);
  };
  turn(far_ahead, 3_ms);
  queue.stop();
  turn(other, 1_ms);
  queue.stop();
  turn(first, 10_us);
  queue.leave(); // it sleeps, and its group is owed time
  turn(other, 10_us);
  queue.add(first, FairQueue::Arrival::woken);
  queue.add(second, FairQueue::Arrival::woken);
  queue.stop();
  turn(first, 100_us);
  CHECK(queue.best() != &other);
  queue.leave();
  CHECK(queue.best() == &second);
}

TEST_CASE("eevdf: what a group owes is forgiven by its own absence, whoever comes back", "[scheduler][groups]") {
  const auto others_turn = [](bool long_sleeper) {
    SchedulerParameters parameters = free_scheduler("eevdf");
    parameters.short_sleep = 2_ms;
    const Engine clock(1);
    GroupedQueue queue(parameters, std::make_shared<GroupSizes>(), clock);
    FairEntity first;
    FairEntity second;
    FairEntity other;
    first.group = second.group = 0;
    other.group = 1;
    for (FairEntity* const entity : {&first, &second, &other}) {
      queue.add(*entity, FairQueue::Arrival::started);
    }
    queue.run(first);
    queue.account(100_us);
    queue.leave();
    queue.run(second);
    queue.account(5_ms);
    queue.leave(); // its group has nobody left, and has had more than its share
    queue.run(other);
    queue.account(10_us);
    first.slept = 5'010_us;
    second.slept = 10_us;
    queue.add(long_sleeper ? first : second, FairQueue::Arrival::woken);
    queue.stop();
    Duration had;
    for (FairEntity* next = queue.best(); next == &other; next = queue.best()) {
      queue.run(*next);
      queue.account(10_us);
      had += 10_us;
      queue.stop();
    }
    return had;
  };
  CHECK(others_turn(true) == others_turn(false));
}

TEST_CASE("cfs: a yield counts until its thread leaves the core", "[scheduler][groups]") {
  const bool leaves = GENERATE(false, true);
  const Engine clock(1);
  GroupedQueue queue(free_scheduler("cfs"), std::make_shared<GroupSizes>(), clock);
  FairEntity yields;
  FairEntity sibling;
  FairEntity other;
  yields.group = sibling.group = 0;
  other.group = 1;
  queue.add(yields, FairQueue::Arrival::started);
  queue.add(other, FairQueue::Arrival::started);
  queue.run(yields);
  queue.account(100_us);
  queue.yielded();
  REQUIRE(queue.best() == &other); // another group, so that the group of the one that yielded has not chosen yet
  queue.stop();
  queue.run(other);
  queue.account(3_ms);
  queue.stop();
  if (leaves) {
    queue.remove(yields);
    queue.add(yields, FairQueue::Arrival::migrated);
  }
  sibling.vruntime = yields.vruntime + 500'000'000;
  queue.add(sibling, FairQueue::Arrival::woken);
  CHECK(queue.best() == (leaves ? &yields : &sibling));
}

TEST_CASE("sleepers of groups come back, and nobody is lost", "[scheduler][groups]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  GroupedHost shared(2, test::costly_scheduler(policy));
  int ended = 0;
  for (int i = 0; i < 12; ++i) {
    shared.spawn(i % 3, [&, i](SimThread& self) {
      test::CallEvent ring(shared.engine, [&self] { self.resume(); });
      const test::Reason reason("a bell");
      RandomStream random = shared.engine.stream("thread " + std::to_string(i));
      for (int step = 0; step < 200; ++step) {
        self.spend(random.exponential(80_us), Category::software);
        if (random.below(3) == 0) {
          shared.engine.schedule(ring, shared.engine.now() + random.exponential(300_us));
          self.wait(reason, Category::blocked, Waiting::asleep);
        } else if (random.below(3) == 0) {
          self.yield();
        }
      }
      ++ended;
    });
  }
  shared.engine.run();
  CHECK(ended == 12);
}
