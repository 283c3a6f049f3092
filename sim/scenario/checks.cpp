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

Problem handshake_without_pairs(const PointConfig& point) {
  const MultirateParameters& workload = point.workload.multirate;
  if (workload.pattern == "pairwise" || workload.handshake == "pair")
    return {};
  return "only the pairwise pattern has handshakes of pairs; the others speak for all on a communicator of their own";
}

Problem many_where_one_is_said(const PointConfig& point) {
  const MultirateParameters& workload = point.workload.multirate;
  if (workload.pattern == "one-to-many" && workload.senders != 1)
    return "the one-to-many pattern has one sender, not " + number(workload.senders);
  if (workload.pattern == "many-to-one" && workload.receivers != 1)
    return "the many-to-one pattern has one receiver, not " + number(workload.receivers);
  return {};
}

/// Hardware threads of a host that may be used.
std::int64_t usable_cores(const PointConfig& point) {
  return point.placement.cores > 0 ? point.placement.cores : point.machine.topology.hardware_threads();
}

/// What to do about more threads than cores.
const char* const how_to_share = "; to let threads share cores set placement.threads to \"pinned\", "
                                 "\"pinned-by-process\" or \"floating\"";

Problem more_cores_than_there_are(const PointConfig& point) {
  const int cores = point.machine.topology.hardware_threads();
  if (point.placement.cores <= cores)
    return {};
  return number(point.placement.cores) + " hardware threads are to be used on a host that has " + number(cores);
}

Problem unknown_scheduler(const PointConfig& point) {
  if (!point.placement.shares_cores() || point.machine.scheduler.slice > Duration{})
    return {};
  return "threads share cores, but machine " + excerpt(point.machine.profile) +
         " says nothing of its scheduler: give machine.scheduler, at least its slice";
}

Problem shares_without_crowd(const PointConfig& point) {
  if (point.placement.shares == "threads" || point.placement.shares_cores())
    return {};
  return std::string("shares of cores mean nothing where each thread has a core to itself") + how_to_share;
}

Problem start_of_bound_threads(const PointConfig& point) {
  if (point.placement.start == "in-turn" || point.placement.threads == "floating")
    return {};
  return "where threads begin can be chosen only if they are not bound to cores: placement.threads must be "
         "\"floating\"";
}

Problem slices_reversed(const PointConfig& point) {
  const SchedulerParameters& scheduler = point.machine.scheduler;
  if (scheduler.policy != "cfs" || scheduler.latency == Duration{} || scheduler.slice <= scheduler.latency)
    return {};
  return "the shortest slice " + format_time(scheduler.slice) +
         " is above the time in which every thread has a turn, " + format_time(scheduler.latency);
}

