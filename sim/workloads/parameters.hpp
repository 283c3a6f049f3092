// What each kind of workload is told. A kind is a struct here and a section in scenario/workload_fields.cpp.
#pragma once

#include "core/time.hpp"
#include "workloads/programs/parameters.hpp"
#include "workloads/role.hpp"

#include <cstdint>
#include <string>

namespace contend {

/// Multirate (D. app. A): entities stream windows of messages; rate = all messages of the timed part / elapsed.
struct MultirateParameters {
  /// pairwise: sender i to receiver i; one-to-many, many-to-one, many-to-many: every sender to every receiver
  std::string pattern = "pairwise";
  /// thread: one process per host, a thread per entity; process: a process per entity; process-to-thread and
  /// thread-to-process: the hybrid ones, senders first
  std::string mode = "thread";
  int pairs = 1;     ///< entities on each side, pairwise
  int senders = 1;   ///< sending entities in the other patterns
  int receivers = 1; ///< receiving entities in the other patterns
  std::int64_t message_size_bytes = 0;
  int window = 128; ///< messages per entity and peer in an iteration
  int iterations = 10;
  int warmup_iterations = 2;
  /// Pairwise: all entities meet in every iteration, as in the benchmark's pairwise.c; or once, before the timed part, as in
  /// its multirate.c. The other patterns always meet.
  bool barrier_every_iteration = true;
  /// Pairwise: window: a window is posted, waited for and acknowledged. Otherwise a window of requests is kept in flight, and each posted
  /// again when it is complete, without an answer; test: looked at one by one; testany, waitany: looked for among all of them.
  std::string completion = "window";
  bool communicator_per_pair = false;
  /// Pairwise: where a pair's ready word and its acknowledgement travel. pair: where its data does; world: on a communicator
  /// that all pairs share, as in the benchmark, where threads of a process take each other's words.
  std::string handshake = "pair";
  /// Pairwise: what a tag says. window: a message's place in its window, as in the benchmark, where a receive takes such a message of any
  /// pair; pair: also whose it is.
  std::string tags = "window";
  bool allow_overtaking = false;
  /// Receives of data accept any source, any tag; ready words and acknowledgements go the other way and name both.
  bool any_source = false;
  bool any_tag = false;
  /// Whose clock times the timed part. all: one for all, from the last thread's start to the last one's end. slowest-process: all
  /// meet, then each process has its own, from when its first thread goes on to its last thread's end, and the longest time counts,
  /// as in programs that reduce their processes' times.
  std::string timing = "all";

