#include "simulation/explanation.hpp"

#include <algorithm>
#include <map>
#include <tuple>
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

PlaceReport report(const WaitAccount::PlaceAccount& account, const Engine& engine,
                   const std::vector<std::string>& roles) {
  using Group = std::tuple<std::string, Category, std::string, std::string_view>; // waiter, category, awaited, how
  PlaceReport place;
  place.name = account.place->name;
  const auto is_counted = [&engine](int thread) { // the time of a thread of the library's own is in no role's
    return !engine.threads()[static_cast<std::size_t>(thread)]->daemon();
  };
  for (const auto& [waiter, times] : account.begun) {
    place.waits += is_counted(waiter) ? times : 0;
  }
  std::map<Group, Duration> groups;
  std::map<WaitAccount::Answer, AwaitedThread> awaited;
  const auto awaited_of = [&](const WaitAccount::Answer& answer) -> AwaitedThread& {
    AwaitedThread& thread = awaited[answer];
    thread.name = engine.threads()[static_cast<std::size_t>(answer.by)]->name();
    thread.how = answer.how;
    return thread;
  };
  for (const auto& [wait, time] : account.waits) {
    if (!is_counted(wait.waiter)) {
      continue;
    }
    const bool for_nobody = wait.awaited == WaitAccount::nobody;
    const std::string role = for_nobody ? "" : roles[static_cast<std::size_t>(wait.awaited)];
    groups[{roles[static_cast<std::size_t>(wait.waiter)], wait.category, role, wait.how}] += time;
    place.wait += time;
    if (!for_nobody) {
      awaited_of({wait.awaited, wait.how}).time += time;
    }
  }
  for (const auto& [answer, times] : account.answers) {
    awaited_of(answer).times = times;
  }
  for (const auto& [group, time] : groups) {
    const auto& [waiter, category, role, how] = group;
    place.by_role.push_back({waiter, category, role, std::string(how), time});
  }
  for (auto& [answer, thread] : awaited) {
    place.awaited.push_back(std::move(thread));
  }
  std::stable_sort(place.awaited.begin(), place.awaited.end(),
                   [](const AwaitedThread& a, const AwaitedThread& b) { return a.time > b.time; });
  std::map<Category, Duration> meanwhile;
  for (const auto& [who, time] : account.meanwhile) {
    meanwhile[who.category] += is_counted(who.waiter) ? time : Duration{};
  }
  place.meanwhile.assign(meanwhile.begin(), meanwhile.end());
  return place;
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
  for (const WaitAccount::PlaceAccount& place : account.waiting().places()) {
    if (PlaceReport waits = report(place, engine, roles); waits.wait > Duration{}) {
      explanation.places.push_back(std::move(waits));
    }
  }
  std::stable_sort(explanation.places.begin(), explanation.places.end(),
                   [](const PlaceReport& a, const PlaceReport& b) { return a.wait > b.wait; });
  for (const ContentionAccount::QueueAccount& queue : account.queues()) {
    explanation.queues.push_back({queue.queue->name, queue.mean, queue.maximum});
  }
  for (const ContentionAccount::StageAccount& stage : account.stages()) {
    explanation.stages.push_back({stage.stage->name, stage.messages, stage.busy, stage.queueing, stage.on_wire});
  }
  return explanation;
}

} // namespace contend
