#include "scenario/design_fields.hpp"

#include "scenario/section_builder.hpp"

namespace contend::scenario {

namespace {

constexpr RegistryRule lock_kind{&KnownNames::locks};

Section instances_fields() {
  using P = InstancesDesign;
  auto s = declare<P>("instances", "Communication resource instances.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.library.instances; });
  s.field("count", &P::count, CountRule{1, 65536}, "instances per process");
  s.field("assignment", &P::assignment, RegistryRule{&KnownNames::assignments}, "how a thread picks an instance");
  s.field("lock", &P::lock, lock_kind, "lock of each instance");
  s.field("mapping", &P::mapping, ChoiceRule{{"thread", "communicator", "tag", "peer"}},
          "what decides on the instance: the thread (see assignment), the communicator, communicator and tag, or the "
          "sum of "
          "the two ranks");
  s.field(
      "locks_share_lines", &P::locks_share_lines, FlagRule{},
      "the locks of instances lie in an array without space between them: each shares a cache line with the next one");
  s.field("frees_requests", &P::frees_requests, FlagRule{},
          "a request that is mapped to an instance is freed under the lock of that instance");
  return s.finish();
}

Section progress_fields() {
  using P = ProgressDesign;
  auto s = declare<P>("progress", "Who looks for arrived messages, and under which lock.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.library.progress; });
  s.field("engine", &P::engine, RegistryRule{&KnownNames::progress}, "progress engine");
  s.field("lock", &P::lock, lock_kind, "lock of the engine itself");
  s.field("threads_in_progress", &P::threads_in_progress, CountRule{0, 4096},
          "engines ownership and concurrent: waiting threads that may poll at a time; 0: one, all");
  s.field("lenient_limit", &P::lenient_limit, FlagRule{},
          "engines ownership and concurrent: a thread counts against the limit only while it polls, so that others go "
          "past one that has been promoted and still has to wake up (Open MPI 5); next to nothing where all may poll, "
          "and nothing with other engines");
  s.field("yield_when_idle", &P::yield_when_idle, FlagRule{},
          "a thread whose turn finds nothing calls sched_yield(); matters only where threads share cores");
  s.field(
      "yield_every_turn", &P::yield_every_turn, FlagRule{},
      "a thread that waits, not one that tests, calls sched_yield() after each turn, also one that finds something");
  s.field(
      "other_interface", &P::other_interface, ChoiceRule{{"none", "before", "after"}},
      "a turn also polls an interface of another device, through which nothing comes, under the instance's lock, which "
      "it takes once more: before it polls this one, or after it if it had nothing; nothing with one lock around every "
      "call");
  s.field(
      "polls_until_empty", &P::polls_until_empty, FlagRule{},
      "a turn that has found something at an interface polls it again, under the same hold of its lock, until it finds "
      "nothing (Open MPI's event loop over sockets); transport.handler_lock \"none\" polls once");
  s.field("global_every", &P::global_every, CountRule{1, 1'000'000},
          "engines per-target and every-nth: every n-th turn polls all instances");
  s.field("queue_slots", &P::queue_slots, CountRule{2, 65536},
          "engine offload-thread: commands that its queue can hold");
  return s.finish();
}

Section waiting_design_fields() {
  using P = WaitingDesign;
  auto s = declare<P>("waiting", "How threads wait.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.library.waiting; });
  s.field("notification", &P::notification, RegistryRule{&KnownNames::notifications},
          "how a waiting thread learns of completions: a counter in a sync object, or a flag in each request");
  s.field("idle", &P::idle, RegistryRule{&KnownNames::idling},
          "engines ownership and concurrent: what a waiting thread does while others make progress");
  s.field(
      "attach", &P::attach, ChoiceRule{{"pending", "every", "none"}},
      "what MPI_Waitany and MPI_Waitsome attach their sync object to: requests that are not complete; every request, "
      "by a compare-and-swap each way (cache.atomic_hit) that fails at complete ones, without another look (Open "
      "MPI); none: they look at their requests between turns of progress (MPICH)");
  s.field(
      "looks_before", &P::looks_before, CountRule{0, 100},
      "so often calls over several requests look at each before they look for what is complete (MPICH: whether it is "
      "active, and where to make progress); MPI_Testall once more at its end");
  s.field("looks_again", &P::looks_again, FlagRule{},
          "tests that found nothing look again after their turn of progress (MPICH), not only MPI_Test");
  s.field("stops_at_incomplete", &P::stops_at_incomplete, FlagRule{},
          "MPI_Testall looks no further than the first request that is not complete");
  s.field("batch", &P::batch, CountRule{0, 1'000'000},
          "MPI_Testall takes so many requests at a time, with a turn of progress for each (MPICH: 64); 0: all at once");
  s.field(
      "yields", &P::yields, ChoiceRule{{"every-call", "waits", "waits-for-all"}},
      "which calls yield where turns of progress do (progress.yield_every_turn, progress.yield_when_idle): all, tests "
      "after an idle turn as well (Open MPI); those that wait (MPICH with one lock); these without MPI_Waitany and "
      "MPI_Waitsome (MPICH with a lock for each interface)");
  s.field("poll_every", &P::poll_every, CountRule{0, 1'000'000},
          "MPI_Waitsome makes a turn of progress before it looks, and one at every n-th request (MPICH: 8); 0: only "
          "where it waits");
  return s.finish();
}

Section tasks_fields() {
  using P = TasksDesign;
  auto s = declare<P>("tasks", "Work that waiting threads take, with waiting.idle steal.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.library.tasks; });
  s.field("matching", &P::matching, FlagRule{}, "matching an arrived message is a task");
  s.field("pack_piece", &P::pack_piece_bytes, SizeRule{256, std::int64_t{1} << 40}, "data of one task of a pack");
  return s.finish();
}

Section matching_design_fields() {
  using P = MatchingDesign;
  auto s = declare<P>("matching", "How messages find their receives.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.library.matching; });
  s.field("engine", &P::engine, RegistryRule{&KnownNames::matching}, "matching engine");
  s.field("lock", &P::lock, lock_kind, "matching lock");
  s.field("domain", &P::domain, ChoiceRule{{"communicator", "global", "instance"}},
          "what shares queues and lock: nothing but a communicator, all, what is mapped to the same instance");
  s.field("guard", &P::guard, ChoiceRule{{"lock", "instance"}},
          "what guards the queues: a lock of their own, or the lock of the instance");
  s.field("ordering", &P::ordering, ChoiceRule{{"sequence-numbers", "transport"}},
          "what keeps messages in order: numbers that the receiver checks, or the connection alone");
  s.field("element_spacing", &P::element_spacing_bytes, SizeRule{0, std::int64_t{1} << 30},
          "from one element of a queue to the next in memory; from a page (4 KiB) on, visiting one costs "
          "machine.matching.distant_element; 0 B: side by side");
  s.field("bins", &P::bins, CountRule{1, 4096}, "engine hash-bins: bins of a domain");
  s.field("vector_width", &P::vector_width, CountRule{1, 64}, "engine vector: elements compared in one step");
  s.field("offload_capacity", &P::offload_capacity, CountRule{1, 65536},
          "engine offload: receives that the interface holds");
  return s.finish();
}

Section protocol_fields() {
  using P = ProtocolDesign;
  auto s = declare<P>("protocol", "Limits and overheads of the wire protocol.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.library.protocol; });
  s.field("inline_limit", &P::inline_limit_bytes, message_bytes, "largest payload that travels in the work request");
  s.field("eager_limit", &P::eager_limit_bytes, message_bytes, "largest payload sent without asking the receiver");
  s.field("header", &P::header_bytes, SizeRule{0, 65536}, "bytes on the wire in front of the payload");
  s.field(
      "pending_order", &P::pending_order,
      ChoiceRule{{"reversing", "fifo", "at-connection", "behind-others", "at-interface", "in-call"}},
      "delayed sends: a failed retry goes in front of the list, or stays in place; or they wait at their connection "
      "until it has room, and new ones may pass them or wait behind them; or all wait at their interface, of which a "
      "turn of progress sends the first; or the call tries until there is room");
  s.field(
      "rendezvous", &P::rendezvous, ChoiceRule{{"get", "put", "send"}},
      "how payload above the eager limit travels: the receiver reads it, the sender writes it, or the sender copies it "
      "piece by piece");
  s.field("piece", &P::piece_bytes, SizeRule{1, std::int64_t{1} << 40}, "payload of one piece");
  s.field("pieces_under_way", &P::pieces_under_way, CountRule{1, 65536},
          "pieces of one message that are sent at a time");
  s.field("registration_cache", &P::registration_cache, FlagRule{},
          "a buffer that was used before needs no new registration with the interface");
  return s.finish();
}

Section credit_fields() {
  using P = CreditParameters;
  auto s = declare<P>("credits", "Receive buffers of one connection, with kind credits.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.library.flow_control.credits; });
  s.field("buffers", &P::buffers, CountRule{1, 1 << 20},
          "messages that may be under way without a credit coming back; the send queue is as long");
  s.field("low_watermark", &P::low_watermark, CountRule{0, 1 << 20},
          "so few posted buffers: all used ones are posted again");
  s.field("window", &P::window, CountRule{1, 1 << 20},
          "so many credits to give back: they go out in a message of their own");
  s.field("reserve", &P::reserve, CountRule{2, 1 << 20},
          "buffers on top for credit messages; at most one less of these is under way");
  s.field("eager_rdma_buffers", &P::eager_rdma_buffers, CountRule{0, 1 << 20},
          "buffers that the sender writes messages into while it has some, which need no completion; 0: none");
  s.field("eager_rdma_window", &P::eager_rdma_window, CountRule{1, 1 << 20},
          "more free ones to tell of than that: they go out in a message of their own, which takes one itself");
  return s.finish();
}

Section mailbox_fields() {
  using P = MailboxParameters;
  auto s = declare<P>("mailbox", "Room for messages of one connection at the receiver, with kind mailbox.",
                      Presence::defaulted, [](auto& point) -> auto& { return point.library.flow_control.mailbox; });
  s.field("slots", &P::slots, CountRule{1, 1 << 20}, "messages that the receiver has not read");
  s.field("returned_at_once", &P::returned_at_once, CountRule{1, 1 << 20},
          "so many slots are free again: the receiver's interface tells the sender's");
  return s.finish();
}

Section flow_control_fields() {
  using P = FlowControlDesign;
  auto s = declare<P>("flow_control", "What keeps a sender from overrunning its peer.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.library.flow_control; });
  s.field(
      "kind", &P::kind, ChoiceRule{{"grants", "credits", "mailbox"}},
      "grants: the machine's nic.flow_control_window messages, then the peer restores all of it; credits: one for each "
      "receive buffer that the peer has posted; mailbox: one for each slot of the connection's mailbox, given back "
      "without "
      "the sender's help");
  s.section(credit_fields());
  s.section(mailbox_fields());
  return s.finish();
}

Section transport_fields() {
  using P = TransportDesign;
  auto s = declare<P>("transport", "How messages get to other processes.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.library.transport; });
  s.field("kind", &P::kind, RegistryRule{&KnownNames::transports},
          "the network interface's contexts, TCP sockets, or memory shared on one host");
  s.field("send_lock", &P::send_lock, ChoiceRule{{"instance", "connection"}},
          "what a sending thread locks: the instance, as pollers do, or its connection");
  s.field("lock", &P::lock, lock_kind, "lock of each connection, where connections have one");
  s.field("handler_lock", &P::handler_lock, ChoiceRule{{"instance", "none"}},
          "what a turn of progress holds while it handles what it has found at a network interface: the instance's "
          "lock, or "
          "none, so that others poll meanwhile and handle what they find");
  s.field(
      "full_box", &P::full_box, ChoiceRule{{"queue", "wait"}},
      "shared memory: a message that finds its fast box full takes the receiver's queue, or waits at its connection, "
      "where pointers to fragments then go through the box as well");
  s.field("fragments", &P::fragments, ChoiceRule{{"freed", "returned"}},
          "shared memory: receivers free fragments, or return them through the queue of their owner, which completes "
          "messages that were kept in them (full_box \"wait\" with pending_order \"at-connection\" or "
          "\"behind-others\", which need that)");
  s.field("poll_batch", &P::poll_batch, CountRule{0, 65536},
          "completions that one poll of a network interface handles at most; 0: as many as the machine's "
          "nic.poll_batch says");
  return s.finish();
}

Section one_sided_fields() {
  using P = OneSidedDesign;
  auto s = declare<P>("one_sided", "One-sided operations.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.library.one_sided; });
  s.field(
      "path", &P::path, RegistryRule{&KnownNames::window_paths},
      "how operations reach the target's memory: the network interface carries them out, the calling thread copies in "
      "memory that processes of a host share, or messages ask the target's library to");
  s.field(
      "completion", &P::completion, ChoiceRule{{"instances", "instance-turns", "counter"}},
      "path interface: how a flush knows that it is done: it locks and drains every instance, or locks them for one "
      "poll at a time, or a shared counter reaches zero, as it has to with path messages");
  s.field(
      "atomics", &P::atomics, ChoiceRule{{"hardware", "lock"}},
      "accumulate and fetch-and-op: by the interface when the size allows (path messages: by the target's library), "
      "or always under a lock");
  s.field("copy_guard", &P::copy_guard, ChoiceRule{{"none", "instance"}},
          "path memory: what the calling thread holds while it puts or gets, nothing or the lock of its instance");
  s.field("update_lock", &P::update_lock, lock_kind,
          "path memory: lock that accumulate and fetch-and-op hold, one for each target");
  s.field(
      "acknowledge_above", &P::acknowledge_above_bytes, SizeRule{0, message_bytes.maximum},
      "path messages: larger puts are complete when the target has said so, others when they are sent, which takes a "
      "single instance");
  return s.finish();
}

Section code_fields() {
  using P = CodeDesign;
  constexpr RealRule factor{0.001, 1000.0};
  auto s = declare<P>("code", "Length of the library's own code, as factors on the machine's software prices.",
                      Presence::defaulted, [](auto& point) -> auto& { return point.library.code; });
  s.field("send", &P::send, factor, "factor on send_call and send_request");
  s.field("receive", &P::receive, factor, "factor on receive_call, request_allocate, deliver and complete");
  s.field("progress", &P::progress, factor, "factor on progress_call");
  return s.finish();
}

Section lines_fields() {
  using P = LinesDesign;
  constexpr RealRule lines{0.0, 64.0};
  auto s = declare<P>("lines",
                      "Cache lines that move between the cores of threads besides those of locks, queues and counters, "
                      "as many as a thread waits for one after the other.",
                      Presence::defaulted, [](auto& point) -> auto& { return point.library.lines; });
  s.field("lock", &P::lock, CountRule{0, 64},
          "that each holder of an instance's lock, or of the global one, changes besides the lock's own");
  s.field("request", &P::request, lines,
          "of a request, for the thread that makes it where another core had its memory before");
  s.field("completion", &P::completion, lines,
          "for the thread that completes a request of another core, besides its place in a queue");
  s.field("status", &P::status, lines,
          "for the thread that frees a request which another core completed, after a wait or a test");
  return s.finish();
}

Section partitioned_design_fields() {
  using P = PartitionedDesign;
  auto s = declare<P>("partitioned", "Partitioned communication (MPI 4).", Presence::defaulted,
                      [](auto& point) -> auto& { return point.library.partitioned; });
  s.field("engine", &P::engine, RegistryRule{&KnownNames::partitioned},
          "how partitions travel: a message each (persistent), a put each with completion flags (rma), several "
          "together (aggregating), or all in one message after the last one (whole-buffer)");
  s.field("aggregate_size", &P::aggregate_bytes, SizeRule{1, message_bytes.maximum},
          "engine aggregating: ready partitions leave together once they come to so much");
  s.field("aggregate_age", &P::aggregate_age, any_time,
          "engine aggregating: they leave in any case when the first of them has waited so long");
  return s.finish();
}

Section coroutine_design_fields() {
  using P = CoroutineDesign;
  auto s = declare<P>("coroutines", "MPI processes that share a process of the operating system as coroutines.",
                      Presence::defaulted, [](auto& point) -> auto& { return point.library.coroutines; });
  s.field("scheduler", &P::scheduler, RegistryRule{&KnownNames::schedulers}, "who runs next");
  s.field("backend", &P::backend, ChoiceRule{{"light", "portable", "os"}},
          "what switches: a light-weight or a portable coroutine library, or the operating system");
  s.field("queues", &P::queues, RegistryRule{&KnownNames::process_queues}, "queues of receives and of messages");
  s.field("colocated", &P::colocated, ChoiceRule{{"one-copy", "buffered", "channel"}},
          "messages inside an OS process: from user's buffer to user's buffer, through a message of the runtime's, or "
          "through the queues in shared memory");
  s.field("copies", &P::copies, CountRule{1, 16}, "colocated buffered: how often the payload is copied");
  s.field("wake", &P::wake, ChoiceRule{{"head", "tail"}}, "where a process that was blocked joins the run queue");
  s.field("barrier", &P::barrier, ChoiceRule{{"hierarchical", "dissemination", "tree"}},
          "MPI_Barrier: by where processes are, or by messages alone");
  s.field("maps", &P::maps, ChoiceRule{{"shared", "per-process"}}, "who keeps the group map of a communicator");
  s.field("context_ids", &P::context_ids, ChoiceRule{{"leader", "bitmap"}},
          "how a new communicator gets its number: from its leader, or by an agreement of all; no workload makes "
          "communicators after the start, so this changes nothing that is measured");
  s.field("fastbox", &P::fastbox_bytes, SizeRule{0, 65536},
          "largest packet that fits a mailbox of its own for each sender; 0 B: none");
  s.field("cell", &P::cell_bytes, SizeRule{64, std::int64_t{1} << 30}, "an element of the queues; also of a stream");
  s.field("cells_under_way", &P::cells_under_way, CountRule{1, 65536},
          "pieces of one message that are copied in and not yet out");
  s.field("stream_cells_under_way", &P::stream_cells_under_way, CountRule{0, 65536},
          "the same in a stream: what the socket buffers of both sides hold; 0: all of it");
  s.field("envelope", &P::envelope_bytes, SizeRule{0, 4096}, "what identifies a message");
  s.field("stack", &P::stack_bytes, SizeRule{0, std::int64_t{1} << 30}, "stack of a process, for accounts of memory");
  s.field("descriptor", &P::descriptor_bytes, SizeRule{0, std::int64_t{1} << 30}, "descriptor of a process, likewise");
  return s.finish();
}

} // namespace

Section fabric_fields() {
  using P = RouteParameters;
  auto s = declare<P>("fabric", "The route between the two hosts: from a platform, or its two values.",
                      Presence::required, [](auto& point) -> auto& { return point.route; });
  s.stand_ins({"platform", "from", "to"});
  s.of_network();
  s.field("latency", &P::latency, positive_time, "first byte in to first byte out");
  s.field("bandwidth", &P::bytes_per_second, any_rate, "bandwidth of the narrowest link");
  s.presence(Presence::defaulted);
  s.field("sharing", &P::sharing, ChoiceRule{{"bursts", "flows"}},
          "how large transfers share a wire: bursts of packets in turns, or max-min fair flows");
  return s.finish();
}

Section library_fields() {
  using P = LibraryDesign;
  auto s = declare<P>("library", "The MPI library, as a composition.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.library; });
  s.field("name", &P::name, TextRule{100}, "name of the design");
  s.field("thread_level", &P::thread_level, ChoiceRule{{"multiple", "single"}},
          "MPI_THREAD_MULTIPLE, or MPI_THREAD_SINGLE: no locks and no atomics");
  s.field(
      "critical_section", &P::critical_section, ChoiceRule{{"fine", "instance", "global"}},
      "locks around what they protect; the lock of its instance around the whole of a call that sends or receives; or "
      "one (of the instances' kind) around every call");
  s.field("reference_counts", &P::reference_counts, FlagRule{},
          "every operation holds a reference on its communicator: a counter that all threads change");
  s.field("barrier", &P::barrier, ChoiceRule{{"dissemination", "release-gather"}},
          "MPI_Barrier: messages in rounds; or flags in shared memory, where all processes are on one host and "
          "thread_level is single, else messages");
  s.section(instances_fields());
  s.section(progress_fields());
  s.section(waiting_design_fields());
  s.section(tasks_fields());
  s.section(matching_design_fields());
  s.section(protocol_fields());
  s.section(flow_control_fields());
  s.section(transport_fields());
  s.section(one_sided_fields());
  s.section(code_fields());
  s.section(lines_fields());
  s.section(partitioned_design_fields());
  s.section(coroutine_design_fields());
  s.stand_ins({"preset"});
  return s.finish();
}

Section placement_fields() {
  using P = PlacementParameters;
  auto s = declare<P>("placement", "Where processes and threads run.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.placement; });
  s.field("threads", &P::threads, ChoiceRule{{"one-per-core", "pinned", "pinned-by-process", "floating"}},
          "a core for each thread; or they share cores (machine.scheduler): thread after thread bound round robin, all "
          "threads of a process bound to one core, or none bound");
  s.field("start", &P::start, ChoiceRule{{"in-turn", "by-process"}},
          "where floating threads begin: each on the core that has fewest, or all of a process on one core; threads "
          "that the first one creates (machine.scheduler.thread_create) near that one unless other cores have less to "
          "do, or processes have shares");
  s.field("shares", &P::shares, ChoiceRule{{"threads", "processes"}},
          "who has equal shares of crowded cores: threads; or processes, as where the launcher gives each process a "
          "session "
          "of its own, which Linux schedules as a group");
  s.field("cores", &P::cores, CountRule{0, 512}, "hardware threads of each host that are used, the first ones; 0: all");
  s.field("hosts", &P::hosts, CountRule{1, 2},
          "2: senders and receivers on a host each; 1: both on the same, talking through its interface, or through "
          "memory where "
          "the transport is shared memory");
  return s.finish();
}

Section run_fields() {
  using P = RunConfig;
  auto s = declare<P>("run", "How the simulation is carried out.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.run; });
  s.field("seed", &P::seed, SeedRule{}, "seed of all random streams");
  s.field("replications", &P::replications, CountRule{1, 10'000}, "independent repetitions");
  s.field("coalesce_idle_polls", &P::coalesce_idle_polls, FlagRule{},
          "off: every empty poll is an event of its own, for checking the engine");
  s.field("steps_without_operation", &P::steps_without_operation, CountRule{1'000'000, 2'000'000'000},
          "a run ends with an error after so many steps of the simulation in which no message or operation completes: "
          "it would poll for ever");
  s.field("steps_per_operation", &P::steps_per_operation, CountRule{100, 10'000'000},
          "a run ends with an error after ten million steps of the simulation and so many for each message or "
          "operation, even if operations complete");
  return s.finish();
}

} // namespace contend::scenario
