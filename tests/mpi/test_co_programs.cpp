// Programs of processes that are coroutines, run as scenarios run them.
#include "simulation/simulation.hpp"
#include "support/job.hpp"
#include "workloads/programs/matrix_product.hpp"
#include "workloads/programs/nas.hpp"
#include "workloads/programs/program.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <map>
#include <numeric>
#include <string>

using namespace contend;

namespace {

PointConfig program_point(const std::string& kind) {
  PointConfig point = test::small_point();
  const CoSettings prices = test::job_settings();
  point.machine.topology = prices.topology;
  point.machine.matching = prices.matching;
  point.machine.software = prices.software;
  point.machine.memory = prices.memory;
  point.machine.coroutines = prices.coroutines;
  point.machine.channels = prices.channels;
  point.machine.compute = {2_ns, 6_ns, 8e9, 10_ns, 500_ns};
  point.route = prices.route;
  point.library = prices.library;
  point.workload.kind = kind;
  return point;
}

template <class Parameters>
void place(Parameters& parameters, ProcessLayout layout, int iterations = 2) {
  parameters.processes_per_os_process = layout.processes_per_os_process;
  parameters.os_processes_per_node = layout.os_processes_per_node;
  parameters.nodes = layout.nodes;
  parameters.iterations = iterations;
  parameters.warmup_iterations = 1;
}

/// Places every kind of program.
void place_all(WorkloadParameters& all, ProcessLayout layout) {
  place(all.ping, layout);
  place(all.ring, layout);
  place(all.collective, layout);
  place(all.exchange, layout);
  place(all.matrix_product, layout);
  place(all.pipeline, layout);
  place(all.receivers, layout);
  place(all.flocking, layout);
  place(all.nas, layout, 1);
}

std::int64_t counter(const PointResult& result, const std::string& name) {
  for (const auto& [known, value] : result.more_counters) {
    if (known == name) {
      return value;
    }
  }
  throw std::out_of_range(name);
}

} // namespace

TEST_CASE("every program ends, takes time, and does so again in the same way", "[coroutines][programs]") {
  for (const std::string& kind : program_registry().names()) {
    for (const ProcessLayout layout : {ProcessLayout{16, 1, 1}, {4, 2, 2}, {4, 1, 4}}) {
      for (const char* scheduler : {"round-robin", "block"}) {
        CAPTURE(kind, layout.processes_per_os_process, layout.os_processes_per_node, layout.nodes, scheduler);
        PointConfig point = program_point(kind);
        point.library.coroutines.scheduler = scheduler;
        place_all(point.workload, layout);
        point.workload.matrix_product.matrix_size = 64;
        point.workload.nas.problem_class = "B";
        point.workload.pipeline.numbers = 200;
        point.workload.flocking.grid = 2;
        SimulationOptions options;
        options.hash_steps = true;
        const PointResult result = simulate(point, options);
        CHECK(result.workload.elapsed > 0_ps);
        CHECK(result.workload.operations > 0);
        CHECK(result.receiver.received == result.sender.sent);
        CHECK(counter(result, "processes") == 16);
        const PointResult again = simulate(point, options);
        CHECK(again.step_hash == result.step_hash);
        CHECK(again.workload.elapsed == result.workload.elapsed);
      }
    }
  }
}

TEST_CASE("all collective operations and ways to receive run as programs", "[coroutines][programs]") {
  for (const char* operation : {"barrier", "broadcast", "reduce", "all-reduce", "pi"}) {
    PointConfig point = program_point("collective");
    point.workload.collective.operation = operation;
    place_all(point.workload, {6, 2, 1});
    CHECK(simulate(point, {}).workload.operations == 2);
  }
  for (const char* receivers : {"processes", "waitany"}) {
    PointConfig point = program_point("receivers");
    point.workload.receivers.receivers = receivers;
    place_all(point.workload, {10, 2, 1});
    const PointResult result = simulate(point, {});
    CHECK(result.workload.operations == 2 * 2 * 8);
    CHECK(result.receiver.received == 3 * 2 * 8);
  }
}

TEST_CASE("a sieve keeps the primes, wherever its places are", "[coroutines][programs]") {
  for (const char* mapping : {"sequential", "shuffled"}) {
    PointConfig point = program_point("pipeline");
    point.workload.pipeline.mapping = mapping;
    point.workload.pipeline.numbers = 100; // 26 primes up to 101
    point.workload.pipeline.work = 100_ns;
    place(point.workload.pipeline, {8, 2, 2});
    CHECK_NOTHROW(simulate(point, {}));
  }
}

TEST_CASE("a pipeline whose places are dealt out uses all OS processes", "[coroutines][programs]") {
  const auto elapsed = [](const char* mapping) {
    PointConfig point = program_point("pipeline");
    point.workload.pipeline.mapping = mapping;
    point.workload.pipeline.numbers = 2000;
    point.workload.pipeline.work = 10_us;
    place(point.workload.pipeline, {32, 4, 1}, 1);
    return simulate(point, {}).workload.elapsed.in_seconds();
  };
  // Divisions of the busiest OS process, counted by hand: 9613 of 33996, or 12444 when neighbours share one.
  CHECK(elapsed("shuffled") / elapsed("sequential") == Approx(9613.0 / 12444.0).epsilon(0.05));
}

