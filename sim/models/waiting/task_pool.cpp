#include "models/waiting/task_pool.hpp"

#include <algorithm>
#include <utility>

namespace contend {

void TaskPool::push(SimThread& self, Task& task) {
  self.owe(dispatch_, Category::software);
  line_.atomic(self, Category::line_transfer);
  tasks_.push_back({&task, self.id()});
  for (SyncObject* const sync : spinning_) { // all have lost their copies of the line
    std::exchange(sync->spinning, nullptr)->resume();
  }
  spinning_.clear();
}

bool TaskPool::run_one(SimThread& self, Category category) {
  if (look(self, category)) {
    return false;
  }
  line_.atomic(self, category);
  if (tasks_.empty()) {
    return false; // another thread was faster
  }
  const Entry entry = tasks_.front();
  tasks_.pop_front();
  ++run_;
  stolen_ += entry.pushed_by != self.id() ? 1 : 0;
  self.owe(dispatch_, Category::software);
  entry.task->run(self);
  return true;
}

void TaskPool::spin(SimThread& self, SyncObject& sync) {
  sync.spinning = &self;
  spinning_.push_back(&sync);
  self.wait(*this, Category::poll_idle);
}

void TaskPool::stop_spinning(SyncObject& sync) {
  if (SimThread* const waiter = std::exchange(sync.spinning, nullptr); waiter != nullptr) {
    spinning_.erase(std::find(spinning_.begin(), spinning_.end(), &sync));
    waiter->resume();
  }
}

} // namespace contend
