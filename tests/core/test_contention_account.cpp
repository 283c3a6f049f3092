// Who waits for whom, on sequences short enough to add up by hand.
#include "core/contention_account.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <string>
#include <vector>

using namespace contend;

namespace {

/// Three threads that do nothing; the account is told what to believe.
struct Stage {
  Stage() {
    for (int i = 0; i < 3; ++i) {
      threads.push_back(&engine.spawn("t" + std::to_string(i), 0, i, [](SimThread&) {}));
    }
  }
  [[nodiscard]] static TimePoint at(std::int64_t nanoseconds) {
    return TimePoint::at(Duration::picoseconds(nanoseconds * 1000));
  }
  void request(std::size_t thread, std::int64_t time) { account.lock_requested(*threads[thread], lock, at(time)); }
  void acquire(std::size_t thread, std::int64_t time) {
    account.lock_acquired(*threads[thread], lock, Category::lock_wait, at(time));
  }
  void release(std::size_t thread, std::int64_t begin, std::int64_t end) {
    account.lock_released(*threads[thread], lock, at(begin));
    account.unlock_done(*threads[thread], lock, Category::lock_wait, at(end));
  }
  [[nodiscard]] ContentionAccount::Use use(std::size_t thread) const { return account.locks().at(0).uses.at(thread); }

  Engine engine{1};
  std::vector<SimThread*> threads;
  TraceLabel lock{"lock"};
  ContentionAccount account{engine};
};

} // namespace

TEST_CASE("waiting is attributed to those who hold the lock meanwhile", "[account]") {
  Stage stage;
  stage.request(0, 0);
  stage.acquire(0, 2);  // free, but taking it costs 2
  stage.request(1, 10); // waits for 0 until 30
  stage.request(2, 20); // waits for 0 until 30
  stage.release(0, 30, 35);
  stage.acquire(2, 40); // overtakes; from 30 to 40 nobody holds it
  stage.release(2, 55, 56);
  stage.acquire(1, 60);
  stage.release(1, 61, 63);

  CHECK(stage.use(0).wait == 2_ns);
  CHECK(stage.use(0).hold == 28_ns);
  CHECK(stage.use(0).release == 5_ns);
  CHECK(stage.use(0).contended == 0);
  CHECK(stage.use(0).waited_for.empty());

  CHECK(stage.use(1).wait == 50_ns);
  CHECK(stage.use(1).contended == 1);
  CHECK(stage.use(1).waited_for == std::map<int, Duration>{{0, 20_ns}, {2, 15_ns}});

  CHECK(stage.use(2).wait == 20_ns);
  CHECK(stage.use(2).waited_for == std::map<int, Duration>{{0, 10_ns}});
  CHECK(stage.use(2).acquisitions == 1);
}

TEST_CASE("a thread whose section another one runs has waited, and has not had the lock", "[account]") {
  Stage stage;
  stage.request(0, 0);
  stage.acquire(0, 1);
  stage.request(1, 10);
  stage.account.lock_delegated(*stage.threads[1], stage.lock, Category::lock_wait, Stage::at(40));
  stage.release(0, 50, 51);
  CHECK(stage.use(1).wait == 30_ns);
  CHECK(stage.use(1).acquisitions == 0);
  CHECK(stage.use(1).delegated == 1);
  CHECK(stage.use(1).waited_for == std::map<int, Duration>{{0, 30_ns}}); // though it has gone when the hold ends
  CHECK(stage.use(0).hold == 49_ns);
}

TEST_CASE("a holder that owes time holds the lock until it has passed", "[account]") {
  Stage stage;
  stage.request(0, 0);
  stage.acquire(0, 0);
  stage.account.lock_released(*stage.threads[0], stage.lock, Stage::at(50)); // said at 10, but 40 are still to pass
  stage.request(1, 20);
  stage.account.unlock_done(*stage.threads[0], stage.lock, Category::poll_idle, Stage::at(52));
  stage.acquire(1, 55);
  CHECK(stage.use(1).wait == 35_ns);
  CHECK(stage.use(1).contended == 1);
  CHECK(stage.use(1).waited_for == std::map<int, Duration>{{0, 30_ns}});
  CHECK(stage.use(0).release == Duration{}); // charged to something else
}

TEST_CASE("attempts count as acquisitions or refusals, and a restart forgets one thread", "[account]") {
  Stage stage;
  stage.account.restart(*stage.threads[0], Stage::at(0));
  stage.acquire(0, 5);
  stage.account.lock_refused(*stage.threads[1], stage.lock, Stage::at(6));
  stage.request(2, 7);
  stage.release(0, 9, 10);
  stage.acquire(2, 12);
  stage.release(2, 13, 13);
  CHECK(stage.use(0).acquisitions == 1);
  CHECK(stage.use(1).refused == 1);
  CHECK(stage.use(2).waited_for == std::map<int, Duration>{{0, 2_ns}});
  stage.account.restart(*stage.threads[2], Stage::at(20));
  CHECK(stage.use(2).acquisitions == 0);
  CHECK(stage.use(2).wait == Duration{});
  CHECK(stage.use(0).acquisitions == 1);
}

TEST_CASE("holds, waits and releases across a restart count from the restart on", "[account]") {
  Stage stage;
  stage.acquire(0, 5);
  stage.request(1, 10);
  stage.request(2, 10);
  stage.engine.spawn("clock", 0, 3, [&](SimThread& self) {
    self.spend(100_ns, Category::software);
    stage.account.restart(*stage.threads[1], self.now());
    self.spend(20_ns, Category::software);
    stage.account.restart(*stage.threads[0], self.now());
  });
  stage.engine.run();
  stage.release(0, 150, 155);
  stage.acquire(1, 160);
  stage.release(1, 170, 170);
  stage.acquire(2, 180);
  CHECK(stage.use(0).hold == 30_ns);
  CHECK(stage.use(1).wait == 60_ns);
  CHECK(stage.use(1).waited_for == std::map<int, Duration>{{0, 50_ns}});
  CHECK(stage.use(1).hold == 10_ns);
  CHECK(stage.use(2).wait == 60_ns); // never restarts: counts from the last one's restart
  CHECK(stage.use(2).waited_for == std::map<int, Duration>{{0, 30_ns}, {1, 10_ns}});
}

TEST_CASE("the length of a queue is averaged over time", "[account]") {
  Engine engine(1);
  ContentionAccount account(engine);
  const TraceLabel queue("queue", 0);
  engine.spawn("thread", 0, 0, [&](SimThread& self) {
    account.length(queue, engine.now(), 100);
    self.spend(10_ns, Category::software);
    self.reset_times(); // warm-up is over, with 4 entries from now on
    account.length(queue, engine.now(), 4);
    self.spend(30_ns, Category::software);
    account.length(queue, engine.now(), 8);
    self.spend(10_ns, Category::software);
  });
  engine.run();
  REQUIRE(account.queues().size() == 1);
  CHECK(account.elapsed() == 40_ns);
  CHECK(account.queues()[0].mean == Approx((4 * 30 + 8 * 10) / 40.0));
  CHECK(account.queues()[0].maximum == 100); // the length at the restart
}
