// Cache lines that move from thread to thread besides those of locks, queues and counters (library.lines).
#include "simulation/simulation.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace contend;
using contend::test::Program;

namespace {

/// How long calls take whose request another core completed.
struct Calls {
  Duration first_post;  ///< memory that nobody had before
  Duration delivery;    ///< a turn of another thread, which completes the request
  Duration wait;        ///< of the thread that made it
  Duration second_post; ///< memory that the other thread changed last
};

/// One thread of rank 1 posts and waits; another one, on its own core, makes progress in between.
Calls calls_with(const LinesDesign& lines, int progressing_thread = 1) {
  PointConfig point = test::small_point();
  point.machine.noise = Duration{};
  point.library.lines = lines;
  Program program(2, point);
  const int comm = program.communicator;
  Calls took;
  const auto at = [](SimThread& self, Duration begin) {
    self.spend(begin - (self.now() - TimePoint{}), Category::software);
    return self.now();
  };
  const auto turn = [&](SimThread& self, Process& mpi, Request*& other) {
    const TimePoint called = at(self, 40_us);
    REQUIRE_FALSE(mpi.test(self, &other));
    self.settle();
    took.delivery = self.now() - called;
  };
  program.thread(0, [&](SimThread& self, Process& mpi) {
    at(self, 20_us);
    mpi.send(self, comm, 1, 1, 0);
  });
  program.thread(1, [&](SimThread& self, Process& mpi) {
    Request* never = mpi.irecv(self, comm, 0, 3, 0);
    TimePoint called = at(self, 10_us);
    Request* const request = mpi.irecv(self, comm, 0, 1, 0);
    self.settle();
    took.first_post = self.now() - called;
    if (progressing_thread == 0) {
      turn(self, mpi, never);
    }
    called = at(self, 60_us);
    mpi.wait(self, request);
    self.settle();
    took.wait = self.now() - called;
    called = at(self, 80_us);
    mpi.irecv(self, comm, 0, 4, 0);
    self.settle();
    took.second_post = self.now() - called;
  });
  program.thread(1, [&](SimThread& self, Process& mpi) {
    Request* never = mpi.irecv(self, comm, 0, 2, 0);
    if (progressing_thread == 1) {
      turn(self, mpi, never);
    }
  });
  program.run();
  return took;
}

} // namespace

TEST_CASE("a request's lines are fetched by whoever makes, completes and frees it", "[mpi][lines][oracle]") {
  const Duration line = test::small_point().machine.cache.transfer_socket;
  const Calls without = calls_with({});
  const Calls with = calls_with({0, 4.0, 3.0, 2.0});
  CHECK(with.first_post == without.first_post);
  CHECK(with.delivery == without.delivery + 3 * line);
  CHECK(with.wait == without.wait + 2 * line);
  CHECK(with.second_post == without.second_post + 4 * line);
}

TEST_CASE("parts of lines are means", "[mpi][lines]") {
  const Duration line = test::small_point().machine.cache.transfer_socket;
  CHECK(calls_with({0, 0.0, 1.5, 0.0}).delivery - calls_with({}).delivery ==
        Duration::picoseconds(line.count() * 3 / 2));
}

TEST_CASE("a thread that does everything itself has its requests' lines", "[mpi][lines]") {
  const Calls without = calls_with({}, 0);
  const Calls with = calls_with({0, 4.0, 3.0, 2.0}, 0);
  CHECK(with.delivery == without.delivery);
  CHECK(with.wait == without.wait);
  CHECK(with.second_post == without.second_post);
}

TEST_CASE("lines under an instance's lock come with it", "[mpi][lines][oracle]") {
  const CacheParameters cache = test::small_point().machine.cache;
  // The thread that waits polls after another one has: the lock's own line moves in any case.
  const Calls without = calls_with({});
  const Calls with = calls_with({5, 0.0, 0.0, 0.0});
  CHECK(with.first_post == without.first_post); // ob1 takes no lock of an instance to post a receive
  CHECK(with.delivery == without.delivery + 5 * (cache.l3_hit + cache.hit));
  CHECK(with.wait == without.wait); // it was complete
  PointConfig point = test::small_point();
  point.workload.multirate.pairs = 1;
  const Duration alone = simulate(point, {}).workload.elapsed;
  point.library.thread_level = "single";
  const Duration unlocked = simulate(point, {}).workload.elapsed;
  point.library.lines.lock = 8;
  CHECK(simulate(point, {}).workload.elapsed == unlocked); // no lock, nothing that it guards from others
  point.library.thread_level = "multiple";
  CHECK(simulate(point, {}).workload.elapsed > alone);
}

TEST_CASE("a request is freed under its instance's lock where the library does that", "[mpi][lines]") {
  PointConfig point = test::small_point();
  point.library.instances.mapping = GENERATE("thread", "communicator");
  const auto time_of_test = [&](bool frees_requests) {
    point.library.instances.frees_requests = frees_requests;
    Program program(2, point);
    TimePoint freed;
    program.thread(0, [&](SimThread& self, Process& mpi) { mpi.send(self, program.communicator, 1, 1, 0); });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      Request* const request = mpi.irecv(self, program.communicator, 0, 1, 0);
      self.spend(50_us, Category::software);
      Request* again = request;
      while (!mpi.test(self, &again)) {
      }
      self.settle();
      freed = self.now();
    });
    program.run();
    return freed;
  };
  // A mapped request belongs to the one instance, others to none.
  CHECK((time_of_test(true) > time_of_test(false)) == (point.library.instances.mapping == "communicator"));
}

TEST_CASE("threads that share lines take longer", "[mpi][lines]") {
  for (const char* critical_section : {"fine", "global"}) {
    PointConfig point = test::small_point();
    point.library.critical_section = critical_section;
    point.machine.noise = Duration{};
    const Duration without = simulate(point, {}).workload.elapsed;
    CAPTURE(critical_section);
    point.library.lines = {6, 0.0, 0.0, 0.0};
    CHECK(simulate(point, {}).workload.elapsed > without);
    point.library.lines = {0, 8.0, 8.0, 8.0};
    CHECK(simulate(point, {}).workload.elapsed > without);
  }
}
