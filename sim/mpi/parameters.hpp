// A library design is data: which part of each kind, how many, and what the library's own code costs.
#pragma once

#include "core/time.hpp"
#include "models/coroutines/parameters.hpp"
#include "models/nic/parameters.hpp"
#include "models/progress/parameters.hpp"
#include "models/waiting/parameters.hpp"

#include <cstdint>
#include <string>

namespace contend {

/// CPU cost of the library's code on the critical paths, without locks, queues and the NIC (those are modelled).
struct SoftwareParameters {
  Duration send_call{};                ///< MPI_Isend: argument checks, request or inline path, header
  Duration send_request{};             ///< extra when the message cannot go inline: request and descriptor
  Duration receive_call{};             ///< MPI_Irecv: argument checks, request set-up
  Duration request_allocate{};         ///< taking a request from the shared free list, besides its contended head
  Duration deliver{};                  ///< active-message dispatch and communicator look-up per arriving message
  Duration complete{};                 ///< completing a request (status, state)
  Duration wait_call{};                ///< MPI_Wait family: entry and exit
  Duration wait_request{};             ///< per request in a Waitall: check, status, free
  Duration progress_call{};            ///< one turn of the progress loop besides what it polls
  double copy_bytes_per_second = 10e9; ///< memory copy into and out of bounce buffers
  Duration one_sided_call{};           ///< put, get and atomics: argument checks, peer and memory look-up
  Duration one_sided_complete{};       ///< callback of one completed operation
  Duration one_sided_synchronize{};    ///< flush, lock, unlock and fence: entry and exit
};

/// What copying large amounts of data costs.
struct DatatypeParameters {
  Duration block{};                      ///< packing one block of a vector datatype, besides its bytes
  std::int64_t l3_bytes = 0;             ///< shared cache of one socket
  double memory_bytes_per_second = 1e15; ///< memory traffic that the cores of one socket can have together
};

struct InstancesDesign {
  int count = 1;
  std::string assignment = "round-robin"; ///< key in the assignment registry
  std::string lock = "pthread-mutex";     ///< key in the lock registry
  std::string mapping = "thread"; ///< who decides on the instance of an operation: thread, communicator, tag, peer
  /// A request that belongs to one instance is freed under its lock (MPICH's per-VCI pools of requests).
  bool frees_requests = false;
  /// The locks lie in an array without space between them, so that each shares a cache line with the next one
  /// (MPIR_THREAD_VCI_REQUEST_POOL_MUTEXES of MPICH 5.0: 56 B each).
  bool locks_share_lines = false;
};

struct MatchingDesign {
  std::string engine = "ob1";         ///< key in the matching registry
  std::string lock = "pthread-mutex"; ///< lock kind of the matching lock
  /// What shares one set of queues and one lock: communicator (each has its own, as ob1), global (all together, as UCX and
  /// MPICH with one VCI), instance (those messages that are mapped to the same instance, as MPICH's VCIs).
  std::string domain = "communicator";
  /// What guards the queues: lock (one of their own), instance (the lock of the one instance through which all messages of
  /// these queues come and go; with it the instance is what MPICH calls a virtual communication interface).
  std::string guard = "lock";
  /// What keeps messages in order: sequence-numbers (checked by the receiver, as ob1), transport (the connection keeps
  /// the order in which a thread sends; nothing is checked, as MPICH and UCX).
  std::string ordering = "sequence-numbers";
  /// From one element of a queue to the next in memory; 0: side by side. From a page on a walk pays distant_element.
  std::int64_t element_spacing_bytes = 0;
  int bins = 256;              ///< see MatchingSizes
  int vector_width = 8;        ///< see MatchingSizes
  int offload_capacity = 1024; ///< see MatchingSizes

