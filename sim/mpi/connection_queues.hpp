// What found no room and waits at its connection, in the order in which it came: the pending lists of endpoints in
// btl/openib, btl/ugni, btl/tcp and btl/sm.
#pragma once

#include "core/ring_queue.hpp"
#include "mpi/completion_path.hpp"
#include "mpi/delayed_sends.hpp"
#include "mpi/instances.hpp"
#include "mpi/process_context.hpp"
#include "mpi/rendezvous_steps.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <utility>

namespace contend {

/// What waits at a connection: a message, or a step of a rendezvous.
struct WaitingAtConnection {
  DelayedSend send;
  bool kept = false;                  ///< the message: in memory of the transport
  std::optional<RendezvousStep> step; ///< in place of a message
};

/// Goes on with a rendezvous when one of its steps has been taken.
class StepListener {
public:
  virtual ~StepListener() = default;
  virtual void after_step(SimThread& self, const Instance& instance, const RendezvousStep& step) = 0;
};

class ConnectionQueues {
public:
  ConnectionQueues(ProcessContext& process, Instances& instances, CompletionPath& completion,
                   const RendezvousSteps& steps);

  /// Who is told of steps that have been taken. Called once, before the first message.
  void tell(StepListener& listener) { listener_ = &listener; }
  /// Whether messages that come later queue up behind those that wait at their connection.
  [[nodiscard]] bool keep_order() const { return keep_order_; }
  /// Whether the queues keep order, and something waits at this connection.
  [[nodiscard]] bool others_wait_at(int instance, int destination) const;
  void push(int instance, int destination, const WaitingAtConnection& waiting);
  /// Whether the first in some queue has room now.
  [[nodiscard]] bool may_go() const;
  /// Sends what has room again, as far as the room goes (progress_no_credits_pending_frags in btl/openib). Returns how much
  /// that was.
  int send_where_there_is_room(SimThread& self);
  [[nodiscard]] std::size_t size() const;

private:
  [[nodiscard]] bool has_room_for(const Instance& instance, int destination, const WaitingAtConnection& waiting) const;
  bool try_to_go(SimThread& self, const Instance& instance, int destination, const WaitingAtConnection& waiting);
  void gone(SimThread& self, const Instance& instance, const WaitingAtConnection& waiting);

  ProcessContext& process_;
  Instances& instances_;
  CompletionPath& completion_;
  const RendezvousSteps& steps_;
  StepListener* listener_ = nullptr;
  bool keep_order_;
  std::map<std::pair<int, int>, RingQueue<WaitingAtConnection>> queues_; ///< by (instance, destination)
};

} // namespace contend
