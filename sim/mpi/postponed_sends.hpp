// Sends that found no room and wait at their interface, under its lock (postponed_queue of MPICH's ch4/shm/posix):
//
//   send, lock held:   if queue is empty and post(message): done; else queue.append(message)
//                      (where a call holds the lock only around what needs it, it takes it again to append)
//   turn, lock held:   poll; if queue is not empty and post(queue.first): queue.remove_first
//
// Messages that are sent meanwhile queue up behind, whoever they go to, and a turn of progress sends no more than one.
#pragma once

#include "core/ring_queue.hpp"
#include "mpi/completion_path.hpp"
#include "mpi/delayed_sends.hpp"
#include "mpi/instances.hpp"
#include "mpi/interface_work.hpp"
#include "mpi/process_context.hpp"

#include <vector>

namespace contend {

class PostponedSends final : public InterfaceWork {
public:
  PostponedSends(ProcessContext& process, Instances& instances, CompletionPath& completion);

  /// Whether messages through this interface have to queue up.
  [[nodiscard]] bool waiting_at(int instance) const override {
    return !queues_[static_cast<std::size_t>(instance)].empty();
  }
  /// Requires: the caller has the instance's lock.
  void add(const DelayedSend& send);
  /// Sends the first one if it has room now.
  int run(SimThread& self, int instance) override;

private:
  void show() const;

  ProcessContext& process_;
  Instances& instances_;
  CompletionPath& completion_;
  std::vector<RingQueue<DelayedSend>> queues_; ///< by instance
  TraceLabel label_;
};

} // namespace contend
