// Partitioned communication, every design: what MPI promises, and what each design does on the way.
#include "core/random.hpp"
#include "mpi/partitioned.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

using namespace contend;
using test::Program;

namespace {

struct Case {
  std::string engine;
  std::string sharing;
  int send_partitions;
  int receive_partitions;
  std::int64_t bytes;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::string& engine : partitioned_registry().names()) {
    for (const char* sharing : {"bursts", "flows"}) {
      for (const auto& [sends, receives] :
           std::vector<std::pair<int, int>>{{1, 1}, {4, 1}, {1, 4}, {6, 4}, {4, 6}, {8, 8}}) {
        for (const std::int64_t bytes : {24 * 8, 24 * 1024, 24 * 100'000}) {
          cases.push_back({engine, sharing, sends, receives, bytes});
        }
      }
    }
  }
  return cases;
}

PointConfig point_of(const Case& wanted) {
  PointConfig point = test::small_point();
  point.machine.topology = {2, 20, 2};
  point.library.partitioned.engine = wanted.engine;
  point.library.partitioned.aggregate_bytes = 24 * 2048;
  point.library.partitioned.aggregate_age = 3_us;
  point.library.instances = {2, "dedicated", "pthread-mutex"};
  point.route.sharing = wanted.sharing;
  return point;
}

PartitionedShape shape_of(const Case& wanted, int communicator) {
  return {communicator, 0, 1, 0, wanted.send_partitions, wanted.receive_partitions, wanted.bytes};
}

} // namespace

TEST_CASE("overlapping partitions are those that share bytes", "[partitioned]") {
  for (int sends = 1; sends <= 12; ++sends) {
    for (int receives = 1; receives <= 12; ++receives) {
      const int bytes = sends * receives;
      const PartitionedShape shape{0, 0, 1, 0, sends, receives, bytes};
      for (int q = 0; q < receives; ++q) {
        const int first_byte = q * (bytes / receives);
        const int last_byte = first_byte + bytes / receives - 1;
        const std::pair<int, int> expected{first_byte / (bytes / sends), last_byte / (bytes / sends)};
        CHECK(shape.overlapping(q) == expected);
      }
    }
  }
}

