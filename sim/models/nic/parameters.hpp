// Prices of a network interface.
#pragma once

#include "core/time.hpp"

#include <cstdint>

namespace contend {

/// A network interface with user-level contexts (queue pair + completion queue).
struct NicParameters {
  Duration post{};               ///< CPU: build one work request
  Duration doorbell{};           ///< CPU: ring the doorbell (uncached store)
  Duration wqe_fetch{};          ///< NIC: from doorbell to the first byte on the wire, of what need not be fetched
  Duration context_gap{};        ///< NIC: least time between two messages of one context
  Duration nic_gap{};            ///< NIC: least time between two messages of the whole interface
  Duration completion{};         ///< CPU: take one entry out of a completion queue
  Duration empty_poll{};         ///< CPU: look at an empty completion queue
  int max_contexts = 0;          ///< contexts that the processes of a host can have together
  int send_queue_depth = 0;      ///< work requests that one endpoint may have outstanding
  int send_completion_batch = 1; ///< the interface reports every n-th send completion (CQ moderation)
  int flow_control_window = 0;   ///< messages an endpoint may send without a grant from its peer; 0: no flow control
  int poll_batch = 1;            ///< completions handled per look at the queue
  std::int64_t mtu_bytes = 4096; ///< largest payload of one packet on the wire
  std::int64_t packet_bytes = 0; ///< link and transport headers of one packet
  // The payload of a large message is in memory when its work request reaches the interface.
  std::int64_t inline_bytes = 0; ///< largest message, the library's header included, that the CPU writes into its work
                                 ///< request; the interface fetches larger ones
  Duration payload_fetch{};      ///< NIC: from turning to a work request to having the first byte of a payload to fetch
  /// Between memory and interface: each packet of a fetched payload passes whole, before the wire and after it; 0: in no time.
  double bus_bytes_per_second = 0;
  Duration registration{};      ///< CPU: make a buffer known to the interface, besides its pages
  Duration registration_page{}; ///< CPU: each page of 4 KiB of it
  Duration registration_hit{};  ///< CPU: find a buffer that is registered already
  int injection_fifos =
      1; ///< send queues of one context: its connections are spread over them, and context_gap is each one's
  // What the lock of a context protects and another core has to fetch, one line after the other.
  int post_lines = 1;       ///< cache lines that every post changes: counters of the send queue, the work request, the
                            ///< doorbell's record
  int completion_lines = 0; ///< cache lines that every entry taken out of a completion queue changes: counters of both
                            ///< queues, the receive buffer's descriptor
};

/// Receive buffers that a process posts for one connection, and how it tells its peer that they are free again
/// (per-peer receive queues of Open MPI's btl/openib, "P,size,buffers,low_watermark,window,reserve"). The defaults of its
/// sources: low_watermark 3/4 of the buffers, window twice the rest, reserve 2 * buffers / window.
///
/// Or the slots of a mailbox in the receiver's memory (SMSG messages of Cray's GNI): `written`.
struct CreditParameters {
  int buffers = 0;       ///< messages that may be under way without a credit coming back; 0: no such scheme. The send
                         ///< queue is as long
  int low_watermark = 0; ///< so few posted buffers: all used ones are posted again
  int window = 0;  ///< so many credits to give back: a credit message goes out if no other message takes them along
  int reserve = 0; ///< buffers on top for credit messages; at most reserve - 1 of these are under way
  /// The receiver's interface writes `window` credits at a time into the sender's memory: the sender need not poll for
  /// them. There are no credit messages, and the send queue is the interface's own.
  bool written = false;
  /// Buffers that the sender writes small messages into, besides those of the receive queue (eager RDMA): 0: none. The
  /// receiver finds such a message by looking at the buffer, and without a completion.
  int eager_rdma_buffers = 0;
  /// More free ones than that: the sender is told, if need be by a message of its own. At least 1 where there are buffers (as in
  /// btl/openib): such a message takes a buffer itself, and must not provoke another one.
  int eager_rdma_window = 0;
};

} // namespace contend
