// Which core a thread begins on that another one creates.
#include "support/scheduling.hpp"
#include "support/steps.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace contend;
using test::compute;
using test::free_scheduler;
using test::in;
using test::SharedHost;

namespace {

SchedulerParameters unbalanced() {
  SchedulerParameters parameters = free_scheduler("eevdf");
  parameters.balance_period = Duration{};
  parameters.cache_hot = 500_ms;
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
  CHECK(cores_of_children(3, 1_ms, 200_ms, unbalanced()) == std::vector<int>{0, 0, 0});
}

TEST_CASE("where cores are used up a thread begins on the less loaded one, by more than a sixth", "[scheduler]") {
  // After 300 ms of computing both are used for all that averages remember. The second child meets a queue where there was none, the
  // third 2 threads on each core, the fourth 3 and 2.
  CHECK(cores_of_children(5, 300_ms, 600_ms, unbalanced()) == std::vector<int>{0, 1, 0, 1, 0});
  // A run that begins with threads that are created begins on such cores.
  SchedulerParameters parameters = unbalanced();
  parameters.thread_create = 1_us;
  CHECK(cores_of_children(5, 1_ns, 600_ms, parameters) == std::vector<int>{0, 1, 0, 1, 0});
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

TEST_CASE("a core that has just become idle leaves new threads where they wait", "[scheduler]") {
  SchedulerParameters parameters = unbalanced();
  parameters.cache_hot = GENERATE(0_ms, 500_ms);
  SharedHost shared(2, parameters);
  const SimThread* child = nullptr;
  shared.spawn_on(1, "short", [](SimThread& self) { compute(self, 100_us); });
  shared.spawn_on(0, "creator", [&](SimThread& self) {
    compute(self, 50_us);
    child = &fork(shared, self, 10_us);
    compute(self, 1_ms);
  });
  shared.engine.run();
  REQUIRE(child != nullptr);
  CHECK(in(*child, Category::run_queue) == (parameters.cache_hot == Duration{} ? 50_us : 1_ms));
}
