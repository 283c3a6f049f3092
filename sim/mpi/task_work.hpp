// Tasks of the library that nobody has taken: a thread in progress helps as well.
#pragma once

#include "models/waiting/task_pool.hpp"
#include "mpi/end_of_turn_work.hpp"

namespace contend {

class TaskWork final : public EndOfTurnWork {
public:
  explicit TaskWork(TaskPool& tasks) : tasks_(tasks) {}
  [[nodiscard]] bool may_go() const override { return !tasks_.empty(); }
  int run(SimThread& self) override {
    int done = 0;
    while (tasks_.run_one(self, Category::poll_idle)) {
      ++done;
    }
    return done;
  }

private:
  TaskPool& tasks_;
};

} // namespace contend
