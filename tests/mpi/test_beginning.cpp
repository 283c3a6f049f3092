// How the threads of a run begin where they share cores: all at once, or each process's first one creates the others.
#include "core/scheduler.hpp"
#include "mpi/world.hpp"
#include "simulation/simulation.hpp"
#include "support/point.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <string>
#include <vector>

using namespace contend;

namespace {

struct Beginning {
  TimePoint time;
  int core;
};

/// When and where the threads of two processes begin on four cores, by name.
std::map<std::string, Beginning> beginnings(const SchedulerParameters& scheduler, int threads, std::uint64_t seed = 1,
                                            const std::string& shares = "threads") {
  const PointConfig point = test::small_point();
  Engine engine(seed);
  PlacementParameters placement;
  placement.threads = "floating";
  placement.start = "by-process";
  placement.shares = shares;
  placement.cores = 4;
  World world(engine,
              {point.library, point.machine.software, point.machine.locks, point.machine.matching, point.machine.rdma,
               point.machine.noise, point.run.coalesce_idle_polls, point.machine.waiting, point.machine.datatype},
              placement);
  const int host = world.add_host(point.machine.topology, point.machine.cache, point.machine.futex, point.machine.nic,
                                  point.route, scheduler, point.machine.tcp, point.machine.shared_memory);
  world.add_processes({host, host});
  std::map<std::string, Beginning> begun;
  for (int rank = 0; rank < 2; ++rank) {
    for (int thread = 0; thread < threads; ++thread) {
      world.spawn(rank, std::to_string(rank) + "." + std::to_string(thread), [&begun](SimThread& self) {
        begun[self.name()] = {self.now(), self.core()};
        self.spend(1_ms, Category::software);
      });
    }
  }
  engine.run();
  return begun;
}

SchedulerParameters scheduler() {
  SchedulerParameters parameters;
  parameters.policy = "eevdf";
  parameters.slice = 3_ms;
  return parameters;
}

} // namespace

TEST_CASE("threads begin at once, or are created one after the other", "[mpi][scheduler]") {
  SchedulerParameters parameters = scheduler();
  auto begun = beginnings(parameters, 2);
  REQUIRE(begun.size() == 4);
  CHECK(begun["0.0"].time == TimePoint{});
  CHECK(begun["1.0"].time == TimePoint{});
  CHECK(begun["0.0"].core == 0);
  CHECK(begun["1.0"].core == 1);

  parameters.thread_create = 30_us;
  begun = beginnings(parameters, 2);
  REQUIRE(begun.size() == 4);
  CHECK(begun["0.0"].time == TimePoint::at(30_us)); // it has created the other one by then
  CHECK(begun["0.0"].core == 0);
  CHECK(begun["1.0"].core == 1);
  for (const std::string created : {"0.1", "1.1"}) { // on the cores that are idle then, not on their process's
    CHECK(begun[created].time == TimePoint::at(30_us));
    CHECK(begun[created].core >= 2);
  }
}

TEST_CASE("where processes have shares, threads that are created begin on their process's core", "[mpi][scheduler]") {
  SchedulerParameters parameters = scheduler();
  parameters.thread_create = 30_us;
  const auto begun = beginnings(parameters, 2, 1, "processes");
  CHECK(begun.at("0.1").core == 0);
  CHECK(begun.at("1.1").core == 1);
}

TEST_CASE("a new thread takes time to its first call, and processes begin at different times", "[mpi][scheduler]") {
  SchedulerParameters parameters = scheduler();
  parameters.thread_create = 30_us;
  parameters.thread_begin = 20_us;
  auto begun = beginnings(parameters, 2);
  CHECK(begun["0.1"].time > TimePoint::at(30_us));
  CHECK(begun["1.1"].time > TimePoint::at(30_us));
  CHECK(begun["0.1"].time != begun["1.1"].time);

  parameters.thread_begin = Duration{};
  parameters.process_skew = 100_us;
  begun = beginnings(parameters, 1);
  const auto other = beginnings(parameters, 1, 2);
  CHECK(begun["0.0"].time != begun["1.0"].time);
  CHECK(begun["0.0"].time != other.at("0.0").time);

  Duration sum;
  constexpr int seeds = 400;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    sum += beginnings(parameters, 1, seed)["0.0"].time.since_start();
  }
  CHECK(sum.in_seconds() / seeds == Approx(100e-6).epsilon(0.15)); // three standard errors
}

TEST_CASE("threads that are created one after the other exchange as many messages", "[mpi][scheduler]") {
  PointConfig point = test::small_point();
  point.placement.threads = "floating";
  point.placement.cores = 2;
  point.placement.hosts = 1;
  point.machine.scheduler = scheduler();
  point.machine.scheduler.thread_create = 30_us;
  point.machine.scheduler.thread_begin = 20_us;
  point.machine.scheduler.process_skew = 100_us;
  const PointResult result = simulate(point, {}); // throws where messages are missing
  CHECK(result.workload.elapsed > Duration{});
  CHECK(simulate(point, {}).simulated == result.simulated);
}
