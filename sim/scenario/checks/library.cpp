// Parts of a library that do not fit together.
#include "scenario/checks/check.hpp"
#include "scenario/units.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace contend::scenario {

namespace {

Problem inline_above_eager(const PointConfig& point) {
  const ProtocolDesign& protocol = point.library.protocol;
  if (protocol.eager_limit_bytes >= protocol.inline_limit_bytes)
    return {};
  return "the eager limit " + format_size(protocol.eager_limit_bytes) + " is below the inline limit " +
         format_size(protocol.inline_limit_bytes);
}

Problem limit_without_meaning(const PointConfig& point, const StatedTraits& traits) {
  const ProgressDesign& progress = point.library.progress;
  if (progress.threads_in_progress == 0 || says(traits.limits_pollers, progress.engine))
    return {};
  return "progress engine \"" + progress.engine + "\" has no limit on threads in progress";
}

Problem offload_in_global_section(const PointConfig& point, const StatedTraits& traits) {
  if (!has_progress_thread(point, traits) || point.library.critical_section != "global")
    return {};
  return "with a progress thread, application threads enter no critical section that could be global";
}

/// What the progress thread sends it sends in a turn of progress.
Problem offload_that_tries_in_calls(const PointConfig& point, const StatedTraits& traits) {
  if (!has_progress_thread(point, traits) || point.library.protocol.pending_order != "in-call")
    return {};
  return "a progress thread that makes progress until a message has room would do so in the middle of a turn: "
         "library.protocol.pending_order must be another";
}

/// A call that holds the lock of its instance has what that lock guards.
Problem calls_of_an_instance(const PointConfig& point) {
  const LibraryDesign& library = point.library;
  if (library.critical_section != "instance")
    return {};
  if (library.matching.guard != "instance")
    return "a call that holds the lock of its instance has the queues under it as well: library.matching.guard must be "
           "\"instance\"";
  if (library.transport.send_lock == "connection")
    return "a call that holds the lock of its instance sends under it: library.transport.send_lock must be "
           "\"instance\"";
  return {};
}

/// Who holds an instance's lock must have all messages of the queues that the lock guards.
Problem queues_of_many_instances(const PointConfig& point, const StatedTraits& traits) {
  const LibraryDesign& library = point.library;
  if (library.instances.mapping == "peer") {
    if (library.matching.domain == "instance")
      return "a receive from any source belongs to no instance when the ranks decide on it: library.matching.domain "
             "must be "
             "\"communicator\" or \"global\"";
    if (library.matching.guard == "instance" && library.instances.count > 1 &&
        !says(traits.queues_by_source, library.matching.engine))
      return "the locks of " + number(library.instances.count) +
             " instances can guard queues together only if every source has queues of its own: library.matching.engine "
             "must be " +
             alternatives(traits.queues_by_source);
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

bool receives_any_tag(const WorkloadParameters& workload) {
  return (workload.kind == "multirate" && workload.multirate.any_tag) ||
         (workload.kind == "latency" && workload.latency.any_tag) ||
         (workload.kind == "neighbour" && workload.neighbour.any_tag);
}

/// Where tags decide on the instance, a receive that names none has no queue to go to. Where ranks decide, one from any
/// source has: queues that all instances feed; queues_of_many_instances refuses others.
Problem any_tag_has_no_instance(const PointConfig& point) {
  const InstancesDesign& instances = point.library.instances;
  if (instances.mapping != "tag" || instances.count == 1 || !receives_any_tag(point.workload))
    return {};
  return "a receive with any tag cannot know its instance when tags decide on it";
}

/// One thread's messages take several ways when instances take turns, and a reversing list mixes them.
Problem transport_cannot_order(const PointConfig& point, const StatedTraits& traits) {
  const LibraryDesign& library = point.library;
  if (!library.matching.ordered_by_transport())
    return {};
  if (library.instances.mapping == "thread" && library.instances.count > 1 &&
      !says(traits.by_thread, library.instances.assignment))
    return library.instances.assignment + " assignment sends the messages of one thread through " +
           number(library.instances.count) + " instances, and a transport keeps the order within one only";
  if (library.protocol.pending_order == "reversing" || library.protocol.pending_order == "at-connection")
    return "a transport keeps messages in order only if delayed sends wait in order: "
           "library.protocol.pending_order must be \"fifo\", \"behind-others\", \"at-interface\" or \"in-call\"";
  if (library.flow_control.kind == "credits" && library.flow_control.credits.eager_rdma_buffers > 0)
    return "messages that are written into buffers for eager RDMA overtake those of the receive queue: "
           "library.flow_control.credits.eager_rdma_buffers must be 0";
  return {};
}

/// What waits at its interface is guarded by the lock that turns of progress and senders have.
Problem interface_that_senders_do_not_lock(const PointConfig& point) {
  if (point.library.protocol.pending_order != "at-interface" || point.library.transport.send_lock == "instance")
    return {};
  return "sends that wait at their interface are kept under its lock, and senders hold that of their connection: "
         "library.transport.send_lock must be \"instance\", or library.protocol.pending_order another";
}

Problem tags_split_a_sequence(const PointConfig& point) {
  const LibraryDesign& library = point.library;
  if (library.instances.mapping != "tag" || library.instances.count == 1 || library.matching.domain != "instance" ||
      library.matching.ordered_by_transport() ||
      (point.workload.kind == "multirate" && point.workload.multirate.allow_overtaking))
    return {};
  return "sequence numbers count the messages of a communicator, which tags send to several queues: "
         "library.matching.ordering must be \"transport\"";
}

Problem memory_between_hosts(const PointConfig& point) {
  if (point.library.transport.kind != "shared-memory" || point.placement.hosts == 1)
    return {};
  return "the transport \"shared-memory\" connects processes of one host only: placement.hosts must be 1";
}

Problem offload_with_sequence_numbers(const PointConfig& point, const StatedTraits& traits) {
  const MatchingDesign& matching = point.library.matching;
  if (!says(traits.in_interface, matching.engine) || matching.ordered_by_transport())
    return {};
  return "an interface that matches messages knows no sequence numbers: "
         "library.matching.ordering must be \"transport\"";
}

Problem offload_without_interface(const PointConfig& point, const StatedTraits& traits) {
  const LibraryDesign& library = point.library;
  if (!says(traits.in_interface, library.matching.engine) || library.transport.kind == "interface")
    return {};
  return "it is a network interface that matches messages; with the transport \"" + library.transport.kind +
         "\" the processor does";
}

/// Only the sender's own queue tells it that a fragment is free. What waits elsewhere than at its connection is not
/// kept.
Problem kept_sends_never_complete(const PointConfig& point) {
  const LibraryDesign& library = point.library;
  const TransportDesign& transport = library.transport;
  if (transport.kind != "shared-memory" || transport.full_box != "wait" || transport.fragments == "returned" ||
      (library.protocol.pending_order != "at-connection" && library.protocol.pending_order != "behind-others"))
    return {};
  return "a message that waits at its connection for room in a fast box is complete when its fragment comes back: "
         "library.transport.fragments must be \"returned\"";
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

Problem tokens_never_return(const PointConfig& point) {
  const CreditParameters& credits = point.library.flow_control.credits;
  if (point.library.flow_control.kind != "credits" || credits.eager_rdma_buffers == 0 ||
      credits.eager_rdma_window < credits.eager_rdma_buffers)
    return {};
  return "the sender is told of more than " + number(credits.eager_rdma_window) +
         " free buffers for eager RDMA, but there are only " + number(credits.eager_rdma_buffers);
}

Problem slots_never_return(const PointConfig& point) {
  const MailboxParameters& mailbox = point.library.flow_control.mailbox;
  if (point.library.flow_control.kind != "mailbox" || mailbox.returned_at_once <= mailbox.slots)
    return {};
  return "a mailbox has " + number(mailbox.slots) + " slots, of which " + number(mailbox.returned_at_once) +
         " are never free again: the sender may wait for ever";
}

Problem flows_without_interface(const PointConfig& point) {
  if (point.route.sharing == "bursts" || point.library.transport.kind == "interface")
    return {};
  return "only the transfers of a network interface share wires as flows; for the transport \"" +
         point.library.transport.kind + "\" they go in bursts";
}

Problem batch_without_interface(const PointConfig& point) {
  if (point.library.transport.poll_batch == 0 || point.library.transport.kind == "interface")
    return {};
  return "it is a network interface's queue that a poll takes completions from; the transport \"" +
         point.library.transport.kind + "\" has none, set it to 0";
}

/// What has been taken out of the queues may be handled by several threads at once.
Problem handler_without_lock(const PointConfig& point) {
  const LibraryDesign& library = point.library;
  if (library.transport.handler_lock != "none")
    return {};
  if (library.transport.kind != "interface")
    return "the transport \"" + library.transport.kind +
           "\" takes out one message after the other and handles each under the instance's lock: set it to "
           "\"instance\"";
  if (library.critical_section == "global")
    return "a global critical section is held for the whole of a turn: set it to \"instance\"";
  if (library.matching.guard == "instance")
    return "it is the instance's lock that guards the queues of matching: library.matching.guard must be \"lock\"";
  if (library.matching.ordered_by_transport())
    return "threads that handle messages side by side do not keep the order of the transport: "
           "library.matching.ordering "
           "must be \"sequence-numbers\"";
  return {};
}

/// Where a transport has room of its own, that is what senders wait for.
Problem flow_control_without_interface(const PointConfig& point) {
  const LibraryDesign& library = point.library;
  if (library.flow_control.kind == "grants" || library.transport.kind == "interface")
    return {};
  return "receive buffers and mailboxes are a network interface's; over the transport \"" + library.transport.kind +
         R"(" senders wait for room in its own buffers: library.flow_control.kind must be "grants")";
}

/// Engines whose waiting threads sleep, or leave without reading all flags, need a counter.
Problem flags_without_polling(const PointConfig& point, const StatedTraits& traits) {
  const LibraryDesign& library = point.library;
  if (!says(traits.request_flags, library.waiting.notification) || says(traits.reads_flags, library.progress.engine))
    return {};
  std::vector<std::string> engines = traits.reads_flags; // first those that go with any way to free a request
  std::stable_partition(engines.begin(), engines.end(),
                        [&](const std::string& engine) { return !says(traits.locks_requests, engine); });
  return "with request flags every waiting thread polls: library.progress.engine must be " + alternatives(engines) +
         ", not \"" + library.progress.engine + "\"";
}

/// The default is what threads do that idle, if there are any; another way is asked for.
Problem nobody_idles(const PointConfig& point, const StatedTraits& traits) {
  const LibraryDesign& library = point.library;
  if (library.waiting.idle == WaitingDesign{}.idle || says(traits.threads_idle, library.progress.engine) ||
      (says(traits.threads_idle_beyond_limit, library.progress.engine) && library.progress.threads_in_progress > 0))
    return {};
  if (has_progress_thread(point, traits))
    return "with progress engine \"" + library.progress.engine +
           "\" waiting threads look at their requests, while another one makes progress: none could " +
           library.waiting.idle;
  return "with progress engine \"" + library.progress.engine +
         "\" every waiting thread makes progress: there is none that could " + library.waiting.idle;
}

/// Who frees a request has the lock of all requests and wants an instance's; who polls the instance, the other way round.
Problem two_locks_to_free_a_request(const PointConfig& point, const StatedTraits& traits) {
  const LibraryDesign& library = point.library;
  if (!library.instances.frees_requests || library.instances.mapping == "thread" ||
      !says(traits.locks_requests, library.progress.engine) || library.thread_level == "single")
    return {};
  return "with progress engine \"" + library.progress.engine +
         "\" requests are freed under the lock of all requests, which threads take while they hold an instance's: "
         "to free under that, too, would lock up";
}

/// A run is given steps by its operations: with a message of very many pieces it would look like one that is stuck.
template <auto Workload>
Problem too_many_pieces(const PointConfig& point) {
  constexpr std::int64_t most = 100'000;
  const auto& protocol = point.library.protocol;
  const std::int64_t size = (point.workload.*Workload).message_size_bytes;
  const std::int64_t pieces = size / protocol.piece_bytes;
  if (protocol.rendezvous != "send" || size <= protocol.eager_limit_bytes || pieces <= most)
    return {};
  return number(pieces) + " pieces of " + format_size(protocol.piece_bytes) + " for one message of " +
         format_size(size) + "; at most " + number(most) + " are supported";
}

Problem nobody_steals(const PointConfig& point, const StatedTraits& traits) {
  const LibraryDesign& library = point.library;
  if (!library.tasks.matching)
    return {};
  if (!says(traits.takes_tasks, library.waiting.idle))
    return "matching as a task needs threads that take tasks: library.waiting.idle must be " +
           alternatives(traits.takes_tasks);
  if (library.matching.guard == "instance")
    return "queues that the lock of an instance guards can be searched by its holder only, not by a task";
  if (library.matching.ordered_by_transport())
    return "tasks run in any order: library.matching.ordering must be \"sequence-numbers\"";
  return {};
}

Problem tasks_at_level_single(const PointConfig& point, const StatedTraits& traits) {
  if (!says(traits.takes_tasks, point.library.waiting.idle) ||
      (point.library.thread_level != "single" && point.library.critical_section != "global"))
    return {};
  return "threads that steal tasks are inside the library together: library.thread_level must be \"multiple\" and "
         "library.critical_section \"fine\"";
}

} // namespace

std::span<const Check> library_checks() {
  static constexpr std::array checks{
      Check{"library.protocol.eager_limit", inline_above_eager},
      Check{"library.protocol.piece", too_many_pieces<&WorkloadParameters::multirate>, "multirate"},
      Check{"library.protocol.piece", too_many_pieces<&WorkloadParameters::latency>, "latency"},
      Check{"library.protocol.piece", too_many_pieces<&WorkloadParameters::ping_pong>, "ping-pong"},
      Check{"library.instances.frees_requests", two_locks_to_free_a_request},
      Check{"library.progress.threads_in_progress", limit_without_meaning},
      Check{"library.critical_section", offload_in_global_section},
      Check{"library.protocol.pending_order", offload_that_tries_in_calls},
      Check{"library.protocol.pending_order", interface_that_senders_do_not_lock},
      Check{"library.critical_section", calls_of_an_instance},
      Check{"library.matching.guard", queues_of_many_instances},
      Check{"workload.any_tag", any_tag_has_no_instance, nullptr, "library.instances.mapping"},
      Check{"library.flow_control.credits", credits_never_return},
      Check{"library.flow_control.credits", tokens_never_return},
      Check{"library.flow_control.mailbox", slots_never_return},
      Check{"fabric.sharing", flows_without_interface},
      Check{"library.transport.poll_batch", batch_without_interface},
      Check{"library.transport.handler_lock", handler_without_lock},
      Check{"library.flow_control.kind", flow_control_without_interface},
      Check{"library.transport.fragments", kept_sends_never_complete},
      Check{"library.waiting.notification", flags_without_polling},
      Check{"library.waiting.idle", nobody_idles},
      Check{"library.waiting.idle", tasks_at_level_single},
      Check{"library.tasks.matching", nobody_steals},
      Check{"library.matching.ordering", transport_cannot_order},
      Check{"library.instances.mapping", tags_split_a_sequence},
      Check{"placement.hosts", memory_between_hosts},
      Check{"library.matching.engine", offload_with_sequence_numbers},
      Check{"library.matching.engine", offload_without_interface}};
  return checks;
}

} // namespace contend::scenario
