// One iteration of Multirate, as the threads of one process run it.
#pragma once

#include "mpi/mpi.hpp"
#include "multirate/communicators.hpp"
#include "multirate/verifier.hpp"
#include "multirate/workload.hpp"
#include "support/thread_barrier.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace contend::native {

/// One thread's part. Buffers of messages under way do not overlap.
struct Entity {
  Role role = Role::sender;
  int number = 0; ///< among the entities of its role
  int thread = 0; ///< among the threads of its process
  std::vector<MPI_Request> requests;
  std::vector<MPI_Status> statuses; ///< correctness mode only
  std::vector<Expected> expected;   ///< correctness mode only: by request
  std::vector<std::byte> payload;   ///< a slice for each request (a sender outside of correctness mode: one for all)
  Verifier::Order order;

  /// Speaks for its process.
  [[nodiscard]] bool leads() const { return thread == 0; }
};

class Exchange {
public:
  /// `verifier` may be null. `corrupt`: the iteration in which sender 0 sends a wrong payload, -1: never.
  Exchange(const Workload& workload, const Communicators& communicators, Verifier* verifier, std::int64_t corrupt);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  /// Allocates what the entity needs.
  void prepare(Entity& entity) const;
  virtual void iterate(Entity& entity, std::int64_t iteration) = 0;
  /// Completes what the last iteration left under way. Every thread of every process calls it.
  virtual void finish(Entity& /*entity*/) {}
  /// What all processes have sent in so many iterations and `finish`, and by channel and place in the window.
  [[nodiscard]] virtual std::int64_t messages(std::int64_t iterations) const;
  [[nodiscard]] virtual std::vector<std::int64_t> messages_by_place(std::int64_t iterations) const;
  /// All threads of all processes; one thread of each calls MPI_Barrier, as MPI demands of a shared communicator.
  void meet_all(const Entity& entity) { meet(entity, communicators_.world()); }
  /// The threads of this process only.
  void meet_threads() { barrier_.wait(); }

protected:
  [[nodiscard]] const Workload& workload() const { return workload_; }
  [[nodiscard]] const Communicators& communicators() const { return communicators_; }
  /// Buffers of an entity: the most messages that it has under way.
  [[nodiscard]] virtual std::size_t requests_of(Role role) const = 0;
  void meet(const Entity& entity, MPI_Comm communicator);

  [[nodiscard]] Verifier* verifier() const { return verifier_; }
  [[nodiscard]] std::int64_t corrupt_iteration() const { return corrupt_; }
  /// Correctness mode: this message is to have a wrong payload.
  [[nodiscard]] virtual bool corrupts(const Stamp& stamp) const;
  [[nodiscard]] std::span<std::byte> slice(Entity& entity, std::size_t buffer) const;
  /// A message from one of the entity's buffers, or to one.
  [[nodiscard]] MPI_Request start_send(Entity& entity, std::size_t buffer, MPI_Comm communicator, int to, int tag,
                                       const Stamp& stamp) const;
  [[nodiscard]] MPI_Request start_receive(Entity& entity, std::size_t buffer, MPI_Comm communicator,
                                          const Expected& expected) const;
  /// Starts the next request of an entity, whose stamp or expectation is for correctness mode.
  void send(Entity& entity, MPI_Comm communicator, int to, int tag, const Stamp& stamp);
  void receive(Entity& entity, MPI_Comm communicator, const Expected& expected);
  /// Completes all requests of the entity; checks what was received.
  void complete(Entity& entity);
  /// The word between two entities that is not data: one byte.
  static void send_word(MPI_Comm communicator, int to, int tag);
  static void receive_word(MPI_Comm communicator, int from, int tag);

private:
  const Workload& workload_;
  const Communicators& communicators_;
  Verifier* verifier_;
  std::int64_t corrupt_;
  ThreadBarrier barrier_;
};

} // namespace contend::native
