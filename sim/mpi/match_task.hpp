// A message whose matching is left to whatever thread takes it.
#pragma once

#include "models/matching/envelope.hpp"
#include "models/waiting/task_pool.hpp"

namespace contend {

class Process;

class MatchTask final : public Task {
public:
  explicit MatchTask(Process& process) : process_(process) {}
  void run(SimThread& self) override;

  Envelope envelope;

private:
  Process& process_;
};

} // namespace contend
