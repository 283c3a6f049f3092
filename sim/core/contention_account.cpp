#include "core/contention_account.hpp"

#include <algorithm>
#include <utility>

namespace contend {

ContentionAccount::~ContentionAccount() {
  if (engine_.trace() == this) {
    engine_.set_trace(nullptr);
  }
}

ContentionAccount::Use& ContentionAccount::Lock::use_of(int thread) {
  const auto id = static_cast<std::size_t>(thread);
  if (account.uses.size() <= id) {
    account.uses.resize(id + 1);
  }
  return account.uses[id];
}

std::vector<ContentionAccount::Waiter>::iterator ContentionAccount::Lock::waiter(int thread) {
  return std::find_if(waiters.begin(), waiters.end(),
                      [&](const Waiter& candidate) { return candidate.thread == thread; });
}

void ContentionAccount::Lock::attribute(Waiter& waiter, TimePoint time) {
  const TimePoint from = std::max(waiter.not_attributed_before, hold_begin);
  if (from < time) {
    use_of(waiter.thread).waited_for[holder] += time - from;
    waiter.not_attributed_before = time;
  }
}

void ContentionAccount::Lock::begin_hold(int thread, TimePoint time) {
  holder = thread;
  held = true;
  hold_begin = time;
  hold_counted_from = time;
}

void ContentionAccount::Lock::end_hold(TimePoint time) {
  use_of(holder).hold += std::max(time - hold_counted_from, Duration{});
  for (Waiter& waiter : waiters) {
    attribute(waiter, time);
  }
  held = false;
  hold_end = time;
}

std::vector<ContentionAccount::Release>::iterator ContentionAccount::Lock::release(int thread) {
  return std::find_if(releases.begin(), releases.end(),
                      [&](const Release& candidate) { return candidate.thread == thread; });
}

ContentionAccount::Lock& ContentionAccount::lock_of(const TraceLabel& label) {
  const auto [number, is_new] = numbers_.try_emplace(&label, locks_.size());
  if (is_new) {
    locks_.emplace_back().account.lock = &label;
  }
  return locks_[number->second];
}

ContentionAccount::StageAccount& ContentionAccount::stage_of(const TraceLabel& label) {
  const auto [number, is_new] = numbers_.try_emplace(&label, stages_.size());
  if (is_new) {
    stages_.emplace_back().stage = &label;
  }
  return stages_[number->second];
}

void ContentionAccount::Lock::forget(int thread, TimePoint time) {
  account.uses[static_cast<std::size_t>(thread)] = {};
  for (Waiter& waiter : waiters) {
    if (waiter.thread == thread) {
      waiter.since = std::max(waiter.since, time);
      waiter.not_attributed_before = std::max(waiter.not_attributed_before, time);
    }
  }
  for (Release& release : releases) {
    if (release.thread == thread) {
      release.since = std::max(release.since, time);
    }
  }
}

void ContentionAccount::restart(const SimThread& thread, TimePoint time) {
  const auto id = static_cast<std::size_t>(thread.id());
  restarted_.resize(std::max(restarted_.size(), id + 1));
  restarted_[id] = true;
  // What threads share counts from the last restart on.
  start_ = engine_.now();
  const auto is_forgotten = [&](std::size_t user) {
    return user == id || user >= restarted_.size() || !restarted_[user];
  };
  for (std::size_t user = 0; user < engine_.threads().size(); ++user) {
    if (is_forgotten(user)) {
      waits_.forget(static_cast<int>(user), user == id ? time : start_);
    }
  }
  waits_.restart();
  for (Lock& lock : locks_) {
    for (std::size_t user = 0; user < lock.account.uses.size(); ++user) {
      if (is_forgotten(user)) {
        lock.forget(static_cast<int>(user), user == id ? time : start_);
      }
      lock.account.uses[user].hold = {};
    }
    lock.hold_counted_from = std::max(lock.hold_counted_from, start_);
  }
  for (Queue& queue : queues_) {
    queue.integral = 0.0;
    queue.since = start_;
    queue.maximum = queue.length;
  }
  for (StageAccount& stage : stages_) {
    stage = {stage.stage, 0, {}, {}, {}};
  }
}

void ContentionAccount::lock_requested(const SimThread& thread, const TraceLabel& label, TimePoint time) {
  Lock& lock = lock_of(label);
  Use& use = lock.use_of(thread.id());
  Waiter waiter{thread.id(), time, time};
  if (lock.held || !lock.waiters.empty() || time < lock.hold_end) {
    ++use.contended;
  }
  if (!lock.held &&
      time < lock.hold_end) { // the holder has said when it gives the lock back, but that is still to come
    use.waited_for[lock.holder] += lock.hold_end - time;
    waiter.not_attributed_before = lock.hold_end;
  }
  lock.waiters.push_back(waiter);
}

void ContentionAccount::end_wait(Lock& lock, const SimThread& thread, Category charged_to, TimePoint time) {
  const auto waiter = lock.waiter(thread.id());
  if (waiter != lock.waiters.end()) {
    lock.use_of(thread.id()).wait += charged_to == Category::lock_wait ? time - waiter->since : Duration{};
    lock.waiters.erase(waiter);
  }
}

void ContentionAccount::lock_acquired(const SimThread& thread, const TraceLabel& label, Category charged_to,
                                      TimePoint time) {
  Lock& lock = lock_of(label);
  end_wait(lock, thread, charged_to, time);
  ++lock.use_of(thread.id()).acquisitions;
  lock.begin_hold(thread.id(), time);
}

void ContentionAccount::lock_delegated(const SimThread& thread, const TraceLabel& label, Category charged_to,
                                       TimePoint time) {
  Lock& lock = lock_of(label);
  const auto waiter = lock.waiter(thread.id());
  if (lock.held && charged_to == Category::lock_wait && waiter != lock.waiters.end()) {
    lock.attribute(*waiter, time); // the hold goes on without this waiter
  }
  end_wait(lock, thread, charged_to, time);
  ++lock.use_of(thread.id()).delegated;
}

void ContentionAccount::lock_refused(const SimThread& thread, const TraceLabel& label, TimePoint /*time*/) {
  ++lock_of(label).use_of(thread.id()).refused;
}

void ContentionAccount::lock_released(const SimThread& thread, const TraceLabel& label, TimePoint time) {
  Lock& lock = lock_of(label);
  lock.releases.push_back({thread.id(), time});
  if (lock.held) { // else it was taken before the account began
    lock.end_hold(time);
  }
}

void ContentionAccount::lock_service_began(const SimThread& thread, const TraceLabel& label, TimePoint time) {
  Lock& lock = lock_of(label);
  if (const auto release = lock.release(thread.id()); release != lock.releases.end()) {
    lock.use_of(thread.id()).release += time - std::exchange(release->since, time);
  }
  lock.begin_hold(thread.id(), time);
}

void ContentionAccount::lock_service_over(const SimThread& thread, const TraceLabel& label, TimePoint time) {
  Lock& lock = lock_of(label);
  if (const auto release = lock.release(thread.id()); release != lock.releases.end()) {
    release->since = time;
  }
  if (lock.held) {
    lock.end_hold(time);
  }
}

void ContentionAccount::unlock_done(const SimThread& thread, const TraceLabel& label, Category charged_to,
                                    TimePoint time) {
  Lock& lock = lock_of(label);
  const auto release = lock.release(thread.id());
  if (release != lock.releases.end()) {
    if (charged_to == Category::lock_wait) {
      lock.use_of(thread.id()).release += time - release->since;
    }
    lock.releases.erase(release);
  }
}

void ContentionAccount::length(const TraceLabel& label, TimePoint time, std::int64_t length) {
  const auto [number, is_new] = numbers_.try_emplace(&label, queues_.size());
  if (is_new) {
    Queue& created = queues_.emplace_back();
    created.label = &label;
    created.since = start_;
  }
  Queue& queue = queues_[number->second];
  queue.integral += static_cast<double>(queue.length) * static_cast<double>((time - queue.since).count());
  queue.since = time;
  queue.length = length;
  queue.maximum = std::max(queue.maximum, length);
}

MessageNumber ContentionAccount::message_posted(const SimThread& thread, const PostedMessage& message) {
  StageAccount& interface = stage_of(message.interface);
  ++interface.messages;
  interface.busy += message.interface_busy;
  interface.queueing += message.served - message.fetched;
  interface.on_wire += message.on_wire;
  StageAccount& context = stage_of(message.context);
  ++context.messages;
  context.busy += message.context_busy;
  context.queueing += message.departure - message.loaded;
  return number_of(thread);
}

void ContentionAccount::message_found(const SimThread& thread, MessageNumber message, TimePoint /*time*/) {
  const SimThread* const sender = message == 0 ? nullptr : engine_.threads()[message - 1].get();
  const bool is_own = sender == nullptr || sender == &thread ||
                      (sender->process() >= 0 && sender->process() == thread.process()); // an operation of its own side
  waits_.found(thread, is_own ? WaitAccount::nobody : sender->id());
}

void ContentionAccount::message_arrived(MessageNumber /*message*/, const TraceLabel& label, TimePoint /*time*/,
                                        Duration busy) {
  StageAccount& interface = stage_of(label);
  ++interface.messages;
  interface.busy += busy;
}

void ContentionAccount::interface_occupied(const TraceLabel& label, std::string_view /*by*/, TimePoint ready,
                                           TimePoint time, Duration busy, Duration on_wire) {
  StageAccount& interface = stage_of(label);
  interface.busy += busy;
  interface.queueing += time - ready;
  interface.on_wire += on_wire;
}

std::vector<ContentionAccount::LockAccount> ContentionAccount::locks() const {
  std::vector<LockAccount> accounts;
  accounts.reserve(locks_.size());
  for (const Lock& lock : locks_) {
    accounts.push_back(lock.account);
  }
  return accounts;
}

std::vector<ContentionAccount::QueueAccount> ContentionAccount::queues() const {
  std::vector<QueueAccount> accounts;
  const auto elapsed = static_cast<double>(this->elapsed().count());
  for (const Queue& queue : queues_) {
    const double rest = static_cast<double>(queue.length) * static_cast<double>((engine_.now() - queue.since).count());
    accounts.push_back({queue.label, elapsed > 0 ? (queue.integral + rest) / elapsed : 0.0, queue.maximum});
  }
  return accounts;
}

} // namespace contend
