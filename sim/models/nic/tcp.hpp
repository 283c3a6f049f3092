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
///   read():       takes bytes from the socket; what has arrived is acknowledged, so that what the sender has queued goes out,
///                 in packets as large as they get, on the reader's processor
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

  [[nodiscard]] bool fits(std::int64_t bytes) const;
  [[nodiscard]] bool fit_into_peers_buffer(std::int64_t bytes) const;
  /// What is sent now waits in the sender's socket.
  [[nodiscard]] bool queues(std::int64_t bytes) const;
  /// The peer has acknowledged what had arrived: what waits goes out, as far as the peer has room. Returns the number of packets.
  int open_window();
  bool send(SimThread& self, Segment segment);
  [[nodiscard]] bool contended(const SimThread& self);
  /// What a call costs more if another core made the last one.
  [[nodiscard]] static Duration moved(const SimThread& self, int& last_core, Duration price);
  void arrive(const Segment& segment);
  int read(SimThread& self, CompletionHandler& handler);

  TcpContext& local_;
  TcpContext& remote_;
  CacheLine sender_line_;        ///< the socket's state at the sender's host
  CacheLine receiver_line_;      ///< and at the receiver's
  int sent_by_ = -1;             ///< core of the last send
  int read_by_ = -1;             ///< and of the last receive
  std::uint64_t seen_looks_ = 0; ///< of the peer, at the last send
  TimePoint sent_at_;            ///< the last send
  TimePoint read_until_;         ///< the end of the last receive, which may lie ahead
  std::int64_t buffered_ = 0;
  RingQueue<Segment> readable_;
  RingQueue<Segment> queued_; ///< in the sender's socket
  std::int64_t queued_bytes_ = 0;
  int unacknowledged_ = 0; ///< packets
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
  void skipped_look(const SimThread& self, TimePoint begin) override;
  void end_skipped_look(SimThread& self) override { self.leave_kernel(); }
  [[nodiscard]] std::string describe() const override { return "data on a socket of " + name_; }

private:
  friend class TcpStream;

  void count_incoming(int more);

  TcpTransport& transport_;
  ActivityListener& listener_;
  std::string name_;
  int sockets_ = 0;
  int incoming_ = 0; ///< messages and writes that are readable, and transfers of this side that are over
  TraceLabel incoming_label_;
  RandomStream contention_;     ///< between its sends and their receivers
  std::uint64_t looks_ = 0;     ///< polls so far that were simulated
  TimePoint skipped_look_at_;   ///< when the last one began that was not
  int looked_on_ = -1;          ///< core of the last one
  RingQueue<TcpStream*> ready_; ///< with data, in order of arrival
  RingQueue<Envelope> written_; ///< bulk transfers of this side that are over
  std::vector<Envelope> taken_; ///< by the receive call under way; kept for its memory
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
  [[nodiscard]] bool counts_looks() const override { return parameters_.contended_send > Duration{}; }

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
