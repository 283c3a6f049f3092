// MPI_Barrier: nobody leaves before everybody has come, and its messages are the library's own.
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace contend;
using test::Program;

TEST_CASE("nobody leaves a barrier before everybody has entered", "[mpi][barrier][property]") {
  for (const std::string& engine : progress_registry().names()) {
    for (int ranks = 1; ranks <= 5; ++ranks) {
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        CAPTURE(engine, ranks, seed);
        PointConfig point = test::small_point();
        point.library.progress.engine = engine;
        Program program(ranks, point, seed);
        constexpr int rounds = 6;
        std::vector<TimePoint> last_entry(rounds);
        std::vector<TimePoint> first_exit(rounds, TimePoint::never());
        for (int rank = 0; rank < ranks; ++rank) {
          program.thread(rank, [&](SimThread& self, Process& mpi) {
            RandomStream random = program.engine.stream(self.name());
            for (std::size_t round = 0; round < rounds; ++round) {
              self.spend(random.exponential(10_us), Category::software);
              last_entry[round] = std::max(last_entry[round], self.now());
              mpi.barrier(self, program.communicator);
              first_exit[round] = std::min(first_exit[round], self.now());
            }
          });
        }
        program.run();
        for (std::size_t round = 0; round < rounds; ++round) {
          REQUIRE(first_exit[round] >= last_entry[round]);
        }
        for (int rank = 0; rank < ranks; ++rank) {
          REQUIRE(program.counters(rank).sent == 0); // messages of the library do not count
          REQUIRE(program.counters(rank).received == 0);
          REQUIRE(program.counters(rank).posted == 0);
          REQUIRE(program.counters(rank).unexpected_in_queue == 0);
          REQUIRE(program.counters(rank).oos_in_queue == 0);
        }
      }
    }
  }
}

namespace {

/// Some ranks on one host, each with a core, whose threads take part in `rounds` barriers.
class Meetings {
public:
  static constexpr std::size_t rounds = 4;

  Meetings(int ranks, const PointConfig& point)
      : engine(7), world(engine, {point.library, point.machine.software, point.machine.locks, point.machine.matching,
                                  point.machine.rdma, point.machine.noise, point.run.coalesce_idle_polls,
                                  point.machine.waiting, point.machine.datatype}) {
    world.add_host(point.machine.topology, point.machine.cache, point.machine.futex, point.machine.nic, point.route);
    world.add_processes(std::vector<int>(static_cast<std::size_t>(ranks)));
    const int communicator = world.create_communicator(false);
    for (int rank = 0; rank < ranks; ++rank) {
      world.spawn(rank, "rank " + std::to_string(rank), [this, rank, communicator](SimThread& self) {
        RandomStream random = engine.stream(self.name());
        for (std::size_t round = 0; round < rounds; ++round) {
          self.spend(random.exponential(10_us), Category::software);
          last_entry[round] = std::max(last_entry[round], self.now());
          world.process(rank).barrier(self, communicator);
          first_exit[round] = std::min(first_exit[round], self.now());
        }
      });
    }
    engine.set_step_limit(5'000'000);
    engine.run();
  }

  [[nodiscard]] Duration completing(int rank) const {
    return engine.threads()[static_cast<std::size_t>(rank)]->times()[static_cast<std::size_t>(Category::completion)];
  }

  Engine engine;
  World world;
  std::vector<TimePoint> last_entry = std::vector<TimePoint>(rounds);
  std::vector<TimePoint> first_exit = std::vector<TimePoint>(rounds, TimePoint::never());
};

PointConfig with_flags() {
  PointConfig point = test::small_point();
  point.library.barrier = "release-gather";
  point.library.thread_level = "single";
  point.machine.topology.cores_per_socket = 64;
  point.machine.nic.max_contexts = 128;
  return point;
}

} // namespace

TEST_CASE("processes that share memory meet by flags", "[mpi][barrier][property]") {
  for (const int ranks : {1, 2, 5, 70}) { // 70: the tree has two levels
    CAPTURE(ranks);
    const Meetings meetings(ranks, with_flags());
    for (std::size_t round = 0; round < Meetings::rounds; ++round) {
      REQUIRE(meetings.first_exit[round] >= meetings.last_entry[round]);
      // The root looks at one flag after the other, each of which comes from another core once.
      CHECK(meetings.first_exit[round] - meetings.last_entry[round] < 500_ns + ranks * 100_ns);
    }
    CHECK(meetings.completing(0) == Duration{}); // nothing was sent or received
  }
}

TEST_CASE("a library with threads meets by messages", "[mpi][barrier]") {
  PointConfig point = with_flags();
  point.library.thread_level = "multiple";
  CHECK(Meetings(5, point).completing(0) > Duration{});
}

TEST_CASE("a receive of any tag does not take a barrier's messages", "[mpi][barrier]") {
  for (const bool overtaking : {false, true}) {
    PointConfig point = test::small_point();
    point.workload.multirate.allow_overtaking = overtaking;
    Program program(2, point);
    const int comm = program.communicator;
    program.thread(0, [&](SimThread& self, Process& mpi) {
      Request* const request = mpi.irecv(self, comm, any_source, any_tag, 0);
      mpi.barrier(self, comm);
      mpi.barrier(self, comm);
      CHECK_FALSE(request->complete);
      mpi.wait(self, request);
      CHECK(request->received_tag == 42);
    });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      mpi.barrier(self, comm);
      mpi.barrier(self, comm);
      self.spend(100_us, Category::software);
      mpi.send(self, comm, 0, 42, 0);
    });
    program.run();
    CHECK(program.counters(0).received == 1);
  }
}
