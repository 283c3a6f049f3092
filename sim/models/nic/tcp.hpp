// TCP: a socket for each connection; who polls asks the kernel which of them have data, and reads them.
#pragma once

#include "core/cache_line.hpp"
#include "core/random.hpp"
#include "core/ring_queue.hpp"
#include "core/trace.hpp"
#include "models/nic/stream_interface.hpp"
#include "models/nic/tcp_parameters.hpp"
#include "models/nic/transport.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace contend {

class TcpContext;
class TcpTransport;

/// One direction of a connection: what has been sent and not been read.
///
///   send(bytes):  if the congestion window or the peer's buffer is full, or others wait: they join the sender's queue, for less
///                   than the way through the stack, if that has room for them
///                 else: a packet, up to the peer's socket
///                 no room: EAGAIN
///   read():       takes bytes from the socket
///                 if nothing is left and two packets are not acknowledged (one where the peer does not send the other way, or
///                   more waits in its socket), or more bytes than a packet has had, or there is twice as much room as the peer
///                   knows of: an acknowledgment, for which what the sender has queued goes out, in packets
///                   as large as they get, on the reader's processor
///
/// What the peer sends the other way acknowledges as well. When a receive does is in Linux's __tcp_cleanup_rbuf() and
/// tcp_measure_rcv_mss(), when a connection is used both ways in tcp_event_data_sent() (net/ipv4/tcp.c, tcp_input.c,
/// tcp_output.c); its timers of delayed acknowledgments, 40 ms and more, are left out.
class TcpStream final : public Connection {
public:
  TcpStream(TcpContext& local, TcpContext& remote);

  bool post(SimThread& self, const Envelope& envelope, std::int64_t wire_bytes) override;
  /// Bulk::send and Bulk::write: the bytes go through the socket like a message. Those of a write are read into the memory
  /// that they are for, and nobody is told (mca_btl_tcp_put). Throws std::logic_error for a read.
  bool post_bulk(SimThread& self, Bulk kind, const Envelope& envelope, std::int64_t bytes) override;
  [[nodiscard]] bool has_room(std::int64_t wire_bytes) const override { return fits(wire_bytes); }
  [[nodiscard]] bool takes_turn(Bulk /*kind*/) const override { return true; }

  /// Bytes in the buffers of the connection, with what each packet takes up; without those that wait in the sender's socket.
  [[nodiscard]] std::int64_t buffered() const { return buffered_; }

private:
  friend class TcpContext;

  struct Segment {
    Envelope envelope;
    std::int64_t bytes = 0;
    bool told = true;          ///< the peer's library gets the envelope
    std::int64_t overhead = 0; ///< what its packet takes up in the buffers besides
    int packets = 0;           ///< that begin with it
  };

  /// A call in which the peer's processor used the connection.
  struct Use {
    TimePoint until; ///< which may lie ahead
    int core = -1;

    void extend(TimePoint end, int by) {
      if (end >= until) {
        until = end;
        core = by;
      }
    }
  };

  /// Bytes that reach the peer's socket later: on the wire between hosts.
  class Flight final : public Event {
  public:
    explicit Flight(TcpStream& stream);
    void fire() override;

    Segment segment;

  private:
    TcpStream& stream_;
  };

  [[nodiscard]] bool on_one_host() const;
  [[nodiscard]] bool fits(std::int64_t bytes) const;
  [[nodiscard]] bool fit_into_peers_buffer(std::int64_t bytes) const;
  /// What is sent now waits in the sender's socket.
  [[nodiscard]] bool queues(std::int64_t bytes) const;
  /// What has arrived is acknowledged: what waits goes out, as far as the peer has room. Returns the number of packets.
  int open_window();
  bool send(SimThread& self, Segment segment);
  void join_queue(SimThread& self, Segment segment);
  void send_packet(SimThread& self, Segment segment);
  /// The peer, on the same host, has done this on another core since that date, or does it now.
  [[nodiscard]] bool met(const SimThread& self, const Use& use, TimePoint since) const;
  /// What is sent acknowledges what has come the other way. Returns what it costs to send what has waited for that.
  Duration answer(const SimThread& self);
  /// Whether a receive that has taken what it could sends an acknowledgment.
  [[nodiscard]] bool acknowledges() const;
  /// In the peer's buffer.
  [[nodiscard]] std::int64_t room() const;
  void take_room(Segment& segment);
  void put_into_socket(const Segment& segment);
  void deliver(SimThread& self, const Segment& segment);
  void take_off(const Segment& segment);
  /// What a call costs more if another core made the last one.
  [[nodiscard]] static Duration moved(const SimThread& self, int& last_core, Duration price);
  void arrive(const Segment& segment);
  int read(SimThread& self, CompletionHandler& handler);

