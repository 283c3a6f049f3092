// Windows: what a flush promises, who may hold which lock, and that no operation is lost.
#include "simulation/simulation.hpp"
#include "support/observe.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

using namespace contend;
using test::Program;

namespace {

/// Ranks, a window of all of them, and the completion policy and instances of the design.
PointConfig one_sided_point(const std::string& completion = "instances", int instances = 4,
                            const std::string& assignment = "dedicated") {
  PointConfig point = test::small_point();
  point.library.instances = {instances, assignment, "ttas"};
  point.library.one_sided.completion = completion;
  return point;
}

PointConfig rma_mt_point() {
  PointConfig point = one_sided_point();
  point.workload.kind = "rma-mt";
  point.workload.rma_mt.threads = 4;
  point.workload.rma_mt.operations = 30;
  point.workload.rma_mt.iterations = 2;
  return point;
}

} // namespace

TEST_CASE("a flush returns when everything posted before is complete", "[mpi][one-sided]") {
  constexpr int threads = 4;
  for (const char* completion : {"instances", "instance-turns", "counter"}) {
    for (const char* assignment : {"dedicated", "round-robin"}) {
      for (const int instances : {1, 3}) {
        for (const int batch : {1, 16}) {
          CAPTURE(completion, assignment, instances, batch);
          PointConfig point = one_sided_point(completion, instances, assignment);
          point.machine.rdma.completion_batch = batch;
          Program program(1 + threads, point); // each thread has a target of its own
          const int window = program.world.create_window(program.communicator);
          for (int thread = 0; thread < threads; ++thread) {
            program.thread(0, [=](SimThread& self, Process& mpi) {
              const int target = 1 + thread;
              for (int round = 0; round < 5; ++round) {
                for (int i = 0; i < 10 + 7 * thread; ++i) {
                  if (i % 3 == 0) {
                    mpi.window(window).get(self, target, 4000);
                  } else {
                    mpi.window(window).put(self, target, i % 3 == 1 ? 8 : 4000);
                  }
                }
                mpi.window(window).flush(self, target);
                CHECK(mpi.window(window).outstanding(target) == 0);
              }
            });
          }
          program.run();
          CHECK(program.counters(0).puts + program.counters(0).gets == program.counters(0).one_sided_completed);
          CHECK(program.counters(0).flushes == 5 * threads);
        }
      }
    }
  }
}

TEST_CASE("a flush takes a round trip, a local flush of stored puts does not", "[mpi][one-sided]") {
  const PointConfig point = one_sided_point();
  for (const bool local : {false, true}) {
    Program program(2, point);
    const int window = program.world.create_window(program.communicator);
    program.thread(0, [&](SimThread& self, Process& mpi) {
      mpi.window(window).put(self, 1, 8);
      self.settle();
      const TimePoint posted = self.now();
      local ? mpi.window(window).flush_local(self, 1) : mpi.window(window).flush(self, 1);
      self.settle();
      CHECK((self.now() - posted >= point.route.latency * 2) != local);
    });
    program.run();
  }
}