  [[nodiscard]] bool pairwise() const { return pattern == "pairwise"; }
  [[nodiscard]] int entities(Role role) const {
    return pairwise() ? pairs : role == Role::sender ? senders : receivers;
  }
  /// Whether the entities of a role are threads of one process.
  [[nodiscard]] bool are_threads(Role role) const {
    return mode == "thread" || mode == (role == Role::sender ? "thread-to-process" : "process-to-thread");
  }
  [[nodiscard]] int processes(Role role) const { return are_threads(role) ? 1 : entities(role); }
};

/// Latency between the threads of two processes, as the OSU micro-benchmarks measure it (osu_latency_mt; with one thread each, osu_latency).
struct LatencyParameters {
  int senders = 1;                     ///< threads of the first process, which send and wait for an answer
  int receivers = 2;                   ///< threads of the second one, which wait for a message and answer
  std::int64_t message_size_bytes = 0; ///< there and back
  int iterations = 1000;               ///< timed round trips of all threads together
  int warmup_iterations = 100;
  /// From the senders' first timed round trip, or, after all have met, the longest that a process takes from its own start.
  std::string timing = "senders";
  /// The second process's receives accept any source, any tag. With any tag an answer has the tag of its message, so
  /// that every sender gets its own, whoever answers.
  bool any_source = false;
  bool any_tag = false;
};

/// RMA-MT (Sandia and Los Alamos): the threads of one process put into or get from another one, and synchronise.
struct RmaMtParameters {
  std::string operation = "put";                ///< put, get, accumulate, fetch-and-op
  std::string synchronisation = "flush";        ///< flush, flush-all, flush-local, lock, lock-all, fence
  std::string synchronised_by = "every-thread"; ///< who flushes: every-thread, or one-thread for all
  bool window_per_thread = false;               ///< else all threads share one window
  /// all: threads meet around the operations of each iteration, and the time runs from when the last one enters the timed
  /// ones to when the last one leaves. first-thread: they meet before the timed iterations, with the target, and, where
  /// every thread flushes for itself, not again; the time runs from the first thread's start (contend-rma).
  std::string timing = "all";
  int threads = 1;
  std::int64_t message_size_bytes = 1;
  int operations = 1000; ///< of each thread, before it synchronises
  int iterations = 3;
  int warmup_iterations = 1;
};

/// What a call of the test and wait families, or of MPIX_Sync, costs over n receives of which k are complete; k messages
/// are sent before each timed call. As contend-waiting measures it.
struct WaitingWorkloadParameters {
  /// testsome, testany, testall, waitsome, waitany, waitall; test, wait: of the first request that is complete, or of
  /// the first; sync-query, sync-query-bulk, sync-waitall, sync-size, sync-probe; sync-attach, sync-detach: of the last
  /// request that is not complete
  std::string call = "testsome";
  int requests = 1;
  int complete = 0;
  int iterations = 100; ///< calls, of which those after a first round are timed
};

/// One communication thread per process, as PaRSEC has: persistent wildcard receives for short messages of two kinds
/// (activate, get), and data in messages of their own when it does not fit into the first.
struct PingPongParameters {
  std::int64_t message_size_bytes = 400;
  /// How the thread learns what is complete: testsome (over all of its requests), sync-query (one by one),
  /// sync-query-bulk (all that is there).
  std::string completion = "testsome";
  int persistent_receives = 12;          ///< posted all the time, half of them for each kind
  std::int64_t header_bytes = 64;        ///< of a short message
  std::int64_t short_limit_bytes = 1024; ///< data up to this size travels with the activation
  Duration runtime_work{};               ///< what other threads of the runtime do for each hop before it goes on
  int iterations = 100;                  ///< round trips
  int warmup_iterations = 5;
};

/// One thread packs a vector datatype again and again; the others of its process wait for messages that come at the end.
struct PackParameters {
  std::int64_t message_size_bytes = 1 << 20; ///< data
  std::int64_t block_bytes = 64;             ///< contiguous
  int helpers = 0;                           ///< threads that wait
  int iterations = 10;
  int warmup_iterations = 2;
};

/// Threads fill a buffer piece by piece, one of them late; how soon is it at the other side? (The benchmark of Dosanjh et
/// al., Parallel Computing 108, 2021.)
struct PartitionedParameters {
  /// Key in the buffer transfer registry. partitioned: by the library's partitioned communication, each thread hands its
  /// partition over when it has computed; single-send: one message when all threads have; multi-send: each thread sends its
  /// part as a message; persistent: the same by requests that are made once (MPI_Send_init, MPI_Start)
  std::string method = "partitioned";
  int partitions = 4;                       ///< of the send side, one thread each
  int receive_partitions = 1;               ///< method partitioned
  std::int64_t buffer_size_bytes = 1 << 20; ///< all partitions together
  Duration compute_time = Duration::microseconds(1000);
  double noise_pct = 4;      ///< the late thread computes longer by so much; which one it is goes round
  Duration compute_jitter{}; ///< every thread computes longer by so much on average, exponentially distributed
  /// When a thread has computed. work: it has used a core for so long; clock: so much time has passed since it began, whether
  /// it had a core or not (a loop that reads the clock)
  std::string compute_until = "work";
  /// How sending threads wait for the first one before they compute. spin: at a line; sleep: in the kernel, as afterwards
  std::string fork = "spin";
  /// before: the receiver starts, then both processes meet, so that nothing can come before the start; after: the other way
  std::string receiver_starts = "before";
  /// The receiver looks for the first partition before it waits for all, instead of waiting at once.
  bool receiver_polls = false;
  std::string statistic = "mean"; ///< of the times of iterations, for all measures: mean, median
  int iterations = 10;
  int warmup_iterations = 2;
};

/// Neighbour message rate, a multithreaded SQMR: each thread of the root's processes exchanges messages with a process of its
/// own on another host (EuroMPI 2010, multichannel MPICH2).
struct NeighbourParameters {
  int root_processes = 1; ///< processes on the root's host
  int threads = 1;        ///< of each root process, one per core; as many peers
  /// mpi: receives, sends, wait for all; active-messages: the transport alone, without matching or requests
  std::string interface = "mpi";
  /// Interface mpi: receives of the root's threads accept any source, any tag. Threads that receive from any source are
  /// told apart by their tags, so both together need one thread per process.
  bool any_source = false;
  bool any_tag = false;
  std::int64_t message_size_bytes = 0;
  int window = 12; ///< receives, and sends, of each thread and peer in an iteration
  int iterations = 100;
  int warmup_iterations = 10;
};

/// Threads of one process on one host that contend for locks or atomic variables, without MPI.
struct LockUseParameters {
  /// lock: with lock() and unlock(); try-lock: with attempts; execute: hands the section to the lock, whose holder may run it (kinds
  /// that do not delegate lock and unlock); fetch-and-add, compare-and-swap, swap: an atomic operation on
  /// each of the lines, compare-and-swap until it succeeds; fetch-and-xor: inverts all bits by such a loop, as compilers for x86
  /// do where the old value is wanted: two changes by others are none; take-turns: compares until it is its turn, as
  /// core-to-core benchmarks do; store: a plain load and store
  std::string operation = "lock";
  std::string lock = "pthread-mutex"; ///< key in the lock registry
  int threads = 1;
  int locks = 1; ///< locks, or sets of lines of an atomic operation
  /// Which one a thread uses. grouped: thread t always number t mod `locks`; random: a random one each time
  std::string choice = "grouped";
  /// Cores that the threads have if each has its own. cores-first: one thread per core, then its other hardware threads; compact: hardware thread
  /// by hardware thread; spread: sockets in turn; random: any, drawn once per run
  std::string placement = "cores-first";
  Duration section; ///< work of the holder
  int lines = 0;    ///< cache lines that go with a lock: the holder changes all at once; atomics work on each in turn
  bool own_line = false;   ///< each thread has one besides, which whoever runs its critical section changes as well
  Duration delay;          ///< work between two operations
  Duration retry;          ///< between attempts of a try-lock, or of a comparison that has found another value
  int acquisitions = 1000; ///< timed ones per thread; together they are threads x acquisitions
  int warmup_acquisitions = 100;
  /// apart: each thread begins as soon as it runs. released: a main thread creates them, one each `create`; they sleep at a
  /// barrier, and `rest` after the last has been created the main thread comes there as well. Time counts from when it goes on to
  /// when it goes on after a second barrier, where all come when they are done.
  std::string begin = "apart";
  Duration
      create;    ///< begin "released": what it takes the main thread to create another; with 0 all exist from the start
  Duration rest; ///< begin "released": how long it sleeps before it comes to the barrier
  /// each: every thread makes as many, and the run lasts until the last one is done; together: until the sum is reached,
  /// whoever contributes to it; trial: every thread makes so many again and again, until `trial` is over at the end of one
  /// such batch. The time of each thread counts from its own start, and a run takes their mean.
  std::string stop = "together";
  Duration trial; ///< stop "trial": how long
};

/// The workload of a point: `kind` says which of the structs applies.
struct WorkloadParameters {
  std::string kind = "multirate"; ///< key in the registry of workloads, or of programs
  MultirateParameters multirate;
  LatencyParameters latency;
  RmaMtParameters rma_mt;
  WaitingWorkloadParameters waiting;
  PingPongParameters ping_pong;
  PackParameters pack;
  PartitionedParameters partitioned;
  NeighbourParameters neighbour;
  PingParameters ping;
  RingParameters ring;
  CollectiveParameters collective;
  ExchangeParameters exchange;
  MatrixProductParameters matrix_product;
  PipelineParameters pipeline;
  ReceiversParameters receivers;
  FlockingParameters flocking;
  NasParameters nas;
  LockUseParameters lock_use;
};

} // namespace contend
