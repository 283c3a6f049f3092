#include "simulation/simulation.hpp"

#include "core/step_hash.hpp"
#include "mpi/coroutines/memory_account.hpp"
#include "simulation/core_notes.hpp"
#include "simulation/program_notes.hpp"
#include "workloads/programs/program.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>

namespace contend {

namespace {

/// Replications differ in their seed only; neighbouring seeds give unrelated streams.
std::uint64_t seed_of(std::uint64_t seed, int replication) {
  return RandomStream(seed, "replication " + std::to_string(replication)).bits();
}

void add(SpcCounters& sum, const SpcCounters& counters) {
  sum.sent += counters.sent;
  sum.received += counters.received;
  sum.posted += counters.posted;
  sum.out_of_sequence += counters.out_of_sequence;
  sum.oos_in_queue += counters.oos_in_queue;
  sum.oos_in_queue_max = std::max(sum.oos_in_queue_max, counters.oos_in_queue_max);
  sum.unexpected += counters.unexpected;
  sum.unexpected_in_queue += counters.unexpected_in_queue;
  sum.unexpected_in_queue_max = std::max(sum.unexpected_in_queue_max, counters.unexpected_in_queue_max);
  sum.match_time += counters.match_time;
  sum.delayed_sends += counters.delayed_sends;
  sum.oos_ranges_visited += counters.oos_ranges_visited;
  sum.puts += counters.puts;
  sum.gets += counters.gets;
  sum.accumulates += counters.accumulates;
  sum.fetch_and_ops += counters.fetch_and_ops;
  sum.hardware_atomics += counters.hardware_atomics;
  sum.flushes += counters.flushes;
  sum.one_sided_completed += counters.one_sided_completed;
  sum.window_lock_retries += counters.window_lock_retries;
}

/// The sink that was asked for, if any.
class Watch {
public:
  Watch(Engine& engine, const PointConfig& config, const SimulationOptions& options) : engine_(engine) {
    if (options.explain && !options.trace_file.empty()) {
      throw std::invalid_argument("a run is either explained or traced");
    }
    if (options.explain) {
      account_.emplace(engine);
    } else if (!options.trace_file.empty()) {
      trace_.emplace(engine, options.trace_file, options.trace_limit_bytes,
                     options.trace_title.empty() ? config.name + ", replication " + std::to_string(options.replication)
                                                 : options.trace_title);
    }
  }

  /// The run has failed: the trace shows how far it came.
  void give_up() noexcept {
    try {
      if (trace_) {
        trace_->cut("the run ended early");
        static_cast<void>(trace_->finish());
      }
    } catch (const std::exception&) { // what ended the run matters more
      return;
    }
  }

