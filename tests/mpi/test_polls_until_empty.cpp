// A turn of progress that polls its interface again until that has nothing, as an event library's loop does.
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace contend;
using test::Program;

namespace {

struct Turn {
  Duration took;
  int received = 0;
};

/// The first turn of progress of a receiver to whom so many messages have come, of which a poll takes one.
Turn first_turn(bool until_empty, int messages) {
  PointConfig point = test::small_point();
  point.library.progress.polls_until_empty = until_empty;
  point.machine.nic.poll_batch = 1;
  Program program(2, point);
  Turn turn;
  program.thread(0, [&](SimThread& self, Process& mpi) {
    for (int k = 0; k < messages; ++k) {
      mpi.send(self, program.communicator, 1, k, 0);
    }
  });
  program.thread(1, [&](SimThread& self, Process& mpi) {
    std::vector<Request*> requests;
    for (int k = 0; k < messages; ++k) {
      requests.push_back(mpi.irecv(self, program.communicator, 0, k, 0));
    }
    Request* const never = mpi.irecv(self, program.communicator, 0, messages, 0);
    self.spend(10_ms, Category::compute);
    self.settle();
    const TimePoint before = self.now();
    Request* asked = never;
    CHECK_FALSE(mpi.test(self, &asked));
    self.settle();
    turn.took = self.now() - before;
    for (Request* const request : requests) {
      turn.received += request->complete ? 1 : 0;
    }
  });
  program.run();
  return turn;
}

} // namespace

TEST_CASE("a turn polls once, or until a poll finds nothing", "[mpi][progress]") {
  const Duration poll = test::small_point().machine.nic.empty_poll;
  const Turn idle = first_turn(false, 0);
  CHECK(first_turn(true, 0).took == idle.took);
  const Turn once = first_turn(false, 1);
  const Turn again = first_turn(true, 1);
  CHECK(once.received == 1);
  CHECK(again.received == 1);
  CHECK(again.took >= once.took + poll); // with what has to be fetched for it
  CHECK(again.took < once.took + 2 * poll);
  CHECK(first_turn(false, 3).received == 1);
  CHECK(first_turn(true, 3).received == 3);
}