  [[nodiscard]] bool ordered_by_transport() const { return ordering == "transport"; }
};

struct ProtocolDesign {
  std::int64_t inline_limit_bytes = 256;
  std::int64_t eager_limit_bytes = 8192;
  std::int64_t header_bytes = 40; ///< bytes on the wire in front of the payload
  /// Delayed sends. reversing, fifo: every turn of progress tries them all, and puts what fails in front of the list
  /// (ob1 over btl/uct) or leaves it in place; at-connection: they wait, first in first out, until their connection has
  /// room (btl/openib); behind-others: so do all that are sent meanwhile (btl/ugni, btl/tcp, btl/sm); at-interface: these wait at
  /// their interface, under its lock, and a turn that polls it sends the first one (postponed_queue of MPICH's
  /// ch4/shm/posix); in-call: none are, the call makes progress and tries again until there is room (MPIDI_OFI_CALL_RETRY of
  /// MPICH).
  std::string pending_order = "reversing";
  /// How the payload of a message above the eager limit travels, once it is matched. get: the receiver reads it and tells
  /// the sender when it has all (ob1's RGET; UCX's default); put: the sender writes it, and tells the receiver; send: the
  /// sender copies it piece by piece into messages.
  std::string rendezvous = "get";
  std::int64_t piece_bytes = 65536; ///< of a payload that is sent in pieces (ob1: btl_max_send_size)
  int pieces_under_way = 3;         ///< at most (ob1: send_pipeline_depth)
  bool registration_cache = true;   ///< a buffer that was used before needs no new registration (mpi_leave_pinned)
};

/// Room for short messages in the receiver's memory, of one connection.
struct MailboxParameters {
  int slots = 32;            ///< messages that the receiver has not read (btl_ugni_smsg_max_credits)
  int returned_at_once = 16; ///< so many slots are free again: the sender's number of credits is written
};

struct FlowControlDesign {
  /// grants: as many messages as the interface's flow_control_window, then the peer restores all of it (UCX); credits: one
  /// for each receive buffer that the peer has posted (btl/openib); mailbox: one for each slot of the connection's mailbox,
  /// which the peer's interface writes back (btl/ugni).
  std::string kind = "grants";
  /// btl/openib's defaults for 256 buffers: P,size,256,192,128.
  CreditParameters credits{.buffers = 256, .low_watermark = 192, .window = 128, .reserve = 4, .eager_rdma_window = 4};
  MailboxParameters mailbox;