TEST_CASE("flush_all waits for all targets, a flush for one", "[mpi][one-sided]") {
  for (const char* completion : {"instances", "instance-turns", "counter"}) {
    Program program(3, one_sided_point(completion));
    const int window = program.world.create_window(program.communicator);
    program.thread(0, [&](SimThread& self, Process& mpi) {
      Window& w = mpi.window(window);
      for (const int target : {1, 2}) {
        w.put(self, target, 100'000);
      }
      w.flush_all(self);
      CHECK(w.outstanding(1) + w.outstanding(2) == 0);
      w.put(self, 1, 8);
      w.put(self, 2, 1'000'000);
      w.flush(self, 1);
      CHECK(w.outstanding(1) == 0);
      CHECK(w.outstanding(2) == 1);
      w.flush(self, 2);
    });
    program.run();
  }
}

TEST_CASE("window locks exclude whom they should", "[mpi][one-sided]") {
  constexpr int origins = 5;
  enum class Mode { shared, exclusive, all };
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round);
    PointConfig point = one_sided_point();
    test::add_jitter(point);
    Program program(origins + 1, point, static_cast<std::uint64_t>(round + 1));
    const int window = program.world.create_window(program.communicator);
    int inside[3] = {0, 0, 0};
    int most_shared = 0;
    RandomStream random(static_cast<std::uint64_t>(round), "modes");
    for (int rank = 0; rank < origins; ++rank) {
      std::vector<Mode> modes;
      for (int i = 0; i < 8; ++i) {
        modes.push_back(round == 0 ? Mode::exclusive : static_cast<Mode>(random.below(3)));
      }
      program.thread(rank, [&, modes](SimThread& self, Process& mpi) {
        Window& w = mpi.window(window);
        for (const Mode mode : modes) {
          mode == Mode::all ? w.lock_all(self)
                            : w.lock(self, origins, mode == Mode::shared ? WindowLock::shared : WindowLock::exclusive);
          self.settle();
          ++inside[static_cast<int>(mode)];
          const int shared = inside[static_cast<int>(Mode::shared)] + inside[static_cast<int>(Mode::all)];
          const int exclusive = inside[static_cast<int>(Mode::exclusive)];
          CHECK(exclusive <= 1);
          CHECK((exclusive == 0 || shared == 0));
          most_shared = std::max(most_shared, shared);
          w.put(self, origins, 64);
          self.spend(3_us, Category::software);
          --inside[static_cast<int>(mode)];
          mode == Mode::all ? w.unlock_all(self) : w.unlock(self, origins);
          CHECK(w.outstanding(origins) == 0);
        }
      });
    }
    program.run();
    CHECK((round == 0 ? most_shared == 0 : most_shared > 1));
  }
}

TEST_CASE("rules of locking are enforced", "[mpi][one-sided]") {
  const auto run = [](const std::function<void(SimThread&, Window&)>& body) {
    Program program(3, one_sided_point());
    const int window = program.world.create_window(program.communicator);
    program.thread(1, [&](SimThread& self, Process& mpi) { body(self, mpi.window(window)); });
    program.run();
  };
  using Catch::Contains;
  CHECK_THROWS_WITH(run([](SimThread& self, Window& w) {
                      w.lock(self, 2, WindowLock::shared);
                      w.lock(self, 2, WindowLock::shared);
                    }),
                    Contains("locked twice"));
  CHECK_THROWS_WITH(run([](SimThread& self, Window& w) { w.unlock(self, 2); }), Contains("without a lock"));
  CHECK_THROWS_WITH(run([](SimThread& self, Window& w) { w.unlock_all(self); }), Contains("without lock_all"));
  CHECK_THROWS_WITH(run([](SimThread& self, Window& w) {
                      w.lock(self, 0, WindowLock::exclusive);
                      w.lock_all(self);
                    }),
                    Contains("holds a lock"));
  CHECK_NOTHROW(run([](SimThread& self, Window& w) { // its own memory, and rank 0's
    for (const int target : {0, 1, 2}) {
      w.lock(self, target, WindowLock::exclusive);
      w.put(self, target, 64);
      w.accumulate(self, target, 64);
      w.unlock(self, target);
    }
    w.lock_all(self);
    w.unlock_all(self);
  }));
}

TEST_CASE("atomics: by the interface when the size allows, else under a lock", "[mpi][one-sided]") {
  const auto elapsed = [](const std::string& atomics, std::int64_t bytes, std::int64_t expected_by_hardware) {
    PointConfig point = one_sided_point();
    point.library.one_sided.atomics = atomics;
    Program program(2, point);
    const int window = program.world.create_window(program.communicator);
    for (int thread = 0; thread < 4; ++thread) {
      program.thread(0, [&](SimThread& self, Process& mpi) {
        for (int i = 0; i < 10; ++i) {
          mpi.window(window).accumulate(self, 1, bytes);
        }
        mpi.window(window).flush(self, 1);
      });
    }
    program.run();
    CHECK(program.counters(0).accumulates == 40);
    CHECK(program.counters(0).hardware_atomics == expected_by_hardware);
    return program.engine.now().since_start();
  };
  const Duration by_hardware = elapsed("hardware", 8, 40);
  const Duration under_lock = elapsed("lock", 8, 0);
  elapsed("hardware", 16, 0); // the interface has no atomic of this size
  // Each of the 40 that exclude each other reads, writes and unlocks: at least three round trips.
  CHECK(under_lock > test::small_point().route.latency * 6 * 40);
  CHECK(by_hardware * 10 < under_lock);
}