  TcpContext& local_;
  TcpContext& remote_;
  TcpStream* opposite_ = nullptr; ///< the connection's other direction, once there is one
  CacheLine sender_line_;         ///< the socket's state at the sender's host
  CacheLine receiver_line_;       ///< and at the receiver's
  int sent_by_ = -1;              ///< core of the last send
  int read_by_ = -1;              ///< and of the last receive
  TimePoint sent_at_;             ///< the last send
  Use used_;                      ///< by the last receive, or the peer's last send the other way
  Use acknowledged_;              ///< by the last receive that sent an acknowledgment
  std::int64_t buffered_ = 0;
  /// Room in the peer's buffer that the last acknowledgment told of, less what has been sent since.
  std::int64_t offered_ = 0;
  RingQueue<Segment> readable_;
  RingQueue<Segment> queued_; ///< in the sender's socket
  std::int64_t queued_bytes_ = 0;
  int unacknowledged_ = 0;                ///< packets that have come and the peer has not acknowledged, read or not
  std::int64_t unacknowledged_bytes_ = 0; ///< in them
  std::int64_t largest_packet_ = 0;       ///< bytes, that has arrived so far
  bool is_two_way_ = false;               ///< the peer has sent the other way after something had arrived
  std::vector<std::unique_ptr<Flight>> flights_;
  std::vector<Flight*> free_flights_;
};

/// The sockets that are polled together.
class TcpContext final : public TransportContext {
public:
  TcpContext(TcpTransport& transport, ActivityListener& listener, std::string_view name, int process);

  void look(SimThread& self) override;
  int drain(SimThread& self, CompletionHandler& handler) override;
  [[nodiscard]] bool has_completions() const override { return !ready_.empty() || !written_.empty(); }
  [[nodiscard]] bool next_look_is_longer() const override { return !reported_.empty(); }
  void end_skipped_look(SimThread& self) override { self.leave_kernel(); }
  [[nodiscard]] std::string describe() const override { return "data on a socket of " + name_; }

private:
  friend class TcpStream;

  void count_incoming(int more);
  /// Finds the other direction of a connection that begins here, or leaves it for that one to find.
  void pair(TcpStream& stream);

  TcpTransport& transport_;
  ActivityListener& listener_;
  std::string name_;
  int sockets_ = 0;
  int incoming_ = 0; ///< messages and writes that are readable, and transfers of this side that are over
  TraceLabel incoming_label_;
  RandomStream contention_;                ///< between its sends and their receivers
  std::vector<TcpStream*> unpaired_;       ///< connections from here that have no other direction yet
  std::vector<const TcpStream*> reported_; ///< by polls, and not yet looked at again
  RingQueue<TcpStream*> ready_;            ///< with data, in order of arrival
  RingQueue<Envelope> written_;            ///< bulk transfers of this side that are over
  std::vector<Envelope> taken_;            ///< by the receive call under way; kept for its memory
};

/// The kernel's TCP of one host.
class TcpTransport final : public Transport {
public:
  TcpTransport(Engine& engine, const Host& host, const TcpParameters& parameters, RouteParameters route)
      : engine_(engine), host_(host), parameters_(parameters), wire_(std::move(route)) {}

  TcpContext& create_context(ActivityListener& listener, std::string_view name, int process) override;
  std::unique_ptr<Connection> connect(TransportContext& local, TransportContext& remote) override;
  [[nodiscard]] int max_contexts() const override { return most_contexts; }
  [[nodiscard]] bool copies_payload() const override { return true; }

  [[nodiscard]] Engine& engine() const { return engine_; }
  [[nodiscard]] const Host& host() const { return host_; }
  [[nodiscard]] const TcpParameters& parameters() const { return parameters_; }
  /// The host's link, which all its connections share.
  [[nodiscard]] StreamInterface& wire() { return wire_; }

private:
  static constexpr int most_contexts = 65536; ///< sockets are bounded by ports

  Engine& engine_;
  const Host& host_;
  TcpParameters parameters_;
  StreamInterface wire_;
  std::vector<std::unique_ptr<TcpContext>> contexts_;
};

} // namespace contend
