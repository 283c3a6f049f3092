#include "simulation/explanation.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace contend {

namespace {

LockReport report(const ContentionAccount::LockAccount& account, const std::vector<std::string>& roles) {
  LockReport lock;
  lock.name = account.lock->name;
  std::map<std::pair<std::string, std::string>, Duration> waits; // by waiter and holder
  for (std::size_t thread = 0; thread < account.uses.size(); ++thread) {
    const ContentionAccount::Use& use = account.uses[thread];
    lock.acquisitions += use.acquisitions;
    lock.contended += use.contended;
    lock.refused += use.refused;
    lock.delegated += use.delegated;
    lock.wait += use.wait;
    lock.release += use.release;
    lock.hold += use.hold;
    Duration for_nobody = use.wait;
    for (const auto& [holder, time] : use.waited_for) {
      waits[{roles[thread], roles[static_cast<std::size_t>(holder)]}] += time;
      for_nobody -= time;
    }
    if (for_nobody != Duration{}) {
      waits[{roles[thread], ""}] += for_nobody;
    }
  }
  for (const auto& [who, time] : waits) {
    lock.waits.push_back({who.first, who.second, time});
  }
  return lock;
}

} // namespace

Explanation explain(const ContentionAccount& account, const Engine& engine,
                    const std::function<std::string(const SimThread&)>& role_of) {
  std::vector<std::string> roles;
  for (const auto& thread : engine.threads()) {
    roles.push_back(role_of(*thread));
  }
  Explanation explanation;
  explanation.elapsed = account.elapsed();
  for (const ContentionAccount::LockAccount& lock : account.locks()) {
    explanation.locks.push_back(report(lock, roles));
  }
  std::stable_sort(explanation.locks.begin(), explanation.locks.end(),
                   [](const LockReport& a, const LockReport& b) { return a.wait > b.wait; });
  for (const ContentionAccount::QueueAccount& queue : account.queues()) {
    explanation.queues.push_back({queue.queue->name, queue.mean, queue.maximum});
  }
  for (const ContentionAccount::StageAccount& stage : account.stages()) {
    explanation.stages.push_back({stage.stage->name, stage.messages, stage.busy, stage.queueing, stage.on_wire});
  }
  return explanation;
}

} // namespace contend
