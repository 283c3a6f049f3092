#include "scenario/machine_fields.hpp"

#include "scenario/section_builder.hpp"

namespace contend::scenario {

namespace {

constexpr SizeRule footprint{1, std::int64_t{1} << 30};
constexpr SizeRule size_or_none{0, std::int64_t{1} << 40};

Section topology_fields() {
  using P = TopologyParameters;
  auto s = declare<P>("topology", "Cores of one host, numbered socket by socket.", Presence::required,
                      [](auto& point) -> auto& { return point.machine.topology; });
  s.field("sockets", &P::sockets, CountRule{1, 64}, "processor sockets of one host");
  s.field("cores_per_socket", &P::cores_per_socket, CountRule{1, 1024}, "cores of one socket");
  s.field("threads_per_core", &P::threads_per_core, CountRule{1, 16}, "hardware threads of one core that are used");
  s.presence(Presence::defaulted);
  s.field("cores_per_cluster", &P::cores_per_cluster, CountRule{0, 1024},
          "cores that share a cache below the socket's (Arm cluster, AMD core complex); 0: no such level");
  return s.finish();
}

Section cache_fields() {
  using P = CacheParameters;
  auto s = declare<P>("cache", "Prices of touching one cache line.", Presence::measured,
                      [](auto& point) -> auto& { return point.machine.cache; });
  s.field("hit", &P::hit, positive_time, "load or store of a line that this core owns (L1)");
  s.field("atomic_hit", &P::atomic_hit, positive_time, "read-modify-write of a line that this core owns");
  s.field("transfer_smt", &P::transfer_smt, positive_time, "line transfer between hardware threads of one core");
  s.field("transfer_socket", &P::transfer_socket, positive_time, "line transfer between cores of one socket");
  s.field("transfer_remote", &P::transfer_remote, positive_time, "line transfer between sockets");
  s.field("l2_hit", &P::l2_hit, positive_time, "dependent load that hits L2");
  s.field("l3_hit", &P::l3_hit, positive_time, "dependent load that hits the shared cache");
  s.field("l2_size", &P::l2_bytes, footprint, "L2 capacity of one core");
  s.field("proximity_bias", &P::proximity_bias, RealRule{0.0, 1.0},
          "0: waiting cores win a line with equal chance; 1: in proportion to 1 / transfer time");
  s.presence(Presence::known);
  s.field("transfer_cluster", &P::transfer_cluster, any_time, "line transfer between cores of one cluster");
  s.field("atomic_arrival", &P::atomic_arrival, any_time,
          "read-modify-write of a line that has just arrived from another core; 0 ns: as atomic_hit");
  s.another_at_zero();
  s.field(
      "home_order", &P::home_order, FlagRule{},
      "requests for a line, reads included, are served one after another, and spinning threads ask again as soon as "
      "they lose their copy");
  s.field("snoop_share", &P::snoop_share, RealRule{0.0, 0.9},
          "part of a transfer that passes before the core that has the line alone loses it");
  s.field("request_share", &P::request_share, RealRule{0.0, 0.9},
          "the same for a request that found no other one at the line's home; 0: as snoop_share");
  s.field("conflict_retry", &P::conflict_retry, FlagRule{},
          "requests for one line are turned back while one of them is served: which gets through next, and when, is "
          "chance; with home_order");
  s.field("serial_snoops", &P::serial_snoops, FlagRule{},
          "a read that has to ask the core which wrote the line is alone until it is over, and reads after it find the "
          "line "
          "in the shared cache; with home_order");
  s.field("load_linked", &P::load_linked, FlagRule{},
          "atomics are pairs of load-exclusive and store-exclusive: a comparison that fails has only read the line");
  s.field("store_buffer", &P::store_buffer, FlagRule{},
          "a thread that gives a spin lock back does not wait for its line: the store waits in the core's store "
          "buffer; with "
          "home_order");
  s.field("compare_hit", &P::compare_hit, any_time,
          "compare-and-swap of a value just read, on a line that this core owns; 0 ns: as atomic_hit");
  s.another_at_zero();
  s.field("lock_latency", &P::lock_latency, any_time,
          "from the start of a locked instruction until it keeps the line: a snoop that arrives before takes it away");
  s.field("release", &P::release, any_time,
          "on top of the access that gives a lock back, for what was written before to become visible");
  return s.finish();
}

Section futex_fields() {
  using P = FutexParameters;
  auto s = declare<P>("futex", "Cost of sleeping and waking through the kernel.", Presence::measured,
                      [](auto& point) -> auto& { return point.machine.futex; });
  s.field("wait_call", &P::wait_call, any_time, "from the decision to sleep until the thread is off its core");
  s.field("wake_call", &P::wake_call, any_time, "paid by the waking thread when it wakes somebody");
  s.field("empty_wake_call", &P::empty_wake_call, any_time, "paid by a thread that finds nobody to wake");
  s.field("call_jitter", &P::call_jitter, any_time, "mean of the exponential delay on top of each call");
  s.field("wake_latency", &P::wake_latency, any_time, "from the end of the wake call until the sleeper runs, at best");
  s.field("wake_jitter", &P::wake_jitter, any_time, "mean of the exponential delay on top of wake_latency");
  s.presence(Presence::known);
  s.field(
      "vain_call", &P::vain_call, any_time,
      "a call to sleep that finds the word changed, alone; 0 ns: calls of several threads on one word do not hold each "
      "other up, and they compare when wait_call is over");
  s.another_at_zero();
  s.field("bucket_move", &P::bucket_move, any_time, "on top of a call after one from another core on the same word");
  s.field("bucket_turn", &P::bucket_turn, any_time,
          "from one call to the next where several wait for the lock of the word's bucket in the kernel");
  s.another_at_zero();
  s.field("wake_further", &P::wake_further, any_time, "paid for each further sleeper that one call wakes");
  s.field("yield_call", &P::yield_call, any_time,
          "sched_yield with nothing else to run on the core; 0 ns: that of a lock takes as long as locks.pause");
  s.another_at_zero();
  s.field(
      "shallow_latency", &P::shallow_latency, any_time,
      "in place of wake_latency for a thread that has slept for less than deep_after, whose core is not in a deep idle "
      "state");
  s.another_at_zero();
  s.field("deep_after", &P::deep_after, any_time, "sleeps from which on a deep idle state pays off; 0 ns: all");
  s.threshold();
  return s.finish();
}

Section scheduler_fields() {
  using P = SchedulerParameters;
  auto s = declare<P>("scheduler", "How the operating system shares cores among threads; needed only where it does.",
                      Presence::known, [](auto& point) -> auto& { return point.machine.scheduler; });
  s.field(
      "policy", &P::policy, ChoiceRule{{"cfs", "eevdf"}},
      "Linux's completely fair scheduler (2.6.23 to 6.5), or earliest eligible virtual deadline first (from 6.6 on)");
  s.field("latency", &P::latency, any_time,
          "cfs: within this time every thread of a core has a turn, while slices are not too short");
  s.threshold();
  s.field("slice", &P::slice, any_time, "cfs: the shortest slice; eevdf: every slice; 0 ns: not known");
  s.threshold();
  s.field("wakeup_granularity", &P::wakeup_granularity, any_time,
          "cfs: a thread that wakes up takes the core from one that has had so much more of it");
  s.threshold();
  s.field("short_sleep", &P::short_sleep, any_time,
          "eevdf: who slept no longer takes the core on waking up, others wait for the end of the slice; 0 ns: a slice "
          "protects its thread from all of them, and nothing does afterwards");
  s.threshold();
  s.field("preemption", &P::preemption, ChoiceRule{{"immediate", "lazy"}},
          "eevdf: a thread that wakes up takes a busy core at once or at the slice's end; or, lazily, from a thread "
          "that has "
          "had its share when that one returns from the kernel: from the call that wakes, a system call or a timer "
          "interrupt");
  s.field("tick", &P::tick, any_time,
          "slices end at interrupts of the timer, one in so much time; 0 ns: exactly, and there is no such interrupt");
  s.threshold();
  s.field("tick_cost", &P::tick_cost, any_time, "what an interrupt of the timer takes from the thread that runs");
  s.field("wake_call", &P::wake_call, any_time,
          "paid instead of futex.wake_call when the sleeper's core needs no interrupt from another one; under cfs a "
          "busy core never does");
  s.field("context_switch", &P::context_switch, any_time, "from one thread to another of the same process");
  s.field("process_switch", &P::process_switch, any_time, "on top when the other one belongs to another process");
  s.field("switch_jitter", &P::switch_jitter, any_time, "mean of the exponential delay on top of each switch");
  s.field(
      "cache_refill", &P::cache_refill, any_time,
      "refilling a thread's caches after others used its core, at most as long as they used it; where working_set is "
      "not known");
  s.field(
      "working_set", &P::working_set_bytes, size_or_none,
      "what a process keeps in a core's L2: other processes evict it, each as much of it as its own working set is of "
      "the cache; 0 B: not known");
  s.field(
      "kin_refill", &P::kin_refill, any_time,
      "with working_set: refilling a thread's own lines after others used its core, threads of its process included");
  s.field("refills_at_once", &P::refills_at_once, RealRule{1.0, 64.0},
          "with working_set: lines of it that are fetched from the shared cache at a time");
  s.field(
      "waker_affinity", &P::waker_affinity, RealRule{0.0, 1.0},
      "share of wake-ups that go to the waker's core although it is busy; others go back to the thread's last core");
  s.field("cache_hot", &P::cache_hot, any_time,
          "a thread that ran so short ago stays on its core when another one falls idle");
  s.threshold();
  s.field(
      "balance_period", &P::balance_period, any_time,
      "how often an idle core looks for threads that wait on other cores of a domain (core, cluster, socket, host), "
      "for each hardware thread of the domain; 0 ns: load is never balanced");
  s.threshold();
  s.field("busy_factor", &P::busy_factor, CountRule{1, 1024}, "how many times less often a busy core does");
  return s.finish();
}

Section lock_fields() {
  using P = LockParameters;
  auto s = declare<P>("locks", "Tunables of the lock algorithms.", Presence::measured,
                      [](auto& point) -> auto& { return point.machine.locks; });
  s.field("pause", &P::pause, positive_time, "one turn of a spin loop");
  s.field("backoff_minimum", &P::backoff_minimum, any_time, "first back-off of a TTAS lock; 0 ns: no back-off");
  s.threshold();
  s.field("backoff_maximum", &P::backoff_maximum, any_time, "back-off doubles up to this value");
  s.threshold();
  s.presence(Presence::known);
  s.field("adaptive_spins", &P::adaptive_spins, CountRule{0, 1'000'000},
          "adaptive: most attempts before a thread sleeps; ttas-futex: looks before it sleeps");
  s.field(
      "nap_after", &P::nap_after, CountRule{0, 1'000'000},
      "tas, tas-bit, ttas, ttas-eager, ttas-yield and distributed-mutex: turns after which a thread sleeps between its "
      "looks; 0: never");
  s.field("nap", &P::nap, any_time, "length of such a sleep");
  s.threshold();
  s.field(
      "ticket_lines", &P::ticket_lines, CountRule{1, 2},
      "ticket and ticket-yield: cache lines that hold the two counters; ticket-blocking always has one, priority two "
      "for each of its three tickets");
  s.field("mutex_reads_kind", &P::mutex_reads_kind, FlagRule{},
          "a call of a pthread mutex reads the mutex's kind, on the line of its word, before it touches the word");
  s.field("mutex_tests_first", &P::mutex_tests_first, FlagRule{},
          "pthread_mutex_trylock reads the word, and makes no attempt where the mutex is taken");
  return s.finish();
}

Section nic_fields() {
  using P = NicParameters;
  auto s = declare<P>("nic", "The network interface with its contexts.", Presence::measured,
                      [](auto& point) -> auto& { return point.machine.nic; });
  s.of_network();
  s.field("post", &P::post, any_time, "CPU: build one work request");
  s.field("doorbell", &P::doorbell, any_time, "CPU: ring the doorbell");
  s.field("wqe_fetch", &P::wqe_fetch, any_time, "interface: from doorbell to the first byte on the wire");
  s.field("context_gap", &P::context_gap, any_time, "interface: least time between two messages of one context");
  s.field("nic_gap", &P::nic_gap, any_time, "interface: least time between two messages of the whole interface");
  s.field("completion", &P::completion, any_time, "CPU: take one entry out of a completion queue");
  s.field("empty_poll", &P::empty_poll, positive_time, "CPU: look at an empty completion queue");
  s.field("max_contexts", &P::max_contexts, CountRule{1, 65536}, "contexts, for all processes of the host together");
  s.field("send_queue_depth", &P::send_queue_depth, CountRule{1, 1 << 20},
          "work requests that one endpoint may have outstanding");
  s.field("send_completion_batch", &P::send_completion_batch, CountRule{1, 65536},
          "the interface reports every n-th send completion");
  s.field("flow_control_window", &P::flow_control_window, CountRule{0, 1 << 20},
          "messages that an endpoint may send without a grant from its peer; 0: no flow control");
  s.field("poll_batch", &P::poll_batch, CountRule{1, 65536}, "completions handled per look at the queue");
  s.field("mtu", &P::mtu_bytes, SizeRule{64, std::int64_t{1} << 30}, "largest payload of one packet on the wire");
  s.field("packet_overhead", &P::packet_bytes, SizeRule{0, 4096}, "link and transport headers of one packet");
  s.field("registration", &P::registration, any_time, "CPU: make a buffer known to the interface, besides its pages");
  s.field("registration_page", &P::registration_page, any_time, "CPU: each page of 4 KiB of the buffer");
  s.field("registration_hit", &P::registration_hit, any_time, "CPU: find a buffer that is registered already");
  s.presence(Presence::defaulted);
  s.field("injection_fifos", &P::injection_fifos, CountRule{1, 65536},
          "send queues of one context, over which its connections are spread");
  s.presence(Presence::known);
  s.field("post_lines", &P::post_lines, CountRule{1, 64},
          "cache lines of a context that every post changes, one after the other: counters of the send queue, the work "
          "request, the doorbell's record");
  s.field("completion_lines", &P::completion_lines, CountRule{0, 64},
          "cache lines of a context that taking an entry out of its completion queue changes, one after the other: "
          "counters of "
          "queues, the receive buffer's descriptor");
  return s.finish();
}

Section rdma_fields() {
  using P = RdmaParameters;
  auto s = declare<P>("rdma", "One-sided operations of the interface.", Presence::measured,
                      [](auto& point) -> auto& { return point.machine.rdma; });
  s.of_network();
  s.field("store_limit", &P::store_limit_bytes, message_bytes,
          "largest operation that the processor stores into the interface; larger ones are descriptors");
  s.field("store_post", &P::store_post, any_time, "CPU: store an operation without its payload, doorbell included");
  s.field("store_bandwidth", &P::store_bytes_per_second, any_rate, "CPU: store the payload of a put");
  s.field("store_start", &P::store_start, any_time,
          "interface: from the stored operation to its first byte on the wire");
  s.field("offload_post", &P::offload_post, any_time, "CPU: post a descriptor, doorbell included");
  s.field("offload_start", &P::offload_start, any_time,
          "interface: from the descriptor to the first byte on the wire, reading memory included");
  s.field("offload_gap", &P::offload_gap, any_time,
          "interface: from the end of a descriptor's data to the next operation of the context");
  s.field("read_response", &P::read_response, any_time,
          "target's interface: from a get's request to the first byte of the response");
  s.field("atomic_response", &P::atomic_response, any_time,
          "target's interface: from the start of an atomic to the first byte of its response");
  s.field("atomic_gap", &P::atomic_gap, any_time, "target's interface: least time between two atomics");
  s.field("atomic_limit", &P::atomic_limit_bytes, SizeRule{0, 4096},
          "largest operand of a hardware atomic; 0 B: accumulates never use them");
  s.field("header", &P::header_bytes, SizeRule{0, 65536}, "bytes on the wire in front of a request or response");
  s.field("read_depth", &P::read_depth, CountRule{1, 65536}, "gets and atomics that one endpoint may have outstanding");
  s.field("completion_batch", &P::completion_batch, CountRule{1, 65536},
          "the interface reports every n-th completion of an endpoint");
  s.field("completion", &P::completion, any_time, "CPU: take one entry out of a completion queue");
  s.presence(Presence::known);
  s.field("post_lines", &P::post_lines, CountRule{1, 64},
          "cache lines of a context that every post changes, one after the other: counters and heads of lists");
  s.field("descriptor_lines", &P::descriptor_lines, CountRule{1, 64},
          "cache lines of an operation that its post and its completion change, one after the other: descriptor, "
          "endpoint, request");
  return s.finish();
}

Section tcp_fields() {
  using P = TcpParameters;
  auto s = declare<P>("tcp", "TCP sockets of the kernel.", Presence::measured,
                      [](auto& point) -> auto& { return point.machine.tcp; });
  s.optional();
  s.field("send_call", &P::send_call, any_time, "CPU: a send, with the packet's way to the peer's socket");
  s.field("full_send_call", &P::full_send_call, any_time, "CPU: a send that finds the buffers full");
  s.field("receive_call", &P::receive_call, any_time, "CPU: a receive that finds data");
  s.field(
      "contended_send", &P::contended_send, any_time,
      "CPU: mean of an exponential delay of a send when the peer has looked for data on another core since the last "
      "one");
  s.field("poll_call", &P::poll_call, any_time, "CPU: asking which sockets have data");
  s.field("poll_socket", &P::poll_socket, any_time, "CPU: each socket on top, where the call looks at all of them");
  s.field("dispatch", &P::dispatch, any_time, "CPU: from a readable socket to the transport's receive function");
  s.field("copy_bandwidth", &P::copy_bytes_per_second, any_rate, "CPU: between user memory and socket buffers");
  s.field("buffer", &P::buffer_bytes, message_bytes, "send and receive buffer of one direction together");
  s.field("packet", &P::packet_bytes, message_bytes, "what a small message takes up in them besides its bytes");
  s.field("receive_size", &P::receive_bytes, message_bytes, "most that one receive call takes");
  s.presence(Presence::known);
  s.field("moved_send", &P::moved_send, any_time,
          "CPU: what a send costs more where the last one on its socket was by another core");
  s.field("moved_receive", &P::moved_receive, any_time,
          "CPU: what a receive costs more where the last one on its socket was by another core");
  return s.finish();
}

Section shared_memory_fields() {
  using P = SharedMemoryParameters;
  constexpr CountRule count{0, 1 << 20};
  auto s = declare<P>("shared_memory", "Messages through memory shared by processes of one host.", Presence::measured,
                      [](auto& point) -> auto& { return point.machine.shared_memory; });
  s.optional();
  s.field("box_write", &P::box_write, any_time, "CPU: put a message into a fast box");
  s.field("box_read", &P::box_read, any_time, "CPU: take a message out of a fast box");
  s.field("queue_write", &P::queue_write, any_time, "CPU: take a fragment and enqueue it");
  s.field("queue_read", &P::queue_read, any_time, "CPU: dequeue a fragment and give it back");
  s.field("poll_box", &P::poll_box, any_time, "CPU: look at an empty fast box");
  s.field("poll_queue", &P::poll_queue, any_time, "CPU: look at an empty queue");
  s.field("copy_call", &P::copy_call, any_time, "CPU: have the kernel copy from or to the other process");
  s.field("copy_bandwidth", &P::copy_bytes_per_second, any_rate, "CPU: one copy of payload");
  s.field("box_size", &P::box_size, message_bytes, "memory of a fast box, a ring of entries; 0 B: no boxes");
  s.field("box_limit", &P::box_bytes, message_bytes,
          "largest message that goes into a fast box, header included; with box_header it must fit into an empty one");
  s.field("box_threshold", &P::box_threshold, count,
          "messages to a peer after which it gets a fast box; 0: it never does");
  s.field("fragments", &P::fragments, count, "of each process, for messages that do not go through boxes");
  s.field("poll_batch", &P::poll_batch, CountRule{1, 65536}, "fragments that one poll takes from the queue");
  s.presence(Presence::known);
  s.field("streamed_boxes", &P::streamed_boxes, FlagRule{},
          "the sender does not wait for the line of a message in a fast box, and messages that lie one behind the "
          "other come "
          "together; else each moves a line there and back");
  s.field("box_header", &P::box_header, message_bytes, "what each entry of a fast box has before its message");
  s.field("box_alignment", &P::box_alignment, SizeRule{1, 4096}, "entries of a fast box take a multiple of this");
  s.field("box_batch", &P::box_batch, count,
          "entries that one poll takes from a fast box, whose room is then free; 0: all that are there");
  return s.finish();
}

Section matching_fields() {
  using P = MatchingParameters;
  auto s = declare<P>("matching", "Prices of the steps of matching.", Presence::measured,
                      [](auto& point) -> auto& { return point.machine.matching; });
  s.of_network();
  s.field("attempt", &P::attempt, any_time, "fixed part of one search");
  s.field("element", &P::element, any_time, "visiting one queue element that is in this core's cache");
  s.field("element_size", &P::element_bytes, footprint, "cache footprint of one queue element");
  s.field("enqueue", &P::enqueue, any_time, "linking an element into a queue");
  s.field("fragment_allocate", &P::fragment_allocate, any_time,
          "taking an out-of-sequence or unexpected fragment from its free list and copying the header");
  s.field("fragment_release", &P::fragment_release, any_time, "giving a fragment back");
  s.field("range", &P::range, any_time, "visiting one range of an out-of-sequence list that is in this core's cache");
  s.field("fragment_size", &P::fragment_bytes, footprint, "cache footprint of one fragment");
  s.field("hash", &P::hash, any_time, "finding the hash bin of a message or receive");
  s.field("vector_step", &P::vector_step, any_time,
          "comparing one block of packed elements that is in this core's cache");
  s.field("offload_command", &P::offload_command, any_time,
          "CPU: adding a receive to the interface's tag-matching list, or removing it");
  s.field("offload_latency", &P::offload_latency, any_time,
          "interface: from a message's arrival to the end of its match, besides the walk");
  s.field("offload_element", &P::offload_element, any_time, "interface: visiting one receive in its list");
  s.presence(Presence::known);
  s.field("distant_element", &P::distant_element, any_time,
          "visiting one queue element on a page of its own (library.matching.element_spacing); 0 ns: as element");
  s.another_at_zero();
  s.field(
      "state_lines", &P::state_lines, CountRule{1, 64},
      "cache lines under a matching lock that each holder of it changes, one after the other: queue heads and expected "
      "sequence numbers");
  return s.finish();
}

Section software_fields() {
  using P = SoftwareParameters;
  auto s = declare<P>("software", "CPU cost of the library's own code, without locks, queues and the interface.",
                      Presence::measured, [](auto& point) -> auto& { return point.machine.software; });
  s.of_network();
  s.field("send_call", &P::send_call, any_time, "send: argument checks, request or inline path, header");
  s.field("send_request", &P::send_request, any_time, "extra when the message cannot go inline");
  s.field("receive_call", &P::receive_call, any_time, "receive: argument checks, request set-up");
  s.field("request_allocate", &P::request_allocate, any_time, "taking a request from the free list");
  s.field("deliver", &P::deliver, any_time, "dispatch and communicator look-up per arriving message");
  s.field("complete", &P::complete, any_time, "completing a request");
  s.field("wait_call", &P::wait_call, any_time, "wait family: entry and exit");
  s.field("wait_request", &P::wait_request, any_time, "per request in a wait for all");
  s.field("progress_call", &P::progress_call, any_time, "one turn of the progress loop besides what it polls");
  s.field("one_sided_call", &P::one_sided_call, any_time, "put, get and atomics: checks, peer and memory look-up");
  s.field("one_sided_complete", &P::one_sided_complete, any_time, "callback of one completed one-sided operation");
  s.field("one_sided_synchronize", &P::one_sided_synchronize, any_time, "flush, lock, unlock, fence: entry and exit");
  s.field("copy_bandwidth", &P::copy_bytes_per_second, any_rate, "memory copy into and out of bounce buffers");
  return s.finish();
}

Section waiting_fields() {
  using P = WaitingParameters;
  auto s = declare<P>("waiting", "CPU cost of waiting and testing, without cache lines and system calls.",
                      Presence::measured, [](auto& point) -> auto& { return point.machine.waiting; });
  s.of_network();
  s.field("check", &P::check, any_time, "looking at one request that is in this core's cache: complete or not");
  s.field("request_size", &P::request_bytes, footprint, "cache footprint of one request");
  s.field("detach", &P::detach, any_time, "taking one request from a sync object again");
  s.field("start", &P::start, any_time, "start of a persistent request, besides what the operation itself does");
  s.field("query", &P::query, any_time, "a query of a user-level sync object: entry and exit, unlinking");
  s.field("task", &P::task, any_time, "making a piece of work a task, or taking one, besides the pool's line");
  s.presence(Presence::known);
  s.field("misses_at_once", &P::misses_at_once, CountRule{1, 1024},
          "looks at requests of an array that overlap where requests are not in the core's own cache");
  s.field("handle", &P::handle, any_time,
          "checking one of the handles that a call over several requests is given, before it looks at any");
  s.field("clock", &P::clock, any_time,
          "reading the clock, of which a program that times a call pays one reading (workload waiting)");
  return s.finish();
}

Section datatype_fields() {
  using P = DatatypeParameters;
  auto s = declare<P>("datatype", "Packing and copying large amounts of data.", Presence::measured,
                      [](auto& point) -> auto& { return point.machine.datatype; });
  s.of_network();
  s.field("block", &P::block, any_time, "packing one block of a vector datatype, besides its bytes");
  s.field("l3_size", &P::l3_bytes, footprint, "shared cache of one socket");
  s.field("memory_bandwidth", &P::memory_bytes_per_second, any_rate,
          "memory traffic that the cores of one socket can have together");
  return s.finish();
}

constexpr RateRule rate_or_none{0.0, 1e15};

Section memory_fields() {
  using P = MemoryParameters;
  auto s = declare<P>("memory", "What copying costs, and computing on data, by where the data is.", Presence::known,
                      [](auto& point) -> auto& { return point.machine.memory; });
  s.field("l1_size", &P::l1_bytes, size_or_none, "first-level data cache of one core");
  s.field("ways", &P::ways, CountRule{0, 1024}, "associativity of L1 and L2; 0: any line fits anywhere");
  s.field("l3_size", &P::l3_bytes, size_or_none, "last-level cache of one socket, shared by its busy cores");
  s.field("latency", &P::latency, any_time, "dependent load that misses all caches");
  s.field("copy_start", &P::copy_start, any_time, "a copy besides its bytes");
  s.field("copy_bandwidth", &P::copy_bytes_per_second, rate_or_none, "copying what fits into L2");
  s.field("copy_bandwidth_l3", &P::copy_l3_bytes_per_second, rate_or_none,
          "copying what fits into the last-level cache only");
  s.field("copy_bandwidth_far", &P::copy_far_bytes_per_second, rate_or_none, "copying from memory to memory");
  s.field("socket_bandwidth", &P::socket_bytes_per_second, rate_or_none,
          "what the memory of one socket delivers to its cores together");
  s.field("exposed", &P::exposed, RealRule{0.0, 1.0}, "share of a cache miss that computation waits for");
  s.field("tlb_size", &P::tlb_bytes, size_or_none, "memory that the second-level translation buffer covers");
  s.field("tlb_miss", &P::tlb_miss, any_time, "walking the page table");
  return s.finish();
}

Section compute_fields() {
  using P = ComputeParameters;
  auto s = declare<P>("compute", "What computing costs while data is in L1.", Presence::known,
                      [](auto& point) -> auto& { return point.machine.compute; });
  s.field("multiply_add", &P::multiply_add, any_time, "one step of a loop that adds products up");
  s.field("loop_exit", &P::loop_exit, any_time, "leaving an inner loop");
  s.field("kernel_rate", &P::kernel_flops, RealRule{1e3, 1e15},
          "a tuned matrix product of large blocks, floating-point operations per second");
  s.field("kernel_element", &P::kernel_element, any_time, "the same, for each element of a block");
  s.field("kernel_call", &P::kernel_call, any_time, "the same, each call");
  return s.finish();
}

Section coroutine_fields() {
  using P = CoroutineParameters;
  auto s = declare<P>("coroutines", "Prices of MPI processes that are coroutines.", Presence::known,
                      [](auto& point) -> auto& { return point.machine.coroutines; });
  s.field("light_switch", &P::light_switch, any_time,
          "from one coroutine through the scheduler to the next, light-weight library; 0 ns: not known");
  s.field("portable_switch", &P::portable_switch, any_time, "the same with a portable library");
  s.field("os_switch", &P::os_switch, any_time, "from one process of the operating system to another");
  s.field("check", &P::check, any_time, "a process that was switched to looks whether it can go on");
  s.field("stack_lines", &P::stack_lines, CountRule{0, 10'000}, "cache lines of its own that each turn touches");
  s.field("library_lines", &P::library_lines, CountRule{0, 10'000},
          "cache lines of the library that a message touches");
  s.field("buffer", &P::buffer, any_time, "taking or freeing a message buffer on the heap");
  return s.finish();
}

Section channel_fields() {
  using P = ChannelParameters;
  auto s = declare<P>("channels", "Prices of queues in shared memory, and of stream sockets, between OS processes.",
                      Presence::known, [](auto& point) -> auto& { return point.machine.channels; });
  s.field("enqueue", &P::enqueue, any_time, "filling in and linking a cell, besides its cache lines");
  s.field("dequeue", &P::dequeue, any_time, "unlinking a cell and giving it back");
  s.field("meet", &P::meet, any_time, "a leader's part in the barrier of a node, each time it does something there");
  s.field("poll", &P::poll, any_time, "looking at empty queues");
  s.field("socket_send", &P::socket_send, any_time, "CPU: handing a message to a socket, besides its bytes");
  s.field("socket_receive", &P::socket_receive, any_time, "CPU: taking a message from a socket, besides its bytes");
  s.field("socket_poll", &P::socket_poll, any_time, "asking the sockets, at each look at the queues");
  return s.finish();
}

} // namespace

Section machine_fields() {
  using P = MachineConfig;
  auto s = declare<P>("machine", "The machine: a profile, single values that replace the profile's, or all of it.",
                      Presence::defaulted, [](auto& point) -> auto& { return point.machine; });
  s.field("name", &P::profile, TextRule{100}, "name of the machine; a profile brings its own");
  s.stand_ins({"profile"});
  s.presence(Presence::measured);
  s.field("noise", &P::noise, any_time, "mean of the exponential jitter added to each library call");
  s.section(topology_fields());
  s.section(cache_fields());
  s.section(futex_fields());
  s.section(scheduler_fields());
  s.section(lock_fields());
  s.section(nic_fields());
  s.section(rdma_fields());
  s.section(tcp_fields());
  s.section(shared_memory_fields());
  s.section(matching_fields());
  s.section(software_fields());
  s.section(waiting_fields());
  s.section(datatype_fields());
  s.section(memory_fields());
  s.section(compute_fields());
  s.section(coroutine_fields());
  s.section(channel_fields());
  return s.finish();
}

} // namespace contend::scenario
