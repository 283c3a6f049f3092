// The workload "waiting": what its calls cost, by prices of the machine and by how a library goes through its requests.
#include "simulation/simulation.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <vector>

using namespace contend;

namespace {

using Change = std::function<void(PointConfig&)>;

PointConfig calls_over(const std::string& call, int requests, int complete) {
  PointConfig point = test::small_point();
  point.workload.kind = "waiting";
  point.workload.waiting = {call, requests, complete, 60};
  return point;
}

/// Of one call, in nanoseconds. Prices are picoseconds, and all calls alike.
double time_of(const std::string& call, int requests, int complete, const Change& change = {}) {
  PointConfig point = calls_over(call, requests, complete);
  if (change) {
    change(point);
  }
  const PointResult result = simulate(point, {});
  REQUIRE(result.workload.measures.size() == 1);
  return result.workload.measures.front().second * 1e9;
}

Change with_handle(Duration price) {
  return [price](PointConfig& point) { point.machine.waiting.handle = price; };
}

Change designed(const std::function<void(WaitingDesign&)>& change) {
  return [change](PointConfig& point) { change(point.library.waiting); };
}

constexpr double error = 1e-3; // ns: sums of picoseconds in floating-point numbers
const double check = test::small_point().machine.waiting.check.in_nanoseconds();

} // namespace

TEST_CASE("a call over several requests pays for each of their handles, whatever it finds", "[mpi][waiting]") {
  const Duration price = 3_ns;
  for (const std::string call : {"testsome", "testany", "testall", "waitsome", "waitany", "waitall"}) {
    for (const int requests : {2, 64}) {
      CAPTURE(call, requests);
      const double more = time_of(call, requests, requests, with_handle(price)) - time_of(call, requests, requests, {});
      CHECK(more == Approx(requests * price.in_nanoseconds()).margin(error));
    }
    CHECK(time_of(call, 1, 1, with_handle(price)) == Approx(time_of(call, 1, 1)).margin(error));
  }
  for (const std::string call : {"test", "wait"}) {
    CHECK(time_of(call, 64, 64, with_handle(price)) == Approx(time_of(call, 64, 64)).margin(error));
  }
}

TEST_CASE("handles of requests that do not fit into the core's cache cost more", "[mpi][waiting]") {
  const auto handles = [](int requests) {
    return time_of("testany", requests, 0, with_handle(3_ns)) - time_of("testany", requests, 0);
  };
  CHECK(handles(2000) == Approx(2000 * 3.0).margin(error)); // 128 B each, and 256 KiB of cache
  CHECK(handles(4000) > 4000 * 3.0 + 1);
}

TEST_CASE("a library looks at its requests as often as its design says", "[mpi][waiting]") {
  const int requests = 64;
  const auto more = [requests](const std::string& call, int complete, const auto& change) {
    return time_of(call, requests, complete, designed(change)) - time_of(call, requests, complete);
  };
  const auto first = [](WaitingDesign& design) { design.looks_before = 2; };
  const auto again = [](WaitingDesign& design) { design.looks_again = true; };
  for (const std::string call : {"testsome", "testany", "testall"}) {
    CAPTURE(call);
    const int looks = call == "testall" ? 3 : 2; // also at its end
    CHECK(more(call, 0, first) == Approx(looks * requests * check).margin(error));
    CHECK(more(call, 0, again) == Approx(requests * check).margin(error));
  }
  CHECK(more("testsome", requests, first) == Approx(2 * requests * check).margin(error));
  CHECK(more("waitsome", requests, first) == Approx(2 * requests * check).margin(error));
  CHECK(more("testany", requests, first) == Approx(0).margin(error)); // the first look finds what is complete
  CHECK(more("testsome", requests, again) == Approx(0).margin(error));
  const auto stops = [](WaitingDesign& design) { design.stops_at_incomplete = true; };
  CHECK(more("testall", 0, stops) == Approx((1 - requests) * check).margin(error));
  CHECK(more("testall", requests, stops) == Approx(0).margin(error));
  CHECK(more("testsome", 0, stops) == Approx(0).margin(error));
}

TEST_CASE("a testall in batches makes a turn of progress for each that is not complete", "[mpi][waiting]") {
  const auto in_batches = [](int batch, int complete) {
    return time_of("testall", 64, complete, designed([batch](WaitingDesign& design) { design.batch = batch; }));
  };
  const double turn = in_batches(32, 0) - in_batches(0, 0);
  CHECK(turn > 10);
  CHECK(in_batches(16, 0) - in_batches(0, 0) == Approx(3 * turn).margin(error));
  CHECK(in_batches(100, 0) == Approx(in_batches(0, 0)).margin(error));
  CHECK(in_batches(16, 64) == Approx(in_batches(0, 64)).margin(error));
}

TEST_CASE("a waitsome that polls makes turns of progress at every n-th request, and one before", "[mpi][waiting]") {
  const auto polling = [](int every, int complete) {
    return time_of("waitsome", 64, complete, designed([every](WaitingDesign& design) { design.poll_every = every; }));
  };
  const double turn = (polling(64, 1) - polling(0, 1)) / 2;
  CHECK(turn > 10);
  CHECK(polling(8, 1) - polling(0, 1) == Approx(9 * turn).margin(error));
  CHECK(polling(8, 64) == Approx(polling(0, 64)).margin(error)); // there is nothing to make progress for
}

