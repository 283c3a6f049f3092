#include "models/locks/clh_lock.hpp"

#include <string>
#include <utility>

namespace contend {

ClhLock::ClhLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
    : Lock(engine, name), host_(host), parameters_(parameters), tail_line_(engine, host, name), tail_(make_node()) {}

ClhLock::Node* ClhLock::make_node() {
  all_.push_back(
      std::make_unique<Node>(engine(), host_, parameters_.pause, name() + "/node/" + std::to_string(all_.size())));
  return all_.back().get();
}

ClhLock::Node*& ClhLock::node_of(SimThread& self) {
  const auto id = static_cast<std::size_t>(self.id());
  if (nodes_.size() <= id) {
    nodes_.resize(id + 1);
  }
  if (nodes_[id] == nullptr) {
    nodes_[id] = make_node();
  }
  return nodes_[id];
}

void ClhLock::append(Node& mine) {
  before_holder_ = std::exchange(tail_, &mine);
  ++appended_;
}

void ClhLock::do_lock(SimThread& self, Category category) {
  Node& mine = *node_of(self);
  mine.line.store(self, category);
  mine.locked = true;
  tail_line_.atomic(self, category); // swap(tail, mine)
  Node* const predecessor = std::exchange(tail_, &mine);
  ++appended_;
  predecessor->spinner.wait(self, category, *this, [predecessor] { return !predecessor->locked; });
  before_holder_ = predecessor;
}

bool ClhLock::do_try_lock(SimThread& self, Category category) {
  tail_line_.load(self, category);
  Node* const last = tail_;
  const std::uint64_t tag = appended_;
  last->line.load(self, category);
  if (last->locked || tag != appended_) {
    return false;
  }
  Node& mine = *node_of(self);
  mine.line.store(self, category);
  if (!tail_line_.compare(self, category, [&] { return tag == appended_; })) { // cmpxchg((tail, tag), (mine, tag + 1))
    return false;
  }
  mine.locked = true;
  append(mine);
  return true;
}

void ClhLock::do_unlock(SimThread& self, Category category) {
  Node*& slot = node_of(self);
  Node& mine = *slot;
  // Whoever comes next sets before_holder_ as soon as it sees the store.
  slot = std::exchange(before_holder_, nullptr);
  mine.line.release(self, category);
  mine.locked = false;
  released();
  mine.spinner.notify();
}

void ClhLock::do_grant(SimThread& self) {
  Node& mine = *node_of(self);
  mine.locked = true;
  append(mine);
}

} // namespace contend
