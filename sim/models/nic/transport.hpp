// What the library needs of a transport: contexts that are polled, and connections through which messages are sent. A
// network interface with user-level contexts, sockets and shared memory are transports.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"
#include "models/fabric/parameters.hpp"
#include "models/locks/lock.hpp"
#include "models/matching/envelope.hpp"
#include "models/matching/matcher.hpp"
#include "models/nic/parameters.hpp"
#include "models/nic/shared_memory_parameters.hpp"
#include "models/nic/tcp_parameters.hpp"
#include "models/registry.hpp"

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace contend {

/// Receives what a context reports.
class CompletionHandler {
public:
  virtual ~CompletionHandler() = default;
  /// A message has arrived. Runs on the polling thread and may spend time and take locks.
  virtual void receive(SimThread& self, const Envelope& envelope) = 0;
  /// A bulk transfer that this side has posted is over. Runs like receive().
  virtual void transferred(SimThread& /*self*/, const Envelope& /*envelope*/) {}
  /// The peer has taken a message that this side's transport had kept (Connection::post_kept). Runs like receive().
  virtual void returned(SimThread& /*self*/, void* /*token*/) {}
};

class FlowNetwork;
class TransportContext;

/// Told that a context has something to report, or room again, so that a sleeping poller can look.
class ActivityListener {
public:
  virtual ~ActivityListener() = default;
  virtual void activity(TransportContext& context) = 0;
  /// A message has arrived and is not reported yet. Runs in an event: an interface that matches messages does it here, and
  /// says how long it takes.
  virtual HardwareMatcher::Time arrived(Envelope& /*envelope*/) { return {}; }
};

/// What moves in a bulk transfer, and who learns of its end besides the poster.
enum class Bulk {
  write, ///< from the poster's memory to the peer's; the peer learns nothing
  read,  ///< from the peer's memory to the poster's; the peer learns nothing
  send,  ///< from the poster's memory into receive buffers of the peer, whose context reports it
};

/// The send side of a connection from one context to a context of another process. Calls are made under the lock that
/// the design has for it.
class Connection {
public:
  virtual ~Connection() = default;
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Sends a message. Returns false, having spent only what it takes to find that out, when there is no room. It begins with a
  /// look for room.
  virtual bool post(SimThread& self, const Envelope& envelope, std::int64_t wire_bytes) = 0;
  /// A message that found no room waits at the connection from now on. Returns whether the transport keeps it in memory of its
  /// own, having charged for that: then it goes out by post_kept().
  virtual bool keep(SimThread& /*self*/, std::int64_t /*wire_bytes*/) { return false; }
  /// Sends a message that is kept. `token` comes back by returned() when the memory does. Returns false like post().
  virtual bool post_kept(SimThread& /*self*/, const Envelope& /*envelope*/, void* /*token*/) { return false; }
  /// Whether post_kept() would succeed.
  [[nodiscard]] virtual bool has_room_for_kept() const { return false; }
  /// Moves `bytes` of payload. transferred(envelope) is called at this side when that is over, unless over_on_return(); the
  /// peer of a Bulk::send gets receive(envelope). Returns false like post(). Throws std::logic_error for a kind that the
  /// transport has not.
  virtual bool post_bulk(SimThread& self, Bulk kind, const Envelope& envelope, std::int64_t bytes) = 0;
  /// Whether the poster moves the payload itself, within post_bulk(), which needs no lock then.
  [[nodiscard]] virtual bool over_on_return(Bulk /*kind*/) const { return false; }
  /// Whether post() of so many bytes would succeed.
  [[nodiscard]] virtual bool has_room(std::int64_t wire_bytes) const = 0;
  /// Whether a bulk transfer takes its turn among the messages, so that it waits behind those that wait at the connection.
  [[nodiscard]] virtual bool takes_turn(Bulk kind) const { return kind == Bulk::send; }
  /// Whether it is worth trying post_bulk() of `bytes`.
  [[nodiscard]] virtual bool has_room_for(Bulk /*kind*/, std::int64_t bytes) const { return has_room(bytes); }

  /// When the last post() that returned false saw that there is no room: what came later it has not seen.
  [[nodiscard]] TimePoint saw_no_room_at() const { return saw_no_room_at_; }
  /// The next post() is in the middle of its look, whose price has been paid: it sees what there is now.
  void look_is_under_way() { look_is_under_way_ = true; }

protected:
  /// For post(): whether its look has still to be paid.
  [[nodiscard]] bool pays_for_look() { return !std::exchange(look_is_under_way_, false); }
  void saw_no_room(TimePoint now) { saw_no_room_at_ = now; }

private:
  TimePoint saw_no_room_at_;
  bool look_is_under_way_ = false;
};

/// What one thread at a time polls.
class TransportContext : public Waitable {
public:
  /// What it costs to look whether there is something.
  virtual void look(SimThread& self) = 0;
  /// Handles what is there, as much as one poll takes. Returns how many things that were.
  virtual int drain(SimThread& self, CompletionHandler& handler) = 0;
  /// As drain(), for a caller that holds `lock`, which is given back here. Where the transport can tell taking out from handling,
  /// it holds the lock for taking only, and may take it again for the next batch.
  virtual int drain_unlocked(SimThread& self, CompletionHandler& handler, Lock& lock) {
    const int found = drain(self, handler);
    lock.unlock(self, Category::poll_idle);
    return found;
  }
  [[nodiscard]] virtual bool has_completions() const = 0;
  /// The next one costs more than those after it, if nothing comes.
  [[nodiscard]] virtual bool next_look_is_longer() const { return false; }
  /// A look that was not simulated, and is followed by drain(), ends.
  virtual void end_skipped_look(SimThread& /*self*/) {}
};

/// The transport of one host.
class Transport {
public:
  virtual ~Transport() = default;
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// `process` is the number of the process that uses the context.
  virtual TransportContext& create_context(ActivityListener& listener, std::string_view name, int process) = 0;
  /// A connection between contexts of two transports of the same kind.
  virtual std::unique_ptr<Connection> connect(TransportContext& local, TransportContext& remote) = 0;
  /// Contexts that the processes of the host can have together.
  [[nodiscard]] virtual int max_contexts() const = 0;
  /// Whether its connections take payload from the user's memory themselves, and charge for that. If not, the library has
  /// copied it where the interface reads it.
  [[nodiscard]] virtual bool copies_payload() const { return false; }
};

/// What a transport is built from. Sections of machine parameters that it does not need may be empty.
struct TransportParts {
  Engine& engine;
  const Host& host;
  const NicParameters& nic;
  const CreditParameters& credits; ///< of the design; none: the interface's own flow control
  const TcpParameters& tcp;
  const SharedMemoryParameters& shared_memory;
  const SharedMemoryDesign& shared_memory_design;
  const RouteParameters& route;
  int number = 0;               ///< of the host
  FlowNetwork* flows = nullptr; ///< that the wires of all hosts belong to; none: large transfers go in bursts
};

using TransportFactory = std::unique_ptr<Transport> (*)(const TransportParts&);

/// All transports by name.
Registry<TransportFactory>& transport_registry();

} // namespace contend
