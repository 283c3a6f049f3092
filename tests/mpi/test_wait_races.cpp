// Races of waiting threads, provoked by moving one event through the window in which they can happen.
#include "core/contention_account.hpp"
#include "models/progress/progress_engine.hpp"
#include "models/waiting/idling.hpp"
#include "support/point.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace contend;

namespace {

/// One target; what lies there is completed by the thread that polls it.
class Work final : public ProgressSource {
public:
  void begin_turn(SimThread& self, Noise /*noise*/) override { self.spend(40_ns, Category::poll_idle); }
  int poll(SimThread& self, int /*target*/, IfHeld /*if_held*/) override {
    turns.push_back(self.id());
    self.spend(70_ns, Category::poll_idle);
    const std::vector<SyncObject*> found = std::exchange(work, {});
    for (SyncObject* const sync : found) {
      if (--sync->pending == 0) {
        engine->completed(self, *sync);
      } else {
        engine->advanced(self, *sync);
      }
    }
    return static_cast<int>(found.size());
  }
  int take_commands(SimThread& /*self*/) override { return 0; }
  int end_turn(SimThread& /*self*/) override { return 0; }
  [[nodiscard]] int targets() const override { return 1; }
  std::span<const int> own_targets(SimThread& /*self*/, SyncObject& sync) override {
    sync.targets.assign(1, 0);
    return sync.targets;
  }
  int next_target(SimThread& /*self*/) override { return 0; }
  Rest rest(SimThread& /*self*/, std::int64_t /*limit*/) override { return {}; }
  void end_rests() override {}
  void end_rest_of(const SyncObject& /*sync*/) override {}
  void stop(SimThread& /*self*/) override {}

