#include "models/locks/queued_spinlock.hpp"

#include <string>
#include <utility>

namespace contend {

QueuedSpinlock::QueuedSpinlock(Engine& engine, const Host& host, const LockParameters& parameters,
                               std::string_view name)
    : Lock(engine, name), host_(host), parameters_(parameters), word_(engine, host, name),
      spinners_(word_, parameters.pause) {}

QueuedSpinlock::Node& QueuedSpinlock::node_of(const SimThread& self) {
  return nodes_.of(self, [&] {
    return std::make_unique<Node>(engine(), host_, parameters_.pause, name() + "/node/" + self.name());
  });
}

void QueuedSpinlock::do_lock(SimThread& self, Category category) {
  if (word_.compare(self, category, [this] { return !taken(); })) { // cmpxchg(word, 0, locked)
    held_ = true;
    return;
  }
  if (pending_ || tail_ != nullptr || !take_pending(self, category)) {
    queue_up(self, category);
  }
}

/// The first waiter needs no node.
bool QueuedSpinlock::take_pending(SimThread& self, Category category) {
  word_.atomic(self, category); // fetch_or(word, pending)
  if (pending_ || tail_ != nullptr) {
    return false;
  }
  pending_ = true;
  spinners_.wait(self, category, *this, [this] { return !held_; });
  word_.store(self, category); // pending bit off, locked byte on
  pending_ = false;
  held_ = true;
  spinners_.notify();
  return true;
}

void QueuedSpinlock::queue_up(SimThread& self, Category category) {
  Node& mine = node_of(self);
  mine.line.store(self, category); // whoever was before and behind it the last time wrote to it
  mine.next = nullptr;
  mine.first = false;
  word_.atomic(self, category); // xchg(tail, mine)
  Node* const predecessor = std::exchange(tail_, &mine);
  if (predecessor != nullptr) {
    predecessor->line.store(self, category);
    predecessor->next = &mine;
    predecessor->spinner.notify();
    mine.spinner.wait(self, category, *this, [&mine] { return mine.first; });
  }
  spinners_.wait(self, category, *this, [this] { return !held_ && !pending_; });
  word_.atomic(self, category); // cmpxchg(word, mine, locked), or the locked byte alone where others queue
  held_ = true;
  if (tail_ == &mine) {
    tail_ = nullptr;
    return;
  }
  mine.spinner.wait(self, category, *this, [&mine] { return mine.next != nullptr; });
  Node& successor = *mine.next;
  successor.line.store(self, category);
  successor.first = true;
  successor.spinner.notify();
}

bool QueuedSpinlock::do_try_lock(SimThread& self, Category category) {
  word_.load(self, category);
  if (taken() || !word_.compare(self, category, [this] { return !taken(); })) {
    return false;
  }
  held_ = true;
  return true;
}

void QueuedSpinlock::do_unlock(SimThread& self, Category category) {
  word_.release(self, category);
  held_ = false;
  released();
  spinners_.notify();
}

void QueuedSpinlock::do_grant(SimThread& /*self*/) { held_ = true; }

} // namespace contend
