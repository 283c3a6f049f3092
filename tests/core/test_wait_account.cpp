// Whom threads wait for, on sequences short enough to add up by hand.
#include "core/contention_account.hpp"
#include "core/wait_scope.hpp"
#include "support/waiting.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <string>
#include <string_view>

using namespace contend;

namespace {

using Shares = std::map<Category, Duration>; // by what they are charged to

/// Threads that wait at one place.
struct WaitingPlace {
  SimThread& thread(SimThread::Body body) {
    return engine.spawn("t" + std::to_string(engine.threads().size()), 0, 0, std::move(body));
  }
  /// Sleeps from `begin` on until somebody resumes it.
  SimThread& sleeper(Duration begin) {
    return thread([this, begin](SimThread& self) {
      self.spend(begin, Category::compute);
      const WaitScope scope(self, label);
      self.wait(reason, Category::blocked);
    });
  }
  void answer(const SimThread& waiter, const SimThread& by, std::string_view how = "woke it") const {
    WaitScope::answer(label, waiter.id(), by, how, by.now());
  }
  /// The place after that of polls.
  [[nodiscard]] const WaitAccount::PlaceAccount& sums() const { return account.waiting().places().at(1); }
  [[nodiscard]] Duration waited(const SimThread& waiter, const SimThread& awaited) const {
    Duration sum;
    for (const auto& [wait, time] : sums().waits) {
      sum += wait.waiter == waiter.id() && wait.awaited == awaited.id() ? time : Duration{};
    }
    return sum;
  }
  [[nodiscard]] Duration waited_for_nobody(const SimThread& waiter) const {
    const auto found = sums().waits.find({waiter.id(), Category::blocked, WaitAccount::nobody, {}});
    return found == sums().waits.end() ? Duration{} : found->second;
  }
  [[nodiscard]] Shares meanwhile(const SimThread& waiter) const {
    Shares result;
    for (const auto& [who, time] : sums().meanwhile) {
      if (who.waiter == waiter.id()) {
        result[who.category] = time;
      }
    }
    return result;
  }

  Engine engine{1};
  test::Reason reason{"a test"};
  TraceLabel label{"place"};
  ContentionAccount account{engine};
};

} // namespace

TEST_CASE("a wait is for the thread that answers it, until the answer", "[account]") {
  WaitingPlace place;
  SimThread& sleeper = place.sleeper(10_ns);
  SimThread& waker = place.thread([&](SimThread& self) {
    self.spend(60_ns, Category::compute);
    self.owe(40_ns, Category::matching);
    place.answer(sleeper, self); // at 100, which it still owes
    self.spend(5_ns, Category::completion);
    sleeper.resume_at(self.now() + 20_ns);
  });
  place.engine.run();
  CHECK(place.waited(sleeper, waker) == 90_ns);
  CHECK(place.waited_for_nobody(sleeper) == 25_ns); // the call, and waking up
  CHECK(sleeper.charged(Category::blocked) == 115_ns);
  CHECK(place.meanwhile(sleeper) == Shares{{Category::compute, 50_ns}, {Category::matching, 40_ns}});
  CHECK(place.sums().begun.at(sleeper.id()) == 1);
  CHECK(place.sums().answers.at({waker.id(), "woke it"}) == 1);
}

TEST_CASE("the first answer counts, and one for all who wait counts once", "[account]") {
  WaitingPlace place;
  SimThread& first = place.sleeper(0_ns);
  SimThread& second = place.sleeper(20_ns);
  SimThread& early = place.thread([&](SimThread& self) {
    self.spend(30_ns, Category::compute);
    place.answer(first, self);
  });
  SimThread& late = place.thread([&](SimThread& self) {
    self.spend(50_ns, Category::compute);
    WaitScope::answer_all(place.label, self, "woke all", self.now());
    first.resume();
    second.resume();
  });
  place.engine.run();
  CHECK(place.waited(first, early) == 30_ns);
  CHECK(place.waited(first, late) == 0_ns);
  CHECK(place.waited_for_nobody(first) == 20_ns);
  CHECK(place.waited(second, late) == 30_ns);
  CHECK(place.sums().answers.at({late.id(), "woke all"}) == 1);
}

TEST_CASE("what an awaited thread did is known though it is told of late", "[account]") {
  WaitingPlace place;
  SimThread& sleeper = place.sleeper(30_ns);
  SimThread& waker = place.thread([&](SimThread& self) {
    self.wait(place.reason, Category::poll_idle); // from 0 to 50: a span that comes at its end
    self.spend(45_ns, Category::compute);
    place.answer(sleeper, self);
    sleeper.resume();
  });
  place.thread([&](SimThread& self) {
    self.spend(50_ns, Category::compute);
    waker.resume();
  });
  place.engine.run();
  CHECK(place.meanwhile(sleeper) == Shares{{Category::poll_idle, 20_ns}, {Category::compute, 45_ns}});
}

TEST_CASE("of a place that is served it is known what those did who served it", "[account]") {
  WaitingPlace place;
  SimThread& sleeper = place.sleeper(10_ns);
  place.thread([&](SimThread& self) {
    const ServiceScope service(self, place.label);
    self.spend(30_ns, Category::matching); // 20 of it while the sleeper waits
  });
  SimThread& waker = place.thread([&](SimThread& self) {
    self.spend(40_ns, Category::compute); // nobody serves from 30 to 40
    {
      const ServiceScope service(self, place.label);
      self.spend(25_ns, Category::completion);
    }
    self.spend(5_ns, Category::compute);
    place.answer(sleeper, self);
    sleeper.resume();
  });
  place.engine.run();
  CHECK(place.waited(sleeper, waker) == 60_ns);
  CHECK(place.meanwhile(sleeper) == Shares{{Category::matching, 20_ns}, {Category::completion, 25_ns}});
}

TEST_CASE("of a wait across a restart the rest counts", "[account]") {
  WaitingPlace place;
  SimThread& sleeper = place.sleeper(0_ns);
  SimThread& waker = place.thread([&](SimThread& self) {
    self.spend(40_ns, Category::compute);
    sleeper.reset_times();
    self.spend(60_ns, Category::compute);
    place.answer(sleeper, self);
    sleeper.resume();
  });
  place.engine.run();
  CHECK(place.waited(sleeper, waker) == 60_ns);
  CHECK(sleeper.times()[static_cast<std::size_t>(Category::blocked)] == 60_ns);
}

TEST_CASE("polls are for who sent what they find", "[account]") {
  WaitingPlace place;
  SimThread& sender = place.thread([](SimThread&) {});
  SimThread& poller = place.thread([&](SimThread& self) {
    const MessageNumber message = place.account.message_sent(sender, self.now());
    self.spend(30_ns, Category::poll_idle);
    self.spend(10_ns, Category::matching);
    self.spend(15_ns, Category::poll_idle);
    place.account.message_found(self, message, self.now());
    place.account.message_matched(self, message, self.now()); // no time since
    self.spend(7_ns, Category::poll_idle);
    place.account.message_found(self, 0, self.now()); // something of its own side
    self.spend(9_ns, Category::poll_idle);            // finds nothing any more
  });
  place.engine.run();
  const WaitAccount::PlaceAccount& polling = place.account.waiting().places().front();
  CHECK(polling.waits.size() == 2);
  CHECK(polling.waits.at({poller.id(), Category::poll_idle, sender.id(), sent_a_message}) == 45_ns);
  CHECK(polling.waits.at({poller.id(), Category::poll_idle, WaitAccount::nobody, {}}) == 7_ns);
  CHECK(polling.begun.at(poller.id()) == 2);
}