TEST_CASE("a product of blocks is cheapest where the blocks fit the caches", "[coroutines][programs]") {
  const PointConfig point = program_point("matrix-product");
  MatrixProductParameters parameters;
  place(parameters, {1, 1, 1});
  const MatrixProduct program(parameters, point.machine.compute);
  CacheParameters cache = point.machine.cache;
  const WorkingSet memory(cache, point.machine.memory, 4);
  const auto per_step = [&](int block) {
    return static_cast<double>(program.multiply(memory, block, 1).count()) / block / block / block;
  };
  CHECK(per_step(32) < per_step(4)); // leaving loops
  CHECK(per_step(64) < per_step(512));
  CHECK(per_step(512) < per_step(2048));
  CHECK(per_step(32) > 2000.0); // 2 ns a step at least
  CHECK(per_step(2048) < 2000.0 + 65'000.0);
}

TEST_CASE("a large volume in small messages needs no invitations", "[coroutines][programs]") {
  const auto run = [](int processes) {
    PointConfig point = program_point("exchange");
    point.workload.exchange.volume_bytes = 1 << 20;
    place(point.workload.exchange, {processes, 1, 2}, 5);
    return simulate(point, {});
  };
  const PointResult large = run(1);
  const PointResult small = run(32);
  CHECK(counter(large, "messages_announced") == 12);
  CHECK(counter(small, "messages_announced") == 0);
  CHECK(small.workload.bytes == large.workload.bytes);
}

TEST_CASE("birds ask and are answered: messages of a step", "[coroutines][programs]") {
  for (const auto& [grid, around] : std::map<int, int>{{1, 1}, {2, 4}, {3, 9}, {4, 9}}) {
    CAPTURE(grid);
    PointConfig point = program_point("flocking");
    place_all(point.workload, {10, 4, 1}); // on one node barriers need no messages
    point.workload.flocking.grid = grid;
    point.workload.flocking.iterations = 3;
    point.workload.flocking.warmup_iterations = 0;
    const PointResult result = simulate(point, {});
    const int cells = grid * grid;
    const int birds = 40 - 2 * cells;
    // Each bird asks, is answered and tells; each view asks all locations around and is answered.
    CHECK(result.sender.sent == 3 * (3 * birds + 2 * cells * around));
    CHECK(result.workload.operations == 3);
    const Duration alone = result.workload.elapsed;
    point.workload.flocking.work = 1_ms;
    const Duration busy = simulate(point, {}).workload.elapsed - alone;
    CHECK(busy > 2900_us * ((birds + 3) / 4)); // at least one OS process has so many birds
    CHECK(busy < 3100_us * 10);
  }
}

TEST_CASE("problems of the NAS benchmarks have the published sizes", "[coroutines][programs]") {
  // Total operation counts that the benchmarks print, in billions.
  const auto total = [](const char* benchmark, const char* problem_class) {
    const NasProblem problem = nas_problem(benchmark, problem_class);
    return problem.flops * problem.steps / 1e9;
  };
  CHECK(total("CG", "B") == Approx(54.9).epsilon(0.01));
  CHECK(total("CG", "C") == Approx(143.3).epsilon(0.01));
  CHECK(total("BT", "C") == Approx(2866).epsilon(0.01));
  CHECK(total("LU", "C") == Approx(2039).epsilon(0.01));
  CHECK(total("MG", "C") == Approx(155.7).epsilon(0.01));
  CHECK_THROWS_AS(nas_problem("FT", "C"), std::out_of_range);
}

TEST_CASE("a volume that does not divide is exchanged to the last byte", "[coroutines][programs]") {
  const auto run = [](std::int64_t volume) {
    PointConfig point = program_point("exchange");
    point.workload.exchange.volume_bytes = volume;
    place(point.workload.exchange, {2, 2, 2});
    return simulate(point, {}).workload;
  };
  const WorkloadResult seven = run(7); // between 4 and 4 processes
  CHECK(seven.bytes == 2 * 2 * 7);
  CHECK(seven.elapsed > run(0).elapsed);
  CHECK(seven.elapsed <= run(8).elapsed);
}

TEST_CASE("calls of programs take random times where the machine has noise", "[coroutines][programs]") {
  const auto elapsed = [](const std::string& kind, Duration noise, std::uint64_t seed) {
    PointConfig point = program_point(kind);
    point.machine.noise = noise;
    point.run.seed = seed;
    place_all(point.workload, {2, 2, 1});
    return simulate(point, {}).workload.elapsed;
  };
  for (const char* kind : {"ping", "exchange", "ring"}) {
    CAPTURE(kind);
    CHECK(elapsed(kind, 0_ns, 1) == elapsed(kind, 0_ns, 2));
    CHECK(elapsed(kind, 1_us, 1) != elapsed(kind, 1_us, 2));
    CHECK(elapsed(kind, 1_us, 1) > elapsed(kind, 0_ns, 1));
  }
}

TEST_CASE("with noise programs take as long whether idle turns pass at once or not", "[coroutines][programs]") {
  // Without, symmetric programs have many equal dates, whose order is another one where turns are skipped.
  const auto elapsed = [](const std::string& kind, ProcessLayout layout, bool at_once) {
    PointConfig point = program_point(kind);
    point.machine.noise = 3_ns;
    point.run.coalesce_idle_polls = at_once;
    place_all(point.workload, layout);
    point.workload.matrix_product.matrix_size = 64;
    point.workload.nas.benchmark = "CG";
    point.workload.pipeline.numbers = 100;
    point.workload.flocking.grid = 2;
    return simulate(point, {}).workload.elapsed;
  };
  for (const std::string& kind : program_registry().names()) {
    for (const ProcessLayout layout : {ProcessLayout{2, 2, 4}, {1, 4, 4}, {4, 2, 2}}) {
      CAPTURE(kind, layout.processes_per_os_process, layout.os_processes_per_node, layout.nodes);
      if (kind != "receivers" || layout.processes_per_os_process > 2) {
        CHECK(elapsed(kind, layout, true) == elapsed(kind, layout, false));
      }
    }
  }
  CHECK(elapsed("exchange", {1, 4, 3}, true) == elapsed("exchange", {1, 4, 3}, false)); // partners on all three nodes
}

TEST_CASE("programs pay for their library's code and for how its queues lie in memory", "[coroutines][programs]") {
  const auto elapsed = [](const std::function<void(PointConfig&)>& change) {
    PointConfig point = program_point("receivers");
    point.machine.matching.distant_element = 500_ns;
    place_all(point.workload, {4, 1, 1});
    change(point);
    return simulate(point, {}).workload.elapsed;
  };
  const Duration plain = elapsed([](PointConfig& /*point*/) {});
  CHECK(elapsed([](PointConfig& point) { point.library.code.send = 10; }) > plain);
  CHECK(elapsed([](PointConfig& point) { point.library.code.receive = 10; }) > plain);
  CHECK(elapsed([](PointConfig& point) { point.library.matching.element_spacing_bytes = 1 << 20; }) > plain);
}

TEST_CASE("a result says which parts of a design programs have no use for", "[coroutines][programs]") {
  PointConfig point = program_point("ping");
  place_all(point.workload, {1, 2, 1});
  CHECK(simulate(point, {}).notes.empty());
  point.library.code.send = 2;
  point.library.matching.element_spacing_bytes = 4096;
  point.library.protocol.eager_limit_bytes = 1;
  CHECK(simulate(point, {}).notes.empty());
  point.library.critical_section = "global";
  const std::string why = " nothing here: programs run on a library of their own, whose design is library.coroutines";
  CHECK(simulate(point, {}).notes == std::vector<std::string>{"library.critical_section changes" + why});
  point.library.instances.count = 8;
  CHECK(simulate(point, {}).notes ==
        std::vector<std::string>{"library.critical_section and library.instances change" + why});
}

TEST_CASE("programs run on cores that are alike, and their results say so", "[coroutines][programs]") {
  PointConfig point = program_point("ping");
  place_all(point.workload, {1, 2, 1});
  const Duration alike = simulate(point, {}).workload.elapsed;
  point.machine.slow_cores = {.share = 0.5, .slowdown = 2.0};
  const PointResult result = simulate(point, {});
  CHECK(result.workload.elapsed == alike);
  CHECK(result.notes ==
        std::vector<std::string>{"machine.slow_cores changes nothing here: programs run on cores that are all alike"});
}

TEST_CASE("time is shared out among what the processes of an OS process do", "[coroutines][programs]") {
  PointConfig point = program_point("exchange");
  point.workload.exchange.work = 300_us;
  place(point.workload.exchange, {4, 1, 2}, 5);
  const PointResult result = simulate(point, {});
  const SimThread::Times& times = result.workload.times[0];
  CHECK(times[static_cast<std::size_t>(Category::compute)] == 2 * 5 * 300_us); // without the warm-up
  CHECK(times[static_cast<std::size_t>(Category::copy)] > 0_ps);
  CHECK(times[static_cast<std::size_t>(Category::poll_idle)] > 0_ps);
}

TEST_CASE("time by category begins with the timed part", "[coroutines][programs]") {
  for (const ProcessLayout layout : {ProcessLayout{4, 2, 1}, {2, 2, 2}}) {
    const auto run = [&](int warmup) {
      PointConfig point = program_point("ring");
      place(point.workload.ring, layout, 10);
      point.workload.ring.warmup_iterations = warmup;
      return simulate(point, {}).workload;
    };
    for (const int warmup : {0, 1, 90}) {
      CAPTURE(layout.processes_per_os_process, warmup);
      const WorkloadResult result = run(warmup);
      const SimThread::Times& times = result.times[static_cast<std::size_t>(Role::sender)];
      const Duration all = std::accumulate(times.begin(), times.end(), Duration{});
      const double each = all.in_seconds() / layout.os_processes();
      CHECK(each < 1.03 * result.elapsed.in_seconds());
      CHECK(each > 0.9 * result.elapsed.in_seconds()); // not all leave the barrier at once
    }
  }
}