  /// What an endpoint is to keep to; none with grants.
  [[nodiscard]] CreditParameters receive_buffers() const {
    if (kind == "mailbox") {
      return {.buffers = mailbox.slots, .window = mailbox.returned_at_once, .written = true};
    }
    return kind == "credits" ? credits : CreditParameters{};
  }
};

struct TransportDesign {
  std::string kind = "interface"; ///< key in the transport registry
  /// What a thread that sends has to lock: instance (what pollers lock), connection (a lock of its own for each peer;
  /// polling does not keep others from sending, as in btl/tcp).
  std::string send_lock = "instance";
  std::string lock = "pthread-mutex"; ///< lock kind of the connections' locks
  /// What a turn of progress holds while it handles what it has found: instance (the lock that it polls under), none (that lock
  /// is for taking it out of the queues; others poll meanwhile, and handle what they find, as in btl/openib). A sender that polls
  /// to make room does so under the lock.
  std::string handler_lock = "instance";
  /// Shared memory: where a message goes whose fast box is full. queue: into the queue of the receiver, and what comes after it
  /// as well until that is empty (Nemesis). wait: it waits at its connection; pointers to fragments take places in the box,
  /// so that nothing passes anything (sm_fifo_write_ep of btl/sm).
  std::string full_box = "queue";
  /// Shared memory: freed: receivers give fragments back where all processes take them (cells of MPICH). returned: they go
  /// back through the queue of their owner, who finds them by polling (btl/sm).
  std::string fragments = "freed";
  int poll_batch = 0; ///< completions that one poll of an interface handles at most; 0: the machine's nic.poll_batch
};

struct OneSidedDesign {
  /// How operations reach the target's memory (window_path_registry): interface, memory, messages.
  std::string path = "interface";
  /// How a flush knows that it is done. instances: every instance is locked and drained (btl/uct's flush); instance-turns:
  /// every instance is polled until it is empty, under its lock for one poll at a time (btl/ugni's flush); counter: a
  /// counter of outstanding operations, one shared cache line per window and target, with progress until it is zero.
  std::string completion = "instances";
  /// hardware: accumulate and fetch-and-op use the interface's atomics when the size allows; lock: never.
  std::string atomics = "hardware";
  /// memory: whether the calling thread holds the lock of its instance while it puts or gets: instance, none.
  std::string copy_guard = "none";
  /// memory: kind of the lock at each target that accumulate and fetch-and-op hold.
  std::string update_lock = "ttas";
  /// messages: puts of more bytes are complete when the target has said so, others when they are sent.
  std::int64_t acknowledge_above_bytes = 0;
};

/// Cache lines that move between the cores of a library's threads besides those of its locks, queues and counters: how many a thread
/// waits for, one after the other. Stores to lines that it does not have go on in its store buffer side by side, and count as one.
struct LinesDesign {
  int lock = 0;            ///< that each holder of an instance's lock, or of the global one, changes
  double request = 0.0;    ///< of a request, for who makes it where another core had its memory before
  double completion = 0.0; ///< for who completes a request that another core made, besides its place in a queue
  double status = 0.0;     ///< for who has waited for a request that another core completed
};

/// How long the library's own code is on its critical paths, as factors on the machine's SoftwareParameters: those are
/// prices of one library on one processor, and another library executes more or fewer instructions.
struct CodeDesign {
  double send = 1.0;     ///< on send_call and send_request
  double receive = 1.0;  ///< on receive_call, request_allocate, deliver and complete
  double progress = 1.0; ///< on progress_call
};

/// MPI 4 partitioned communication.
struct PartitionedDesign {
  std::string engine = "persistent"; ///< key in the partitioned registry
  /// Engine aggregating: ready partitions leave together once they come to so much, or the first of them has waited so long.
  std::int64_t aggregate_bytes = 1 << 20;
  Duration aggregate_age = Duration::microseconds(10);
};

/// One MPI library, as a composition.
struct LibraryDesign {
  std::string name = "unnamed";
  /// MPI_THREAD_MULTIPLE or MPI_THREAD_SINGLE: multiple, single. With single there are no locks, and no atomics.
  std::string thread_level = "multiple";
  /// fine: locks around what they protect; instance: the lock of its instance around the whole of a call that sends or receives
  /// (UCX's UCP_WORKER_THREAD_CS_ENTER in ucp_tag_send_nbx, MPICH's MPID_THREAD_CS_ENTER(VCI) in MPIDI_NM_mpi_isend), from its
  /// code over its copy to its request; global: one lock, of the instances' kind, around every call, released between two
  /// turns of progress (MPICH's MPIR_THREAD_GRANULARITY_GLOBAL). Nothing inside it is locked again.
  std::string critical_section = "fine";
  /// Every operation holds a reference on its communicator from its start to its wait: a counter that all threads change
  /// (MPICH's MPIR_Comm_add_ref, MPIR_Comm_release).
  bool reference_counts = false;
  /// MPI_Barrier. dissemination: messages, in as many rounds as the number of processes has bits; release-gather: flags in
  /// shared memory, where all processes are on one host and thread_level is single, else as dissemination (MPICH's choice).
  std::string barrier = "dissemination";
  InstancesDesign instances;
  ProgressDesign progress;
  WaitingDesign waiting;
  TasksDesign tasks;
  MatchingDesign matching;
  ProtocolDesign protocol;
  FlowControlDesign flow_control;
  TransportDesign transport;
  OneSidedDesign one_sided;
  CodeDesign code;
  LinesDesign lines;
  PartitionedDesign partitioned;
  CoroutineDesign coroutines;
};

/// What the code of a design costs on a machine whose prices are `reference`.
[[nodiscard]] inline SoftwareParameters software_of(const CodeDesign& code, const SoftwareParameters& reference) {
  SoftwareParameters prices = reference;
  const auto scale = [](Duration& price, double factor) {
    price = Duration::picoseconds(static_cast<std::int64_t>(static_cast<double>(price.count()) * factor));
  };
  scale(prices.send_call, code.send);
  scale(prices.send_request, code.send);
  scale(prices.receive_call, code.receive);
  scale(prices.request_allocate, code.receive);
  scale(prices.deliver, code.receive);
  scale(prices.complete, code.receive);
  scale(prices.progress_call, code.progress);
  return prices;
}

} // namespace contend
