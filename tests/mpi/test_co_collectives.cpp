// Barriers, collective operations, communicators and accounts of memory of processes that are coroutines.
#include "mpi/coroutines/communicators.hpp"
#include "mpi/coroutines/memory_account.hpp"
#include "support/job.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <set>

using namespace contend;
using test::Job;
using test::job_settings;

TEST_CASE("nobody leaves a barrier before everybody has come", "[coroutines][barrier]") {
  for (test::JobVariant variant : test::job_variants()) {
    for (const char* kind : {"hierarchical", "dissemination", "tree"}) {
      CAPTURE(variant.name, kind);
      variant.settings.library.coroutines.barrier = kind;
      constexpr int rounds = 4;
      std::vector<TimePoint> last_in(rounds);
      std::vector<TimePoint> first_out(rounds, TimePoint::never());
      Job job(variant.layout, variant.settings, [&](CoProcess& self) -> CoTask {
        return [](CoProcess& s, std::vector<TimePoint>& in, std::vector<TimePoint>& out) -> CoTask {
          for (std::size_t i = 0; i < in.size(); ++i) {
            s.compute(
                Duration::nanoseconds(static_cast<double>((s.rank() * 7 + static_cast<int>(i) * 5) % 11) * 500.0));
            in[i] = std::max(in[i], s.now());
            co_await barrier(s);
            out[i] = std::min(out[i], s.now());
          }
        }(self, last_in, first_out);
      });
      for (std::size_t i = 0; i < last_in.size(); ++i) {
        CHECK(first_out[i] >= last_in[i]);
      }
    }
  }
}

TEST_CASE("a barrier inside one OS process costs a switch and two looks for each process", "[coroutines][barrier]") {
  const auto time = [](int processes, const char* scheduler) {
    CoSettings settings = job_settings();
    settings.library.coroutines.scheduler = scheduler;
    const auto end = [&](int rounds) {
      return Job({processes, 1, 1}, settings,
                 [&](CoProcess& self) -> CoTask {
                   return [](CoProcess& s, int n) -> CoTask {
                     for (int i = 0; i < n; ++i) {
                       co_await barrier(s);
                     }
                   }(self, rounds);
                 })
          .end();
    };
    return Duration::picoseconds((end(30) - end(10)).count() / 20);
  };
  for (const char* scheduler : {"round-robin", "block"}) {
    CHECK(time(64, scheduler) == 64 * (130_ns + 2 * 13_ns));
    CHECK(time(200, scheduler) == 200 * (130_ns + 2 * 13_ns));
  }
}

TEST_CASE("with round robin, leaders that meet let a round of the queue pass", "[coroutines][barrier]") {
  const auto time = [](ProcessLayout layout, const char* scheduler) {
    CoSettings settings = job_settings();
    settings.library.coroutines.scheduler = scheduler;
    const auto end = [&](int rounds) {
      return Job(layout, settings,
                 [&](CoProcess& self) -> CoTask {
                   return [](CoProcess& s, int n) -> CoTask {
                     for (int i = 0; i < n; ++i) {
                       co_await barrier(s);
                     }
                   }(self, rounds);
                 })
          .end();
    };
    return static_cast<double>((end(30) - end(10)).count()) / 20.0;
  };
  const double alone = time({64, 1, 1}, "round-robin");
  CHECK(time({64, 8, 1}, "round-robin") > 1.8 * alone);
  CHECK(time({64, 8, 1}, "block") < 1.4 * alone);
}

