#include "models/locks/mcs_lock.hpp"

#include <string>
#include <utility>

namespace contend {

McsLock::McsLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
    : Lock(engine, name), host_(host), parameters_(parameters), tail_line_(engine, host, name) {}

McsLock::Node& McsLock::node_of(const SimThread& self) {
  return nodes_.of(self, [&] {
    return std::make_unique<Node>(engine(), host_, parameters_.pause, name() + "/node/" + self.name());
  });
}

void McsLock::do_lock(SimThread& self, Category category) {
  Node& mine = node_of(self);
  mine.line.store(self, category); // whoever had the lock before and after the last time wrote to it
  mine.next = nullptr;
  mine.locked = true;
  tail_line_.atomic(self, category); // swap(tail, mine)
  Node* const predecessor = std::exchange(tail_, &mine);
  if (predecessor == nullptr) {
    return;
  }
  predecessor->line.store(self, category);
  predecessor->next = &mine;
  predecessor->spinner.notify();
  mine.spinner.wait(self, category, *this, [&mine] { return !mine.locked; });
}

bool McsLock::do_try_lock(SimThread& self, Category category) {
  node_of(self).line.store(self, category);
  if (!tail_line_.compare(self, category, [this] { return tail_ == nullptr; })) { // cmpxchg(tail, null, mine)
    return false;
  }
  do_grant(self);
  return true;
}

void McsLock::do_unlock(SimThread& self, Category category) {
  Node& mine = node_of(self);
  mine.line.load(self, category);
  if (mine.next == nullptr) {
    if (tail_line_.compare(self, category, [&] { return tail_ == &mine; })) { // cmpxchg(tail, mine, null)
      tail_ = nullptr;
      released();
      return;
    }
    mine.spinner.wait(self, category, *this, [&mine] { return mine.next != nullptr; });
  }
  Node& successor = *mine.next;
  successor.line.release(self, category);
  successor.locked = false;
  released();
  successor.spinner.notify();
}

void McsLock::do_grant(SimThread& self) {
  Node& mine = node_of(self);
  mine.next = nullptr;
  tail_ = &mine;
}

} // namespace contend