/// With less between two interrupts than one takes nothing else would run.
Problem ticks_take_all(const PointConfig& point) {
  const SchedulerParameters& scheduler = point.machine.scheduler;
  if (scheduler.tick == Duration{} || scheduler.tick_cost * 2 <= scheduler.tick)
    return {};
  return "an interrupt of " + format_time(scheduler.tick_cost) + " every " + format_time(scheduler.tick) +
         " leaves less than half of the time to threads";
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
         number(topology.hardware_threads()) + " (" + number(topology.sockets) + " sockets x " +
         number(topology.cores_per_socket) + " cores x " + number(topology.threads_per_core) + " threads)" +
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
  const std::int64_t processes =
      point.placement.hosts == 1 ? sides.processes() : std::max(sides.sending_processes, sides.receiving_processes);
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
  const std::int64_t cores = usable_cores(point);
  if (point.library.progress.engine != offload_engine || point.placement.shares_cores())
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
  if (library.instances.mapping == "peer") {
    if (library.matching.domain == "instance")
      return "a receive from any source belongs to no instance when the ranks decide on it: library.matching.domain "
             "must be "
             "\"communicator\" or \"global\"";
    if (library.matching.guard == "instance" && library.instances.count > 1 && library.matching.engine != "per-source")
      return "the locks of " + number(library.instances.count) +
             " instances can guard queues together only if every source has queues of its own: library.matching.engine "
             "must be \"per-source\"";
    return {};
  }
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

Problem slots_never_return(const PointConfig& point) {
  const MailboxParameters& mailbox = point.library.flow_control.mailbox;
  if (point.library.flow_control.kind != "mailbox" || mailbox.returned_at_once <= mailbox.slots)
    return {};
  return "a mailbox has " + number(mailbox.slots) + " slots, of which " + number(mailbox.returned_at_once) +
         " are never free again: the sender may wait for ever";
}

Problem more_origins_than_cores(const PointConfig& point) {
  const int threads = point.workload.rma_mt.threads + (point.placement.hosts == 1 ? 1 : 0); // the target's
  if (point.placement.shares_cores() || threads <= usable_cores(point))
    return {};
  return number(threads) + " threads need as many hardware threads on their host, which has " +
         number(usable_cores(point)) + how_to_share;
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

Problem machine_without_transport(const PointConfig& point) {
  const std::string& kind = point.library.transport.kind;
  const bool given = kind == "tcp"             ? point.machine.tcp.given()
                     : kind == "shared-memory" ? point.machine.shared_memory.given()
                                               : true;
  if (given)
    return {};
  return "the transport \"" + kind + "\" needs prices that the machine does not give: machine." +
         (kind == "tcp" ? "tcp" : "shared_memory");
}

Problem one_sided_without_interface(const PointConfig& point) {
  if (point.library.transport.kind == "interface")
    return {};
  return "one-sided operations need a network interface that carries them out: library.transport.kind must be "
         "\"interface\"";
}

Problem flows_without_interface(const PointConfig& point) {
  if (point.route.sharing == "bursts" || point.library.transport.kind == "interface")
    return {};
  return "only the transfers of a network interface share wires as flows; for the transport \"" +
         point.library.transport.kind + "\" they go in bursts";
}

/// Only an interface and shared memory reach the memory of another process.
Problem rendezvous_through_sockets(const PointConfig& point) {
  if (point.library.transport.kind != "tcp" || point.library.protocol.rendezvous == "send")
    return {};
  return "payload cannot be read or written at the other side of a socket: library.protocol.rendezvous must be "
         "\"send\"";
}

/// Engines whose waiting threads sleep, or leave without reading all flags, need a counter.
Problem flags_without_polling(const PointConfig& point) {
  const LibraryDesign& library = point.library;
  if (library.waiting.notification != "request-flags" || library.progress.engine == "serial-blocking" ||
      library.progress.engine == "serial-try-lock")
    return {};
  return "with request flags every waiting thread polls: library.progress.engine must be \"serial-blocking\" or "
         "\"serial-try-lock\", not \"" +
         library.progress.engine + "\"";
}

Problem nobody_idles(const PointConfig& point) {
  const LibraryDesign& library = point.library;
  if (library.waiting.idle == "sleep" || library.progress.engine == "ownership" ||
      (library.progress.engine == "concurrent" && library.progress.threads_in_progress > 0))
    return {};
  return "with progress engine \"" + library.progress.engine +
         "\" every waiting thread makes progress: there is none that could " + library.waiting.idle;
}

Problem nobody_steals(const PointConfig& point) {
  const LibraryDesign& library = point.library;
  if (!library.tasks.matching)
    return {};
  if (library.waiting.idle != "steal")
    return "matching as a task needs threads that take tasks: library.waiting.idle must be \"steal\"";
  if (library.matching.guard == "instance")
    return "queues that the lock of an instance guards can be searched by its holder only, not by a task";
  if (library.matching.ordered_by_transport())
    return "tasks run in any order: library.matching.ordering must be \"sequence-numbers\"";
  return {};
}

Problem progress_thread_at_level_single(const PointConfig& point) {
  if (point.library.thread_level != "single" || point.library.progress.engine != offload_engine)
    return {};
  return "a progress thread needs MPI_THREAD_MULTIPLE: library.thread_level must be \"multiple\"";
}

Problem tasks_at_level_single(const PointConfig& point) {
  if (point.library.waiting.idle != "steal" ||
      (point.library.thread_level != "single" && point.library.critical_section != "global"))
    return {};
  return "threads that steal tasks are inside the library together: library.thread_level must be \"multiple\" and "
         "library.critical_section \"fine\"";
}

Problem more_complete_than_posted(const PointConfig& point) {
  const WaitingWorkloadParameters& workload = point.workload.waiting;
  if (workload.complete <= workload.requests)
    return {};
  return number(workload.complete) + " requests cannot be complete of " + number(workload.requests);
}

/// Waits return when something is complete.
Problem waits_for_nothing(const PointConfig& point) {
  const WaitingWorkloadParameters& workload = point.workload.waiting;
  const bool for_all = workload.call == "waitall" || workload.call == "sync-waitall";
  if (for_all && workload.complete < workload.requests)
    return workload.call + " returns when all " + number(workload.requests) + " requests are complete, not " +
           number(workload.complete);
  if (workload.call.rfind("wait", 0) == 0 && workload.complete == 0)
    return workload.call + " does not return when nothing is complete";
  return {};
}

Problem more_helpers_than_cores(const PointConfig& point) {
  const std::int64_t threads = std::int64_t{point.workload.pack.helpers} + 1;
  if (threads <= point.machine.topology.hardware_threads())
    return {};
  return number(threads) + " threads need as many hardware threads on their host, which has " +
         number(point.machine.topology.hardware_threads()) + "; oversubscription is not supported";
}

Problem helpers_at_level_single(const PointConfig& point) {
  const int helpers = point.workload.pack.helpers;
  if (point.library.thread_level != "single" || helpers == 0)
    return {};
  return number(helpers) + " helpers need MPI_THREAD_MULTIPLE; with thread level \"single\" the process has one thread";
}

Problem helpers_with_progress_thread(const PointConfig& point) {
  if (point.library.progress.engine != offload_engine)
    return {};
  return "with a progress thread nobody helps: library.progress.engine must be another";
}

Problem hops_longer_than_time(const PointConfig& point) {
  const PingPongParameters& workload = point.workload.ping_pong;
  const auto bytes = static_cast<double>(workload.message_size_bytes);
  const double packets = bytes / static_cast<double>(point.machine.nic.mtu_bytes) + 2;
  const double hop =
      (bytes + packets * static_cast<double>(point.machine.nic.packet_bytes)) / point.route.bytes_per_second +
      packets * point.machine.nic.nic_gap.in_seconds() + 2 * bytes / point.machine.software.copy_bytes_per_second +
      2 * (bytes / 4096 + 1) * point.machine.nic.registration_page.in_seconds() + workload.runtime_work.in_seconds();
  return longer_than_time(2 * hop * (static_cast<double>(workload.iterations) + workload.warmup_iterations));
}

Problem packing_longer_than_time(const PointConfig& point) {
  const PackParameters& workload = point.workload.pack;
  const auto bytes = static_cast<double>(workload.message_size_bytes);
  const double blocks = bytes / static_cast<double>(workload.block_bytes) + 1;
  const double most =
      point.machine.topology.cores_per_socket * static_cast<double>(point.machine.topology.threads_per_core);
  const double pack = blocks * point.machine.datatype.block.in_seconds() +
                      bytes / point.machine.software.copy_bytes_per_second +
                      2 * bytes * most / point.machine.datatype.memory_bytes_per_second;
  return longer_than_time(pack * (static_cast<double>(workload.iterations) + workload.warmup_iterations));
}

/// Every piece is a task.
Problem too_many_pieces(const PointConfig& point) {
  constexpr std::int64_t most = 1'000'000;
  const std::int64_t pieces = point.workload.pack.message_size_bytes / point.library.tasks.pack_piece_bytes;
  if (point.library.waiting.idle != "steal" || pieces <= most)
    return {};
  return number(pieces) + " tasks of " + format_size(point.library.tasks.pack_piece_bytes) + " for one pack; at most " +
         number(most) + " are supported";
}

Problem buffer_in_pieces(const PointConfig& point) {
  const PartitionedParameters& workload = point.workload.partitioned;
  for (const int partitions : {workload.partitions, workload.receive_partitions})
    if (workload.buffer_size_bytes % partitions != 0)
      return format_size(workload.buffer_size_bytes) + " cannot be divided into " + number(partitions) +
             " equal partitions";
  return {};
}

Problem receive_partitions_of_messages(const PointConfig& point) {
  const PartitionedParameters& workload = point.workload.partitioned;
  if (workload.method == "partitioned" || workload.receive_partitions == 1)
    return {};
  return "receive partitions are for the method \"partitioned\"; " + workload.method + " receives messages";
}

Problem more_partitions_than_cores(const PointConfig& point) {
  const int partitions = point.workload.partitioned.partitions;
  const bool with_receiver = point.placement.hosts == 1;
  if (point.placement.shares_cores() || partitions + (with_receiver ? 1 : 0) <= usable_cores(point))
    return {};
  return number(partitions) + " partitions have a thread each" + (with_receiver ? ", and the receiver one," : "") +
         " and need as many hardware threads on their host, which has " + number(usable_cores(point)) + how_to_share;
}

Problem partitions_at_level_single(const PointConfig& point) {
  const PartitionedParameters& workload = point.workload.partitioned;
  if (point.library.thread_level != "single" || workload.method == "single-send")
    return {};
  return "with thread level \"single\" only the first thread may call the library: workload.method must be "
         "\"single-send\"";
}

bool partitions_are_put(const PointConfig& point) {
  return point.workload.partitioned.method == "partitioned" && point.library.partitioned.engine != "persistent";
}

Problem partitions_in_global_section(const PointConfig& point) {
  return partitions_are_put(point) ? one_sided_in_global_section(point) : Problem();
}

Problem partitions_without_interface(const PointConfig& point) {
  return partitions_are_put(point) ? one_sided_without_interface(point) : Problem();
}

Problem partitions_by_progress_thread(const PointConfig& point) {
  if (point.library.progress.engine != offload_engine)
    return {};
  return "threads look for partitions themselves; a progress thread for partitioned communication is not supported";
}

Problem partitions_mapped_by_tag(const PointConfig& point) {
  const LibraryDesign& library = point.library;
  if (library.instances.mapping != "tag" || library.instances.count == 1 || library.matching.ordered_by_transport() ||
      library.matching.domain != "instance")
    return {};
  return "sequence numbers count the messages of a communicator, which tags send to several queues: "
         "library.matching.ordering must be \"transport\"";
}

Problem partitions_longer_than_time(const PointConfig& point) {
  const PartitionedParameters& workload = point.workload.partitioned;
  const MachineConfig& machine = point.machine;
  const auto bytes = static_cast<double>(workload.buffer_size_bytes);
  const double packets = bytes / static_cast<double>(machine.nic.mtu_bytes) + workload.partitions;
  const double iteration =
      workload.compute_time.in_seconds() * (1 + workload.noise_pct / 100) + workload.compute_jitter.in_seconds() +
      (bytes + packets * static_cast<double>(machine.nic.packet_bytes)) / point.route.bytes_per_second +
      packets * machine.nic.nic_gap.in_seconds() +
      2 * (bytes / 4096 + workload.partitions) * machine.nic.registration_page.in_seconds() +
      bytes / machine.rdma.store_bytes_per_second + 2 * bytes / machine.software.copy_bytes_per_second +
      workload.partitions * point.library.partitioned.aggregate_age.in_seconds();
  return longer_than_time(iteration * (static_cast<double>(workload.iterations) + workload.warmup_iterations));
}

std::int64_t neighbours(const PointConfig& point) {
  const NeighbourParameters& workload = point.workload.neighbour;
  return std::int64_t{workload.root_processes} * workload.threads;
}

Problem more_neighbours_than_cores(const PointConfig& point) {
  const NeighbourParameters& workload = point.workload.neighbour;
  const bool helper = point.library.progress.engine == offload_engine;
  const bool one_host = point.placement.hosts == 1;
  const std::int64_t threads = neighbours(point) * (one_host ? 2 : 1);
  const std::int64_t processes = workload.root_processes + (one_host ? neighbours(point) : 0);
  const std::int64_t needed = threads + (helper ? processes : 0);
  if (point.placement.shares_cores())
    return {};
  if (needed > usable_cores(point))
    return number(workload.root_processes) + " root processes with " + number(workload.threads) + " threads each" +
           (one_host ? ", their neighbours" : "") + (helper ? ", and a progress thread," : "") + " need " +
           number(needed) + " hardware threads on their host, which has " + number(usable_cores(point)) + how_to_share;
  if (helper && usable_cores(point) < 2)
    return "a progress thread needs a hardware thread of its own on each host";
  return {};
}

Problem more_roots_than_contexts(const PointConfig& point) {
  const std::int64_t processes =
      point.workload.neighbour.root_processes + (point.placement.hosts == 1 ? neighbours(point) : 0);
  if (processes <= point.machine.nic.max_contexts)
    return {};
  return number(processes) + " processes on one host need a context of the network interface each, which has " +
         number(point.machine.nic.max_contexts);
}

Problem neighbours_at_level_single(const PointConfig& point) {
  const int threads = point.workload.neighbour.threads;
  if (point.library.thread_level != "single")
    return {};
  if (point.library.progress.engine == offload_engine)
    return "a progress thread needs MPI_THREAD_MULTIPLE: library.thread_level must be \"multiple\"";
  if (threads == 1)
    return {};
  return number(threads) + " threads per process need MPI_THREAD_MULTIPLE; with thread level \"single\" a process has "
                           "one thread";
}

Problem too_many_neighbours(const PointConfig& point) {
  constexpr std::int64_t most = 4'000'000;
  const std::int64_t processes = point.workload.neighbour.root_processes + neighbours(point);
  if (processes * processes * point.library.instances.count <= most)
    return {};
  return number(processes) + " processes with " + number(point.library.instances.count) +
         " instances each keep more about each other than fits into memory";
}

Problem any_source_of_one_thread(const PointConfig& point) {
  const NeighbourParameters& workload = point.workload.neighbour;
  if (!workload.any_source || (workload.interface == "mpi" && workload.threads == 1))
    return {};
  return workload.interface == "mpi"
             ? "with " + number(workload.threads) +
                   " threads a receive from any source could take another thread's message: use one thread"
             : "active messages are not received from a source: workload.interface must be \"mpi\"";
}

Problem handlers_without_interface(const PointConfig& point) {
  if (point.workload.neighbour.interface == "mpi" || point.library.transport.kind == "interface")
    return {};
  return "active messages are what a network interface offers below MPI: library.transport.kind must be \"interface\"";
}

Problem handlers_on_a_progress_thread(const PointConfig& point) {
  if (point.workload.neighbour.interface == "mpi" || point.library.progress.engine != offload_engine)
    return {};
  return "threads advance active messages themselves; a progress thread is not supported";
}

Problem neighbours_longer_than_time(const PointConfig& point) {
  const NeighbourParameters& workload = point.workload.neighbour;
  const NicParameters& nic = point.machine.nic;
  const auto bytes = static_cast<double>(workload.message_size_bytes + point.library.protocol.header_bytes);
  const double packets = bytes / static_cast<double>(nic.mtu_bytes) + 2;
  const double message = (bytes + packets * static_cast<double>(nic.packet_bytes)) / point.route.bytes_per_second +
                         packets * nic.nic_gap.in_seconds() + 2 * bytes / point.machine.software.copy_bytes_per_second;
  return longer_than_time(2 * message * static_cast<double>(neighbours(point)) * workload.window *
                          (static_cast<double>(workload.iterations) + workload.warmup_iterations));
}

Problem clusters_do_not_divide(const PointConfig& point) {
  const TopologyParameters& topology = point.machine.topology;
  const int cluster = topology.cores_per_cluster;
  if (cluster == 0 || topology.cores_per_socket % cluster == 0)
    return {};
  return "a socket of " + number(topology.cores_per_socket) + " cores has no whole number of clusters of " +
         number(cluster);
}

Problem clusters_without_price(const PointConfig& point) {
  if (point.machine.topology.cores_per_cluster == 0 || point.machine.cache.transfer_cluster > Duration{})
    return {};
  return "cores share clusters of " + number(point.machine.topology.cores_per_cluster) +
         ", so a transfer between cores of a cluster must have a price";
}

Problem more_contenders_than_cores(const PointConfig& point) {
  const int threads = point.workload.lock_use.threads;
  if (point.placement.shares_cores() || threads <= usable_cores(point))
    return {};
  return number(threads) + " threads need as many hardware threads on their host, which has " +
         number(usable_cores(point)) + how_to_share;
}

Problem atomics_without_lines(const PointConfig& point) {
  const LockUseParameters& workload = point.workload.lock_use;
  if (workload.operation == "lock" || workload.operation == "try-lock" || workload.lines > 0)
    return {};
  return "the operation \"" + workload.operation + "\" needs at least one line to work on";
}

Problem section_without_lock(const PointConfig& point) {
  const LockUseParameters& workload = point.workload.lock_use;
  if (workload.operation == "lock" || workload.operation == "try-lock" || workload.section == Duration{})
    return {};
  return "the operation \"" + workload.operation + "\" has no critical section; give workload.delay";
}

Problem retry_without_attempts(const PointConfig& point) {
  const LockUseParameters& workload = point.workload.lock_use;
  if (workload.operation == "try-lock" || workload.retry == Duration{})
    return {};
  return R"(only the operation "try-lock" makes attempts, not ")" + workload.operation + "\"";
}

/// Locks and their lines are simulated objects.
Problem too_many_lines(const PointConfig& point) {
  constexpr std::int64_t most = 4'000'000;
  const LockUseParameters& workload = point.workload.lock_use;
  const std::int64_t lines = std::int64_t{workload.locks} * (std::int64_t{workload.lines} + 1);
  if (lines <= most)
    return {};
  return number(workload.locks) + " locks with " + number(workload.lines) + " lines each need " + number(lines) +
         " simulated cache lines; at most " + number(most) + " are supported";
}

Problem contention_longer_than_time(const PointConfig& point) {
  const LockUseParameters& workload = point.workload.lock_use;
  const double operation = (workload.section + workload.delay + workload.retry).in_seconds() +
                           workload.lines * 4 * point.machine.cache.transfer_remote.in_seconds();
  const double operations = static_cast<double>(workload.threads) *
                            (static_cast<double>(workload.acquisitions) + workload.warmup_acquisitions);
  if (operation * operations <= 1e6)
    return {};
  return "the operations take more than the 1000000 seconds that can be simulated";
}

struct Check {
  const char* path = nullptr; ///< the field that the user most likely has to change
  Problem (*find)(const PointConfig&) = nullptr;
  const char* workload = nullptr; ///< kind of workload that it is about; nullptr: any
};

constexpr std::array checks{Check{"machine.topology.cores_per_socket", too_many_hardware_threads},
                            Check{"placement.cores", more_cores_than_there_are},
                            Check{"placement.threads", unknown_scheduler},
                            Check{"placement.shares", shares_without_crowd},
                            Check{"placement.start", start_of_bound_threads},
                            Check{"machine.scheduler.slice", slices_reversed},
                            Check{"machine.scheduler.tick_cost", ticks_take_all},
                            Check{"workload.pattern", wrong_count_for_pairwise, "multirate"},
                            Check{"workload.pattern", many_where_one_is_said, "multirate"},
                            Check{"workload.pairs", pairs_without_pairwise, "multirate"},
                            Check{"workload.handshake", handshake_without_pairs, "multirate"},
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
                            Check{"library.flow_control.mailbox", slots_never_return},
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
                            Check{"library.transport.kind", machine_without_transport},
                            Check{"library.transport.kind", one_sided_without_interface, "rma-mt"},
                            Check{"library.protocol.rendezvous", rendezvous_through_sockets, "multirate"},
                            Check{"library.protocol.rendezvous", rendezvous_through_sockets, "partitioned"},
                            Check{"library.protocol.rendezvous", rendezvous_through_sockets, "neighbour"},
                            Check{"fabric.sharing", flows_without_interface},
                            Check{"library.waiting.notification", flags_without_polling},
                            Check{"library.waiting.idle", nobody_idles},
                            Check{"library.waiting.idle", tasks_at_level_single},
                            Check{"library.tasks.matching", nobody_steals},
                            Check{"library.thread_level", progress_thread_at_level_single, "waiting"},
                            Check{"library.thread_level", progress_thread_at_level_single, "ping-pong"},
                            Check{"workload.complete", more_complete_than_posted, "waiting"},
                            Check{"workload.complete", waits_for_nothing, "waiting"},
                            Check{"workload.message_size", hops_longer_than_time, "ping-pong"},
                            Check{"workload.helpers", more_helpers_than_cores, "pack"},
                            Check{"workload.helpers", helpers_at_level_single, "pack"},
                            Check{"library.progress.engine", helpers_with_progress_thread, "pack"},
                            Check{"library.tasks.pack_piece", too_many_pieces, "pack"},
                            Check{"workload.message_size", packing_longer_than_time, "pack"},
                            Check{"workload.buffer_size", buffer_in_pieces, "partitioned"},
                            Check{"workload.receive_partitions", receive_partitions_of_messages, "partitioned"},
                            Check{"workload.partitions", more_partitions_than_cores, "partitioned"},
                            Check{"library.thread_level", partitions_at_level_single, "partitioned"},
                            Check{"library.critical_section", partitions_in_global_section, "partitioned"},
                            Check{"library.transport.kind", partitions_without_interface, "partitioned"},
                            Check{"library.progress.engine", partitions_by_progress_thread, "partitioned"},
                            Check{"library.matching.ordering", partitions_mapped_by_tag, "partitioned"},
                            Check{"workload.buffer_size", partitions_longer_than_time, "partitioned"},
                            Check{"workload.threads", more_neighbours_than_cores, "neighbour"},
                            Check{"workload.root_processes", more_roots_than_contexts, "neighbour"},
                            Check{"library.thread_level", neighbours_at_level_single, "neighbour"},
                            Check{"workload.threads", too_many_neighbours, "neighbour"},
                            Check{"workload.any_source", any_source_of_one_thread, "neighbour"},
                            Check{"workload.interface", handlers_on_a_progress_thread, "neighbour"},
                            Check{"library.transport.kind", handlers_without_interface, "neighbour"},
                            Check{"workload.iterations", neighbours_longer_than_time, "neighbour"},
                            Check{"machine.topology.cores_per_cluster", clusters_do_not_divide},
                            Check{"machine.cache.transfer_cluster", clusters_without_price},
                            Check{"workload.threads", more_contenders_than_cores, "lock"},
                            Check{"workload.lines", atomics_without_lines, "lock"},
                            Check{"workload.section", section_without_lock, "lock"},
                            Check{"workload.retry", retry_without_attempts, "lock"},
                            Check{"workload.locks", too_many_lines, "lock"},
                            Check{"workload.acquisitions", contention_longer_than_time, "lock"},
                            Check{"machine.locks.backoff_minimum", backoff_reversed},
                            Check{"machine.coroutines.light_switch", no_prices_for_processes},
                            Check{"placement.threads", placed_besides_layout},
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
  // Point by point, because the configurations of a large sweep fit into no cache; reported check by check.
  std::array<Problem, std::size(checks) + 1> first;
  const auto note_first = [&](std::size_t number, const ResolvedPoint& point, const auto& find) {
    if (!first[number].empty())
      return;
    if (Problem problem = find(point.config); !problem.empty())
      first[number] = std::move(problem) + point_suffix(point);
  };
  for (const ResolvedPoint& point : points) {
    for (std::size_t i = 0; i < std::size(checks); ++i) {
      if (checks[i].workload == nullptr || point.config.workload.kind == checks[i].workload)
        note_first(i, point, checks[i].find);
    }
    if (platform)
      note_first(std::size(checks), point,
                 [&](const PointConfig& config) { return other_core_count(config, *platform); });
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!first[i].empty())
      diagnostics.add(locate(i < std::size(checks) ? checks[i].path : "machine.topology.cores_per_socket", first[i]));
  }
}

} // namespace contend::scenario
