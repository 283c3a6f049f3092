// A small job of processes that are coroutines; prices are round and different, so that sums can be made on paper.
#pragma once

#include "core/engine.hpp"
#include "models/matching/envelope.hpp"
#include "mpi/coroutines/barrier.hpp"
#include "mpi/coroutines/collectives.hpp"
#include "mpi/coroutines/world.hpp"
#include "point.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace contend::test {

inline CoSettings job_settings() {
  const MachineConfig machine = small_machine();
  CoSettings settings;
  settings.library.protocol.eager_limit_bytes = 65535;
  settings.library.protocol.header_bytes = 32;
  settings.topology = {2, 4, 1};
  settings.cache = machine.cache;
  settings.futex = machine.futex;
  settings.matching.attempt = 10_ns;
  settings.matching.element = 3_ns;
  settings.matching.element_bytes = 128;
  settings.matching.enqueue = 7_ns;
  settings.software.send_call = 80_ns;
  settings.software.receive_call = 70_ns;
  settings.software.complete = 11_ns;
  settings.software.wait_call = 20_ns;
  settings.software.wait_request = 5_ns;
  settings.software.deliver = 40_ns;
  settings.memory.l1_bytes = 32 * 1024;
  settings.memory.l3_bytes = 8 << 20;
  settings.memory.latency = 65_ns;
  settings.memory.copy_start = 30_ns;
  settings.memory.copy_bytes_per_second = 8e9;
  settings.memory.copy_l3_bytes_per_second = 6e9;
  settings.memory.copy_far_bytes_per_second = 4e9;
  settings.memory.tlb_bytes = 2 << 20;
  settings.memory.tlb_miss = 10_ns;
  settings.coroutines.light_switch = 130_ns;
  settings.coroutines.portable_switch = 810_ns;
  settings.coroutines.os_switch = 6850_ns;
  settings.coroutines.check = 13_ns;
  settings.coroutines.library_lines = 64;
  settings.coroutines.buffer = 60_ns;
  settings.channels.enqueue = 60_ns;
  settings.channels.dequeue = 55_ns;
  settings.channels.poll = 50_ns;
  settings.channels.socket_send = 4_us;
  settings.channels.socket_receive = 3_us;
  settings.channels.socket_poll = 100_ns;
  settings.route.latency = 20_us;
  settings.route.bytes_per_second = 1.25e9;
  return settings;
}

/// A run of one body by all processes; what is left can be looked at.
class Job {
public:
  Job(ProcessLayout layout, CoSettings settings, CoWorld::Body body)
      : engine_(1), world_(engine_, std::move(settings), layout) {
    struct Guard { // stacks refer to the world
      Engine& engine;
      ~Guard() { engine.abandon(); }
    } const guard{engine_};
    engine_.set_step_limit(100'000'000);
    world_.start(std::move(body));
    engine_.run();
    end_ = engine_.now();
  }

  [[nodiscard]] CoWorld& world() { return world_; }
  [[nodiscard]] CoCounters counters() const { return world_.counters(); }
  [[nodiscard]] Duration end() const { return end_.since_start(); }
  [[nodiscard]] std::uint64_t steps() const { return engine_.steps(); }
  /// Of all OS processes together, by category.
  [[nodiscard]] SimThread::Times times() const {
    SimThread::Times sum{};
    for (const auto& thread : engine_.threads()) {
      std::transform(sum.begin(), sum.end(), thread->times().begin(), sum.begin(), std::plus<>());
    }
    return sum;
  }

private:
  Engine engine_;
  CoWorld world_;
  TimePoint end_;
};

/// Ways to run a job that must not change what it computes.
struct JobVariant {
  std::string name;
  ProcessLayout layout; ///< of 12 processes
  CoSettings settings;
};

inline std::vector<JobVariant> job_variants() {
  std::vector<JobVariant> variants;
  constexpr std::array<ProcessLayout, 5> layouts{{{12, 1, 1}, {1, 12, 1}, {4, 3, 1}, {6, 1, 2}, {2, 3, 2}}};
  for (const ProcessLayout& layout : layouts) {
    for (const char* scheduler : {"round-robin", "block"}) {
      for (const char* colocated : {"one-copy", "buffered", "channel"}) {
        JobVariant variant;
        variant.layout = layout;
        variant.settings = job_settings();
        CoroutineDesign& design = variant.settings.library.coroutines;
        design.scheduler = scheduler;
        design.colocated = colocated;
        design.queues = variants.size() % 2 == 0 ? "array-by-receiver" : "single-list";
        design.wake = variants.size() % 3 == 0 ? "head" : "tail";
        design.fastbox_bytes = variants.size() % 4 == 0 ? 0 : 128;
        design.stream_cells_under_way = static_cast<int>(variants.size() % 5);
        variant.name = std::to_string(layout.processes_per_os_process) + ";" +
                       std::to_string(layout.os_processes_per_node) + ";" + std::to_string(layout.nodes) + " " +
                       scheduler + " " + colocated;
        variants.push_back(variant);
      }
    }
  }
  return variants;
}

} // namespace contend::test
