#include "scenario/checks.hpp"

#include "scenario/program_checks.hpp"
#include "scenario/units.hpp"

#include <algorithm>
#include <array>

namespace contend::scenario {

namespace {

/// What is wrong with a point, or "".
using Problem = std::string;

/// The progress engine with a thread of its own.
constexpr const char* offload_engine = "offload-thread";

std::string number(std::int64_t value) { return std::to_string(value); }

/// The most that Host can hold.
constexpr std::int64_t most_hardware_threads = 512;

Problem too_many_hardware_threads(const PointConfig& point) {
  const TopologyParameters& topology = point.machine.topology;
  const std::int64_t threads = std::int64_t{topology.sockets} * topology.cores_per_socket * topology.threads_per_core;
  if (threads <= most_hardware_threads)
    return {};
  return number(threads) + " hardware threads on one host (" + number(topology.sockets) + " sockets x " +
         number(topology.cores_per_socket) + " cores x " + number(topology.threads_per_core) + " threads); at most " +
         number(most_hardware_threads) + " are supported";
}

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
  const bool pairwise = workload.pattern == "pairwise";
  const int senders = pairwise ? workload.pairs : workload.senders;
  const int receivers = pairwise ? workload.pairs : workload.receivers;
  const bool sending_threads = workload.mode == "thread" || workload.mode == "thread-to-process";
  const bool receiving_threads = workload.mode == "thread" || workload.mode == "process-to-thread";
  return {pairwise, senders, receivers, sending_threads ? 1 : senders, receiving_threads ? 1 : receivers};
}

Problem wrong_count_for_pairwise(const PointConfig& point) {
  const MultirateParameters& workload = point.workload.multirate;
  if (workload.pattern != "pairwise" || (workload.senders == 1 && workload.receivers == 1))
    return {};
  return "the pairwise pattern has as many senders as receivers: give workload.pairs, not senders or receivers";
}

Problem pairs_without_pairwise(const PointConfig& point) {
  const MultirateParameters& workload = point.workload.multirate;
  if (workload.pattern == "pairwise" || workload.pairs == 1)
    return {};
  return "the " + workload.pattern + " pattern counts workload.senders and workload.receivers, not pairs";
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
  const std::int64_t most = std::max(sides.senders, sides.receivers);
  if (most <= topology.hardware_threads())
    return {};
  const std::string entities = sides.pairwise                     ? " pairs need "
                               : sides.senders >= sides.receivers ? " senders need "
                                                                  : " receivers need ";
  return number(most) + entities + number(most) + " hardware threads on " +
         (sides.pairwise ? "each host, which has " : "their host, which has ") + number(topology.hardware_threads()) +
         " (" + number(topology.sockets) + " sockets x " + number(topology.cores_per_socket) + " cores x " +
         number(topology.threads_per_core) + " threads); oversubscription is not supported";
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
  const std::int64_t outstanding = sides_of(point).streams() * point.workload.multirate.window;
  if (outstanding <= most)
    return {};
  return number(outstanding) + " messages can be outstanding, more than the " + number(most) + " that fit into memory";
}

Problem inline_above_eager(const PointConfig& point) {
  const ProtocolDesign& protocol = point.library.protocol;
  if (protocol.eager_limit_bytes >= protocol.inline_limit_bytes)
    return {};
  return "the eager limit " + format_size(protocol.eager_limit_bytes) + " is below the inline limit " +
         format_size(protocol.inline_limit_bytes);
}

/// Instances share contexts; processes cannot.
Problem too_few_contexts(const PointConfig& point) {
  const Sides sides = sides_of(point);
  const std::int64_t processes = std::max(sides.sending_processes, sides.receiving_processes);
  if (processes <= point.machine.nic.max_contexts)
    return {};
  return number(processes) + " processes on one host need a context of the network interface each, which has " +
         number(point.machine.nic.max_contexts);
}

Problem threads_at_level_single(const PointConfig& point) {
  if (point.library.thread_level != "single")
    return {};
  if (point.library.progress.engine == offload_engine)
    return "a progress thread needs MPI_THREAD_MULTIPLE: library.thread_level must be \"multiple\"";
  const Sides sides = sides_of(point);
  const std::int64_t threads =
      std::max(sides.senders / sides.sending_processes, sides.receivers / sides.receiving_processes);
  if (threads == 1)
    return {};
  return number(threads) + " threads per process need MPI_THREAD_MULTIPLE; with thread level \"single\" a process has "
                           "one thread (mode \"process\")";
}

Problem no_core_for_progress_threads(const PointConfig& point) {
  const std::int64_t cores = point.machine.topology.hardware_threads();
  if (point.library.progress.engine != offload_engine)
    return {};
  const Sides sides = sides_of(point);
  const bool senders = sides.senders + sides.sending_processes >= sides.receivers + sides.receiving_processes;
  const std::int64_t threads = senders ? sides.senders : sides.receivers;
  const std::int64_t processes = senders ? sides.sending_processes : sides.receiving_processes;
  if (threads + processes <= cores)
    return {};
  return number(threads) + " threads of the application and " + number(processes) +
         (processes == 1 ? " progress thread" : " progress threads") +
         " need a hardware thread each on a host that has " + number(cores);
}

Problem limit_without_meaning(const PointConfig& point) {
  const ProgressDesign& progress = point.library.progress;
  if (progress.threads_in_progress == 0 || progress.engine == "ownership" || progress.engine == "concurrent")
    return {};
  return "progress engine \"" + progress.engine + "\" has no limit on threads in progress";
}

Problem offload_in_global_section(const PointConfig& point) {
  if (point.library.progress.engine != offload_engine || point.library.critical_section != "global")
    return {};
  return "with a progress thread, application threads enter no critical section that could be global";
}

/// Who holds an instance's lock must have all messages of the queues that the lock guards.
Problem queues_of_many_instances(const PointConfig& point) {
  const LibraryDesign& library = point.library;
  const bool mapped = library.instances.mapping != "thread";
  if (library.matching.domain == "instance" && !mapped)
    return "an instance can have queues of its own only if its messages always come to it: library.instances.mapping "
           "must "
           "be \"communicator\" or \"tag\"";
  if (library.matching.guard != "instance" || library.instances.count == 1)
    return {};
  if (library.matching.domain == "global" || !mapped)
    return "the lock of one instance cannot guard queues that " + number(library.instances.count) + " instances feed";
  if (library.matching.domain == "communicator" && library.instances.mapping == "tag")
    return "the messages of one communicator come to several instances by their tag: library.matching.domain must be "
           "\"instance\"";
  return {};
}

Problem tags_decide(const PointConfig& point) {
  const LibraryDesign& library = point.library;
  if (library.instances.mapping != "tag" || library.instances.count == 1)
    return {};
  if (point.workload.multirate.any_tag)
    return "a receive with any tag cannot know its instance when tags decide on it";
  if (!library.matching.ordered_by_transport() && !point.workload.multirate.allow_overtaking &&
      library.matching.domain == "instance")
    return "sequence numbers count the messages of a communicator, which tags send to several queues: "
           "library.matching.ordering must be \"transport\"";
  return {};
}

/// One thread's messages take several ways when instances take turns, and a reversing list mixes them.
Problem transport_cannot_order(const PointConfig& point) {
  const LibraryDesign& library = point.library;
  if (!library.matching.ordered_by_transport())
    return {};
  if (library.instances.mapping == "thread" && library.instances.assignment == "round-robin" &&
      library.instances.count > 1)
    return "round-robin assignment sends the messages of one thread through " + number(library.instances.count) +
           " instances, and a transport keeps the order within one only";
  if (library.protocol.pending_order != "fifo")
    return "a transport keeps messages in order only if delayed sends wait in order: "
           "library.protocol.pending_order must be \"fifo\"";
  return {};
}

Problem offload_with_sequence_numbers(const PointConfig& point) {
  const MatchingDesign& matching = point.library.matching;
  if (matching.engine != "offload" || matching.ordered_by_transport())
    return {};
  return "an interface that matches messages knows no sequence numbers: "
         "library.matching.ordering must be \"transport\"";
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
  const std::int64_t outstanding = workload.window * streams;
  if (outstanding <= most)
    return {};
  return number(outstanding) + " messages can be outstanding " +
         (streams > 1
              ? "in the shared communicator (" + std::string(sides.pairwise ? "pairs" : "threads") + " x window)"
              : "between two entities (window)") +
         ", but 16-bit sequence numbers tell only " + number(most) + " apart";
}

Problem backoff_reversed(const PointConfig& point) {
  const LockParameters& locks = point.machine.locks;
  if (locks.backoff_minimum <= locks.backoff_maximum)
    return {};
  return "the least back-off " + format_time(locks.backoff_minimum) + " is above the greatest " +
         format_time(locks.backoff_maximum);
}

/// Simulated time is an integer number of picoseconds, 106 days in all.
Problem longer_than_time(double seconds) {
  constexpr double most_seconds = 1e6;
  if (seconds <= most_seconds)
    return {};
  return "the payload takes more than the " + number(static_cast<std::int64_t>(most_seconds)) +
         " seconds that can be simulated";
}

Problem payload_longer_than_time(const PointConfig& point) {
  const MultirateParameters& workload = point.workload.multirate;
  const NicParameters& nic = point.machine.nic;
  const auto bytes = static_cast<double>(workload.message_size_bytes);
  const double packets = bytes / static_cast<double>(nic.mtu_bytes) + 2;
  const double pages = bytes / 4096 + 1;
  const double message = (bytes + packets * static_cast<double>(nic.packet_bytes)) / point.route.bytes_per_second +
                         packets * nic.nic_gap.in_seconds() + 2 * pages * nic.registration_page.in_seconds() +
                         2 * bytes / point.machine.software.copy_bytes_per_second;
  const double messages = static_cast<double>(sides_of(point).streams()) * workload.window *
                          (static_cast<double>(workload.iterations) + workload.warmup_iterations);
  return longer_than_time(message * messages);
}

Problem one_sided_payload_longer_than_time(const PointConfig& point) {
  const RmaMtParameters& workload = point.workload.rma_mt;
  const MachineConfig& machine = point.machine;
  const auto bytes = static_cast<double>(workload.message_size_bytes);
  const double packets = bytes / static_cast<double>(machine.nic.mtu_bytes) + 1;
  const double operation =
      2 * ((bytes + packets * static_cast<double>(machine.nic.packet_bytes)) / point.route.bytes_per_second +
           packets * machine.nic.nic_gap.in_seconds()) + // there and, under a lock, back
      bytes / machine.rdma.store_bytes_per_second +
      bytes / machine.software.copy_bytes_per_second;
  const double operations = static_cast<double>(workload.threads) * workload.operations *
                            (static_cast<double>(workload.iterations) + workload.warmup_iterations);
  return longer_than_time(operation * operations);
}

Problem credits_never_return(const PointConfig& point) {
  const CreditParameters& credits = point.library.flow_control.credits;
  if (point.library.flow_control.kind != "credits")
    return {};
  if (credits.low_watermark >= credits.buffers)
    return "the low watermark " + number(credits.low_watermark) + " must be below the number of buffers " +
           number(credits.buffers);
  // A sender that has used up its credits has filled all buffers. Those of them that are not posted again yet are fewer
  // than buffers - low_watermark.
  if (credits.window > credits.low_watermark + 1)
    return "credits are given back from " + number(credits.window) + " on, but with a low watermark of " +
           number(credits.low_watermark) + " no more than " + number(credits.low_watermark + 1) +
           " are sure to come together: both sides may wait for ever";
  return {};
}

Problem more_origins_than_cores(const PointConfig& point) {
  const TopologyParameters& topology = point.machine.topology;
  const int threads = point.workload.rma_mt.threads;
  if (threads <= topology.hardware_threads())
    return {};
  return number(threads) + " threads need as many hardware threads on their host, which has " +
         number(topology.hardware_threads()) + "; oversubscription is not supported";
}

Problem fence_with_many_windows(const PointConfig& point) {
  const RmaMtParameters& workload = point.workload.rma_mt;
  if (workload.synchronisation != "fence" || !workload.window_per_thread)
    return {};
  return "a fence is collective: with a window per thread the target would need as many threads; use one window";
}

Problem operand_above_one_element(const PointConfig& point) {
  constexpr std::int64_t largest_element = 16; // long double
  const RmaMtParameters& workload = point.workload.rma_mt;
  if (workload.operation != "fetch-and-op" || workload.message_size_bytes <= largest_element)
    return {};
  return "fetch-and-op works on one element of at most " + format_size(largest_element) + ", not on " +
         format_size(workload.message_size_bytes);
}

Problem origins_at_level_single(const PointConfig& point) {
  const int threads = point.workload.rma_mt.threads;
  if (point.library.thread_level != "single" || threads == 1)
    return {};
  return number(threads) + " threads need MPI_THREAD_MULTIPLE; with thread level \"single\" the process has one thread";
}

Problem one_sided_in_global_section(const PointConfig& point) {
  if (point.library.critical_section != "global")
    return {};
  return "one-sided operations work under the locks of instances; a global critical section around them is not "
         "supported";
}

Problem one_sided_by_progress_thread(const PointConfig& point) {
  if (point.library.progress.engine != offload_engine)
    return {};
  return "one-sided operations are posted by the calling thread; handing them to a progress thread is not supported";
}

struct Check {
  const char* path = nullptr; ///< the field that the user most likely has to change
  Problem (*find)(const PointConfig&) = nullptr;
  const char* workload = nullptr; ///< kind of workload that it is about; nullptr: any
};

constexpr std::array checks{Check{"machine.topology.cores_per_socket", too_many_hardware_threads},
                            Check{"workload.pattern", wrong_count_for_pairwise, "multirate"},
                            Check{"workload.pattern", many_where_one_is_said, "multirate"},
                            Check{"workload.pairs", pairs_without_pairwise, "multirate"},
                            Check{"workload.pairs", oversubscribed, "multirate"},
                            Check{"library.protocol.eager_limit", inline_above_eager},
                            Check{"machine.nic.max_contexts", too_few_contexts, "multirate"},
                            Check{"library.thread_level", threads_at_level_single, "multirate"},
                            Check{"library.progress.engine", no_core_for_progress_threads, "multirate"},
                            Check{"library.progress.threads_in_progress", limit_without_meaning},
                            Check{"library.critical_section", offload_in_global_section},
                            Check{"library.matching.guard", queues_of_many_instances},
                            Check{"library.instances.mapping", tags_decide, "multirate"},
                            Check{"library.flow_control.credits", credits_never_return},
                            Check{"workload.window", sequence_numbers_wrap, "multirate"},
                            Check{"workload.window", too_many_outstanding, "multirate"},
                            Check{"workload.message_size", payload_longer_than_time, "multirate"},
                            Check{"workload.pairs", too_much_state, "multirate"},
                            Check{"workload.threads", more_origins_than_cores, "rma-mt"},
                            Check{"library.thread_level", origins_at_level_single, "rma-mt"},
                            Check{"library.critical_section", one_sided_in_global_section, "rma-mt"},
                            Check{"library.progress.engine", one_sided_by_progress_thread, "rma-mt"},
                            Check{"workload.window_per_thread", fence_with_many_windows, "rma-mt"},
                            Check{"workload.message_size", operand_above_one_element, "rma-mt"},
                            Check{"workload.message_size", one_sided_payload_longer_than_time, "rma-mt"},
                            Check{"machine.locks.backoff_minimum", backoff_reversed},
                            Check{"machine.coroutines.light_switch", no_prices_for_processes},
                            Check{"workload.processes_per_os_process", too_many_processes},
                            Check{"workload.nodes", too_many_os_processes},
                            Check{"workload.processes_per_os_process", wrong_number_of_processes},
                            Check{"workload.matrix_size", indivisible_matrix, "matrix-product"},
                            Check{"workload.iterations", program_longer_than_time},
                            Check{"library.matching.ordering", transport_cannot_order},
                            Check{"library.matching.engine", offload_with_sequence_numbers}};

Problem other_core_count(const PointConfig& point, const PlatformFacts& platform) {
  const TopologyParameters& topology = point.machine.topology;
  const int cores = topology.sockets * topology.cores_per_socket;
  for (const auto& [host, host_cores] :
       {std::pair(platform.from, platform.from_cores), std::pair(platform.to, platform.to_cores)}) {
    if (host_cores != cores)
      return "host " + excerpt(host) + " of platform " + platform.platform + " has " + number(host_cores) +
             " cores, the machine's topology has " + number(cores) + " (" + number(topology.sockets) + " sockets x " +
             number(topology.cores_per_socket) + ")";
  }
  return {};
}

std::string point_suffix(const ResolvedPoint& point) {
  std::string suffix;
  for (const auto& [name, value] : point.parameters.items())
    suffix += (suffix.empty() ? " (at " : ", ") + name + " = " + value.dump();
  return suffix.empty() ? suffix : suffix + ")";
}

} // namespace

void check_points(const std::vector<ResolvedPoint>& points, const std::optional<PlatformFacts>& platform,
                  const Locate& locate, Diagnostics& diagnostics) {
  const auto report_first = [&](const char* path, const auto& find) {
    for (const ResolvedPoint& point : points) {
      if (const Problem problem = find(point.config); !problem.empty()) {
        diagnostics.add(locate(path, problem + point_suffix(point)));
        return;
      }
    }
  };
  for (const Check& check : checks)
    report_first(check.path, [&](const PointConfig& point) {
      return check.workload == nullptr || point.workload.kind == check.workload ? check.find(point) : Problem();
    });
  if (platform)
    report_first("machine.topology.cores_per_socket",
                 [&](const PointConfig& point) { return other_core_count(point, *platform); });
}

} // namespace contend::scenario
