#include "mpi/match_task.hpp"

#include "mpi/process.hpp"

namespace contend {

void MatchTask::run(SimThread& self) {
  const Envelope message = envelope;
  process_.free_match_tasks_.push_back(this);
  process_.receive_now(self, message);
}

/// The message's thread goes on with its poll; some thread of the process matches it.
void Process::receive_later(SimThread& self, const Envelope& envelope) {
  if (free_match_tasks_.empty()) {
    match_tasks_.push_back(std::make_unique<MatchTask>(*this));
    free_match_tasks_.push_back(match_tasks_.back().get());
  }
  MatchTask& task = *free_match_tasks_.back();
  free_match_tasks_.pop_back();
  task.envelope = envelope;
  tasks_->push(self, task);
  end_rests(); // a resting thread would find it at the end of its turn
}

} // namespace contend
