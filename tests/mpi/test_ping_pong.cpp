// The communication threads of a task-based runtime.
#include "simulation/simulation.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>

using namespace contend;

TEST_CASE("a communication thread polls on while other threads of the runtime work", "[mpi][ping-pong]") {
  PointConfig point = test::small_point();
  point.workload.kind = "ping-pong";
  point.workload.ping_pong.completion = GENERATE("testsome", "sync-query", "sync-query-bulk");
  point.workload.ping_pong.message_size_bytes = GENERATE(400, 40'000);
  point.workload.ping_pong.iterations = 10;
  constexpr int hops = 20;
  const WorkloadResult without = simulate(point, {}).workload;
  point.workload.ping_pong.runtime_work = 50_us;
  const WorkloadResult with = simulate(point, {}).workload;
  const Duration longer = with.elapsed - without.elapsed;
  CHECK(longer > hops * 45_us); // the first polls would have been made in any case
  CHECK(longer < hops * 55_us);
  const auto polls = static_cast<std::size_t>(Category::poll_idle);
  CHECK((with.times[0][polls] - without.times[0][polls]) * 3 > longer); // over 44 %; half of that if it did the work
}

TEST_CASE("a start of a persistent receive costs no call of its own, whoever carries it out", "[mpi][ping-pong]") {
  PointConfig point = test::small_point();
  point.library.progress.engine = GENERATE("ownership", "offload-thread");
  point.workload.kind = "ping-pong";
  point.workload.ping_pong.iterations = 10;
  constexpr int hops = 20;
  point.machine.software.receive_call = 0_us;
  const WorkloadResult without = simulate(point, {}).workload;
  point.machine.software.receive_call = 10_us;
  const WorkloadResult with = simulate(point, {}).workload;
  CHECK(with.elapsed - without.elapsed < hops * 1_us);
}