TEST_CASE("nothing arrives before it is ready, and what is ready arrives without the rest", "[partitioned]") {
  for (const Case& wanted : all_cases()) {
    CAPTURE(wanted.engine, wanted.sharing, wanted.send_partitions, wanted.receive_partitions, wanted.bytes);
    Program program(2, point_of(wanted));
    PartitionedOperation& operation =
        program.world.partitioned(program.world.create_partitioned(shape_of(wanted, program.communicator)));
    const PartitionedShape shape = shape_of(wanted, program.communicator);
    constexpr int rounds = 3;
    std::array<std::vector<TimePoint>, rounds> ready;
    std::array<std::vector<TimePoint>, rounds> seen;
    program.thread(0, [&](SimThread& self, Process& process) {
      operation.sender().init(self);
      for (auto& dates : ready) {
        process.barrier(self, program.communicator);
        operation.sender().start(self);
        CHECK_FALSE(operation.sender().test(self));
        dates.resize(static_cast<std::size_t>(wanted.send_partitions));
        for (int i = 0; i < wanted.send_partitions; ++i) {
          self.spend(1'000_us, Category::compute);
          dates[static_cast<std::size_t>(i)] = self.now();
          operation.sender().ready(self, i);
        }
        operation.sender().wait(self);
        CHECK(operation.sender().test(self)); // inactive
      }
      operation.sender().free(self);
    });
    program.thread(1, [&](SimThread& self, Process& process) {
      operation.receiver().init(self);
      for (auto& dates : seen) {
        operation.receiver().start(self);
        process.barrier(self, program.communicator);
        dates.resize(static_cast<std::size_t>(wanted.receive_partitions));
        for (int q = 0; q < wanted.receive_partitions; ++q) {
          while (!operation.receiver().arrived(self, q)) {
            self.spend(5_us, Category::compute);
          }
          dates[static_cast<std::size_t>(q)] = self.now();
        }
        operation.receiver().wait(self);
      }
      operation.receiver().free(self);
    });
    program.run();
    for (std::size_t round = 0; round < rounds; ++round) {
      for (int q = 0; q < wanted.receive_partitions; ++q) {
        const auto last = static_cast<std::size_t>(shape.overlapping(q).second);
        const TimePoint date = seen[round][static_cast<std::size_t>(q)];
        CHECK(date > ready[round][last]);
        // A whole millisecond before the next one: ready partitions do not wait for it. (Completion flags stand for
        // several partitions when the numbers differ.)
        const bool own_flag = wanted.engine != "rma" || wanted.send_partitions == wanted.receive_partitions;
        const bool alone = own_flag && wanted.engine != "whole-buffer";
        if (alone && last + 1 < ready[round].size()) {
          CHECK(date < ready[round][last + 1]);
        }
      }
    }
  }
}

TEST_CASE("threads may hand their partitions over in any order and at the same time", "[partitioned][property]") {
  for (const std::string& engine : partitioned_registry().names()) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      CAPTURE(engine, seed);
      RandomStream random(seed, "threads");
      const int threads = 1 + static_cast<int>(random.below(12));
      Case wanted{engine, random.below(2) == 0 ? "bursts" : "flows", threads, 1 + static_cast<int>(random.below(3)),
                  std::int64_t{6} * 27720 * static_cast<std::int64_t>(1 + random.below(20))};
      PointConfig point = point_of(wanted);
      test::add_jitter(point);
      point.library.partitioned.aggregate_bytes = static_cast<std::int64_t>(1 + random.below(4'000'000));
      point.library.partitioned.aggregate_age = Duration::nanoseconds(static_cast<double>(random.below(20'000)));
      point.library.one_sided.completion =
          std::vector<std::string>{"instances", "instance-turns", "counter"}[random.below(3)];
      Program program(2, point, seed);
      PartitionedOperation& operation =
          program.world.partitioned(program.world.create_partitioned(shape_of(wanted, program.communicator)));
      constexpr int rounds = 2;
      int at_start = 0;
      int through = 0;
      for (int thread = 0; thread < threads; ++thread) {
        program.thread(0, [&, thread](SimThread& self, Process& process) {
          for (int round = 0; round < rounds; ++round) {
            if (thread == 0) {
              if (round == 0) {
                operation.sender().init(self);
              }
              process.barrier(self, program.communicator);
              operation.sender().start(self);
              at_start = round + 1;
            }
            while (at_start <= round) {
              self.spend(1_us, Category::compute);
            }
            self.spend(random.exponential(10_us), Category::compute);
            operation.sender().ready(self, thread);
            if (thread == 0) {
              operation.sender().wait(self); // while others may still compute
            }
          }
          if (thread == 0) {
            operation.sender().free(self);
          }
        });
      }
      program.thread(1, [&](SimThread& self, Process& process) {
        operation.receiver().init(self);
        for (int round = 0; round < rounds; ++round) {
          operation.receiver().start(self);
          process.barrier(self, program.communicator);
          operation.receiver().poll_until_any(self);
          bool any = false;
          for (int q = 0; q < wanted.receive_partitions; ++q) {
            any = operation.receiver().arrived(self, q) || any;
          }
          CHECK(any);
          if (random.below(2) == 0) {
            while (!operation.receiver().test(self)) {
              self.spend(2_us, Category::compute);
            }
          } else {
            operation.receiver().wait(self);
          }
          ++through;
        }
        operation.receiver().free(self);
      });
      program.run();
      CHECK(through == rounds);
    }
  }
}

TEST_CASE("breaking a rule of partitioned communication is an error", "[partitioned]") {
  for (const std::string& engine : partitioned_registry().names()) {
    const Case wanted{engine, "bursts", 2, 1, 4096};
    Program program(2, point_of(wanted));
    PartitionedOperation& operation =
        program.world.partitioned(program.world.create_partitioned(shape_of(wanted, program.communicator)));
    program.thread(0, [&](SimThread& self, Process& process) {
      PartitionedSend& send = operation.sender();
      send.init(self);
      CHECK_THROWS_AS(send.ready(self, 0), InvariantViolation); // before the start
      process.barrier(self, program.communicator);
      send.start(self);
      CHECK_THROWS_AS(send.start(self), InvariantViolation);
      CHECK_THROWS_AS(send.ready(self, 2), InvariantViolation);
      CHECK_THROWS_AS(send.ready(self, -1), InvariantViolation);
      send.ready_range(self, 1, 1);
      CHECK_THROWS_AS(send.ready(self, 1), InvariantViolation); // twice
      send.ready_list(self, std::array{0});
      send.wait(self);
      send.free(self);
    });
    program.thread(1, [&](SimThread& self, Process& process) {
      PartitionedReceive& receive = operation.receiver();
      receive.init(self);
      CHECK_THROWS_AS(receive.arrived(self, 0), InvariantViolation);
      receive.start(self);
      CHECK_THROWS_AS(receive.start(self), InvariantViolation);
      CHECK_THROWS_AS(receive.arrived(self, 1), InvariantViolation);
      process.barrier(self, program.communicator);
      receive.wait(self);
      CHECK(receive.test(self));
      receive.free(self);
    });
    program.run();
  }
}

namespace {

/// All partitions are made ready by as many threads, at the same time. Returns the sender's counters.
SpcCounters all_at_once(const PointConfig& point, int sends, int receives, std::int64_t bytes) {
  Program program(2, point);
  PartitionedOperation& operation = program.world.partitioned(
      program.world.create_partitioned({program.communicator, 0, 1, 0, sends, receives, bytes}));
  bool started = false;
  for (int thread = 0; thread < sends; ++thread) {
    program.thread(0, [&, thread](SimThread& self, Process& process) {
      if (thread == 0) {
        operation.sender().init(self);
        process.barrier(self, program.communicator);
        operation.sender().start(self);
        started = true;
      }
      while (!started) {
        self.spend(1_us, Category::compute);
      }
      operation.sender().ready(self, thread);
      if (thread == 0) {
        operation.sender().wait(self);
      }
    });
  }
  program.thread(1, [&](SimThread& self, Process& process) {
    operation.receiver().init(self);
    operation.receiver().start(self);
    process.barrier(self, program.communicator);
    operation.receiver().wait(self);
  });
  program.run();
  return program.counters(0);
}

} // namespace

namespace {

/// When partitions of the design that waits for all of them were ready, and when the receiver saw all and each.
struct Dates {
  std::vector<TimePoint> ready;
  TimePoint started;
  TimePoint waited;
  std::vector<TimePoint> seen;
};

/// One thread hands over four partitions, a millisecond apart, and waits; the receiver starts when `late` has passed.
Dates four_partitions(Duration late, SpcCounters& sent) {
  Program program(2, point_of({"whole-buffer", "bursts", 4, 4, 4096}));
  PartitionedOperation& operation =
      program.world.partitioned(program.world.create_partitioned({program.communicator, 0, 1, 0, 4, 4, 4096}));
  Dates dates;
  program.thread(0, [&](SimThread& self, Process& /*process*/) {
    operation.sender().init(self);
    operation.sender().start(self);
    for (int i = 0; i < 4; ++i) {
      self.spend(1'000_us, Category::compute);
      dates.ready.push_back(self.now());
      operation.sender().ready(self, i);
    }
    operation.sender().wait(self);
    dates.waited = self.now();
  });
  program.thread(1, [&](SimThread& self, Process& /*process*/) {
    operation.receiver().init(self);
    self.spend(late, Category::compute);
    dates.started = self.now();
    operation.receiver().start(self);
    for (int q = 0; q < 4; ++q) {
      while (!operation.receiver().arrived(self, q)) {
        self.spend(5_us, Category::compute);
      }
      dates.seen.push_back(self.now());
    }
    operation.receiver().wait(self);
  });
  program.run();
  sent = program.counters(0);
  return dates;
}

} // namespace

TEST_CASE("the design that counts partitions sends nothing before the last one, and then all at once",
          "[partitioned]") {
  SpcCounters counters;
  const Dates dates = four_partitions(0_ps, counters);
  CHECK(counters.sent == 1);
  for (const TimePoint seen : dates.seen) {
    CHECK(seen > dates.ready.back());
    CHECK(seen < dates.ready.back() + 50_us);
  }
}

TEST_CASE("the design that counts partitions waits for the receiver's start", "[partitioned]") {
  SpcCounters counters;
  const Dates dates = four_partitions(10'000_us, counters);
  CHECK(dates.started > dates.ready.back());
  CHECK(dates.waited > dates.started);
  CHECK(dates.waited < dates.started + 50_us);
  CHECK(counters.sent == 1);
}

TEST_CASE("the design on messages sends one per partition", "[partitioned]") {
  const Case wanted{"persistent", "bursts", 64, 4, 64 * 1024};
  CHECK(all_at_once(point_of(wanted), 64, 4, 64 * 1024).sent == 64);
}

TEST_CASE("the design on one-sided operations flushes once per flag", "[partitioned]") {
  PointConfig point = point_of({"rma", "bursts", 64, 1, 0});
  const SpcCounters one_flag = all_at_once(point, 64, 1, 64 * 1024);
  CHECK(one_flag.puts == 64 + 1);
  CHECK(one_flag.flushes == 2);
  const SpcCounters many_flags = all_at_once(point, 64, 64, 64 * 1024);
  CHECK(many_flags.puts == 64 + 64);
  CHECK(many_flags.flushes == 64 + 64);
  const SpcCounters some_flags = all_at_once(point, 12, 8, 24 * 1024); // gcd 4
  CHECK(some_flags.puts == 12 + 4);
  CHECK(some_flags.flushes == 4 + 4);
}

TEST_CASE("aggregation needs fewer puts the more it may wait for", "[partitioned]") {
  constexpr std::int64_t bytes = 64 * 4096;
  const auto puts = [&](std::int64_t size, Duration age) {
    PointConfig point = point_of({"aggregating", "bursts", 64, 1, bytes});
    point.library.partitioned.aggregate_bytes = size;
    point.library.partitioned.aggregate_age = age;
    return all_at_once(point, 64, 1, bytes).puts;
  };
  CHECK(puts(bytes, 1'000_us) == 1); // nobody is late: the last one closes the group of all
  CHECK(puts(1, 1'000_us) == 64);    // every partition is large enough
  CHECK(puts(bytes, 0_ps) > 1);      // nobody waits for others
  CHECK(puts(bytes / 4, 1'000_us) >= 4);
}

TEST_CASE("the thread that opens a group does not wait for ever", "[partitioned]") {
  PointConfig point = point_of({"aggregating", "bursts", 2, 2, 0});
  point.library.partitioned.aggregate_bytes = 1 << 30;
  point.library.partitioned.aggregate_age = 7_us;
  Program program(2, point);
  PartitionedOperation& operation =
      program.world.partitioned(program.world.create_partitioned({program.communicator, 0, 1, 0, 2, 2, 8192}));
  Duration first_call{};
  Duration last_call{};
  program.thread(0, [&](SimThread& self, Process& process) {
    operation.sender().init(self);
    process.barrier(self, program.communicator);
    operation.sender().start(self);
    TimePoint begin = self.now();
    operation.sender().ready(self, 0);
    first_call = self.now() - begin;
    self.spend(1'000_us, Category::compute);
    begin = self.now();
    operation.sender().ready(self, 1);
    last_call = self.now() - begin;
    operation.sender().wait(self);
  });
  program.thread(1, [&](SimThread& self, Process& process) {
    operation.receiver().init(self);
    operation.receiver().start(self);
    process.barrier(self, program.communicator);
    operation.receiver().poll_until_any(self);
    CHECK(operation.receiver().arrived(self, 0));
    CHECK_FALSE(operation.receiver().arrived(self, 1));
    operation.receiver().wait(self);
  });
  program.run();
  CHECK(first_call >= 7_us);
  CHECK(first_call < 10_us);
  CHECK(last_call < 3_us); // the last partition waits for nobody
  CHECK(program.counters(0).puts == 2);
}

TEST_CASE("a put that comes before the receiver's start is an error", "[partitioned]") {
  Program program(2, point_of({"rma", "bursts", 1, 1, 0}));
  PartitionedOperation& operation =
      program.world.partitioned(program.world.create_partitioned({program.communicator, 0, 1, 0, 1, 1, 4096}));
  program.thread(0, [&](SimThread& self, Process& /*process*/) {
    operation.sender().init(self);
    operation.sender().start(self);
    operation.sender().ready(self, 0);
    operation.sender().wait(self);
  });
  program.thread(1, [&](SimThread& self, Process& /*process*/) {
    operation.receiver().init(self);
    self.spend(1'000_us, Category::compute);
  });
  CHECK_THROWS_AS(program.run(), InvariantViolation);
}
