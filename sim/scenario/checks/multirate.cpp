// Multirate: its patterns, and what its threads and processes need.
#include "scenario/checks/check.hpp"

#include <algorithm>
#include <array>

namespace contend::scenario {

namespace {

/// Multirate's entities, by side.
struct Sides {
  bool pairwise;
  std::int64_t senders;
  std::int64_t receivers;
  std::int64_t sending_processes;
  std::int64_t receiving_processes;

  [[nodiscard]] std::int64_t streams() const { return pairwise ? senders : senders * receivers; }
  [[nodiscard]] std::int64_t processes() const { return sending_processes + receiving_processes; }
};

Sides sides_of(const PointConfig& point) {
  const MultirateParameters& workload = point.workload.multirate;
  return {workload.pairwise(), workload.entities(Role::sender), workload.entities(Role::receiver),
          workload.processes(Role::sender), workload.processes(Role::receiver)};
}

Problem wrong_count_for_pairwise(const PointConfig& point) {
  const MultirateParameters& workload = point.workload.multirate;
  if (!workload.pairwise() || (workload.senders == 1 && workload.receivers == 1))
    return {};
  return "the pairwise pattern has as many senders as receivers: give workload.pairs, not senders or receivers";
}

Problem pairs_without_pairwise(const PointConfig& point) {
  const MultirateParameters& workload = point.workload.multirate;
  if (workload.pairwise() || workload.pairs == 1)
    return {};
  return "the " + workload.pattern + " pattern counts workload.senders and workload.receivers, not pairs";
}

Problem requests_one_by_one(const PointConfig& point) {
  const MultirateParameters& workload = point.workload.multirate;
  if (workload.completion == "window")
    return {};
  if (!workload.pairwise())
    return "only the pairwise pattern keeps requests in flight one by one";
  if (workload.barrier_every_iteration)
    return "requests that are posted again one by one have no iterations to meet in: workload.barrier_every_iteration "
           "must be false";
  if (workload.handshake != "pair")
    return "requests that are posted again one by one have no handshakes: leave workload.handshake out";
  return {};
}

Problem handshake_without_pairs(const PointConfig& point) {
  const MultirateParameters& workload = point.workload.multirate;
  if (workload.pairwise() || workload.handshake == "pair")
    return {};
  return "only the pairwise pattern has handshakes of pairs; the others speak for all on a communicator of their own";
}

Problem barrier_that_is_there_anyway(const PointConfig& point) {
  const MultirateParameters& workload = point.workload.multirate;
  if (workload.pairwise() || workload.barrier_every_iteration)
    return {};
  return "only pairs can go on without each other; in the " + workload.pattern +
         " pattern each side meets in every iteration";
}

Problem tags_without_pairs(const PointConfig& point) {
  const MultirateParameters& workload = point.workload.multirate;
  if (workload.pairwise() || workload.tags == "window")
    return {};
  return "only the pairwise pattern has pairs; the others' tags are their threads' numbers";
}

Problem many_where_one_is_said(const PointConfig& point) {
  const MultirateParameters& workload = point.workload.multirate;
  if (workload.pattern == "one-to-many" && workload.senders != 1)
    return "the one-to-many pattern has one sender, not " + number(workload.senders);
  if (workload.pattern == "many-to-one" && workload.receivers != 1)
    return "the many-to-one pattern has one receiver, not " + number(workload.receivers);
  return {};
}

Problem oversubscribed(const PointConfig& point) {
  const TopologyParameters& topology = point.machine.topology;
  const Sides sides = sides_of(point);
  const bool one_host = point.placement.hosts == 1;
  const std::int64_t most = one_host ? sides.senders + sides.receivers : std::max(sides.senders, sides.receivers);
  if (point.placement.shares_cores() || most <= usable_cores(point))
    return {};
  const std::string entities = one_host                           ? " senders and receivers on one host need "
                               : sides.pairwise                   ? " pairs need "
                               : sides.senders >= sides.receivers ? " senders need "
                                                                  : " receivers need ";
  return number(most) + entities + number(most) + " hardware threads on " +
         (one_host         ? "it, which has "
          : sides.pairwise ? "each host, which has "
                           : "their host, which has ") +
         number(topology.hardware_threads()) + " (" + layout_of(topology) + ")" +
         (usable_cores(point) < topology.hardware_threads()
              ? ", of which placement.cores lets it use " + number(usable_cores(point))
              : "") +
         how_to_share;
}

/// Every process keeps something about every other one, for each communicator and each instance.
Problem too_much_state(const PointConfig& point) {
  constexpr std::int64_t most = 4'000'000;
  const Sides sides = sides_of(point);
  const std::int64_t communicators = point.workload.multirate.communicator_per_pair ? 3 + sides.streams() : 3;
  const std::int64_t peers = sides.processes() * sides.processes();
  if (peers * std::max<std::int64_t>(communicators, point.library.instances.count) <= most)
    return {};
  return number(sides.processes()) + " processes with " + number(communicators) + " communicators and " +
         number(point.library.instances.count) + " instances each keep more about each other than fits into memory";
}

Problem too_many_outstanding(const PointConfig& point) {
  constexpr std::int64_t most = 8'000'000;
  const MultirateParameters& workload = point.workload.multirate;
  // Nobody answers where each request is by itself: receivers may be behind by all of them.
  const std::int64_t windows =
      workload.completion != "window" ? std::int64_t{workload.iterations} + workload.warmup_iterations : 1;
  const std::int64_t outstanding = sides_of(point).streams() * workload.window * windows;
  if (outstanding <= most)
    return {};
  return number(outstanding) + " messages can be outstanding, more than the " + number(most) + " that fit into memory";
}

/// Instances share contexts; processes cannot.
Problem too_few_contexts(const PointConfig& point) {
  const Sides sides = sides_of(point);
  const std::int64_t processes =
      point.placement.hosts == 1 ? sides.processes() : std::max(sides.sending_processes, sides.receiving_processes);
  return more_processes_than_contexts(point, processes);
}

Problem threads_at_level_single(const PointConfig& point, const StatedTraits& traits) {
  if (point.library.thread_level != "single")
    return {};
  if (Problem problem = progress_thread_at_level_single(point, traits); !problem.empty())
    return problem;
  const Sides sides = sides_of(point);
  const std::int64_t threads =
      std::max(sides.senders / sides.sending_processes, sides.receivers / sides.receiving_processes);
  if (threads == 1)
    return {};
  return number(threads) + " threads per process need MPI_THREAD_MULTIPLE; with thread level \"single\" a process has "
                           "one thread (mode \"process\")";
}

Problem no_core_for_progress_threads(const PointConfig& point, const StatedTraits& traits) {
  const std::int64_t cores = usable_cores(point);
  if (!has_progress_thread(point, traits) || point.placement.shares_cores())
    return {};
  const Sides sides = sides_of(point);
  const bool one_host = point.placement.hosts == 1;
  const bool senders = sides.senders + sides.sending_processes >= sides.receivers + sides.receiving_processes;
  const std::int64_t threads = one_host ? sides.senders + sides.receivers : senders ? sides.senders : sides.receivers;
  const std::int64_t processes = one_host  ? sides.processes()
                                 : senders ? sides.sending_processes
                                           : sides.receiving_processes;
  if (threads + processes <= cores)
    return {};
  return number(threads) + " threads of the application and " + number(processes) +
         (processes == 1 ? " progress thread" : " progress threads") +
         " need a hardware thread each on a host that has " + number(cores) + how_to_share;
}

/// Sequence numbers are 16 bit and wrap: two messages of one stream that are 2^15 or more apart cannot be ordered.
Problem sequence_numbers_wrap(const PointConfig& point) {
  constexpr std::int64_t most = 32767;
  const MultirateParameters& workload = point.workload.multirate;
  if (workload.allow_overtaking || point.library.matching.ordered_by_transport())
    return {};
  const Sides sides = sides_of(point);
  const bool shared = !workload.communicator_per_pair && sides.streams() > 1 &&
                      sides.streams() > sides.sending_processes * sides.receiving_processes;
  // Streams between one pair of processes; in a hybrid pairwise run each has a process of its own on one side.
  const std::int64_t streams = !shared || (sides.pairwise && sides.processes() > 2)
                                   ? 1
                                   : sides.streams() / (sides.sending_processes * sides.receiving_processes);
  // Nobody answers where each request is by itself: all of a thread's can pass one of another thread, or on another instance.
  const std::int64_t windows = workload.completion != "window" && (streams > 1 || point.library.instances.count > 1)
                                   ? std::int64_t{workload.iterations} + workload.warmup_iterations
                                   : 1;
  const std::int64_t outstanding = workload.window * streams * windows;
  if (outstanding <= most)
    return {};
  return number(outstanding) + " messages can be outstanding " +
         (streams > 1 ? "in the shared communicator (" + std::string(sides.pairwise ? "pairs" : "threads") + " x window"
                      : std::string("between two entities (window")) +
         (windows > 1 ? " x iterations)" : ")") + ", but 16-bit sequence numbers tell only " + number(most) + " apart";
}

Problem payload_longer_than_time(const PointConfig& point) {
  const MultirateParameters& workload = point.workload.multirate;
  const double message = seconds_of_a_message(point, workload.message_size_bytes);
  const double messages = static_cast<double>(sides_of(point).streams()) * workload.window *
                          (static_cast<double>(workload.iterations) + workload.warmup_iterations);
  return longer_than_time(message * messages);
}

} // namespace

std::span<const Check> multirate_checks() {
  static constexpr std::array checks{
      Check{"workload.pattern", wrong_count_for_pairwise, "multirate"},
      Check{"workload.pattern", many_where_one_is_said, "multirate"},
      Check{"workload.pairs", pairs_without_pairwise, "multirate"},
      Check{"workload.completion", requests_one_by_one, "multirate"},
      Check{"workload.handshake", handshake_without_pairs, "multirate"},
      Check{"workload.tags", tags_without_pairs, "multirate"},
      Check{"workload.barrier_every_iteration", barrier_that_is_there_anyway, "multirate"},
      Check{"workload.pairs", oversubscribed, "multirate"},
      Check{"machine.nic.max_contexts", too_few_contexts, "multirate"},
      Check{"library.thread_level", threads_at_level_single, "multirate"},
      Check{"library.progress.engine", no_core_for_progress_threads, "multirate"},
      Check{"workload.window", sequence_numbers_wrap, "multirate"},
      Check{"workload.window", too_many_outstanding, "multirate"},
      Check{"workload.message_size", payload_longer_than_time, "multirate"},
      Check{"workload.pairs", too_much_state, "multirate"},
      Check{"library.protocol.rendezvous", rendezvous_through_sockets, "multirate"}};
  return checks;
}

} // namespace contend::scenario
