#include "models/locks/distributed_mutex.hpp"

#include <string>
#include <utility>

namespace contend {

DistributedMutex::Node::Node(SimThread& its_thread, const Host& host, Duration turn, std::string_view name)
    : thread(its_thread), line(its_thread.engine(), host, name),
      publishing(line, turn, Spinners::Loop::in_step, host.hit(LineAccess::atomic)),
      reading(line, turn, Spinners::Loop::in_step, host.hit(LineAccess::load)), futex(its_thread.engine(), host, name) {
}

DistributedMutex::DistributedMutex(Engine& engine, const Host& host, const LockParameters& parameters,
                                   std::string_view name)
    : Lock(engine, name), host_(host), parameters_(parameters), turn_(parameters.pause + time_stamp),
      line_(engine, host, name) {}

DistributedMutex::Node& DistributedMutex::node_of(SimThread& self) {
  return nodes_.of(self, [&] { return std::make_unique<Node>(self, host_, turn_, name() + "/node/" + self.name()); });
}

void DistributedMutex::do_lock(SimThread& self, Category category) {
  if (!set_bit(self, category)) {
    enter(self, category, nullptr);
  }
}

/// Without the attempt at the bit, which would take the line once more.
bool DistributedMutex::do_lock_or_delegate(SimThread& self, Category category, const Section& section) {
  return enter(self, category, &section);
}

bool DistributedMutex::do_try_lock(SimThread& self, Category category) {
  line_.load(self, category);
  return !word_.locked && set_bit(self, category);
}

bool DistributedMutex::set_bit(SimThread& self, Category category) {
  line_.atomic(self, category);
  if (word_.locked) {
    return false;
  }
  do_grant(self);
  return true;
}

void DistributedMutex::do_grant(SimThread& /*self*/) {
  word_ = bit;
  tenure_ = {};
  tenure_.expected = bit;
}

bool DistributedMutex::enter(SimThread& self, Category category, const Section* section) {
  Node& mine = node_of(self);
  const Word address{true, &mine};
  Node* ready = nullptr;
  for (bool sleeps = false;; sleeps = !sleeps) {
    mine.line.store(self, category);
    mine.section = section;
    mine.shown = sleeps ? Shown::sleeps : Shown::nothing;
    mine.shows_time = mine.asleep = mine.woken = false;
    mine.naps_from = TimePoint::never();
    mine.answer = Answer::none;
    mine.end = {};
    mine.sleepers = nullptr;
    line_.atomic(self, category);
    const Word previous = std::exchange(word_, address);
    mine.line.store(self, category);
    mine.before = previous;
    if (!previous.locked) {
      tenure_ = {nullptr, address, {}, nullptr, ready};
      return true;
    }
    if (!(sleeps ? fall_asleep(self, category, mine, ready) : spin(self, category, mine))) {
      continue;
    }
    if (mine.answer == Answer::served) {
      wake(self, category, ready);
      return false;
    }
    const bool last = previous == mine.end;
    tenure_ = {last ? nullptr : previous.last, last ? bit : address, mine.end, mine.sleepers, ready};
    return true;
  }
}

/// Every look writes the time, so that who hands the lock over can see whether this thread has its core. One that wants to be
/// served writes only once, until it finds that it had lost its core: the line would not come to rest where the sections are run.
bool DistributedMutex::spin(SimThread& self, Category category, Node& mine) const {
  mine.shows_time = mine.section == nullptr;
  const Duration look = host_.hit(mine.section == nullptr ? LineAccess::atomic : LineAccess::load);
  Nap nap(parameters_, turn_ + look);
  for (bool first = true;; first = false) {
    if (first || mine.shows_time) {
      mine.line.atomic(self, category);
      mine.shown = mine.section == nullptr ? Shown::spins : Shown::wants_service;
    } else {
      mine.line.load(self, category);
    }
    if (mine.answer != Answer::none) {
      return mine.answer != Answer::skipped;
    }
    mine.naps_from = nap.begins(self.now());
    const Duration waited = self.charged(Category::run_queue);
    nap.rest(mine.shows_time ? mine.publishing : mine.reading, self, category, *this);
    mine.shows_time = mine.shows_time || self.charged(Category::run_queue) > waited;
  }
}

bool DistributedMutex::fall_asleep(SimThread& self, Category category, Node& mine, Node*& ready) {
  mine.line.atomic(self, category); // swap(mine.sleeper, asleep)
  if (std::exchange(mine.asleep, true)) {
    return true; // the lock came before
  }
  while (!mine.woken) {
    wake(self, category, std::exchange(ready, nullptr));
    mine.futex.wait(self, category, mine.line, [&mine] { return !mine.woken; });
    mine.line.load(self, category);
  }
  ready = mine.before.last;
  return false;
}

void DistributedMutex::do_unlock(SimThread& self, Category category) {
  const Tenure tenure = std::exchange(tenure_, {});
  give_back(self, category, tenure);
  wake(self, category, tenure.ready);
}

void DistributedMutex::give_back(SimThread& self, Category category, const Tenure& tenure) {
  Node* sleepers = tenure.sleepers;
  Word expected = tenure.expected;
  if (tenure.next != nullptr) {
    if (hand_over(self, category, tenure.next, tenure.end, sleepers, 0)) {
      return;
    }
    expected = bit; // all the others of this queue are served or asleep
  }
  for (int pass = 0;; ++pass) {
    if (line_.compare(self, category, [&] { return word_ == expected; })) {
      word_ = {};
      released();
      wake(self, category, sleepers);
      return;
    }
    line_.atomic(self, category);
    Node* const last = std::exchange(word_, bit).last;
    if (hand_over(self, category, last, std::exchange(expected, bit), sleepers, pass)) {
      return;
    }
  }
}

bool DistributedMutex::hand_over(SimThread& self, Category category, Node* first, Word end, Node*& sleepers, int pass) {
  constexpr int last_pass_with_service = 2;
  const auto tell = [&](Node& node, Answer answer) {
    node.line.post_release(self, category, [&node, answer] { node.answer = answer; });
  };
  const auto lost_core = [&](const Node& node) {
    return node.shown != Shown::nothing && node.shows_time && (node.naps_from <= self.now() || !node.thread.has_core());
  };
  for (Node* node = first; node != nullptr;) {
    node->line.load(self, category);
    const Word before = node->before; // the node is its thread's again once it has an answer
    if (node->shown == Shown::sleeps) {
      node->end = end;
      node->sleepers = sleepers;
      node->line.atomic(self, category); // swap(sleeper, asleep)
      if (!std::exchange(node->asleep, true)) {
        return true;
      }
      node->before = {true, sleepers};
      sleepers = node;
    } else if (node->shown == Shown::wants_service && (pass <= last_pass_with_service || lost_core(*node))) {
      serve(self, *node->section);
      tell(*node, Answer::served);
    } else if (lost_core(*node)) {
      tell(*node, Answer::skipped);
    } else {
      node->end = end;
      node->sleepers = sleepers;
      tell(*node, Answer::yours);
      return true;
    }
    node = before == end ? nullptr : before.last;
  }
  return false;
}

void DistributedMutex::wake(SimThread& self, Category category, Node* sleeper) {
  if (sleeper == nullptr) {
    return;
  }
  sleeper->line.store(self, category);
  sleeper->woken = true;
  sleeper->futex.wake(self, 1, category);
}

} // namespace contend
