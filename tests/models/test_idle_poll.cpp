// A poller whose vain turns are skipped does what it would have done turn by turn.
#include "models/progress/idle_poll.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <string>
#include <vector>

using namespace contend;

namespace {

constexpr Duration turn_overhead = 41'011_ps;
constexpr Duration look_time = 23'017_ps;
constexpr Duration item_time = 67'021_ps;

/// A queue behind a lock.
struct Station {
  std::unique_ptr<Lock> lock;
  std::unique_ptr<CacheLine> state;
  std::deque<int> items;
};

/// What happened, in order: who (item or thread number) and when.
struct Happening {
  std::int64_t time;
  std::string what;
  bool operator==(const Happening&) const = default;
};

/// A progress loop in miniature: polls every station by try-lock until it has found all items.
class Poller {
public:
  Poller(Engine& engine, const Host& host, const std::string& kind, int stations, bool coalesce)
      : engine_(engine), idle_(engine, coalesce, "poller") {
    for (int i = 0; i < stations; ++i) {
      const std::string name = "station " + std::to_string(i);
      stations_.push_back({lock_registry().at(kind)(engine, host, test::small_locks(), name),
                           std::make_unique<CacheLine>(engine, host, name + "/state"),
                           {}});
    }
  }

  void run(SimThread& self, std::size_t items) {
    int found = 1;
    while (found_ < items) {
      found = found == 0 ? after_idle(self) : turn(self);
    }
  }

  /// Something arrives. Called by events.
  void put(std::size_t station, int item) {
    stations_[station].items.push_back(item);
    idle_.disturb();
  }
  Station& station(std::size_t i) { return stations_[i]; }
  void note(const std::string& what) { happenings.push_back({test::clock(engine_).count(), what}); }
  [[nodiscard]] std::uint64_t skipped() const { return idle_.skipped_turns(); }

  std::vector<Happening> happenings;

private:
  int turn(SimThread& self) {
    turn_start_ = self.now();
    turn_.start(self);
    self.spend(turn_overhead, Category::poll_idle);
    return finish(self, 0, 0);
  }

  int finish(SimThread& self, std::size_t next, int found) {
    for (; next < stations_.size(); ++next) {
      Station& station = stations_[next];
      const Duration try_at = self.now() - turn_start_;
      if (!station.lock->try_lock(self, Category::poll_idle)) {
        turn_.undisturbed = false;
        continue;
      }
      station.state->store(self, Category::poll_idle);
      self.spend(look_time, Category::poll_idle);
      const Duration look_at = self.now() - turn_start_;
      turn_.visits.push_back({station.lock.get(), try_at, look_at, look_at});
      const int here = drain(self, station);
      turn_.undisturbed = turn_.undisturbed && here == 0;
      found += here;
      station.lock->unlock(self, Category::poll_idle);
      turn_.visits.back().done_at = self.now() - turn_start_;
    }
    turn_.period = self.now() - turn_start_;
    return found;
  }

  int drain(SimThread& self, Station& station) {
    int found = 0;
    while (!station.items.empty()) {
      note("item " + std::to_string(station.items.front()));
      station.items.pop_front();
      self.spend(item_time, Category::completion);
      ++found;
      ++found_;
    }
    return found;
  }

  int after_idle(SimThread& self) {
    const bool quiet =
        std::all_of(stations_.begin(), stations_.end(), [](const Station& station) { return station.items.empty(); });
    const IdlePoll::Resumption resumption = idle_.rest(self, turn_, last_turn_, quiet);
    if (!resumption.inside) {
      return resumption.turns > 0 ? 1 : turn(self);
    }
    turn_.undisturbed = false;
    std::size_t next = resumption.visit;
    int found = 0;
    if (resumption.looking) {
      Station& station = stations_[next++];
      found = drain(self, station);
      station.lock->unlock(self, Category::poll_idle);
    }
    return finish(self, next, found);
  }

