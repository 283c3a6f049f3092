// What each progress engine promises: who polls, what comes first, and that nothing is left lying.
#include "models/progress/progress_engine.hpp"
#include "simulation/simulation.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace contend;

namespace {

/// Records who polls what. Work lies at targets and is given to whom it belongs when its target is polled.
class RecordingSource final : public ProgressSource {
public:
  explicit RecordingSource(int targets) : work(static_cast<std::size_t>(targets)) {}

  void begin_turn(SimThread& self, Noise /*noise*/) override {
    most_inside = std::max(most_inside, ++inside);
    turns.push_back({self.id(), {}});
    self.spend(50_ns, Category::poll_idle);
  }
  int poll(SimThread& self, int target, IfHeld /*if_held*/) override {
    const auto turn = std::find_if(turns.rbegin(), turns.rend(), [&](const Turn& t) { return t.thread == self.id(); });
    turn->polls.push_back(target);
    self.spend(100_ns, Category::poll_idle);
    const std::vector<SyncObject*> found = std::exchange(work[static_cast<std::size_t>(target)], {});
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
  int end_turn(SimThread& /*self*/) override {
    --inside;
    return 0;
  }
  [[nodiscard]] int targets() const override { return static_cast<int>(work.size()); }
  std::span<const int> own_targets(SimThread& self, SyncObject& sync) override {
    sync.targets.assign(1, self.id() % targets());
    return sync.targets;
  }
  int next_target(SimThread& /*self*/) override { return next++ % targets(); }
  Rest rest(SimThread& /*self*/, std::int64_t /*limit*/) override { return {}; }
  void end_rests() override {}
  void end_rest_of(const SyncObject& /*sync*/) override {}
  void stop(SimThread& /*self*/) override {}

  struct Turn {
    int thread;
    std::vector<int> polls;
  };
  std::vector<std::vector<SyncObject*>> work; ///< by target
  std::vector<Turn> turns;
  ProgressEngine* engine = nullptr;
  int inside = 0;
  int most_inside = 0;
  int next = 0;
};

/// Work for `sync` comes to a target.
class Arrival final : public Event {
public:
  Arrival(Engine& engine, RecordingSource& source, int target, SyncObject& sync)
      : Event(engine), source_(source), target_(target), sync_(sync) {}
  void fire() override { source_.work[static_cast<std::size_t>(target_)].push_back(&sync_); }

private:
  RecordingSource& source_;
  int target_;
  SyncObject& sync_;
};

/// `threads` threads wait for one piece of work each; thread i's comes to target (i + shift) mod targets when
/// all wait, and 3 us later than thread i - 1's.
struct Bench {
  Bench(ProgressDesign design, int threads, int targets, int shift) : source(targets) {
    progress = progress_registry().at(design.engine)({engine, host, source,
                                                      [this](std::string_view name) {
                                                        return lock_registry().at("pthread-mutex")(engine, host,
                                                                                                   machine.locks, name);
                                                      },
                                                      machine.locks.pause, "bench", design});
    source.engine = progress.get();
    for (int i = 0; i < threads; ++i) {
      syncs.push_back(std::make_unique<SyncObject>(engine, host, "sync " + std::to_string(i)));
      syncs.back()->pending = 1;
      arrivals.push_back(std::make_unique<Arrival>(engine, source, (i + shift) % targets, *syncs.back()));
      engine.schedule(*arrivals.back(), TimePoint::at(20_us + 3_us * i));
      engine.spawn("waiter " + std::to_string(i), 0, i,
                   [this, i](SimThread& self) { progress->wait(self, *syncs[static_cast<std::size_t>(i)]); });
    }
    engine.set_step_limit(1'000'000);
    engine.run(); // throws if a thread is never woken
  }
  ~Bench() { engine.abandon(); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  MachineConfig machine = test::small_machine();
  Engine engine{1};
  Host host{machine.topology, machine.cache, machine.futex};
  RecordingSource source;
  std::unique_ptr<ProgressEngine> progress;
  std::vector<std::unique_ptr<SyncObject>> syncs;
  std::vector<std::unique_ptr<Arrival>> arrivals;
};

ProgressDesign design_of(const std::string& engine, int limit = 0) {
  ProgressDesign design;
  design.engine = engine;
  design.threads_in_progress = limit;
  return design;
}

} // namespace

TEST_CASE("progress: everybody is served wherever the work comes in", "[mpi][progress]") {
  for (const std::string& engine : progress_registry().names()) {
    for (const int shift : {0, 1, 3}) {
      CAPTURE(engine, shift);
      if (progress_registry().at(engine).traits().own_thread) {
        continue; // has no thread here
      }
      Bench bench(design_of(engine), 6, 6, shift);
      CHECK((bench.progress->request_lock() != nullptr) == progress_registry().at(engine).traits().locks_requests);
      for (const auto& sync : bench.syncs) {
        CHECK(sync->pending == 0);
      }
    }
  }
}

TEST_CASE("concurrent progress polls the own target first, then the next ones in turn until it finds something",
          "[mpi][progress]") {
  constexpr int targets = 5;
  const Bench alone(design_of("concurrent"), 1, targets, 3);
  int expected_next = 0;
  for (const RecordingSource::Turn& turn : alone.source.turns) {
    REQUIRE(!turn.polls.empty());
    CHECK(turn.polls.front() == 0);
    const bool last = &turn == &alone.source.turns.back();
    CHECK((last || turn.polls.size() == 1 + targets));
    for (std::size_t i = 1; i < turn.polls.size(); ++i) {
      CHECK(turn.polls[i] == expected_next++ % targets);
    }
  }
  CHECK(alone.source.turns.back().polls.back() == 3);

  const Bench many(design_of("concurrent"), 4, 4, 1);
  for (const RecordingSource::Turn& turn : many.source.turns) {
    CHECK(turn.polls.front() == turn.thread % 4);
  }
}

TEST_CASE("progress by target polls all of them every n-th turn only", "[mpi][progress]") {
  ProgressDesign design = design_of("per-target");
  design.global_every = 8;
  const Bench bench(design, 1, 4, 2); // what it waits for comes to a target that is not its own
  int number = 0;
  for (const RecordingSource::Turn& turn : bench.source.turns) {
    const bool last = &turn == &bench.source.turns.back();
    if (++number % 8 == 0) {
      CHECK(turn.polls == (last ? std::vector<int>{0, 1, 2} : std::vector<int>{0, 1, 2, 3}));
    } else {
      CHECK(turn.polls == std::vector<int>{0});
    }
  }
  CHECK(number % 8 == 0); // the work was found by a turn of all targets
}

TEST_CASE("progress of one's own targets tries the others at every n-th turn", "[mpi][progress]") {
  ProgressDesign design = design_of("every-nth");
  design.global_every = 8;
  const Bench bench(design, 1, 4, 2); // what it waits for comes to a target that is not its own
  int number = 0;
  for (const RecordingSource::Turn& turn : bench.source.turns) {
    CHECK(turn.polls == (++number % 8 == 0 ? std::vector<int>{0, 1, 2, 3} : std::vector<int>{0}));
  }
  CHECK(number % 8 == 0); // the work was found by a turn of all targets

  const Bench many(design, 4, 4, 1);
  for (const RecordingSource::Turn& turn : many.source.turns) {
    CHECK(turn.polls.front() == turn.thread % 4);
  }
}

TEST_CASE("the limit on threads in progress holds and is used", "[mpi][progress]") {
  for (const std::string engine : {"ownership", "concurrent"}) {
    for (const int limit : {1, 2, 3, 5}) {
      CAPTURE(engine, limit);
      const Bench bench(design_of(engine, limit), 8, 3, 0);
      CHECK(bench.source.most_inside == limit);
      ProgressDesign lenient = design_of(engine, limit);
      lenient.lenient_limit = true;
      CHECK(Bench(lenient, 8, 3, 0).source.most_inside >= limit);
    }
  }
  CHECK(Bench(design_of("ownership"), 8, 3, 0).source.most_inside == 1);
  CHECK(Bench(design_of("concurrent"), 8, 3, 0).source.most_inside == 8);
  CHECK(Bench(design_of("serial-blocking"), 8, 3, 0).source.most_inside == 1);
  CHECK(Bench(design_of("serial-try-lock"), 8, 3, 0).source.most_inside == 1);
}

TEST_CASE("with one lock for all requests, each completion sends the condition's line round", "[mpi][progress]") {
  constexpr int completions = 10;
  const MachineConfig machine = test::small_machine();
  Engine engine{1};
  const Host host{machine.topology, machine.cache, machine.futex};
  RecordingSource source(1);
  const auto progress = progress_registry().at("request-lock")(
      {engine, host, source,
       [&](std::string_view name) { return lock_registry().at("pthread-mutex")(engine, host, machine.locks, name); },
       machine.locks.pause, "bench", design_of("request-lock")});
  source.engine = progress.get();
  SyncObject sync(engine, host, "sync");
  sync.pending = 1;
  std::uint64_t transfers = 0;
  engine.spawn("waiter", 0, 0, [&](SimThread& self) {
    progress->wait(self, sync);
    transfers = self.line_transfers();
  });
  engine.spawn("other", 0, 1, [&](SimThread& self) {
    for (int i = 0; i < completions; ++i) {
      self.spend(20_us, Category::software);
      progress->completed_unwatched(self);
    }
    sync.pending = 0;
    progress->completed(self, sync);
  });
  engine.set_step_limit(1'000'000);
  engine.run();
  CHECK(transfers >= 3 * completions); // those of the lock, the counters and the condition
}

TEST_CASE("messages of an instance whose thread has ended are found", "[mpi][progress][orphan]") {
  for (const std::string& engine : progress_registry().names()) {
    for (const std::string assignment : {"dedicated", "round-robin"}) {
      for (const bool coalesce : {true, false}) {
        CAPTURE(engine, assignment, coalesce);
        PointConfig point = test::small_point();
        point.library.progress.engine = engine;
        point.library.instances.count = 2;
        point.library.instances.assignment = assignment;
        point.run.coalesce_idle_polls = coalesce;
        test::Program program(2, point);
        const int comm = program.communicator;
        int received = 0;
        for (int i = 0; i < 2; ++i) {
          program.thread(0, [&, i](SimThread& self, Process& mpi) {
            self.spend(5_us * i, Category::software); // the first thread takes the first instance
            mpi.send(self, comm, 1, i, 0);
            self.spend(200_us, Category::software);
            for (int k = 0; k < 5; ++k) { // both instances carry messages for the thread that is left
              mpi.send(self, comm, 1, 10 + i, 0);
            }
          });
          program.thread(1, [&, i](SimThread& self, Process& mpi) {
            self.spend(5_us * i, Category::software);
            mpi.recv(self, comm, 0, i, 0);
            if (i == 1) {
              for (int k = 0; k < 10; ++k) {
                mpi.recv(self, comm, 0, 10 + k / 5, 0);
                ++received;
              }
            }
          });
        }
        program.run();
        CHECK(received == 10);
      }
    }
  }
}

TEST_CASE("with a progress thread, application threads enter no critical section", "[mpi][progress][offload]") {
  PointConfig point = test::small_point();
  point.library.progress.engine = "offload-thread";
  point.library.progress.queue_slots = 4; // runs full
  point.workload.multirate.pairs = 5;
  const PointResult result = simulate(point, {});
  for (const SimThread::Times& times : result.workload.times) {
    for (const Category category :
         {Category::lock_wait, Category::matching, Category::out_of_sequence, Category::nic_post, Category::blocked}) {
      CAPTURE(name_of(category));
      CHECK(times[static_cast<std::size_t>(category)] == Duration{});
    }
  }
  CHECK(result.receiver.received ==
        std::int64_t{point.workload.multirate.pairs} * point.workload.multirate.window *
            (point.workload.multirate.iterations + point.workload.multirate.warmup_iterations));
  CHECK(result.notes ==
        std::vector<std::string>{"a progress thread has core 15 of host 0", "a progress thread has core 15 of host 1"});
}

TEST_CASE("a progress thread needs a core", "[mpi][progress][offload]") {
  PointConfig point = test::small_point();
  point.machine.topology = {1, 2, 1};
  point.library.progress.engine = "offload-thread";
  point.workload.multirate.mode = "process";
  point.workload.multirate.pairs = 3;
  CHECK_THROWS_AS(simulate(point, {}), std::invalid_argument);
}

TEST_CASE("no thread of the application gets the core of a progress thread", "[mpi][progress][offload]") {
  PointConfig point = test::small_point();
  point.machine.topology = {1, 4, 1};
  point.library.progress.engine = "offload-thread";
  const auto sleep = [](SimThread& self) { self.spend(1_us, Category::compute); };
  const auto refused = [&](World& world, const std::string& reason) {
    const std::string message = "thread 'one too many' has no hardware thread of its own on its host" + reason;
    CHECK_THROWS_WITH(world.spawn(0, "one too many", sleep), message);
    CHECK_THROWS_WITH(world.spawn_on(0, 3, "one too many", sleep), message);
    CHECK_THROWS_WITH(world.spawn_daemon_on(0, 3, "one too many", sleep), message);
  };
  {
    test::Program program(2, point);
    for (int thread = 0; thread < 3; ++thread) {
      program.world.spawn(0, "thread " + std::to_string(thread), sleep);
    }
    refused(program.world, ": a progress thread has core 3");
    program.run();
  }
  point.library.transport.kind = "shared-memory"; // all ranks on one host
  {
    test::Program program(3, point);
    program.world.spawn(0, "thread", sleep);
    refused(program.world, ": progress threads have cores 1 to 3");
    program.run();
  }
  point.library.progress.engine = "ownership";
  test::Program program(3, point);
  for (int rank = 0; rank < 3; ++rank) {
    program.world.spawn(rank, "thread", sleep);
  }
  program.world.spawn_on(0, 3, "another thread", sleep);
  CHECK_THROWS_WITH(program.world.spawn_on(0, 4, "one too many", sleep),
                    "thread 'one too many' has no hardware thread of its own on its host");
  program.run();
}

TEST_CASE("more instances than contexts share them, and the result says so", "[mpi][instances]") {
  PointConfig point = test::small_point();
  point.workload.multirate.iterations = 20; // where a head start is no matter, of which a note would speak
  point.library.instances.count = 72;
  point.library.instances.assignment = "dedicated";
  point.machine.nic.max_contexts = 3;
  PointConfig as_many = point;
  as_many.library.instances.count = 3;
  const PointResult shared = simulate(point, {});
  const PointResult plain = simulate(as_many, {});
  CHECK(shared.notes == std::vector<std::string>{"the transport has contexts for 3 instances per process: the "
                                                 "72 that the design asks for share them"});
  CHECK(plain.notes.empty());
  CHECK(shared.workload.elapsed == plain.workload.elapsed);
}

TEST_CASE("threads with one communicator meet at one of the instances that it is mapped to, and the result says so",
          "[mpi][instances]") {
  PointConfig point = test::small_point();
  point.workload.multirate.iterations = 20; // as above
  point.library.instances.count = 4;
  point.library.instances.mapping = "communicator";
  const auto notes = [&](bool communicator_per_pair, int pairs) {
    point.workload.multirate.communicator_per_pair = communicator_per_pair;
    point.workload.multirate.pairs = pairs;
    return simulate(point, {}).notes;
  };
  CHECK(notes(false, 4) ==
        std::vector<std::string>{"all messages go through one of the 4 instances: the communicator decides "
                                 "(library.instances.mapping), and there is one"});
  CHECK(notes(true, 4).empty());
  CHECK(notes(false, 1).empty()); // nobody to meet
  point.library.instances.mapping = "thread";
  CHECK(notes(false, 4).empty());
}

TEST_CASE("an engine that polls where nothing need come in says so", "[mpi][instances]") {
  PointConfig point = test::small_point();
  point.library.instances.count = 4;
  point.library.progress.engine = GENERATE("per-target", "every-nth", "concurrent");
  const bool polls_own = point.library.progress.engine != "concurrent";
  CHECK(simulate(point, {}).notes.size() == (polls_own ? 1 : 0));
  point.library.instances.count = 1;
  CHECK(simulate(point, {}).notes.empty());
  point.workload.multirate.iterations = 20; // as above
  point.library.instances.count = 4;
  point.library.instances.mapping = "communicator";
  point.workload.multirate.communicator_per_pair = true;
  CHECK(simulate(point, {}).notes.empty());
}

TEST_CASE("threads of one communicator meet in other workloads, too", "[mpi][instances]") {
  PointConfig point = test::small_point();
  point.workload.multirate.iterations = 20; // as above
  point.library.instances.count = 4;
  point.library.instances.mapping = "communicator";
  const auto says_so = [&] {
    const std::vector<std::string> notes = simulate(point, {}).notes;
    return std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
      return note.starts_with("all messages go through one of the 4 instances");
    });
  };
  point.workload.multirate.pattern = "many-to-many"; // whose barriers have communicators of their own
  point.workload.multirate.senders = point.workload.multirate.receivers = 2;
  CHECK(says_so());
  point.workload.kind = "rma-mt";
  point.workload.rma_mt.threads = 4;
  CHECK(says_so());
  point.workload.rma_mt.threads = 1;
  CHECK_FALSE(says_so());
}
