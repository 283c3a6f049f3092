#include "scenario/workload_fields.hpp"

#include "scenario/section_builder.hpp"

namespace contend::scenario {

namespace {

Section multirate_fields() {
  using P = MultirateParameters;
  auto s = declare<P>("multirate", "Multirate: entities stream windows of messages.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.workload.multirate; });
  s.field("pattern", &P::pattern, ChoiceRule{{"pairwise", "one-to-many", "many-to-one", "many-to-many"}},
          "who sends to whom: sender i to receiver i, or every sender to every receiver");
  s.field("mode", &P::mode, ChoiceRule{{"thread", "process", "process-to-thread", "thread-to-process"}},
          "thread: one process per host with a thread per entity; process: one process per entity; the others: "
          "senders of the first kind, receivers of the second");
  s.field("pairs", &P::pairs, CountRule{1, 4096}, "pairs of a sending and a receiving entity; pattern pairwise");
  s.field("senders", &P::senders, CountRule{1, 4096}, "sending entities; patterns other than pairwise");
  s.field("receivers", &P::receivers, CountRule{1, 4096}, "receiving entities; patterns other than pairwise");
  s.field("message_size", &P::message_size_bytes, message_bytes, "payload of one message");
  s.field("window", &P::window, CountRule{1, 65536}, "messages per entity, peer and iteration");
  s.field("iterations", &P::iterations, CountRule{1, 10'000'000}, "timed iterations");
  s.field("warmup_iterations", &P::warmup_iterations, CountRule{0, 10'000'000}, "iterations before the timed ones");
  s.field("barrier_every_iteration", &P::barrier_every_iteration, FlagRule{},
          "pattern pairwise: all entities meet in every iteration, or only before the timed part; threads that share a "
          "communicator should meet or have tags of their own, or pairs take each other's messages until all wait");
  s.field("completion", &P::completion, ChoiceRule{{"window", "test", "testany", "waitany"}},
          "pattern pairwise: post a window, wait for all of it, and answer; or keep a window of requests in flight, "
          "and post "
          "each again when it is found complete, without an answer: by testing one after the other, or any of all");
  s.field("communicator_per_pair", &P::communicator_per_pair, FlagRule{}, "each pair has a communicator of its own");
  s.field(
      "handshake", &P::handshake, ChoiceRule{{"pair", "world"}},
      "pattern pairwise: where ready words and acknowledgements travel, on the pair's communicator or on one that all "
      "pairs share (as in the published benchmark), where threads of a process take each other's");
  s.field("tags", &P::tags, ChoiceRule{{"window", "pair"}},
          "pattern pairwise: what a tag says, a message's place in its window, so that pairs that share a communicator "
          "take each other's messages (as in the published benchmark), or also whose it is: place x pairs + pair");
  s.field("allow_overtaking", &P::allow_overtaking, FlagRule{}, "messages need not match in the order sent");
  s.field("any_source", &P::any_source, FlagRule{},
          "receives accept any source: messages go to them in the order of posting, whoever sent them");
  s.field("any_tag", &P::any_tag, FlagRule{}, "receives accept any tag");
  s.field("timing", &P::timing, ChoiceRule{{"all", "slowest-process"}},
          "the time that counts: from when the last thread begins the timed iterations to when the last one ends; or, "
          "after all have met, the longest that a process takes from its own start, as in programs that reduce their "
          "processes' times (contend-multirate)");
  return s.finish();
}

Section latency_fields() {
  using P = LatencyParameters;
  auto s = declare<P>("latency", "Latency between threads of two processes, as osu_latency_mt measures it.",
                      Presence::defaulted, [](auto& point) -> auto& { return point.workload.latency; });
  s.field("senders", &P::senders, CountRule{1, 4096},
          "threads of the first process; each sends a message and waits for the answer. With one sender any receiver "
          "takes a message, with several each round trip has a tag, and so a receiver");
  s.field("receivers", &P::receivers, CountRule{1, 4096},
          "threads of the second process; each waits for a message and answers");
  s.field("message_size", &P::message_size_bytes, message_bytes, "payload of a message and of its answer");
  s.field("iterations", &P::iterations, CountRule{1, 10'000'000},
          "timed round trips of all threads together, dealt to them in turn");
  s.field("warmup_iterations", &P::warmup_iterations, CountRule{0, 10'000'000}, "round trips before the timed ones");
  s.field("timing", &P::timing, ChoiceRule{{"senders", "slowest-process"}},
          "the time that counts: the senders', from the first timed round trip on (osu_latency_mt); or, after all have "
          "met, the longest that a process takes from its own start (contend-latency)");
  s.field("any_source", &P::any_source, FlagRule{}, "the second process's receives accept any source");
  s.field("any_tag", &P::any_tag, FlagRule{},
          "the second process's receives accept any tag, so that any receiver takes a message; answers have its tag");
  return s.finish();
}

Section rma_mt_fields() {
  using P = RmaMtParameters;
  auto s = declare<P>("rma-mt", "RMA-MT: threads of one process work on the memory of another process.",
                      Presence::defaulted, [](auto& point) -> auto& { return point.workload.rma_mt; });
  s.field("operation", &P::operation, ChoiceRule{{"put", "get", "accumulate", "fetch-and-op"}},
          "what the threads call");
  s.field("synchronisation", &P::synchronisation,
          ChoiceRule{{"flush", "flush-all", "flush-local", "lock", "lock-all", "fence"}},
          "how operations are completed: a flush inside one lock, or the end of an epoch per iteration");
  s.field("synchronised_by", &P::synchronised_by, ChoiceRule{{"every-thread", "one-thread"}},
          "who flushes; locks and fences are always left to one thread per window");
  s.field("window_per_thread", &P::window_per_thread, FlagRule{}, "each thread has a window of its own");
  s.field(
      "timing", &P::timing, ChoiceRule{{"all", "first-thread"}},
      "the time that counts: threads meet around the operations of each iteration, from the last one's entry on; or "
      "they meet before the timed iterations, and, where every thread flushes for itself, not again, from the first "
      "thread's start on (contend-rma)");
  s.field("threads", &P::threads, CountRule{1, 4096}, "threads of the origin process");
  s.field("message_size", &P::message_size_bytes, SizeRule{1, message_bytes.maximum}, "payload of one operation");
  s.field("operations", &P::operations, CountRule{1, 10'000'000}, "operations per thread and iteration");
  s.field("iterations", &P::iterations, CountRule{1, 10'000'000}, "timed iterations");
  s.field("warmup_iterations", &P::warmup_iterations, CountRule{0, 10'000'000}, "iterations before the timed ones");
  return s.finish();
}

Section waiting_workload_fields() {
  using P = WaitingWorkloadParameters;
  auto s = declare<P>("waiting", "What a call over many requests costs of which some are complete.",
                      Presence::defaulted, [](auto& point) -> auto& { return point.workload.waiting; });
  s.field(
      "call", &P::call,
      ChoiceRule{{"test", "testsome", "testany", "testall", "wait", "waitsome", "waitany", "waitall", "sync-query",
                  "sync-query-bulk", "sync-waitall", "sync-attach", "sync-detach", "sync-size", "sync-probe"}},
      "what is timed: a call of the test or wait family (test, wait: of the first request that is complete, or of the "
      "first), or of MPIX_Sync (sync-attach, sync-detach: of the last request that is not complete)");
  s.field("requests", &P::requests, CountRule{1, 20'000}, "receives that are posted");
  s.field("complete", &P::complete, CountRule{0, 20'000}, "receives that are complete when the call begins");
  s.field("iterations", &P::iterations, CountRule{1, 10'000'000},
          "calls that are timed: as many rounds as have them all, and at least 3");
  return s.finish();
}

Section ping_pong_fields() {
  using P = PingPongParameters;
  auto s = declare<P>("ping-pong", "Communication threads of a task-based runtime, with persistent wildcard receives.",
                      Presence::defaulted, [](auto& point) -> auto& { return point.workload.ping_pong; });
  s.field("message_size", &P::message_size_bytes, message_bytes, "data of one hop");
  s.field("completion", &P::completion, ChoiceRule{{"testsome", "sync-query", "sync-query-bulk"}},
          "how a thread learns what is complete");
  s.field("persistent_receives", &P::persistent_receives, CountRule{2, 4096},
          "receives from anybody that are posted all the time, half of them for activations, half for gets");
  s.field("header", &P::header_bytes, SizeRule{0, 65536}, "activation without data, or get");
  s.field("short_limit", &P::short_limit_bytes, message_bytes, "largest data that travels with the activation");
  s.field("runtime_work", &P::runtime_work, any_time,
          "what other threads of the runtime do for each hop before it goes on");
  s.field("iterations", &P::iterations, CountRule{1, 10'000'000}, "timed round trips");
  s.field("warmup_iterations", &P::warmup_iterations, CountRule{0, 10'000'000}, "round trips before the timed ones");
  return s.finish();
}

Section pack_fields() {
  using P = PackParameters;
  auto s = declare<P>("pack", "One thread packs a vector datatype while others wait.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.workload.pack; });
  s.field("message_size", &P::message_size_bytes, SizeRule{1, std::int64_t{1} << 34}, "data");
  s.field("block", &P::block_bytes, SizeRule{1, std::int64_t{1} << 30}, "contiguous data");
  s.field("helpers", &P::helpers, CountRule{0, 4096}, "threads that wait");
  s.field("iterations", &P::iterations, CountRule{1, 10'000'000}, "timed packs");
  s.field("warmup_iterations", &P::warmup_iterations, CountRule{0, 10'000'000}, "packs before the timed ones");
  return s.finish();
}

Section partitioned_fields() {
  using P = PartitionedParameters;
  auto s =
      declare<P>("partitioned", "Partitioned communication: threads fill a buffer piece by piece, one of them late.",
                 Presence::defaulted, [](auto& point) -> auto& { return point.workload.partitioned; });
  s.field("method", &P::method, RegistryRule{&KnownNames::buffer_transfers},
          "how the buffer travels: partition by partition by library.partitioned (partitioned), in one message "
          "(single-send), in one per thread (multi-send), or in one per thread by persistent requests (persistent)");
  s.field("partitions", &P::partitions, CountRule{1, 4096}, "of the send side, one thread each");
  s.field("receive_partitions", &P::receive_partitions, CountRule{1, 4096}, "of the receive side; method partitioned");
  s.field("buffer_size", &P::buffer_size_bytes, SizeRule{1, message_bytes.maximum}, "all partitions together");
  s.field("compute_time", &P::compute_time, any_time, "every thread computes for so long");
  s.field("noise_pct", &P::noise_pct, RealRule{0.0, 1e4}, "one thread computes longer by so much");
  s.field(
      "compute_jitter", &P::compute_jitter, any_time,
      "every thread computes longer by so much on average, exponentially distributed: what the operating system takes");
  s.field(
      "compute_until", &P::compute_until, ChoiceRule{{"work", "clock"}},
      "when a thread has computed: once it has used a core for so long (work), or once so much time has passed, with a "
      "core or without (clock)");
  s.field(
      "fork", &P::fork, ChoiceRule{{"spin", "sleep"}},
      "how sending threads wait for the first one to begin an iteration: they spin at a line, or sleep in the kernel");
  s.field("receiver_starts", &P::receiver_starts, ChoiceRule{{"before", "after"}},
          "before both processes meet, so that nothing can come before the start, or after");
  s.field("receiver_polls", &P::receiver_polls, FlagRule{},
          "the receiver looks for the first partition before it waits for all, instead of waiting at once");
  s.field("statistic", &P::statistic, ChoiceRule{{"mean", "median"}},
          "what of the times of all iterations the measures are from");
  s.field("iterations", &P::iterations, CountRule{1, 10'000'000}, "timed iterations");
  s.field("warmup_iterations", &P::warmup_iterations, CountRule{0, 10'000'000}, "iterations before the timed ones");
  return s.finish();
}

Section neighbour_fields() {
  using P = NeighbourParameters;
  auto s = declare<P>("neighbour",
                      "Neighbour message rate: each thread of a host exchanges messages with a host of its own.",
                      Presence::defaulted, [](auto& point) -> auto& { return point.workload.neighbour; });
  s.field("root_processes", &P::root_processes, CountRule{1, 512}, "processes on the root's host");
  s.field("threads", &P::threads, CountRule{1, 512}, "of each root process, one per core; as many peers");
  s.field("interface", &P::interface, ChoiceRule{{"mpi", "active-messages"}},
          "receives, sends and a wait for all; or the transport alone, without matching or requests");
  s.field(
      "any_source", &P::any_source, FlagRule{},
      "interface mpi: receives of the root's threads accept any source; a message then has the number of the thread "
      "as its tag, so that threads do not take each other's");
  s.field("any_tag", &P::any_tag, FlagRule{},
          "interface mpi: receives of the root's threads accept any tag; with any_source one thread per process only");
  s.field("message_size", &P::message_size_bytes, SizeRule{0, 65536}, "payload of one message");
  s.field("window", &P::window, CountRule{1, 32767}, "receives, and sends, of each thread in an iteration");
  s.field("iterations", &P::iterations, CountRule{1, 10'000'000}, "timed iterations");
  s.field("warmup_iterations", &P::warmup_iterations, CountRule{0, 10'000'000}, "iterations before the timed ones");
  return s.finish();
}

/// A program of processes that are coroutines, with what all of them have.
template <class P, class Locate>
SectionBuilder<P, Locate> declare_program(const char* name, const char* doc, Locate locate) {
  auto s = declare<P>(name, doc, Presence::defaulted, locate);
  s.of_processes();
  s.field("processes_per_os_process", &P::processes_per_os_process, CountRule{1, 10'000'000},
          "MPI processes that share an OS process; 1: no coroutines");
  s.field("os_processes_per_node", &P::os_processes_per_node, CountRule{1, 16384}, "OS processes on each node");
  s.field("nodes", &P::nodes, CountRule{1, 16384}, "nodes, each with the machine's cores");
  s.field("iterations", &P::iterations, CountRule{1, 10'000'000}, "timed iterations");
  s.field("warmup_iterations", &P::warmup_iterations, CountRule{0, 10'000'000}, "iterations before the timed ones");
  return s;
}

Section ping_fields() {
  using P = PingParameters;
  auto s = declare_program<P>("ping", "Ping-pong between the two halves of a job of processes.",
                              [](auto& point) -> auto& { return point.workload.ping; });
  s.field("message_size", &P::message_size_bytes, message_bytes, "payload of one message");
  s.field(
      "transfer", &P::transfer, ChoiceRule{{"copy", "zero-copy", "zero-copy-send", "zero-copy-receive"}},
      "how the payload passes inside an OS process: copied, or the buffer is handed over by both sides, or only one "
      "side asks for that");
  return s.finish();
}

Section ring_fields() {
  using P = RingParameters;
  auto s = declare_program<P>("ring", "A token goes once round all processes.",
                              [](auto& point) -> auto& { return point.workload.ring; });
  s.field("direction", &P::direction, ChoiceRule{{"forward", "backward"}}, "to the next higher, or next lower, rank");
  s.field("message_size", &P::message_size_bytes, message_bytes, "payload of the token");
  return s.finish();
}

Section collective_fields() {
  using P = CollectiveParameters;
  auto s = declare_program<P>("collective", "A collective operation of all processes.",
                              [](auto& point) -> auto& { return point.workload.collective; });
  s.field("operation", &P::operation, ChoiceRule{{"barrier", "broadcast", "reduce", "all-reduce", "pi"}},
          "which; pi: a broadcast, a part of a sum, a reduction");
  s.field("message_size", &P::message_size_bytes, message_bytes, "payload of one process's part");
  s.field("work", &P::work, any_time, "pi: computation of each process");
  return s.finish();
}

Section exchange_fields() {
  using P = ExchangeParameters;
  auto s = declare_program<P>("exchange", "The processes of two halves of a job compute and exchange a fixed volume.",
                              [](auto& point) -> auto& { return point.workload.exchange; });
  s.field("volume", &P::volume_bytes, message_bytes, "all messages of one direction together");
  s.field("work", &P::work, any_time, "computation of one half of the job, its processes together");
  return s.finish();
}

Section matrix_product_fields() {
  using P = MatrixProductParameters;
  auto s =
      declare_program<P>("matrix-product", "Cannon's product of two square matrices on a square grid of processes.",
                         [](auto& point) -> auto& { return point.workload.matrix_product; });
  s.field("matrix_size", &P::matrix_size, CountRule{1, 1'000'000}, "rows of a matrix");
  s.field("multiply", &P::multiply, ChoiceRule{{"loops", "library"}},
          "blocks are multiplied by three nested loops, or by a tuned library");
  return s.finish();
}

Section pipeline_fields() {
  using P = PipelineParameters;
  auto s = declare_program<P>("pipeline", "A sieve of primes: each process passes on what its prime does not divide.",
                              [](auto& point) -> auto& { return point.workload.pipeline; });
  s.field("mapping", &P::mapping, ChoiceRule{{"sequential", "shuffled"}},
          "places to ranks: neighbours share an OS process, or are dealt to the OS processes in turn");
  s.field("numbers", &P::numbers, CountRule{1, 1'000'000}, "length of the stream");
  s.field("work", &P::work, any_time, "dividing one number");
  return s.finish();
}

Section receivers_fields() {
  using P = ReceiversParameters;
  auto s = declare_program<P>("receivers", "Many messages are waited for by as many processes, or by one.",
                              [](auto& point) -> auto& { return point.workload.receivers; });
  s.field("receivers", &P::receivers, ChoiceRule{{"processes", "waitany"}},
          "each message has a receiving process, or one process waits for any of them");
  s.field("message_size", &P::message_size_bytes, message_bytes, "payload of one message");
  s.field("work", &P::work, any_time, "computation of the last process of each OS process");
  return s.finish();
}

Section flocking_fields() {
  using P = FlockingParameters;
  auto s = declare_program<P>("flocking", "Birds that ask what they can see, over a torus of cells.",
                              [](auto& point) -> auto& { return point.workload.flocking; });
  s.field("grid", &P::grid, CountRule{1, 1000}, "cells in a row; each has two processes, all others are birds");
  s.field("bird_size", &P::bird_bytes, message_bytes, "what is said of one bird");
  s.field("work", &P::work, any_time, "computation of a bird, in each step");
  return s.finish();
}

Section nas_fields() {
  using P = NasParameters;
  auto s = declare_program<P>("nas", "Skeletons of NAS parallel benchmarks.",
                              [](auto& point) -> auto& { return point.workload.nas; });
  s.field("benchmark", &P::benchmark, ChoiceRule{{"BT", "CG", "LU", "MG"}}, "which");
  s.field("problem_class", &P::problem_class, ChoiceRule{{"B", "C", "D"}}, "size of the problem");
  s.field("flops", &P::flops, RealRule{1e3, 1e15},
          "floating-point operations per second of the benchmark's code on one core, data in L1");
  return s.finish();
}

Section lock_use_fields() {
  using P = LockUseParameters;
  auto s = declare<P>("lock", "Threads of one process that contend for locks or atomic variables, without MPI.",
                      Presence::defaulted, [](auto& point) -> auto& { return point.workload.lock_use; });
  s.without_network();
  s.field(
      "operation", &P::operation,
      ChoiceRule{{"lock", "try-lock", "execute", "fetch-and-add", "compare-and-swap", "fetch-and-xor", "take-turns",
                  "swap", "store"}},
      "lock and unlock, by waiting or by attempts; execute: the critical section is handed to the lock, and may be run "
      "by another thread that has it; or an atomic operation or a plain store on each line; fetch-and-xor "
      "inverts all bits by a loop of compare-and-swap; take-turns: compare-and-swap until it is this thread's turn");
  s.field("lock", &P::lock, RegistryRule{&KnownNames::locks}, "kind of lock; operations lock, try-lock and execute");
  s.field("threads", &P::threads, CountRule{1, 4096}, "threads of the process");
  s.field("locks", &P::locks, CountRule{1, 1 << 20}, "number of locks, or of sets of lines");
  s.field("choice", &P::choice, ChoiceRule{{"grouped", "random"}},
          "grouped: thread t always uses lock t mod locks; random: a random one each time");
  s.field("placement", &P::placement, ChoiceRule{{"cores-first", "compact", "spread", "random"}},
          "where threads have a core each. cores-first: a thread per core, then the other hardware threads; compact: "
          "by hardware thread; spread: sockets "
          "in turn; random: drawn once per run");
  s.field("section", &P::section, any_time, "work of a thread that has the lock");
  s.field("lines", &P::lines, CountRule{0, 4096},
          "cache lines of each lock: the holder reads and writes all of them at once; atomic operations work on one "
          "after another");
  s.field("own_line", &P::own_line, FlagRule{},
          "each thread has a line besides that its own critical section changes, whoever runs it");
  s.field("delay", &P::delay, any_time, "work between two operations");
  s.field("retry", &P::retry, any_time,
          "operations try-lock, compare-and-swap, fetch-and-xor and take-turns: time between two attempts");
  s.field("acquisitions", &P::acquisitions, CountRule{1, 10'000'000}, "timed operations per thread");
  s.field("warmup_acquisitions", &P::warmup_acquisitions, CountRule{0, 10'000'000},
          "operations per thread before the timed ones");
  s.field(
      "begin", &P::begin, ChoiceRule{{"apart", "released"}},
      "apart: each thread begins as soon as it runs; released: a main thread creates them one after the other, they "
      "sleep at a barrier until it comes there as the last, and then its time counts until all have come to a second "
      "one");
  s.field("create", &P::create, any_time, "begin \"released\": what it takes to create a thread");
  s.field("rest", &P::rest, any_time,
          "begin \"released\": how long the main thread sleeps before it comes to the barrier");
  s.field(
      "stop", &P::stop, ChoiceRule{{"together", "each", "trial"}},
      "together: the run ends when the sum over all threads is reached; each: every thread makes as many; trial: "
      "every thread makes as many again and again until the trial's time is over, and the mean of their times counts");
  s.field("trial", &P::trial, any_time, "stop \"trial\": after this time no thread begins again");
  return s.finish();
}

} // namespace

Section workload_fields() {
  using P = WorkloadParameters;
  auto s = declare<P>("workload", "What the application does. Each kind of workload has its own values.",
                      Presence::defaulted, [](auto& point) -> auto& { return point.workload; });
  s.selector("kind", &P::kind, RegistryRule{&KnownNames::workloads}, "which workload");
  s.kind(multirate_fields());
  s.kind(latency_fields());
  s.kind(lock_use_fields());
  s.kind(rma_mt_fields());
  s.kind(waiting_workload_fields());
  s.kind(ping_pong_fields());
  s.kind(pack_fields());
  s.kind(partitioned_fields());
  s.kind(neighbour_fields());
  s.kind(ping_fields());
  s.kind(ring_fields());
  s.kind(collective_fields());
  s.kind(exchange_fields());
  s.kind(matrix_product_fields());
  s.kind(pipeline_fields());
  s.kind(receivers_fields());
  s.kind(flocking_fields());
  s.kind(nas_fields());
  return s.finish();
}

} // namespace contend::scenario