  std::vector<SyncObject*> work;
  std::vector<int> turns; ///< who polled
  ProgressEngine* engine = nullptr;
};

class Completion final : public Event {
public:
  Completion(Engine& engine, Work& work, SyncObject& sync) : Event(engine), work_(work), sync_(sync) {}
  void fire() override { work_.work.push_back(&sync_); }

private:
  Work& work_;
  SyncObject& sync_;
};

/// Sleeps without looking again: what a condition variable without its mutex, or a futex without its comparison, would do.
class CarelessIdling final : public Idling {
public:
  void idle(SimThread& self, SyncObject& sync) override {
    sync.condition.wait(self, Category::blocked, [] { return true; });
  }
  [[nodiscard]] bool idles(const SyncObject& sync) const override { return sync.condition.sleepers() > 0; }
  void wake(SimThread& self, SyncObject& sync, Category category, bool /*told*/) override {
    sync.condition.wake(self, 1, category);
  }
};

/// Threads wait for one piece of work each.
struct RaceBench {
  explicit RaceBench(int threads, Idling* idling, int limit = 1, bool lenient = false) {
    make_progress(idling, limit, lenient);
    for (int i = 0; i < threads; ++i) {
      syncs.push_back(std::make_unique<SyncObject>(engine, host, "sync " + std::to_string(i)));
      syncs.back()->pending = 1;
      arrivals.push_back(std::make_unique<Completion>(engine, work, *syncs.back()));
    }
    engine.set_step_limit(20'000);
  }
  ~RaceBench() { engine.abandon(); }
  RaceBench(const RaceBench&) = delete;
  RaceBench& operator=(const RaceBench&) = delete;

  void make_progress(Idling* idling, int limit, bool lenient = false) {
    ProgressDesign design;
    design.engine = "ownership";
    design.threads_in_progress = limit;
    design.lenient_limit = lenient;
    progress = progress_registry().at("ownership")({engine, host, work,
                                                    [this](std::string_view name) {
                                                      return lock_registry().at("pthread-mutex")(engine, host,
                                                                                                 machine.locks, name);
                                                    },
                                                    machine.locks.pause, "bench", design, idling});
    work.engine = progress.get();
  }

  /// Thread i begins to wait at `begin`; `afterwards` runs when it is done.
  SimThread& waiter(int i, Duration begin, std::function<void()> afterwards = {}) {
    return engine.spawn("waiter " + std::to_string(i), 0, i, [this, i, begin, afterwards](SimThread& self) {
      self.spend(begin, Category::software);
      progress->wait(self, *syncs[static_cast<std::size_t>(i)]);
      if (afterwards) {
        self.settle();
        afterwards();
      }
    });
  }
  void arrive(int i, TimePoint time) { engine.schedule(*arrivals[static_cast<std::size_t>(i)], time); }

  MachineConfig machine = test::small_machine();
  Engine engine{1};
  Host host{machine.topology, machine.cache, machine.futex};
  Work work;
  std::unique_ptr<ProgressEngine> progress;
  std::vector<std::unique_ptr<SyncObject>> syncs;
  std::vector<std::unique_ptr<Completion>> arrivals;
};

/// Thread 0 makes progress. Thread 1 goes to sleep from 5 us on; its work arrives at `arrival`. Thread 0's work comes when
/// thread 1 is done, so that nobody else wakes thread 1.
struct GoingToSleep {
  bool ended = false;
  bool turned_back = false; ///< thread 1 was in the kernel, and did not sleep
};

GoingToSleep go_to_sleep(TimePoint arrival, Idling* idling) {
  RaceBench bench(2, idling);
  bench.waiter(0, 0_ps);
  const SimThread& sleeper = bench.waiter(1, 5_us, [&bench] { bench.arrive(0, bench.engine.now() + 1_us); });
  bench.arrive(1, arrival);
  GoingToSleep result;
  try {
    bench.engine.run();
    result.ended = true;
  } catch (const StepLimit&) { // thread 0 polls for ever
  }
  const Duration blocked = sleeper.times()[static_cast<std::size_t>(Category::blocked)];
  result.turned_back = result.ended && blocked == bench.machine.futex.wait_call;
  return result;
}

} // namespace

TEST_CASE("a completion while its waiter goes to sleep is not lost", "[mpi][waiting][race]") {
  CarelessIdling careless;
  int provoked = 0;
  int lost_without_care = 0;
  for (int step = 0; step < 120; ++step) {
    const TimePoint arrival = TimePoint::at(4_us + 25_ns * step);
    CAPTURE(step);
    const GoingToSleep result = go_to_sleep(arrival, nullptr);
    CHECK(result.ended);
    const bool lost = !go_to_sleep(arrival, &careless).ended;
    CHECK(lost == result.turned_back);
    provoked += result.turned_back ? 1 : 0;
    lost_without_care += lost ? 1 : 0;
  }
  CHECK(provoked > 10); // the window is as long as the system call, 907 ns
  CHECK(lost_without_care == provoked);
}

TEST_CASE("the same for a thread that spins or steals", "[mpi][waiting][race]") {
  for (const std::string& kind : idling_registry().names()) {
    for (int step = 0; step < 200; ++step) {
      CAPTURE(kind, step);
      RaceBench bench(2, nullptr);
      TaskPool pool(bench.engine, bench.host, 10_ns, "pool"); // no task ever comes to it
      const std::unique_ptr<Idling> idling = idling_registry().at(kind)({&pool});
      bench.make_progress(idling.get(), 1);
      bench.waiter(0, 0_ps);
      bench.waiter(1, 5_us, [&bench] { bench.arrive(0, bench.engine.now() + 1_us); });
      bench.arrive(1, TimePoint::at(4_us + 13_ns * step));
      CHECK_NOTHROW(bench.engine.run());
      bench.engine.abandon();
    }
  }
}

TEST_CASE("a thread that is made owner when it has nothing left to wait for passes that on", "[mpi][waiting][race]") {
  int raced = 0;
  int ordinary = 0;
  for (const int limit : {1, 2}) {
    for (int step = 0; step < 200; ++step) {
      CAPTURE(limit, step);
      RaceBench bench(4, nullptr, limit);
      std::vector<const SimThread*> threads;
      // 0 is the owner; 1 and 2 sleep behind it, and 3 behind them. The work of 1 and 2 comes around the time at which 0
      // leaves; that of 3 when all others have left, so that somebody must have made 3 the owner.
      int left = 0;
      const auto leave = [&] {
        if (++left == 3) {
          bench.arrive(3, bench.engine.now() + 20_us);
        }
      };
      for (int i = 0; i < 4; ++i) {
        threads.push_back(&bench.waiter(i, 2_us * i, i < 3 ? std::function<void()>(leave) : std::function<void()>()));
      }
      bench.arrive(0, TimePoint::at(30_us));
      bench.arrive(1, TimePoint::at(28_us + 25_ns * step));
      bench.arrive(2, TimePoint::at(28_us + 30_ns * step));
      REQUIRE_NOTHROW(bench.engine.run());
      CHECK(left == 3);
      for (const int i : {1, 2}) {
        const bool owned = bench.syncs[static_cast<std::size_t>(i)]->promoted;
        const bool polled = std::count(bench.work.turns.begin(), bench.work.turns.end(),
                                       threads[static_cast<std::size_t>(i)]->id()) > 0;
        raced += owned && !polled ? 1 : 0;
        ordinary += owned && polled ? 1 : 0;
      }
    }
  }
  CHECK(raced > 20); // made owner, and already complete
  CHECK(ordinary > 20);
}

TEST_CASE("a lenient limit lets others past a promoted thread that still has to wake up", "[mpi][waiting][race]") {
  for (const bool lenient : {false, true}) {
    int passed = 0;
    for (int step = 0; step < 200; ++step) {
      CAPTURE(lenient, step);
      RaceBench bench(3, nullptr, 1, lenient);
      // 0 is the owner until 30 us, and promotes 1, which sleeps; 2 comes by at about that time.
      bench.waiter(0, 0_ps);
      const SimThread& promoted = bench.waiter(1, 2_us);
      const SimThread& newcomer = bench.waiter(2, 29_us + 25_ns * step);
      bench.arrive(0, TimePoint::at(30_us));
      bench.arrive(1, TimePoint::at(60_us));
      bench.arrive(2, TimePoint::at(70_us));
      REQUIRE_NOTHROW(bench.engine.run());
      const auto first = [&](const SimThread& thread) {
        return std::find(bench.work.turns.begin(), bench.work.turns.end(), thread.id());
      };
      REQUIRE(first(promoted) != bench.work.turns.end());
      passed += first(newcomer) < first(promoted) ? 1 : 0;
    }
    CHECK((passed > 20) == lenient);
    CHECK((passed > 0) == lenient);
  }
}

TEST_CASE("a sleeper waits for the thread that completes its request, or hands progress over", "[mpi][wait][account]") {
  const bool completes = GENERATE(true, false);
  CAPTURE(completes);
  RaceBench bench(2, nullptr);
  ContentionAccount account(bench.engine);
  for (int i = 0; i < 2; ++i) {
    bench.syncs[static_cast<std::size_t>(i)]->waiter = i;
  }
  const SimThread& owner = bench.waiter(0, 0_ps);
  const SimThread& sleeper = bench.waiter(1, 5_us);
  bench.arrive(completes ? 1 : 0, TimePoint() + 50_us);
  bench.arrive(completes ? 0 : 1, TimePoint() + 100_us);
  bench.engine.run();

  const WaitAccount::PlaceAccount& place = account.waiting().places().at(1);
  CHECK(place.place->name == "bench/others' progress");
  const std::string how = completes ? "completed requests" : "handed progress over";
  Duration sum;
  for (const auto& [wait, time] : place.waits) {
    CHECK(wait.waiter == sleeper.id());
    CHECK(wait.category == Category::blocked);
    CHECK((wait.awaited == WaitAccount::nobody || (wait.awaited == owner.id() && wait.how == how)));
    sum += time;
  }
  CHECK(sum == sleeper.charged(Category::blocked));
  const Duration for_owner = place.waits.at({sleeper.id(), Category::blocked, owner.id(), how});
  CHECK(for_owner.in_seconds() == Approx(45e-6).epsilon(0.05)); // from 5 us on until it finds what comes at 50 us
  CHECK(place.answers.at({owner.id(), how}) == 1);
  // The owner polls meanwhile, and does little else.
  Duration meanwhile;
  for (const auto& [who, time] : place.meanwhile) {
    meanwhile += time;
  }
  CHECK(meanwhile <= for_owner);
  CHECK(place.meanwhile.at({sleeper.id(), Category::poll_idle}) >= for_owner.scaled(0.9));
}
