#include "core/wait_account.hpp"

#include "core/wait_scope.hpp"

#include <algorithm>

namespace contend {

WaitAccount::WaitAccount() { place_of(polling_); }

WaitAccount::PlaceAccount& WaitAccount::place_of(const TraceLabel& label) {
  const auto [found, is_new] = by_label_.try_emplace(&label, nullptr);
  if (is_new) {
    found->second = &places_.emplace_back();
    found->second->place = &label;
  }
  return *found->second;
}

WaitAccount::Thread& WaitAccount::thread_of(int id) {
  const auto index = static_cast<std::size_t>(id);
  if (threads_.size() <= index) {
    threads_.resize(index + 1);
  }
  return threads_[index];
}

SimThread::Times WaitAccount::History::until(TimePoint time) const {
  SimThread::Times done = times;
  if (time < last.end) { // told of ahead
    done[static_cast<std::size_t>(last.category)] -= last.end - std::max(last.begin, time);
  }
  return done;
}

void WaitAccount::span(const SimThread& thread, Category category, TimePoint begin, TimePoint end) {
  if (begin == end) {
    return;
  }
  Thread& self = thread_of(thread.id());
  const auto extends = [&](const Span& last) { return last.category == category && last.end == begin; };
  self.history.times[static_cast<std::size_t>(category)] += end - begin;
  self.history.last = {category, extends(self.history.last) ? self.history.last.begin : begin, end};
  if (begin < last_began_) { // told of late: it was under way when these began to wait
    for (Thread& waiter : threads_) {
      const auto id = static_cast<std::size_t>(thread.id());
      if (waiter.place != nullptr && begin < waiter.since && id < waiter.others.size()) {
        waiter.others[id][static_cast<std::size_t>(category)] += std::min(end, waiter.since) - begin;
      }
    }
  }
  if (!counts(category)) {
    return;
  }
  if (self.place != nullptr) {
    if (!self.spans.empty() && extends(self.spans.back())) {
      self.spans.back().end = end;
    } else {
      self.spans.push_back({category, begin, end});
    }
  } else if (category == Category::poll_idle) {
    self.idle += end - std::clamp(self.counts_from, begin, end);
  }
}

void WaitAccount::reclassified(const SimThread& thread, Duration span, Category from) {
  Thread& self = thread_of(thread.id());
  if (from == Category::poll_idle && self.place == nullptr) {
    self.idle -= std::min(span, self.idle);
  }
}

void WaitAccount::began(const SimThread& thread, const TraceLabel& place, TimePoint time) {
  Thread& self = thread_of(thread.id());
  self.place = &place_of(place);
  self.since = time;
  self.answer = {};
  self.answered_at = TimePoint::never();
  self.spans.clear();
  self.meanwhile = {};
  self.others.clear();
  if (threads_.size() <= most_watched) {
    self.others.reserve(threads_.size());
    for (const Thread& other : threads_) {
      self.others.push_back(other.history.until(time));
    }
  }
  last_began_ = std::max(last_began_, time);
  ++self.place->begun[thread.id()];
}

void WaitAccount::add_meanwhile(Thread& waiter, std::size_t by, TimePoint time) {
  if (by >= waiter.others.size() || waiter.since >= time) {
    return;
  }
  const SimThread::Times done = threads_[by].history.until(time);
  for (std::size_t i = 0; i < category_count; ++i) {
    waiter.meanwhile[i] += done[i] - waiter.others[by][i];
  }
}

void WaitAccount::answer(Thread& waiter, const SimThread& by, std::string_view how, TimePoint time) {
  waiter.answer = {by.id(), how};
  waiter.answered_at = time;
  if (!waiter.place->is_served) {
    add_meanwhile(waiter, static_cast<std::size_t>(by.id()), time);
    return;
  }
  for (std::size_t id = 0; id < threads_.size(); ++id) {
    if (threads_[id].serves == waiter.place) {
      add_meanwhile(waiter, id, time);
    }
  }
}

void WaitAccount::service_began(const SimThread& thread, const TraceLabel& place, TimePoint time) {
  Thread& self = thread_of(thread.id());
  self.serves = &place_of(place);
  self.serves->is_served = true;
  const auto id = static_cast<std::size_t>(thread.id());
  for (Thread& waiter : threads_) {
    if (waiter.place == self.serves && id < waiter.others.size()) {
      waiter.others[id] = self.history.until(time);
    }
  }
}

void WaitAccount::service_over(const SimThread& thread, TimePoint time) {
  Thread& self = thread_of(thread.id());
  if (self.serves == nullptr) {
    return; // it began before the account did
  }
  for (Thread& waiter : threads_) {
    if (waiter.place == self.serves && waiter.answer.by == nobody) {
      add_meanwhile(waiter, static_cast<std::size_t>(thread.id()), time);
    }
  }
  self.serves = nullptr;
}

void WaitAccount::answered(const TraceLabel& place, int waiter, const SimThread& by, std::string_view how,
                           TimePoint time) {
  PlaceAccount& account = place_of(place);
  const auto waits = [&account](const Thread& thread) {
    return thread.place == &account && thread.answer.by == nobody;
  };
  thread_of(by.id()); // no reference to a thread may move from here on
  bool counts = false;
  if (waiter == TraceSink::everybody) {
    for (Thread& thread : threads_) {
      if (waits(thread)) {
        answer(thread, by, how, time);
        counts = true;
      }
    }
  } else if (static_cast<std::size_t>(waiter) < threads_.size() && waits(thread_of(waiter))) {
    answer(thread_of(waiter), by, how, time);
    counts = true;
  }
  if (counts) {
    ++account.answers[{by.id(), how}];
  }
}

void WaitAccount::over(const SimThread& thread) {
  Thread& self = thread_of(thread.id());
  if (self.place == nullptr) {
    return; // it began before the account did
  }
  PlaceAccount& place = *self.place;
  const bool has_answer = self.answer.by != nobody;
  for (const Span& span : self.spans) {
    const TimePoint begin = std::max(span.begin, self.counts_from);
    if (begin >= span.end) {
      continue;
    }
    const TimePoint turn = has_answer ? std::clamp(self.answered_at, begin, span.end) : begin;
    if (begin < turn) {
      place.waits[{thread.id(), span.category, self.answer.by, self.answer.how}] += turn - begin;
    }
    if (turn < span.end) {
      place.waits[{thread.id(), span.category, nobody, {}}] += span.end - turn;
    }
  }
  for (std::size_t i = 0; i < category_count && self.counts_from <= self.since; ++i) {
    if (self.meanwhile[i] > Duration{}) {
      place.meanwhile[{thread.id(), static_cast<Category>(i)}] += self.meanwhile[i];
    }
  }
  self.place = nullptr;
}

void WaitAccount::found(const SimThread& thread, int by) {
  Thread& self = thread_of(thread.id());
  if (self.idle == Duration{}) {
    return;
  }
  PlaceAccount& polling = places_.front();
  ++polling.begun[thread.id()];
  polling.waits[{thread.id(), Category::poll_idle, by, by == nobody ? std::string_view() : sent_a_message}] +=
      std::exchange(self.idle, {});
}

void WaitAccount::forget(int thread, TimePoint time) {
  for (PlaceAccount& place : places_) {
    std::erase_if(place.waits, [thread](const auto& entry) { return entry.first.waiter == thread; });
    std::erase_if(place.meanwhile, [thread](const auto& entry) { return entry.first.waiter == thread; });
    place.begun.erase(thread);
  }
  Thread& self = thread_of(thread);
  self.counts_from = time;
  self.idle = {};
  self.spans.clear();
}

void WaitAccount::restart() {
  for (PlaceAccount& place : places_) {
    place.answers.clear();
  }
}

} // namespace contend
