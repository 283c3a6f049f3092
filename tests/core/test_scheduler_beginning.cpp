// Which core a thread begins on that another one creates.
#include "support/scheduling.hpp"
#include "support/steps.hpp"
#include "support/waiting.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace contend;
using test::CallEvent;
using test::compute;
using test::free_scheduler;
using test::Reason;
using test::SharedHost;

namespace {

SchedulerParameters unbalanced() {
  SchedulerParameters parameters = free_scheduler("eevdf");
  parameters.balance_period = Duration{};
  parameters.newidle_ratio = 0.0;
  return parameters;
}

/// Creates a thread that computes that long; `self` goes on.
SimThread& fork(SharedHost& shared, const SimThread& self, Duration computing,
                const Scheduler::Placement& placement = {}) {
  SimThread& thread =
      shared.scheduler.create("child", placement, [computing](SimThread& child) { compute(child, computing); });
  shared.scheduler.begin(thread, self);
  return thread;
}

/// Cores of threads that one creates on core 0 after that long, while core 1 is busy as long as given.
std::vector<int> cores_of_children(int children, Duration after, Duration other_busy, SchedulerParameters parameters) {
  SharedHost shared(2, parameters);
  std::vector<int> cores;
  if (other_busy > Duration{}) {
    shared.spawn_on(1, "other", [other_busy](SimThread& self) { compute(self, other_busy); });
  }
  shared.spawn_on(0, "creator", [&](SimThread& self) {
    compute(self, after);
    for (int child = 0; child < children; ++child) {
      cores.push_back(fork(shared, self, 100_ms).core());
    }
    compute(self, 1_ms);
  });
  shared.engine.run();
  return cores;
}

} // namespace

TEST_CASE("a thread begins on a core that idles, and near its creator where none does", "[scheduler]") {
  // Core 1 idles once, and has a thread then.
  CHECK(cores_of_children(3, 1_ms, Duration{}, unbalanced()) == std::vector<int>{1, 0, 0});
  CHECK(cores_of_children(2, 1_ms, 200_ms, unbalanced()) == std::vector<int>{0, 0});
  // Each is taken for half of what its core has left: with two it is used up.
  CHECK(cores_of_children(3, 1_ms, 200_ms, unbalanced()) == std::vector<int>{0, 0, 1});
}

TEST_CASE("where cores are used up a thread begins on the less loaded one, by more than a sixth", "[scheduler]") {
  // After 300 ms of computing both are used for all that averages remember. The second child meets a queue where there was none, the
  // third 2 threads on each core, the fourth 3 and 2.
  CHECK(cores_of_children(5, 300_ms, 600_ms, unbalanced()) == std::vector<int>{0, 1, 0, 1, 0});
}

TEST_CASE("a thread that is created begins where it may", "[scheduler]") {
  SharedHost shared(3, unbalanced());
  shared.spawn_on(0, "creator", [&](SimThread& self) {
    Scheduler::Placement placement;
    placement.allowed.set(1);
    CHECK(fork(shared, self, 100_ms, placement).core() == 1);
    CHECK(fork(shared, self, 100_ms, placement).core() == 1); // although core 2 idles
    placement.first_core = 0;
    placement.allowed.set(0);
    CHECK(fork(shared, self, 1_ms, placement).core() == 0); // although it does not
  });
  shared.engine.run();
}

TEST_CASE("domain by domain, the outer ones first, a thread begins where more cores idle", "[scheduler]") {
  Engine engine(1);
  const Host host(TopologyParameters{1, 4, 2}, {}, {});
  Scheduler scheduler(engine, host, 0, unbalanced(), 8);
  std::vector<int> cores;
  Scheduler::Placement first;
  first.first_core = 0;
  scheduler.spawn("creator", first, [&](SimThread& self) {
    for (int child = 0; child < 8; ++child) {
      SimThread& thread = scheduler.create("child", {}, [](SimThread& one) { compute(one, 10_ms); });
      scheduler.begin(thread, self);
      cores.push_back(thread.core());
    }
    compute(self, 1_ms);
  });
  engine.run();
  // Cores of which both threads idle, then the sibling, then those of others; the last one stays at home.
  CHECK(cores == std::vector<int>{2, 4, 6, 1, 3, 5, 7, 0});
}