TEST_CASE("collective operations send as many messages as their algorithms", "[coroutines][collectives]") {
  for (const test::JobVariant& variant : test::job_variants()) {
    CAPTURE(variant.name);
    const auto messages = [&](const std::function<CoTask(CoProcess&, ProcessGroup)>& operation) {
      const CoCounters counters = Job(variant.layout, variant.settings, [&](CoProcess& self) {
                                    return operation(self, ProcessGroup::world(self));
                                  }).counters();
      CHECK(counters.received == counters.sent + counters.colocated);
      return counters.received;
    };
    constexpr int n = 12;
    constexpr int power = 8;
    for (const int root : {0, 5}) {
      CHECK(messages([&](CoProcess& s, ProcessGroup g) { return broadcast(s, g, root, 100); }) == n - 1);
      CHECK(messages([&](CoProcess& s, ProcessGroup g) { return reduce(s, g, root, 100'000); }) == n - 1);
      CHECK(messages([&](CoProcess& s, ProcessGroup g) { return gather(s, g, root, 8); }) == n - 1);
      CHECK(messages([&](CoProcess& s, ProcessGroup g) { return scatter(s, g, root, 8); }) == n - 1);
    }
    CHECK(messages([](CoProcess& s, ProcessGroup g) { return all_reduce(s, g, 8); }) == power * 3 + 2 * (n - power));
    CHECK(messages([](CoProcess& s, ProcessGroup g) { return all_to_all(s, g, 1000); }) == n * (n - 1));
    CHECK(messages([](CoProcess& s, ProcessGroup g) { return dissemination_barrier(s, g); }) == n * 4);
  }
}

TEST_CASE("a broadcast reaches nobody before the root has come, and a reduction ends after everybody has",
          "[coroutines][collectives]") {
  for (const test::JobVariant& variant : test::job_variants()) {
    CAPTURE(variant.name);
    TimePoint root_in;
    TimePoint last_in;
    TimePoint root_out;
    TimePoint first_out = TimePoint::never();
    constexpr int root = 7;
    Job(variant.layout, variant.settings, [&](CoProcess& self) -> CoTask {
      return [](CoProcess& s, TimePoint& in, TimePoint& all_in, TimePoint& out, TimePoint& leave) -> CoTask {
        if (s.rank() == root) {
          s.compute(1_ms);
          in = s.now();
        }
        co_await broadcast(s, ProcessGroup::world(s), root, 8);
        leave = std::min(leave, s.now());
        s.compute(10_us * s.rank());
        all_in = std::max(all_in, s.now());
        co_await reduce(s, ProcessGroup::world(s), root, 8);
        if (s.rank() == root) {
          out = s.now();
        }
      }(self, root_in, last_in, root_out, first_out);
    });
    CHECK(first_out >= root_in);
    CHECK(root_out >= last_in);
  }
}

TEST_CASE("splitting a communicator sorts by key, and numbers do not meet", "[coroutines][communicators]") {
  for (test::JobVariant variant : test::job_variants()) {
    for (const char* numbers : {"leader", "bitmap"}) {
      for (const char* maps : {"shared", "per-process"}) {
        CAPTURE(variant.name, numbers, maps);
        variant.settings.library.coroutines.context_ids = numbers;
        variant.settings.library.coroutines.maps = maps;
        std::unique_ptr<CoCommunicators> communicators;
        std::vector<std::vector<CoCommunicator>> results(2, std::vector<CoCommunicator>(12));
        Job job(variant.layout, variant.settings, [&](CoProcess& self) -> CoTask {
          if (communicators == nullptr) {
            communicators = std::make_unique<CoCommunicators>(self.os().world());
          }
          return [](CoProcess& s, CoCommunicators& all, std::vector<std::vector<CoCommunicator>>& out) -> CoTask {
            const auto me = static_cast<std::size_t>(s.rank());
            co_await all.split(s, s.rank() % 3, -s.rank(), out[0][me]);
            co_await all.split(s, s.rank() / 6, 0, out[1][me]);
          }(self, *communicators, results);
        });
        for (int rank = 0; rank < 12; ++rank) {
          const CoCommunicator& by_three = results[0][static_cast<std::size_t>(rank)];
          CHECK(by_three.size == 4);
          CHECK(by_three.rank == 3 - rank / 3);
          CHECK(by_three.map->at(static_cast<std::size_t>(by_three.rank)) == rank);
          const CoCommunicator& halves = results[1][static_cast<std::size_t>(rank)];
          CHECK(halves.size == 6);
          CHECK(halves.rank == rank % 6);
          CHECK(by_three.context != halves.context);
          for (const std::int32_t predefined : {world_context, collective_context}) {
            CHECK(by_three.context != predefined);
            CHECK(halves.context != predefined);
          }
          for (int other = 0; other < 12; ++other) {
            const bool together = rank % 3 == other % 3;
            const std::int32_t context = results[0][static_cast<std::size_t>(other)].context;
            CHECK((std::string(numbers) == "bitmap" || (by_three.context == context) == together));
          }
        }
        // Each OS process has members of some communicators: it keeps each of their maps once, or for each member.
        const ProcessLayout& layout = variant.layout;
        for (int os = 0; os < layout.os_processes(); ++os) {
          std::set<std::pair<int, int>> kept;
          std::int64_t expected = 0;
          for (int i = 0; i < layout.processes_per_os_process; ++i) {
            const int rank = os * layout.processes_per_os_process + i;
            for (const auto& [which, colour, size] : {std::tuple{0, rank % 3, 4}, {1, rank / 6, 6}}) {
              const bool first = kept.insert({which, colour}).second;
              expected += first || std::string(maps) == "per-process" ? map_bytes(layout, size) : 0;
            }
          }
          CHECK(communicators->map_bytes_of(os) == expected);
        }
      }
    }
  }
}

TEST_CASE("a process leads no more communicators than it has bits", "[coroutines][communicators]") {
  const auto run = [](int splits, const char* numbers) {
    CoSettings settings = job_settings();
    settings.library.coroutines.context_ids = numbers;
    std::unique_ptr<CoCommunicators> communicators;
    Job({2, 1, 1}, settings, [&](CoProcess& self) -> CoTask {
      if (communicators == nullptr) {
        communicators = std::make_unique<CoCommunicators>(self.os().world());
      }
      return [](CoProcess& s, CoCommunicators& all, int n) -> CoTask {
        CoCommunicator result;
        for (int i = 0; i < n; ++i) {
          co_await all.split(s, 0, 0, result);
        }
      }(self, *communicators, splits);
    });
  };
  // Two numbers are the predefined communicator's.
  CHECK_NOTHROW(run(126, "leader")); // two processes, 64 each
  CHECK_THROWS_AS(run(127, "leader"), InvariantViolation);
  CHECK_NOTHROW(run(2046, "bitmap"));
  CHECK_THROWS_AS(run(2047, "bitmap"), InvariantViolation);
}

TEST_CASE("maps of a communicator of the whole job: the thesis's example", "[coroutines][memory]") {
  const ProcessLayout layout{1000, 100, 10}; // a million processes, ranks of 20 bits
  const MemoryAccount each = world_map_memory(layout, false);
  CHECK(each.per_process == 2'500'000);
  CHECK(each.per_os_process == 2'500'000'000);
  CHECK(each.per_node == 250'000'000'000);
  CHECK(each.total == 2'500'000'000'000);
  const MemoryAccount shared = world_map_memory(layout, true);
  CHECK(shared.per_process == 0);
  CHECK(shared.total == 2'500'000'000);
}

TEST_CASE("a process takes its descriptor and stack, if it is a coroutine", "[coroutines][memory]") {
  const CoroutineDesign design;
  CHECK(process_memory({64, 8, 1}, design).per_process == 1328 + 131'072);
  CHECK(process_memory({1, 8, 1}, design).per_process == 0);
  const MemoryAccount account = process_memory({64, 8, 4}, design);
  CHECK(account.per_node == 8 * account.per_os_process);
  CHECK(account.total == 4 * account.per_node);
}

TEST_CASE("OS processes that share a core take turns, at the price of the operating system",
          "[coroutines][scheduling]") {
  const auto run = [](int os_processes) {
    Job job({1, os_processes, 1}, job_settings(), [](CoProcess& self) -> CoTask {
      return [](CoProcess& s) -> CoTask {
        for (int i = 0; i < 10; ++i) {
          s.compute(100_us);
          co_await barrier(s);
        }
      }(self);
    });
    return std::pair(job.end(), job.world().os_switches());
  };
  const auto [fitting, none] = run(8); // 8 cores
  const auto [crowded, switches] = run(16);
  CHECK(none <= 8);          // each core's first process
  CHECK(switches >= 8 * 10); // who had the core last may go on without one
  CHECK(crowded > 2 * fitting);
  CHECK(crowded > 10 * (2 * 100_us + 6850_ns));
  CHECK(crowded < 10 * (2 * 100_us + 8 * 6850_ns));
}

TEST_CASE("a hundred thousand processes meet and hear from one", "[coroutines][scale]") {
  for (const ProcessLayout layout : {ProcessLayout{100'000, 1, 1}, {1000, 4, 25}}) {
    Job job(layout, job_settings(), [](CoProcess& self) -> CoTask {
      return [](CoProcess& s) -> CoTask {
        co_await barrier(s);
        co_await broadcast(s, ProcessGroup::world(s), 0, 8);
      }(self);
    });
    const CoCounters counters = job.counters();
    CHECK(counters.received >= layout.processes() - 1);
    std::size_t frames = 0;
    for (int i = 0; i < layout.os_processes(); ++i) {
      frames += job.world().os_process(i).frames().reserved_bytes();
    }
    CHECK(frames < static_cast<std::size_t>(layout.processes()) * 2000);
  }
}