TEST_CASE("a fence completes everything and nobody passes it early", "[mpi][one-sided]") {
  constexpr int ranks = 3;
  for (const char* completion : {"instances", "instance-turns", "counter"}) {
    Program program(ranks, one_sided_point(completion));
    const int window = program.world.create_window(program.communicator);
    int entered = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      program.thread(rank, [&, rank](SimThread& self, Process& mpi) {
        Window& w = mpi.window(window);
        for (int round = 0; round < 3; ++round) {
          w.put(self, (rank + 1) % ranks, 5000);
          self.spend(10_us * rank, Category::software);
          ++entered;
          w.fence(self);
          CHECK(entered >= ranks * (round + 1));
          CHECK(w.outstanding((rank + 1) % ranks) == 0);
          w.fence(self);
        }
      });
    }
    program.run();
  }
}

TEST_CASE("RMA-MT completes what it calls, the same way every time", "[mpi][one-sided]") {
  RandomStream random(1, "designs");
  const auto pick = [&](std::vector<std::string> names) { return names[random.below(names.size())]; };
  for (int round = 0; round < 40; ++round) {
    PointConfig point = rma_mt_point();
    RmaMtParameters& workload = point.workload.rma_mt;
    workload.operation = pick({"put", "get", "accumulate", "fetch-and-op"});
    workload.synchronisation = pick({"flush", "flush-all", "flush-local", "lock", "lock-all", "fence"});
    workload.synchronised_by = pick({"every-thread", "one-thread"});
    workload.window_per_thread = workload.synchronisation != "fence" && random.below(2) == 0;
    workload.threads = static_cast<int>(1 + random.below(8));
    workload.operations = static_cast<int>(1 + random.below(20));
    workload.message_size_bytes = random.below(2) == 0 ? 8 : 6000;
    if (workload.operation == "fetch-and-op") {
      workload.message_size_bytes = 8;
    }
    workload.warmup_iterations = 0;
    point.library.instances = {static_cast<int>(1 + random.below(5)), pick({"dedicated", "round-robin"}),
                               pick({"ttas", "mcs", "ticket", "pthread-mutex"})};
    point.library.one_sided.path = pick({"interface", "messages"});
    point.library.one_sided.completion = pick({"instances", "instance-turns", "counter"});
    point.library.one_sided.atomics = pick({"hardware", "lock"});
    point.library.progress.engine = pick(progress_registry().names());
    point.machine.nic.send_queue_depth = static_cast<int>(1 + random.below(20));
    point.machine.rdma.completion_batch = static_cast<int>(1 + random.below(20));
    point.machine.rdma.read_depth = static_cast<int>(1 + random.below(20));
    test::add_jitter(point);
    CAPTURE(round, workload.operation, workload.synchronisation, workload.window_per_thread, workload.threads,
            point.library.instances.lock, point.library.one_sided.path, point.library.one_sided.completion,
            point.library.progress.engine);
    const auto seed = static_cast<std::uint64_t>(round + 1);
    const test::Observation first = test::observe(point, seed);
    const std::int64_t all = std::int64_t{workload.threads} * workload.operations * workload.iterations;
    CHECK(first.result.operations == all);
    const SpcCounters& origin = first.counters[0];
    CHECK(origin.puts + origin.gets + origin.accumulates + origin.fetch_and_ops == all);
    CHECK(origin.one_sided_completed >= all); // locks are operations of the interface as well
    CHECK(first.monotone);
    CHECK(test::observe(point, seed).hash == first.hash);
  }
}