  /// `role_of` names the role of a process's thread.
  void finish(const std::function<std::string(const SimThread&)>& role_of, PointResult& result) {
    if (account_) {
      result.explanation = explain(*account_, engine_, [&](const SimThread& thread) -> std::string {
        return thread.process() < 0 ? "other" : role_of(thread);
      });
    }
    if (trace_) {
      result.trace = trace_->finish();
    }
  }

private:
  Engine& engine_;
  std::optional<ContentionAccount> account_;
  std::optional<ChromeTrace> trace_;
};

/// Stacks of threads refer to the world and the workload: they are unwound while both exist.
class AbandonOnExit {
public:
  explicit AbandonOnExit(Engine& engine) : engine_(engine) {}
  ~AbandonOnExit() { engine_.abandon(); }
  AbandonOnExit(const AbandonOnExit&) = delete;
  AbandonOnExit& operator=(const AbandonOnExit&) = delete;

private:
  Engine& engine_;
};

std::unique_ptr<Workload> make_workload(const PointConfig& config) {
  return workload_registry().at(config.workload.kind)(config.workload);
}

std::unique_ptr<Program> make_program(const PointConfig& config) {
  return program_registry().at(config.workload.kind)(config.workload, config.machine.compute);
}

bool runs_programs(const PointConfig& config) { return program_registry().contains(config.workload.kind); }

void run(Engine& engine, Watch& watch) {
  try {
    engine.run();
  } catch (...) {
    watch.give_up();
    throw;
  }
}

/// MPI processes whose threads share the library.
PointResult simulate_threads(Engine& engine, const PointConfig& config, const SimulationOptions& options) {
  const MachineConfig& machine = config.machine;
  const bool shared = config.placement.shares_cores();
  World world(engine,
              {config.library, machine.software, machine.locks, machine.matching, machine.rdma, machine.noise,
               config.run.coalesce_idle_polls, machine.waiting, machine.datatype},
              config.placement);
  const std::unique_ptr<Workload> workload = make_workload(config);
  const std::vector<int> host_of_rank = workload->host_of_rank();
  const int hosts = config.placement.hosts == 1 ? 1 : *std::max_element(host_of_rank.begin(), host_of_rank.end()) + 1;
  for (int host = 0; host < hosts; ++host) {
    if (!machine.slow_cores.none()) {
      engine.set_core_paces(host, CorePaces(machine.slow_cores, machine.topology,
                                            engine.stream("host " + std::to_string(host) + "/slow cores")));
    }
    world.add_host(machine.topology, machine.cache, machine.futex, machine.nic, config.route, machine.scheduler,
                   machine.tcp, machine.shared_memory);
  }
  world.add_processes(host_of_rank);
  Watch watch(engine, config, options);
  const AbandonOnExit abandon(engine);
  workload->start(world);
  if (shared && std::any_of(engine.threads().begin(), engine.threads().end(),
                            [](const auto& thread) { return !thread->shares_core(); })) {
    throw std::logic_error("a workload must start its threads with World::spawn");
  }
  run(engine, watch);

  PointResult result;
  watch.finish(
      [&](const SimThread& thread) { return workload->role_of(thread) == Role::sender ? "sender" : "receiver"; },
      result);
  result.workload = workload->result(world);
  for (int rank = 0; rank < world.size(); ++rank) {
    add(workload->role_of_rank(rank) == Role::sender ? result.sender : result.receiver, world.process(rank).counters());
  }
  result.notes = world.notes();
  result.notes.insert(result.notes.end(), result.workload.notes.begin(), result.workload.notes.end());
  if (std::optional<std::string> note = siblings_at_full_speed(engine, machine.topology)) {
    result.notes.push_back(std::move(*note));
  }
  if (shared) {
    if (std::optional<std::string> note = too_few_turns(engine, machine.scheduler, result.workload.elapsed)) {
      result.notes.push_back(std::move(*note));
    }
    Scheduler::Counters& all = result.scheduling.emplace();
    for (int host = 0; host < world.hosts(); ++host) {
      const Scheduler::Counters& counters = world.scheduler(host)->counters();
      all.switches += counters.switches;
      all.preemptions += counters.preemptions;
      all.yields += counters.yields;
      all.wakeups += counters.wakeups;
      all.migrations += counters.migrations;
    }
  }
  return result;
}

/// MPI processes that are coroutines of OS processes.
PointResult simulate_processes(Engine& engine, const PointConfig& config, const SimulationOptions& options) {
  const MachineConfig& machine = config.machine;
  const std::unique_ptr<Program> program = make_program(config);
  const ProcessLayout layout = program->layout();
  CoWorld world(engine,
                {config.library, machine.topology, machine.cache, machine.futex, machine.matching, machine.software,
                 machine.memory, machine.coroutines, machine.channels, config.route, machine.noise,
                 config.run.coalesce_idle_polls},
                layout);
  Watch watch(engine, config, options);
  const AbandonOnExit abandon(engine);
  world.start([&](CoProcess& self) { return program->run(self); });
  run(engine, watch);

  PointResult result;
  watch.finish([](const SimThread& /*os_process*/) { return "sender"; }, result);
  program->check();
  result.workload.operations = program->operations();
  result.workload.bytes = program->bytes();
  result.workload.elapsed = program->elapsed();
  for (const auto& thread : engine.threads()) {
    result.workload.add(Role::sender, *thread);
  }

  if (std::optional<std::string> note = parts_without_effect(config)) {
    result.notes.push_back(std::move(*note));
  }
  if (!machine.slow_cores.none()) {
    result.notes.emplace_back("machine.slow_cores changes nothing here: programs run on cores that are all alike");
  }
  const CoCounters counters = world.counters();
  result.sender.sent = counters.colocated + counters.sent;
  result.receiver.received = counters.received;
  result.receiver.unexpected = counters.unexpected;
  const MemoryAccount memory = process_memory(layout, config.library.coroutines);
  const MemoryAccount maps = world_map_memory(layout, config.library.coroutines.maps == "shared");
  result.more_counters = {{"processes", layout.processes()},
                          {"messages_colocated", counters.colocated},
                          {"messages_between_os_processes", counters.sent},
                          {"messages_announced", counters.announced},
                          {"fastbox_packets", counters.fastboxes},
                          {"coroutine_switches", counters.switches},
                          {"progress_turns", counters.progress_turns},
                          {"os_switches", world.os_switches()},
                          {"posted_visited", counters.posted_visited},
                          {"unexpected_visited", counters.unexpected_visited},
                          {"memory_per_process_bytes", memory.per_process},
                          {"memory_per_os_process_bytes", memory.per_os_process},
                          {"memory_total_bytes", memory.total},
                          {"world_map_per_process_bytes", maps.per_process},
                          {"world_map_per_os_process_bytes", maps.per_os_process},
                          {"world_map_per_node_bytes", maps.per_node},
                          {"world_map_total_bytes", maps.total}};
  return result;
}

} // namespace

std::uint64_t planned_operations(const PointConfig& config) {
  return runs_programs(config) ? make_program(config)->planned_operations()
                               : make_workload(config)->planned_operations();
}

std::uint64_t most_steps(const PointConfig& config) {
  return 10'000'000 + static_cast<std::uint64_t>(config.run.steps_per_operation) * planned_operations(config);
}

PointResult simulate(const PointConfig& config, const SimulationOptions& options) {
  Engine engine(seed_of(config.run.seed, options.replication), options.make_backend ? options.make_backend() : nullptr);
  StepHash hash;
  if (options.hash_steps) {
    engine.set_observer(&hash);
  }
  engine.set_stop_flag(options.stop);
  engine.set_step_limit(options.step_limit,
                        "run.steps_per_operation allows no more; raise it if operations are slow, not stuck");
  engine.set_idle_step_limit(options.idle_step_limit,
                             "run.steps_without_operation allows no more; raise it if operations are slow, not stuck");
  PointResult result =
      runs_programs(config) ? simulate_processes(engine, config, options) : simulate_threads(engine, config, options);
  result.simulated = engine.last_end().since_start();
  result.steps = engine.steps();
  result.step_hash = options.hash_steps ? hash.value() : 0;
  return result;
}

} // namespace contend
