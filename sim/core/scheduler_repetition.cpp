// What a thread repeats without being simulated step by step, and how it comes back from that when somebody interferes: piece by
// piece, as its own code would, up to where its own code goes on.
#include "core/scheduler_parts.hpp"

#include <algorithm>
#include <utility>

namespace contend {

void Scheduler::repeats(SimThread& self, Repetition& repetition) { task_of(self).repetition = &repetition; }

void Scheduler::note_uninterrupted(SimThread& self, std::vector<UninterruptedSpan>* spans, TimePoint origin) {
  Task& task = task_of(self);
  task.spans = spans;
  task.spans_origin = origin;
}

/// What it repeats is simulated from here on: the operating system is about to interfere.
void Scheduler::end_repetition(Task& task) {
  if (task.repetition != nullptr) {
    come_back(task.thread, task.repetition->cut_short());
  }
}

void Scheduler::come_back(SimThread& thread, const RepeatedPlace& place) {
  if (giving_up()) {
    return;
  }
  Task& task = task_of(thread);
  task.repetition = nullptr;
  const Duration run_again = place.passed - std::min(place.passed, place.goal - place.at);
  charge(thread, task.since, now() - task.since - run_again, task.category);
  task.since = now();
  go_on(task, task.place.emplace(place));
}

/// The span that cannot be interrupted and is not over yet; nullptr: none comes.
const UninterruptedSpan* Scheduler::next_span(const RepeatedPlace& place) {
  const auto& spans = *place.uninterrupted;
  const auto next =
      std::find_if(spans.begin(), spans.end(), [&](const UninterruptedSpan& span) { return place.at < span.end; });
  return next == spans.end() ? nullptr : &*next;
}

/// The next piece of its way back from a repetition.
void Scheduler::go_on(Task& task, RepeatedPlace& place) {
  const UninterruptedSpan* const span = next_span(place);
  const bool inside = span != nullptr && span->begin <= place.at && place.at < place.goal;
  const Duration end = span == nullptr ? place.goal : std::min(place.goal, inside ? span->end : span->begin);
  task.activity = inside ? Task::Activity::settling : Task::Activity::computing;
  task.left = std::max(end - place.at, Duration{});
  place.at += task.left;
  task.step.at(now() + task.left);
}

/// At the end of a span that cannot be interrupted: what interfered meanwhile does so now (settle()). Returns false if it did.
bool Scheduler::leave_span(Task& task, const RepeatedPlace& place) {
  const bool is_end = std::any_of(place.uninterrupted->begin(), place.uninterrupted->end(),
                                  [&](const UninterruptedSpan& span) { return place.at == span.end; });
  if (task.activity != Task::Activity::settling || !is_end) {
    return true;
  }
  if (const Duration stolen = std::exchange(task.stolen, {}); stolen != Duration{}) {
    charge(task.thread, now(), stolen, Category::context_switch);
    task.since = now() + stolen;
    task.step.at(task.since);
    return false;
  }
  task.activity = Task::Activity::computing;
  task.left = {};
  Core& core = *task.core;
  if (!core.asked) {
    return true;
  }
  Task* const next = successor(core);
  if (next == nullptr) {
    return true;
  }
  lose_core(task);
  dispatch(core, *next, {});
  return false;
}

/// How much of the next `span` of its own code has not passed yet.
Duration Scheduler::still_to_pass(Task& task, Duration span) {
  const Duration passed = std::min(task.passed, span);
  task.passed -= passed;
  return span - passed;
}

} // namespace contend