TEST_CASE("threads with instances of their own scale, with a shared one they do not", "[mpi][one-sided]") {
  const auto rate = [](int threads, int instances, const std::string& completion) {
    PointConfig point = rma_mt_point();
    point.machine.software.one_sided_call = 400'009_ps;
    point.workload.rma_mt.threads = threads;
    point.workload.rma_mt.operations = 300;
    point.library.instances.count = instances;
    point.library.one_sided.completion = completion;
    const WorkloadResult result = test::observe(point, 1).result;
    return static_cast<double>(result.operations) / result.elapsed.in_seconds();
  };
  const double alone = rate(1, 1, "instances");
  CHECK(rate(8, 8, "instances") > 0.9 * 8 * alone);
  CHECK(rate(8, 1, "instances") < 0.5 * 8 * alone);
  CHECK(rate(8, 8, "counter") < rate(8, 8, "instances")); // all threads write the counter's line
}

TEST_CASE("skipping a flush's idle polls changes nothing", "[mpi][one-sided]") {
  using RoleTimes = decltype(WorkloadResult::times);
  constexpr auto target = static_cast<std::size_t>(Role::receiver);
  constexpr auto poll_idle = static_cast<std::size_t>(Category::poll_idle);
  for (const char* operation : {"put", "get", "accumulate"}) {
    for (const int instances : {1, 4}) {
      for (const std::int64_t bytes : {8, 5000}) {
        for (const int batch : {1, 16}) {
          CAPTURE(operation, instances, bytes, batch);
          PointConfig point = rma_mt_point();
          test::add_jitter(point); // else threads meet at equal dates, whose order is not kept
          point.library.instances.count = instances;
          point.machine.rdma.completion_batch = batch;
          point.workload.rma_mt.operation = operation;
          point.workload.rma_mt.message_size_bytes = bytes;
          point.run.coalesce_idle_polls = false;
          const PointResult turn_by_turn = simulate(point, {});
          point.run.coalesce_idle_polls = true;
          const PointResult coalesced = simulate(point, {});
          CHECK(turn_by_turn.workload.elapsed.count() == coalesced.workload.elapsed.count());
          // The target's account begins in the middle of what it does, which is a step of a turn or a rest of many.
          RoleTimes each = turn_by_turn.workload.times;
          RoleTimes at_once = coalesced.workload.times;
          Duration& idle = each[target][poll_idle];
          CHECK(std::max(idle, at_once[target][poll_idle]) - std::min(idle, at_once[target][poll_idle]) <= 1_us);
          idle = at_once[target][poll_idle];
          CHECK(each == at_once);
        }
      }
    }
  }
}

TEST_CASE("at MPI_THREAD_SINGLE operations are counted without atomics", "[mpi][one-sided]") {
  const auto elapsed = [](const char* completion, Duration atomic_hit) {
    PointConfig point = one_sided_point(completion, 3);
    point.library.thread_level = "single";
    point.library.progress.engine = "concurrent";
    point.machine.cache.atomic_hit = atomic_hit;
    Program program(2, point);
    const int window = program.world.create_window(program.communicator);
    Duration taken;
    program.thread(0, [&](SimThread& self, Process& mpi) {
      mpi.window(window).put(self, 1, 8); // threads take an instance at their first operation
      mpi.window(window).flush(self, 1);
      self.settle();
      const TimePoint start = self.now();
      for (int i = 0; i < 50; ++i) {
        mpi.window(window).put(self, 1, 8);
      }
      mpi.window(window).flush(self, 1);
      self.settle();
      taken = self.now() - start;
    });
    program.run();
    return taken;
  };
  for (const char* completion : {"instances", "instance-turns", "counter"}) {
    CAPTURE(completion);
    CHECK(elapsed(completion, 10_ns) == elapsed(completion, 900_ns));
  }
}
