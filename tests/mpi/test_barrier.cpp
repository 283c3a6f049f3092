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
