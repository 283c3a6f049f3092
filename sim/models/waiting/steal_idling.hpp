// The waiting thread does the library's work instead of sleeping (D ch. 4, thread pool): it takes tasks as long as there
// are some, and spins on the line of the pool and that of its sync object when there are none.
#pragma once

#include "models/waiting/idling.hpp"

#include <stdexcept>

namespace contend {

class StealIdling final : public Idling {
public:
  static constexpr IdlingTraits traits{.takes_tasks = true};

  explicit StealIdling(const IdlingParts& parts) : tasks_(parts.tasks) {
    if (tasks_ == nullptr) {
      throw std::invalid_argument("threads that steal tasks need a pool of them");
    }
  }

  void idle(SimThread& self, SyncObject& sync) override {
    while (sync.idles() && tasks_->run_one(self, Category::poll_idle)) {
    }
    self.settle();
    sync.line.load(self, Category::poll_idle);
    if (sync.idles() && tasks_->look(self, Category::poll_idle) && sync.idles()) {
      tasks_->spin(self, sync);
    }
  }
  [[nodiscard]] bool idles(const SyncObject& sync) const override { return sync.spinning != nullptr; }
  void wake(SimThread& self, SyncObject& sync, Category category, bool told) override {
    if (told) {
      sync.line.store(self, category);
    }
    tasks_->stop_spinning(sync);
  }

private:
  TaskPool* tasks_;
};

} // namespace contend
