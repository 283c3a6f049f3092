// Prices of the kernel's TCP.
#pragma once

#include "core/time.hpp"

#include <cstdint>

namespace contend {

/// Sockets of the kernel's TCP, used without blocking. A call on a loopback or virtual device does the packet's way through
/// the stack up to the receiver's socket on the sender's processor (the soft interrupt runs there), so that the send call
/// is the dear one.
struct TcpParameters {
  Duration send_call{}; ///< CPU: a send that succeeds, with the packet's way to the peer's socket
  /// Of a send call, after which the bytes are in the peer's socket, on one host: from 0 to 1. The way back from there follows.
  double arrival_share = 1.0;
  /// CPU: what a send costs more where the peer has read, or sent the other way, on another core since the last one: lines of the
  /// connection come from there
  Duration returned_send{};
  /// CPU: what a send costs more that acknowledges something: the peer's socket forgets what it has kept for that
  Duration acknowledging_send{};
  /// CPU: what a send costs more during which the peer acknowledges by a packet of its own on another core, with `returned_send`;
  /// what it is above that is the mean of an exponential delay. Two processors work on one connection
  /// (its lock, its queues, memory of packets that one allocates and the other frees), and how much they are in each other's way
  /// depends on where the other one is
  Duration contended_send{};
  Duration full_send_call{}; ///< CPU: a send that finds the buffers full
  Duration receive_call{};   ///< CPU: a receive that finds data, without its packets and what it acknowledges
  Duration receive_packet{}; ///< CPU: of it, each packet that it takes
  /// CPU: an acknowledgment that a receive sends, with its way to the peer's socket; on one host, between two it costs nothing here
  Duration acknowledge{};
  /// CPU: what a send costs more where the last one on this socket was by another core, whose cache has the socket's state
  Duration moved_send{};
  Duration moved_receive{}; ///< CPU: the same of a receive
  Duration poll_call{};     ///< CPU: asking the kernel which sockets have data (epoll_wait, poll)
  /// CPU: each socket that it reports, and once more the next time if that has been read, because it is looked at again
  Duration poll_event{};
  Duration poll_socket{};             ///< CPU: each socket on top, where the call looks at all of them (poll)
  Duration dispatch{};                ///< CPU: from a readable socket to the transport's receive function
  double copy_bytes_per_second = 1e9; ///< between user memory and socket buffers, each way
  /// CPU: a send, on one host, whose bytes the peer's kernel does not take yet: they join what waits in the sender's socket, and go
  /// out in large packets on the processor of who reads. Zero: not known; a send that finds no room fails then.
  Duration queued_send_call{};
  /// So many packets may be on their way that the peer's kernel has not acknowledged (the congestion window). Linux begins with 10
  /// and lets it grow where it is what limits.
  int window_packets = 0;
  std::int64_t send_queue_bytes = 0; ///< that may wait in the sender's socket (tcp_wmem)
  std::int64_t buffer_bytes = 0;     ///< send and receive buffer of one direction of a connection together
  std::int64_t packet_bytes = 0;     ///< what a small message takes up in them besides its bytes
  std::int64_t receive_bytes = 0;    ///< most that one receive call takes

  /// A machine without values for TCP cannot run designs that use it.
  [[nodiscard]] bool given() const { return buffer_bytes > 0; }
};

} // namespace contend
