#pragma once

#include "core/time.hpp"

namespace contend {

/// A network interface with user-level contexts (queue pair + completion queue).
struct NicParameters {
  Duration post{};               ///< CPU: build one work request
  Duration doorbell{};           ///< CPU: ring the doorbell (uncached store)
  Duration wqe_fetch{};          ///< NIC: from doorbell to the first byte on the wire
  Duration context_gap{};        ///< NIC: least time between two messages of one context
  Duration nic_gap{};            ///< NIC: least time between two messages of the whole interface
  Duration completion{};         ///< CPU: take one entry out of a completion queue
  Duration empty_poll{};         ///< CPU: look at an empty completion queue
  int max_contexts = 0;          ///< contexts that the hardware can give to one process
  int send_queue_depth = 0;      ///< work requests that one endpoint may have outstanding
  int send_completion_batch = 1; ///< the interface reports every n-th send completion (CQ moderation)
  int flow_control_window = 0;   ///< messages an endpoint may send without a grant from its peer; 0: no flow control
  int poll_batch = 1;            ///< completions handled per look at the queue
};

} // namespace contend
