// The communication resource instances of a process, and which of them an operation goes through.
#pragma once

#include "core/engine.hpp"
#include "models/locks/lock.hpp"
#include "models/nic/nic.hpp"
#include "models/nic/rdma.hpp"
#include "models/nic/transport.hpp"
#include "mpi/assignment.hpp"
#include "mpi/instance_mapping.hpp"
#include "mpi/instance_use.hpp"
#include "mpi/process_context.hpp"

#include <memory>
#include <vector>

namespace contend {

/// A communication resource instance: a lock and what it protects.
struct Instance {
  std::unique_ptr<Lock> lock;
  TransportContext* context = nullptr;
  NicContext* interface = nullptr;                      ///< the same, if the transport is a network interface
  std::vector<std::unique_ptr<Connection>> connections; ///< by peer rank
  std::vector<std::unique_ptr<Lock>> connection_locks;  ///< by peer rank, if the design has them
  std::vector<std::unique_ptr<RdmaEndpoint>> one_sided; ///< by peer rank; nullptr: none
  int waiting_without_memory = 0; ///< what waits at its connections and is not in memory of the transport

  [[nodiscard]] Connection& connection_to(int destination) const {
    return *connections[static_cast<std::size_t>(destination)];
  }
  /// What a sender holds: the connection's lock, if it has one, or the instance's.
  [[nodiscard]] Lock& send_lock(int destination) const {
    return connection_locks.empty() ? *lock : *connection_locks[static_cast<std::size_t>(destination)];
  }
};

class Instances {
public:
  /// `listener` is told what happens at any of them.
  Instances(ProcessContext& process, ActivityListener& listener);

  /// Those that exist: as many as asked for, or as the interface has contexts.
  [[nodiscard]] int count() const { return static_cast<int>(all_.size()); }
  [[nodiscard]] Instance& operator[](int number) { return all_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] const Instance& operator[](int number) const { return all_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] auto begin() { return all_.begin(); }
  [[nodiscard]] auto end() { return all_.end(); }
  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }
  [[nodiscard]] int number_of(const Instance& instance) const { return static_cast<int>(&instance - all_.data()); }
  /// The one whose lock it is. Requires: there is one.
  [[nodiscard]] Instance& with_lock(const Lock& lock);
  /// One whose lock the thread holds; nullptr: none.
  [[nodiscard]] Instance* held_by(const SimThread& self);
  /// What a poll of the instance holds: the global lock, if there is one.
  [[nodiscard]] Lock& lock_of(const Instance& instance) const {
    return process_.global_lock() != nullptr ? *process_.global_lock() : *instance.lock;
  }

  /// Makes endpoints from every instance of this process to the instances of `peer`.
  void connect(Instances& peer);

  // Which one.
  [[nodiscard]] const InstanceMapping& mapping() const { return mapping_; }
  /// What a message goes through: what it is mapped to, or the choice of the thread.
  int of_message(SimThread& self, int communicator, int tag, int peer);
  /// The choice of the thread.
  int of_thread(SimThread& self) { return assignment_->pick(self); }
  /// The one that the thread polls first, where threads choose.
  int polled_first_by(SimThread& self) { return polled_first_->pick(self); }
  /// Several threads sent something, and all of it went through one of several instances, because they had one communicator.
  [[nodiscard]] bool threads_met_at_one() const;

  // The locks of instances, where they guard queues: one, or, by InstanceMapping::every_instance, all in a fixed order.
  [[nodiscard]] bool guard_queues() const { return guard_queues_; }
  void lock_guards(SimThread& self, int number);
  void unlock_guards(SimThread& self, int number);

private:
  ProcessContext& process_;
  InstanceMapping mapping_;
  InstanceUse use_;
  bool guard_queues_;
  std::vector<std::unique_ptr<CacheLine>> lock_lines_; ///< where locks share lines: from one to the next
  std::vector<Instance> all_;
  std::unique_ptr<Assignment> assignment_;
  std::unique_ptr<Assignment> polling_assignment_; ///< none: assignment_ gives each thread its own
  Assignment* polled_first_ = nullptr;
};

} // namespace contend
