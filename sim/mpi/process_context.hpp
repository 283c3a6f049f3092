// What all parts of one process's library share: where the process runs, its design and prices, and what every call does.
#pragma once

#include "core/cache_line.hpp"
#include "core/engine.hpp"
#include "core/host.hpp"
#include "models/locks/lock.hpp"
#include "models/matching/envelope.hpp"
#include "models/nic/transport.hpp"
#include "mpi/process_settings.hpp"
#include "mpi/spc.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace contend {

class ProcessContext {
public:
  /// `peers`: number of ranks.
  ProcessContext(Engine& engine, const Host& host, Transport& transport, const ProcessSettings& settings, int rank,
                 int peers);

  [[nodiscard]] Engine& engine() const { return engine_; }
  [[nodiscard]] const Host& host() const { return host_; }
  [[nodiscard]] Transport& transport() const { return transport_; }
  [[nodiscard]] const ProcessSettings& settings() const { return settings_; }
  [[nodiscard]] const LibraryDesign& library() const { return settings_.library; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int peers() const { return peers_; }
  [[nodiscard]] std::string name() const { return "rank " + std::to_string(rank_); }
  [[nodiscard]] SpcCounters& counters() { return counters_; }
  [[nodiscard]] const SpcCounters& counters() const { return counters_; }

  // What the design says about locks.
  /// MPI_THREAD_SINGLE.
  [[nodiscard]] bool single() const { return single_; }
  /// Only one thread at a time is inside the library: plain stores do where atomics would be needed.
  [[nodiscard]] bool exclusive() const { return single_ || global_lock_ != nullptr; }
  /// Around every call; nullptr: the design has none.
  [[nodiscard]] Lock* global_lock() const { return global_lock_.get(); }
  void enter_call(SimThread& self) const {
    if (global_lock_) {
      global_lock_->lock(self);
    }
  }
  void leave_call(SimThread& self) const {
    if (global_lock_) {
      global_lock_->unlock(self);
    }
  }
  /// Changes a word that threads share: atomically, unless only one can be here.
  void update_shared(SimThread& self, CacheLine& line, Category category) const {
    if (exclusive()) {
      line.store_protected(self, category);
    } else {
      line.atomic(self, category);
    }
  }
  [[nodiscard]] std::unique_ptr<Lock> make_lock(const std::string& kind, const std::string& name) const;
  /// For what the global critical section guards already, if there is one.
  [[nodiscard]] std::unique_ptr<Lock> make_inner_lock(const std::string& kind, const std::string& name) const;
  /// From now on who takes the lock moves the lines of the library that it guards.
  void guard_lines(Lock& lock) const;

  // What code costs.
  /// Code of a call, which takes a random bit longer each time.
  void software(SimThread& self, Duration cost) { self.owe(cost + jitter(), Category::software); }
  [[nodiscard]] Duration jitter() { return noise_.exponential(settings_.noise); }
  [[nodiscard]] Duration copy_time(std::int64_t bytes) const;
  /// A long copy can lose a core that it shares.
  void copy(SimThread& self, std::int64_t bytes) const;

  /// Whether the transport takes payload out of the user's memory itself.
  [[nodiscard]] bool copied_by_transport() const { return copied_by_transport_; }
  /// Bytes of a message on the wire.
  [[nodiscard]] std::int64_t wire_bytes(const Envelope& envelope) const {
    const bool carries_payload = envelope.header == Header::eager || envelope.header == Header::active;
    return library().protocol.header_bytes + (carries_payload ? envelope.bytes : 0);
  }

  /// For traces.
  void show_length(const TraceLabel& queue, std::int64_t length) const {
    if (TraceSink* const trace = engine_.trace(); trace != nullptr) [[unlikely]] {
      trace->length(queue, engine_.now(), length);
    }
  }

private:
  Engine& engine_;
  const Host& host_;
  Transport& transport_;
  ProcessSettings settings_;
  int rank_;
  int peers_;
  bool single_;
  bool copied_by_transport_;
  SpcCounters counters_;
  RandomStream noise_;
  std::unique_ptr<Lock> global_lock_;
};

} // namespace contend
