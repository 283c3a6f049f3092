// Shared memory between the processes of a host: a queue of fragments for each process, and fast boxes for busy connections.
#pragma once

#include "core/cache_line.hpp"
#include "core/ring_queue.hpp"
#include "core/trace.hpp"
#include "models/nic/shared_memory_parameters.hpp"
#include "models/nic/transport.hpp"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace contend {

class SharedMemoryConnection;
class SharedMemoryContext;
class SharedMemoryTransport;

/// Memory of a process for one message, which its receiver reads.
struct SharedMemoryFragment {
  SharedMemoryFragment(Engine& engine, const Host& host, std::string_view name) : line(engine, host, name) {}

  CacheLine line; ///< header and first bytes
  Envelope envelope;
  SharedMemoryConnection* connection = nullptr;
  void* token = nullptr;  ///< of a message that was kept
  std::int64_t after = 0; ///< entries of the box that were sent before it through the queue
  bool taken = false;     ///< by the receiver: it is on its way back
};

/// One direction between two processes.
class SharedMemoryConnection final : public Connection {
public:
  SharedMemoryConnection(SharedMemoryContext& local, SharedMemoryContext& remote);

  bool post(SimThread& self, const Envelope& envelope, std::int64_t wire_bytes) override;
  /// Into a fragment, where everything goes through the box (SharedMemoryDesign::box_only).
  bool keep(SimThread& self, std::int64_t wire_bytes) override;
  bool post_kept(SimThread& self, const Envelope& envelope, void* token) override;
  [[nodiscard]] bool has_room_for_kept() const override;
  /// read and write: one copy by the poster, through the kernel. send: a copy into a fragment.
  bool post_bulk(SimThread& self, Bulk kind, const Envelope& envelope, std::int64_t bytes) override;
  [[nodiscard]] bool over_on_return(Bulk kind) const override { return kind != Bulk::send; }
  [[nodiscard]] bool has_room(std::int64_t wire_bytes) const override;
  [[nodiscard]] bool has_room_for(Bulk kind, std::int64_t bytes) const override;

  [[nodiscard]] bool has_box() const { return box_; }

private:
  friend class SharedMemoryContext;

  /// A message in the box: whole, or a pointer to its fragment.
  struct Entry {
    Envelope envelope;
    std::int64_t bytes = 0; ///< that it takes up
    SharedMemoryFragment* fragment = nullptr;
  };

  [[nodiscard]] bool everything_takes_box() const;
  [[nodiscard]] bool takes_box(std::int64_t wire_bytes) const;
  [[nodiscard]] bool box_has_room(std::int64_t entry_bytes) const;
  [[nodiscard]] bool fragment_has_room() const;
  /// As box_has_room(), to the sender's knowledge, which it brings up to date when it has to.
  bool finds_room(SimThread& self, std::int64_t entry_bytes);
  void put(SimThread& self, const Entry& entry, Duration writing);
  SharedMemoryFragment& fill_fragment(SimThread& self, std::int64_t bytes);
  bool send_fragment(SimThread& self, const Envelope& envelope, std::int64_t bytes);

  SharedMemoryContext& local_;
  SharedMemoryContext& remote_;
  CacheLine box_line_;   ///< the ring's next slot, as it moves between the two processes
  CacheLine start_line_; ///< where the receiver says how far it has read
  bool box_ = false;
  bool box_is_polled_ = false; ///< once the receiver has taken from its queue what was sent before
  std::int64_t box_used_ = 0;  ///< bytes that the receiver has not given back
  std::int64_t room_seen_ = 0; ///< bytes that the sender knows to be free
  std::int64_t sent_through_queue_ = 0;
  std::int64_t boxed_ = 0;   ///< entries that ever went into the box
  std::int64_t unboxed_ = 0; ///< of these, entries that the receiver has taken
  int queued_ = 0; ///< messages of this connection in the receiver's queue: what comes after must not pass them
  RingQueue<Entry> in_box_;
  RingQueue<SharedMemoryFragment*> kept_; ///< of messages that wait at the connection
};

/// What a process polls: its queue, and the boxes that others have made for it.
class SharedMemoryContext final : public TransportContext {
public:
  SharedMemoryContext(SharedMemoryTransport& transport, ActivityListener& listener, std::string_view name, int process);

  void look(SimThread& self) override;
  int drain(SimThread& self, CompletionHandler& handler) override;
  [[nodiscard]] bool has_completions() const override { return waiting_ > 0; }
  [[nodiscard]] std::string describe() const override { return "a message in the shared memory of " + name_; }

private:
  friend class SharedMemoryConnection;
  friend class SharedMemoryTransport;

  [[nodiscard]] bool has_fragment() const;
  SharedMemoryFragment& take_fragment();
  void free_fragment(SharedMemoryFragment& fragment);
  /// One more waits, and a sleeping poller may look.
  void report();
  void show_waiting() const;
  /// Counts what is handled, and lets the time pass that it took.
  template <typename Action>
  void handle(SimThread& self, int& handled, const Action& action);
  /// Takes so many entries, which have to be there.
  int drain_box(SimThread& self, CompletionHandler& handler, SharedMemoryConnection& connection, std::int64_t most);
  /// A message in a fragment, or a fragment that comes back.
  void handle_fragment(SimThread& self, CompletionHandler& handler, SharedMemoryFragment& fragment);
  void give_back(SimThread& self, SharedMemoryFragment& fragment);

  SharedMemoryTransport& transport_;
  ActivityListener& listener_;
  std::string name_;
  TraceLabel incoming_label_;
  CacheLine tail_line_; ///< where senders append
  std::vector<SharedMemoryConnection*> boxes_;
  RingQueue<SharedMemoryFragment*> queue_;
  RingQueue<Envelope> copied_; ///< pieces of this side that are in fragments
  int waiting_ = 0;            ///< messages in boxes and queue, fragments that came back, and transfers that are over
  int fragments_in_use_ = 0;   ///< of this process, as a sender
  std::deque<SharedMemoryFragment> fragments_; ///< those that were ever used
  std::vector<SharedMemoryFragment*> free_fragments_;
};

/// The memory of one host.
class SharedMemoryTransport final : public Transport {
public:
  SharedMemoryTransport(Engine& engine, const Host& host, const SharedMemoryParameters& parameters,
                        const SharedMemoryDesign& design)
      : engine_(engine), host_(host), parameters_(parameters), design_(design) {}

  SharedMemoryContext& create_context(ActivityListener& listener, std::string_view name, int process) override;
  /// Throws std::invalid_argument for processes of two hosts.
  std::unique_ptr<Connection> connect(TransportContext& local, TransportContext& remote) override;
  [[nodiscard]] int max_contexts() const override { return most_contexts; }
  [[nodiscard]] bool copies_payload() const override { return true; }

  [[nodiscard]] Engine& engine() const { return engine_; }
  [[nodiscard]] const Host& host() const { return host_; }
  [[nodiscard]] const SharedMemoryParameters& parameters() const { return parameters_; }
  [[nodiscard]] const SharedMemoryDesign& design() const { return design_; }

private:
  static constexpr int most_contexts = 65536; ///< bounded by memory only

  Engine& engine_;
  const Host& host_;
  SharedMemoryParameters parameters_;
  SharedMemoryDesign design_;
  std::vector<std::unique_ptr<SharedMemoryContext>> contexts_;
};

} // namespace contend