  Engine& engine_;
  std::vector<Station> stations_;
  IdlePoll idle_;
  PollTurn turn_;
  PollTurn last_turn_;
  TimePoint turn_start_;
  std::size_t found_ = 0;
};

class Arrival final : public Event {
public:
  Arrival(Engine& engine, Poller& poller, std::size_t station, int item)
      : Event(engine), poller_(poller), station_(station), item_(item) {}
  void fire() override { poller_.put(station_, item_); }

private:
  Poller& poller_;
  std::size_t station_;
  int item_;
};

struct Outcome {
  std::vector<Happening> happenings;
  Duration end;
  Duration idle; ///< time the poller spent on polls in vain
  std::uint64_t skipped = 0;
};

/// Items arrive and threads use the stations' locks at random times; equal dates are next to impossible.
Outcome run(const std::string& kind, std::uint64_t seed, bool coalesce, int users) {
  Engine engine(seed);
  engine.set_step_limit(3'000'000);
  const Host host = test::small_host();
  RandomStream shape = engine.stream("shape");
  const int stations = static_cast<int>(1 + shape.below(3));
  constexpr int items = 12;
  Poller poller(engine, host, kind, stations, coalesce);
  const auto some_station = [stations](RandomStream& random) {
    return static_cast<std::size_t>(random.below(static_cast<std::uint64_t>(stations)));
  };
  const auto some_time = [](RandomStream& random) {
    return Duration::picoseconds(static_cast<std::int64_t>(random.below(40'000'000)));
  };
  SimThread& polling = engine.spawn("poller", 0, 0, [&](SimThread& self) { poller.run(self, items); });
  std::vector<std::unique_ptr<Arrival>> arrivals;
  for (int item = 0; item < items; ++item) {
    const std::size_t station = some_station(shape);
    arrivals.push_back(std::make_unique<Arrival>(engine, poller, station, item));
    engine.schedule(*arrivals.back(), TimePoint::at(some_time(shape)));
  }
  for (int user = 0; user < users; ++user) {
    engine.spawn("user " + std::to_string(user), 0, 2 + user, [&](SimThread& self) {
      RandomStream random = engine.stream(self.name());
      for (int round = 0; round < 4; ++round) {
        self.spend(some_time(random), Category::software);
        Lock& lock = *poller.station(some_station(random)).lock;
        const std::string me = self.name() + " " + std::to_string(round);
        if (random.below(2) == 0) {
          lock.lock(self);
        } else if (!lock.try_lock(self)) {
          poller.note(me + " refused");
          continue;
        }
        poller.note(me + " has " + lock.name());
        self.spend(Duration::picoseconds(static_cast<std::int64_t>(random.below(200'000))), Category::software);
        lock.unlock(self);
      }
    });
  }
  engine.run();
  return {poller.happenings, test::clock(engine), test::spent(polling, Category::poll_idle), poller.skipped()};
}

/// A thread that wants an MCS lock while its holder is on the way out makes the holder wait for it and hand over; one that
/// comes a moment later takes the lock itself. A skipped turn counts as over when its look is, and so misses that moment:
/// one cache hit per turn. The releases of the other locks take effect in a single access and have no such moment, or
/// they do not let turns be skipped.
bool released_in_one_access(const std::string& kind) { return kind != "mcs"; }

bool can_be_visited(const std::string& kind) {
  Engine engine(1);
  const Host host = test::small_host();
  return lock_registry().at(kind)(engine, host, test::small_locks(), "lock")->can_be_visited();
}

/// The same happenings at the same times.
void compare_exactly(const std::string& kind, int users, std::uint64_t seeds) {
  std::uint64_t skipped = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    CAPTURE(kind, seed, users);
    const Outcome turn_by_turn = run(kind, seed, false, users);
    const Outcome coalesced = run(kind, seed, true, users);
    const auto difference = std::mismatch(turn_by_turn.happenings.begin(), turn_by_turn.happenings.end(),
                                          coalesced.happenings.begin(), coalesced.happenings.end());
    if (difference.first != turn_by_turn.happenings.end() && difference.second != coalesced.happenings.end()) {
      const auto [expected, actual] = difference;
      CAPTURE(expected->time, expected->what, actual->time, actual->what);
      REQUIRE(*expected == *actual);
    }
    REQUIRE(turn_by_turn.happenings.size() == coalesced.happenings.size());
    REQUIRE(turn_by_turn.idle == coalesced.idle);
    REQUIRE(turn_by_turn.end == coalesced.end);
    skipped += coalesced.skipped;
    REQUIRE(turn_by_turn.skipped == 0);
  }
  if (can_be_visited(kind)) {
    CHECK(skipped > 50 * seeds); // else the comparison says nothing
  } else {
    CHECK(skipped == 0);
  }
}

/// Most runs are the same, and the ends agree on average.
void compare_closely(const std::string& kind, int users, std::uint64_t seeds) {
  std::uint64_t different = 0;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Outcome turn_by_turn = run(kind, seed, false, users);
    const Outcome coalesced = run(kind, seed, true, users);
    different += turn_by_turn.happenings == coalesced.happenings ? 0U : 1U;
    sum += static_cast<double>(coalesced.end.count()) / static_cast<double>(turn_by_turn.end.count()) - 1.0;
  }
  CAPTURE(kind, users, different, sum / static_cast<double>(seeds));
  CHECK(different * 5 <= seeds);
  CHECK(std::abs(sum / static_cast<double>(seeds)) < 0.001);
}

void compare(const std::string& kind, int users, std::uint64_t seeds) {
  if (users == 0 || released_in_one_access(kind)) {
    compare_exactly(kind, users, seeds);
  } else {
    compare_closely(kind, users, seeds);
  }
}

} // namespace

TEST_CASE("idle polls: arrivals are found when they would have been", "[idle poll][property]") {
  for (const std::string& kind : lock_registry().names()) {
    compare(kind, 0, 100);
  }
}

TEST_CASE("idle polls: threads that want the polled locks get them when they would have", "[idle poll][property]") {
  for (const std::string& kind : lock_registry().names()) {
    compare(kind, 1, 200);
  }
}

TEST_CASE("idle polls: with several such threads", "[idle poll][property]") {
  for (const std::string& kind : lock_registry().names()) {
    compare(kind, 5, 200);
  }
}

TEST_CASE("idle polls: an arrival at the very moment of a look is found by that look", "[idle poll]") {
  for (const std::string& kind : lock_registry().names()) {
    for (const bool coalesce : {false, true}) {
      CAPTURE(kind, coalesce);
      Engine engine(1);
      const Host host = test::small_host();
      Poller poller(engine, host, kind, 2, coalesce);
      // The time of a look, taken from a run in which an item waits for it.
      TimePoint look;
      {
        Engine probe(1);
        Poller probed(probe, host, kind, 2, false);
        Arrival early(probe, probed, 0, 0);
        probe.schedule(early, TimePoint::at(20_us));
        probe.spawn("poller", 0, 0, [&](SimThread& self) { probed.run(self, 1); });
        probe.run();
        look = TimePoint::at(Duration::picoseconds(probed.happenings.at(0).time));
      }
      Arrival arrival(engine, poller, 0, 0);
      engine.schedule(arrival, look); // long before the look itself is due
      engine.spawn("poller", 0, 0, [&](SimThread& self) { poller.run(self, 1); });
      engine.run();
      REQUIRE(poller.happenings.size() == 1);
      CHECK(poller.happenings[0].time == look.since_start().count());
    }
  }
}

TEST_CASE("idle polls: skipping can be switched off and is bounded", "[idle poll]") {
  Engine engine(1);
  const Host host = test::small_host();
  const auto lock = lock_registry().at("ticket")(engine, host, test::small_locks(), "lock");
  for (const bool enabled : {false, true}) {
    IdlePoll idle(engine, enabled, "poller");
    engine.spawn("poller", 0, 0, [&](SimThread& self) {
      PollTurn turn;
      PollTurn last;
      lock->lock(self);
      lock->unlock(self);
      turn.start(self);
      turn.period = 10_ns;
      turn.visits = {{lock.get(), 2_ns, 4_ns, 6_ns}};
      self.settle();
      const TimePoint start = self.now();
      CHECK(idle.rest(self, turn, last, true, 5).turns == 0); // the first of two equal turns
      CHECK(idle.rest(self, turn, last, true, 0).turns == 0);
      CHECK(idle.rest(self, turn, last, false, 5).turns == 0); // something is in sight
      CHECK(self.now() == start);
      const IdlePoll::Resumption resumption = idle.rest(self, turn, last, true, 5);
      CHECK_FALSE(resumption.inside);
      CHECK(resumption.turns == (enabled ? 5 : 0));
      CHECK(self.now() == start + turn.period * resumption.turns);
      CHECK(idle.skipped_turns() == static_cast<std::uint64_t>(resumption.turns));
      turn.period = 11_ns;
      CHECK(idle.rest(self, turn, last, true, 5).turns == 0); // not the turn before
    });
    engine.run();
  }
}

TEST_CASE("idle polls: a lock that another thread has had since its visit is visited again first", "[idle poll]") {
  Engine engine(1);
  const Host host = test::small_host();
  const auto lock = lock_registry().at("pthread-mutex")(engine, host, test::small_locks(), "lock");
  IdlePoll idle(engine, true, "poller");
  engine.spawn("other", 0, 2, [&](SimThread& self) {
    self.spend(10_us, Category::software);
    lock->lock(self);
    lock->unlock(self);
  });
  engine.spawn("poller", 0, 0, [&](SimThread& self) {
    PollTurn turn;
    PollTurn last;
    const auto visit = [&] {
      REQUIRE(lock->try_lock(self));
      lock->unlock(self);
      self.settle();
    };
    const auto rests = [&] { return idle.rest(self, turn, last, true, 5).turns == 5; };
    visit();
    visit();
    turn.start(self);
    turn.period = 10_ns;
    turn.visits = {{lock.get(), 2_ns, 4_ns, 6_ns}};
    CHECK_FALSE(rests()); // the first of two equal turns
    CHECK(rests());
    self.spend(20_us, Category::software);
    CHECK_FALSE(rests()); // the other thread has its lines
    visit();
    turn.start(self);
    turn.visits = {{lock.get(), 2_ns, 4_ns, 6_ns}};
    CHECK(rests());
  });
  engine.run();
}

TEST_CASE("idle polls: a turn that takes no time is not skipped", "[idle poll]") {
  Engine engine(1);
  const Host host = test::free_host();
  const auto lock = lock_registry().at("ticket")(engine, host, LockParameters{}, "lock");
  IdlePoll idle(engine, true, "poller");
  engine.spawn("poller", 0, 0, [&](SimThread& self) {
    PollTurn turn;
    PollTurn last;
    turn.start(self);
    turn.visits = {{lock.get(), 0_ps, 0_ps, 0_ps}};
    for (int i = 0; i < 3; ++i) { // any number of such turns fits into no time at all
      CHECK(idle.rest(self, turn, last, true).turns == 0);
    }
  });
  engine.run();
}