TEST_CASE("a thread that goes to another socket begins by the domains there", "[scheduler]") {
  // Of core 4 there is the host only, of the others a socket and their siblings, too.
  Engine engine(1);
  const Host host(TopologyParameters{2, 2, 2}, {}, {});
  Scheduler scheduler(engine, host, 0, unbalanced(), 5);
  int core = -1;
  const auto spawn_on = [&](int first, SimThread::Body body) {
    Scheduler::Placement placement;
    placement.first_core = first;
    scheduler.spawn("thread", placement, std::move(body));
  };
  spawn_on(1, [](SimThread& self) { compute(self, 10_ms); });
  spawn_on(4, [&](SimThread& self) {
    compute(self, 1_us);
    SimThread& thread = scheduler.create("child", {}, [](SimThread& one) { compute(one, 1_us); });
    scheduler.begin(thread, self);
    core = thread.core();
  });
  engine.run();
  CHECK(core == 2); // core 0 idles, but its sibling does not
}

TEST_CASE("of a socket whose cores idle a thread begins on the one that fell idle last", "[scheduler]") {
  const int last = GENERATE(3, 4, 5);
  Engine engine(1);
  const Host host(TopologyParameters{2, 3, 1}, {}, {});
  Scheduler scheduler(engine, host, 0, unbalanced(), 6);
  int core = -1;
  const auto spawn_on = [&](int first, SimThread::Body body) {
    Scheduler::Placement placement;
    placement.first_core = first;
    scheduler.spawn("thread", placement, std::move(body));
  };
  for (const int other : {3, 4, 5}) {
    spawn_on(other, [other, last](SimThread& self) { compute(self, other == last ? 20_us : 10_us); });
  }
  spawn_on(0, [&](SimThread& self) {
    compute(self, 1_ms);
    SimThread& thread = scheduler.create("child", {}, [](SimThread& one) { compute(one, 1_us); });
    scheduler.begin(thread, self);
    core = thread.core();
  });
  engine.run();
  CHECK(core == last);
}

TEST_CASE("launching a process has kept its core busy, and no other one", "[scheduler]") {
  SharedHost shared(2, unbalanced());
  std::vector<int> cores;
  Scheduler::Placement there;
  there.first_core = 1;
  shared.scheduler.launch("other", there, [](SimThread& self) { compute(self, 600_ms); });
  there.first_core = 0;
  shared.scheduler.launch("creator", there, [&](SimThread& self) {
    compute(self, 1_ns);
    for (int child = 0; child < 5; ++child) {
      cores.push_back(fork(shared, self, 100_ms).core());
    }
  });
  shared.engine.run();
  CHECK(cores == std::vector<int>{0, 1, 0, 1, 0}); // both are used up: loads decide at once
}

TEST_CASE("who wakes up finds cores that idle, although processes were launched on others", "[scheduler]") {
  SharedHost shared(4, unbalanced());
  const Reason reason("its alarm");
  Scheduler::Placement either;
  either.allowed.set(1).set(2);
  either.first_core = 1;
  SimThread& sleeper = shared.scheduler.launch("sleeper", either, [&](SimThread& self) {
    compute(self, 1_us);
    self.wait(reason, Category::blocked, Waiting::asleep);
    CHECK(self.core() == 2);
  });
  shared.spawn_on(1, "other", [](SimThread& self) { compute(self, 10_ms); });
  CallEvent alarm(shared.engine, [&] { sleeper.resume(); });
  shared.engine.schedule(alarm, TimePoint::at(1_ms));
  shared.engine.run();
}
