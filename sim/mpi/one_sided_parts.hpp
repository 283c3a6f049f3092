// The parts of a process that its windows work with.
#pragma once

#include "models/nic/transport.hpp"
#include "mpi/active_messages.hpp"
#include "mpi/instances.hpp"
#include "mpi/process_context.hpp"
#include "mpi/progress_turns.hpp"

namespace contend {

struct OneSidedParts {
  ProcessContext& process;
  Instances& instances;
  ProgressTurns& turns;
  ActiveMessages& active;
  CompletionHandler& handler; ///< of what polls find
};

} // namespace contend
