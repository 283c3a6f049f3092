// Shared memory between the processes of a host: a queue for each receiver, and fast boxes for busy connections.
#pragma once

#include "core/cache_line.hpp"
#include "models/nic/shared_memory_parameters.hpp"
#include "models/nic/transport.hpp"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace contend {

class SharedMemoryContext;
class SharedMemoryTransport;

/// One direction between two processes.
class SharedMemoryConnection final : public Connection {
public:
  SharedMemoryConnection(SharedMemoryContext& local, SharedMemoryContext& remote);

  bool post(SimThread& self, const Envelope& envelope, std::int64_t wire_bytes) override;
  /// read and write: one copy by the poster, through the kernel. send: a copy into a fragment.
  bool post_bulk(SimThread& self, Bulk kind, const Envelope& envelope, std::int64_t bytes) override;
  [[nodiscard]] bool has_room(std::int64_t wire_bytes) const override;
  [[nodiscard]] bool has_room_for(Bulk kind, std::int64_t bytes) const override;

  [[nodiscard]] bool has_box() const { return box_; }

private:
  friend class SharedMemoryContext;

  [[nodiscard]] bool fits_box(std::int64_t bytes) const;
  void enqueue(SimThread& self, const Envelope& envelope, std::int64_t bytes);

  SharedMemoryContext& local_;
  SharedMemoryContext& remote_;
  CacheLine box_line_; ///< the ring's next slot, as it moves between the two processes
  bool box_ = false;
  std::int64_t sent_ = 0;
  int queued_ = 0; ///< messages of this connection in the receiver's queue: what comes after must not pass them
  std::deque<Envelope> in_box_;
};

/// What a process polls: its queue, and the boxes that others have made for it.
class SharedMemoryContext final : public TransportContext {
public:
  SharedMemoryContext(SharedMemoryTransport& transport, ActivityListener& listener, std::string_view name);

  void look(SimThread& self) override;
  int drain(SimThread& self, CompletionHandler& handler) override;
  [[nodiscard]] bool has_completions() const override { return waiting_ > 0; }
  [[nodiscard]] std::string describe() const override { return "a message in the shared memory of " + name_; }

private:
  friend class SharedMemoryConnection;
  friend class SharedMemoryTransport;
  struct Fragment {
    Envelope envelope;
    SharedMemoryConnection* connection = nullptr;
  };

  SharedMemoryTransport& transport_;
  ActivityListener& listener_;
  std::string name_;
  CacheLine tail_line_; ///< where senders append
  std::vector<SharedMemoryConnection*> boxes_;
  std::deque<Fragment> queue_;
  std::deque<Envelope> copied_; ///< bulk transfers of this side that are over
  int waiting_ = 0;             ///< messages in boxes and queue, and transfers that are over
  int fragments_in_use_ = 0;    ///< of this process, as a sender
};

/// The memory of one host.
class SharedMemoryTransport final : public Transport {
public:
  SharedMemoryTransport(Engine& engine, const Host& host, const SharedMemoryParameters& parameters)
      : engine_(engine), host_(host), parameters_(parameters) {}

  SharedMemoryContext& create_context(ActivityListener& listener, std::string_view name, int process) override;
  /// Throws std::invalid_argument for processes of two hosts.
  std::unique_ptr<Connection> connect(TransportContext& local, TransportContext& remote) override;
  [[nodiscard]] int max_contexts() const override { return most_contexts; }
  [[nodiscard]] bool copies_payload() const override { return true; }

  [[nodiscard]] Engine& engine() const { return engine_; }
  [[nodiscard]] const Host& host() const { return host_; }
  [[nodiscard]] const SharedMemoryParameters& parameters() const { return parameters_; }

private:
  static constexpr int most_contexts = 65536; ///< bounded by memory only

  Engine& engine_;
  const Host& host_;
  SharedMemoryParameters parameters_;
  std::vector<std::unique_ptr<SharedMemoryContext>> contexts_;
};

} // namespace contend
