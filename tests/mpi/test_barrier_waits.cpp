// At a barrier everybody waits for the last one to come.
#include "core/contention_account.hpp"
#include "support/point.hpp"
#include "workloads/condition_barrier.hpp"
#include "workloads/spin_barrier.hpp"
#include "workloads/thread_barrier.hpp"

#include <catch2/catch.hpp>

using namespace contend;

namespace {

constexpr std::size_t barrier_time = static_cast<std::size_t>(Category::barrier);

/// Two threads meet in three rounds; the second computes twice as long as the first in each.
template <typename Barrier>
void check_that_the_slow_one_is_awaited() {
  constexpr int rounds = 3;
  const MachineConfig machine = test::small_machine();
  Engine engine(1);
  const Host host(machine.topology, machine.cache, machine.futex);
  ContentionAccount account(engine);
  Barrier barrier(engine, host, 2, "barrier");
  const auto program = [&barrier](Duration work) {
    return [&barrier, work](SimThread& self) {
      barrier.wait(self); // the timed part begins
      self.reset_times();
      for (int round = 0; round < rounds; ++round) {
        self.spend(work, Category::compute);
        barrier.wait(self);
      }
    };
  };
  const SimThread& fast = engine.spawn("fast", 0, 0, program(100_us));
  const SimThread& slow = engine.spawn("slow", 0, 2, program(200_us));
  engine.run();

  const WaitAccount::PlaceAccount& place = account.waiting().places().at(1);
  Duration for_slow;
  Duration of_fast;
  Duration of_slow;
  for (const auto& [wait, time] : place.waits) {
    CHECK(wait.category == Category::barrier);
    CHECK(wait.awaited != fast.id());
    CHECK((wait.waiter == fast.id() || wait.awaited == WaitAccount::nobody)); // the slow one waits for nobody
    for_slow += wait.awaited == slow.id() ? time : Duration{};
    (wait.waiter == fast.id() ? of_fast : of_slow) += time;
  }
  CHECK(of_fast == fast.times()[barrier_time]);
  CHECK(of_slow == slow.times()[barrier_time]);
  CHECK(for_slow.in_seconds() == Approx(rounds * 100e-6).epsilon(0.1)); // who leaves first gains a little
  CHECK(for_slow >= of_fast.scaled(0.9));
  CHECK(place.answers.at({slow.id(), arrived_last}) == rounds);
  CHECK(place.answers.size() == 1);
  Duration computed;
  for (const auto& [who, time] : place.meanwhile) {
    CHECK((who.category == Category::compute || who.category == Category::barrier)); // it may leave the last one later
    computed += who.category == Category::compute ? time : Duration{};
  }
  CHECK(computed >= for_slow.scaled(0.95));
}

} // namespace

TEST_CASE("time at a barrier is for the last one to come", "[mpi][barrier][account]") {
  SECTION("pthread_barrier_wait") { check_that_the_slow_one_is_awaited<ThreadBarrier>(); }
  SECTION("spinning") { check_that_the_slow_one_is_awaited<SpinBarrier>(); }
  SECTION("mutex and condition variable") { check_that_the_slow_one_is_awaited<ConditionBarrier>(); }
}