TEST_CASE("waits attach what their design says", "[mpi][waiting]") {
  const auto attaching = [](const std::string& call, int requests, int complete, const std::string& to) {
    return time_of(call, requests, complete, designed([&to](WaitingDesign& design) { design.attach = to; }));
  };
  const PointConfig point = test::small_point();
  const double swap = point.machine.cache.atomic_hit.in_nanoseconds();
  const double both = (point.machine.software.wait_request + point.machine.waiting.detach).in_nanoseconds();
  // One of 64 is complete, the 33rd.
  CHECK(attaching("waitany", 64, 1, "pending") - attaching("waitany", 64, 1, "none") ==
        Approx(32 * both).margin(error));
  CHECK(attaching("waitsome", 64, 1, "pending") - attaching("waitsome", 64, 1, "none") ==
        Approx(63 * both).margin(error));
  // A swap fails at what is complete, in place of a look; two in turn attach and detach.
  CHECK(attaching("waitany", 64, 1, "every") - attaching("waitany", 64, 1, "pending") ==
        Approx(32 * (2 * swap - both) + swap - 33 * check).margin(error));
  CHECK(attaching("waitsome", 64, 64, "every") - attaching("waitsome", 64, 64, "pending") ==
        Approx(64 * (swap - check)).margin(error));
}

TEST_CASE("where no other thread can be a look and a store do for a swap", "[mpi][waiting]") {
  const auto attaching = [](const std::string& level, const std::string& to) {
    return time_of("waitsome", 64, 64, [&](PointConfig& point) {
      point.library.thread_level = level;
      point.library.waiting.attach = to;
    });
  };
  const double swap = test::small_point().machine.cache.atomic_hit.in_nanoseconds();
  // In place of the look that is needed without.
  CHECK(attaching("multiple", "every") - attaching("multiple", "pending") == Approx(64 * (swap - check)).margin(error));
  CHECK(attaching("single", "every") == Approx(attaching("single", "pending")).margin(error));
}

TEST_CASE("a wait without attaching waits for what is not complete yet", "[mpi][waiting]") {
  for (const std::string engine : {"per-target", "concurrent", "ownership"}) {
    PointConfig point = test::small_point();
    point.library.progress.engine = engine;
    point.library.waiting.attach = "none";
    point.library.waiting.looks_before = 1;
    point.library.waiting.poll_every = 2;
    test::Program program(2, point);
    program.thread(0, [&](SimThread& self, Process& mpi) {
      self.spend(50_us, Category::software);
      mpi.send(self, program.communicator, 1, 4, 0);
      self.spend(50_us, Category::software);
      mpi.send(self, program.communicator, 1, 2, 0);
    });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      std::vector<Request*> requests;
      for (const int tag : {2, 4}) {
        requests.push_back(mpi.irecv(self, program.communicator, 0, tag, 0));
      }
      CAPTURE(engine);
      CHECK(mpi.waitsome(self, requests) == std::vector<int>{1});
      CHECK(self.now() > TimePoint::at(50_us));
      CHECK(mpi.waitany(self, requests) == 0);
      CHECK(self.now() > TimePoint::at(100_us));
    });
    program.run();
  }
}

TEST_CASE("size and probe of a sync object cost the same for one request and a thousand", "[mpi][user sync]") {
  for (const std::string call : {"sync-size", "sync-probe"}) {
    CAPTURE(call);
    for (const bool complete : {false, true}) {
      CHECK(time_of(call, 1, complete ? 1 : 0) > 0);
      CHECK(time_of(call, 1000, complete ? 1 : 0) == Approx(time_of(call, 1, complete ? 1 : 0)).margin(error));
    }
  }
  CHECK(time_of("sync-attach", 1000, 0) == Approx(time_of("sync-attach", 1, 0)).margin(error));
  CHECK(time_of("sync-detach", 1000, 0) == Approx(time_of("sync-detach", 1, 0)).margin(error));
  CHECK(time_of("sync-attach", 1000, 3) > test::small_point().machine.software.wait_request.in_nanoseconds());
  CHECK(time_of("sync-detach", 1000, 3) > test::small_point().machine.waiting.detach.in_nanoseconds());
}

TEST_CASE("no fewer calls are timed than asked for", "[mpi][waiting]") {
  PointConfig point = calls_over("testsome", 10, 0); // twenty calls in a round
  for (const auto& [wanted, timed] : {std::pair{60, 60}, {79, 80}, {80, 80}, {81, 100}, {1, 60}}) {
    CAPTURE(wanted);
    point.workload.waiting.iterations = wanted;
    CHECK(simulate(point, {}).workload.operations == timed);
  }
}

TEST_CASE("a round has one reading of the clock, and twenty calls where nothing is complete", "[mpi][waiting]") {
  const Change slow = [](PointConfig& point) { point.machine.waiting.clock = 100_ns; };
  CHECK(time_of("testany", 4, 1, slow) - time_of("testany", 4, 1) == Approx(100).margin(error));
  CHECK(time_of("testany", 4, 0, slow) - time_of("testany", 4, 0) == Approx(5).margin(error));
}

TEST_CASE("a test and a wait of one request depend on it alone", "[mpi][waiting]") {
  for (const int requests : {1, 500}) {
    CAPTURE(requests);
    CHECK(time_of("test", requests, 1) == Approx(time_of("testany", 1, 1)).margin(error));
    CHECK(time_of("wait", requests, 1) == Approx(time_of("waitall", 1, 1)).margin(error));
    CHECK(time_of("test", requests, 0) > time_of("test", requests, 1)); // a turn of progress
  }
}
