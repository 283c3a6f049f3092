#include "models/coroutines/scheduling_policy.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <string>
#include <vector>

using namespace contend;

namespace {

struct One final : Schedulable {
  explicit One(int which) : number(which) {}
  int number;
};

std::vector<int> drain(SchedulingPolicy& policy) {
  std::vector<int> order;
  while (!policy.queue().empty()) {
    order.push_back(static_cast<const One&>(policy.queue().pop()).number);
  }
  return order;
}

} // namespace

TEST_CASE("who yields goes to the end, under every policy", "[coroutines]") {
  for (const std::string& name : scheduling_policy_registry().names()) {
    CAPTURE(name);
    const auto policy = scheduling_policy_registry().at(name)(SchedulingPolicy::Wake::tail);
    std::array<One, 3> all{One(0), One(1), One(2)};
    for (One& one : all) {
      policy->yielded(one);
    }
    policy->yielded(policy->queue().pop());
    CHECK(policy->queue().size() == 3);
    CHECK(drain(*policy) == std::vector{1, 2, 0});
    CHECK(policy->queue().size() == 0);
  }
}

TEST_CASE("round robin blocks nobody", "[coroutines]") {
  const auto policy = scheduling_policy_registry().at("round-robin")(SchedulingPolicy::Wake::tail);
  One one(0);
  CHECK_FALSE(policy->blocks());
  CHECK(policy->waits(one));
  CHECK_FALSE(one.blocked());
  policy->notify(one); // is on the queue already
  CHECK(drain(*policy) == std::vector{0});
}

TEST_CASE("a blocked process comes back once, where the design says", "[coroutines]") {
  for (const auto wake : {SchedulingPolicy::Wake::head, SchedulingPolicy::Wake::tail}) {
    const auto policy = scheduling_policy_registry().at("block")(wake);
    One waits(0);
    One other(1);
    policy->yielded(other);
    CHECK(policy->blocks());
    CHECK_FALSE(policy->waits(waits));
    CHECK(waits.blocked());
    CHECK(policy->queue().size() == 1);
    policy->notify(waits);
    policy->notify(waits);
    CHECK_FALSE(waits.blocked());
    CHECK(drain(*policy) == (wake == SchedulingPolicy::Wake::head ? std::vector{0, 1} : std::vector{1, 0}));
  }
}

TEST_CASE("a run queue rotates", "[coroutines]") {
  RunQueue queue;
  std::array<One, 3> all{One(0), One(1), One(2)};
  for (One& one : all) {
    queue.push_tail(one);
  }
  queue.rotate();
  CHECK(queue.front() == &all[1]);
  CHECK(RunQueue::after(all[2]) == &all[0]);
  CHECK(RunQueue::after(all[0]) == nullptr);
  CHECK(queue.size() == 3);
}
