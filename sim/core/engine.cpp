#include "core/engine.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace contend {

Target::Target(Engine& engine, bool is_thread)
    : engine_(engine), slot_(engine.add_target(*this)), is_thread_(is_thread) {}

Target::~Target() { engine_.remove_target(slot_); }

SimThread::SimThread(Engine& engine, std::string name, int host, int core, Body body, bool daemon, CorePolicy* policy,
                     const CorePaces* paces)
    : Target(engine, true), name_(std::move(name)), id_(static_cast<int>(engine.threads().size())), host_(host),
      core_(core), body_(std::move(body)), policy_(policy), paces_(paces),
      plain_(paces == nullptr && engine.trace() == nullptr), daemon_(daemon) {}

ProcessorUse SimThread::processor_use() const {
  const Times spent = times();
  const Duration all = std::accumulate(spent.begin(), spent.end(), Duration{});
  return {all - off_core_, voluntary_switches_, involuntary_switches_};
}

void SimThread::was_off_core(TimePoint begin, TimePoint end) {
  begin = std::max(begin, counted_from_);
  off_core_ += std::max(end - begin, Duration{});
}

Duration SimThread::at_pace(Duration span) const { return paces_->on(core_, span); }

void SimThread::tell_trace(TimePoint begin, Duration span, Category category) {
  if (engine_.trace() != nullptr) {
    engine_.trace()->span(*this, category, begin, begin + span);
  }
}

void SimThread::resume_at(TimePoint time) {
  mark_resumed();
  if (policy_ != nullptr) {
    policy_->resume_at(*this, time);
  } else {
    engine_.wake_at(*this, time);
  }
}

void SimThread::wake_at(TimePoint runnable, Duration latency, const SimThread& waker) {
  if (policy_ != nullptr) {
    mark_resumed();
    policy_->wake(*this, waker, runnable, latency);
  } else {
    resume_at(runnable + latency);
  }
}

void SimThread::refuse_to_resume() const {
  if (engine_.unwinding_) {
    return; // nobody goes on any more
  }
  throw InvariantViolation("thread '" + name_ + "' is resumed, but has ended or was resumed before");
}

void SimThread::run_body() {
  try {
    body_(*this);
    settle();
    if (policy_ != nullptr) {
      policy_->ended(*this);
    }
  } catch (const Engine::Unwind&) {
    // the simulation was given up; only the stack had to be cleaned
  } catch (...) {
    // While the simulation is given up, a backend may unwind with an exception of its own: that is no error.
    if (!engine_.unwinding_ && !engine_.error_) {
      engine_.error_ = std::current_exception();
    }
  }
  finished_ = true;
  resumed_ = true;
  if (!daemon_) {
    engine_.last_end_ = engine_.now_;
  }
  --(daemon_ ? engine_.daemons_ : engine_.unfinished_);
}

void SimThread::fiber_entry(void* self) {
  auto& thread = *static_cast<SimThread*>(self);
  thread.run_body();
  Engine& engine = thread.engine_;
  Fiber* next = engine.ending() ? &engine.main_ : engine.next_fiber(&thread);
  thread.fiber_.switch_to(*next);
  std::abort(); // a finished thread is never continued
}

Engine::Engine(std::uint64_t seed, std::unique_ptr<Backend> backend) : backend_(std::move(backend)), seed_(seed) {
  if (backend_) {
    alone_until_ = TimePoint(); // the backend says who is due
  }
}

Engine::~Engine() { abandon(); }

void Engine::set_trace(TraceSink* trace) {
  trace_ = trace;
  for (const auto& thread : threads_) {
    thread->plain_ = trace == nullptr && thread->paces_ == nullptr;
  }
}

void Engine::abandon() {
  unwinding_ = true;
  observer_ = nullptr; // may be gone, and has seen the run
  set_trace(nullptr);
  if (backend_) {
    backend_->abandon();
    return;
  }
  for (const auto& thread : threads_) {
    if (thread->started_ && !thread->finished_) {
      main_.switch_to(thread->fiber_);
    }
    if (thread->stack_.mapping != nullptr) {
      stacks_.release(std::exchange(thread->stack_, {}));
    }
  }
}

TargetSlot Engine::add_target(Target& target) {
  if (!free_slots_.empty()) {
    const TargetSlot slot = free_slots_.back();
    free_slots_.pop_back();
    targets_[slot] = &target;
    return slot;
  }
  if (targets_.size() > EventKey::max_slot) {
    throw std::length_error("too many threads and events in one simulation");
  }
  targets_.push_back(&target);
  return static_cast<TargetSlot>(targets_.size() - 1);
}

SimThread& Engine::add_thread(std::string name, int host, int core, SimThread::Body body, bool daemon,
                              CorePolicy* policy) {
  threads_.push_back(std::make_unique<SimThread>(*this, std::move(name), host, core, std::move(body), daemon, policy,
                                                 core_paces(host)));
  SimThread& thread = *threads_.back();
  ++(daemon ? daemons_ : unfinished_);
  if (backend_) {
    backend_->start(thread);
  } else if (policy == nullptr) { // a policy says itself when the thread has a core
    make_ready(thread);
  }
  return thread;
}

void Engine::run() {
  if (backend_) {
    backend_->run();
  } else if (ready_head_ != nullptr || !queue_.empty()) {
    if (Fiber* next = next_fiber(nullptr); next != nullptr) {
      main_.switch_to(*next);
    }
  }
  if (error_) {
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
  if (unfinished_ > 0) {
    throw Deadlock("deadlock at " + std::to_string(now_.since_start().count()) +
                   " ps of simulated time:" + thread_report());
  }
}

namespace {

/// A date beyond the last one that there is has become one before the first.
void check_range(TimePoint time) {
  if (time < TimePoint()) {
    throw BeyondTime("something happens after the 9223372 seconds that simulated time has");
  }
}

} // namespace

void Engine::schedule(Event& event, TimePoint time) {
  if (time < now_) {
    check_range(time);
    throw InvariantViolation("an event was scheduled in the past");
  }
  if (backend_) {
    backend_->schedule(event, time);
  } else {
    insert(event, time);
  }
}

void Engine::insert(Target& target, TimePoint time) {
  if (time == now_ && ready_head_ != nullptr && !on_ready_list(target)) {
    append_ready(target); // the queue would let it overtake
  } else {
    enqueue(target, time);
  }
}

void Engine::wake_at(SimThread& thread, TimePoint time) {
  if (time < now_) {
    check_range(time);
    throw InvariantViolation("thread '" + thread.name() + "' was woken in the past");
  }
  if (time == now_) {
    make_ready(thread); // after everything already due now, whichever call says "now"
  } else if (backend_) {
    backend_->wake(thread, time);
  } else {
    insert(thread, time);
  }
}

/// Takes steps until a thread is due. Returns the fiber to switch to, which is main_ when the run is over, or nothing
/// when the caller (a thread, or run() if null) goes on itself.
Fiber* Engine::next_fiber(const SimThread* self) {
  if (unwinding_) [[unlikely]] {
    return nullptr; // a destructor spends or waits while its stack is unwound: there is no more time
  }
  Fiber* const end_of_run = self == nullptr ? nullptr : &main_;
  for (;;) {
    Target* target = nullptr;
    // Entries of the queue that are due now were inserted before now became now: they precede the ready list.
    if (ready_head_ != nullptr && queue_.next_time() > now_) {
      target = std::exchange(ready_head_, ready_head_->next_ready_);
      target->next_ready_ = nullptr;
    } else if (!queue_.empty()) {
      const EventKey key = queue_.take();
      now_ = key.time();
      target = targets_[key.slot()];
    } else {
      return end_of_run;
    }
    alone_until_ = ready_head_ != nullptr ? TimePoint() : queue_.next_time();
    if (count_step(target->slot_)) [[unlikely]] {
      return end_of_run;
    }
    try {
      if (target->is_thread_) {
        auto& thread = *static_cast<SimThread*>(target);
        if (&thread == self) {
          return nullptr;
        }
        return thread.started_ ? &thread.fiber_ : start(thread);
      }
      static_cast<Event*>(target)->fire();
    } catch (...) { // not through the stack of whoever happens to be here
      if (!error_) {
        error_ = std::current_exception();
      }
      return end_of_run;
    }
  }
}

Fiber* Engine::start(SimThread& thread) {
  thread.stack_ = stacks_.acquire();
  thread.started_ = true;
  thread.fiber_.prepare(thread.stack_, &SimThread::fiber_entry, &thread);
  return &thread.fiber_;
}

void Engine::throw_unwind() { throw Unwind(); }

void Engine::backend_step(TimePoint time, TargetSlot slot) {
  now_ = time;
  static_cast<void>(count_step(slot)); // backends ask ending() themselves
}

/// Shows a step to whoever watches, and looks now and then whether the run is to end. Returns whether it is.
bool Engine::attend(TargetSlot slot) {
  if (observer_ != nullptr) {
    observer_->step(now_, slot);
  }
  attention_at_ = observer_ != nullptr ? steps_ : (steps_ / stop_check_period + 1) * stop_check_period;
  if (steps_ % stop_check_period != 0) {
    return false;
  }
  check_stop();
  return error_ != nullptr;
}

void Engine::check_stop() {
  if (unwinding_) {
    return;
  }
  if (stop_flag_ != nullptr && stop_flag_->load(std::memory_order_relaxed) && !error_) {
    error_ = std::make_exception_ptr(Stopped("the run was stopped"));
  }
  // Between two of these checks much less is inserted than what is left then.
  if (sequence_ > EventKey::max_sequence - (std::uint64_t{1} << 32) && !error_) {
    error_ = std::make_exception_ptr(StepLimit("the run is too long: events can be told apart up to number " +
                                               std::to_string(EventKey::max_sequence)));
  }
  const auto where = [this](const std::string& origin) {
    return ", at " + std::to_string(now_.since_start().count()) + " ps of simulated time" +
           (origin.empty() ? "" : " (" + origin + ")") + ":" + thread_report();
  };
  if (steps_ - operation_at_ > idle_step_limit_ && !error_) {
    error_ =
        std::make_exception_ptr(StepLimit("no operation has completed in " + std::to_string(steps_ - operation_at_) +
                                          " of " + std::to_string(steps_) + " steps" + where(idle_step_limit_origin_)));
  }
  if (steps_ > step_limit_ && !error_) {
    error_ = std::make_exception_ptr(
        StepLimit("no end after " + std::to_string(steps_) + " steps" + where(step_limit_origin_)));
  }
}

/// The run ends in the middle of a thread.
void Engine::give_up(SimThread& self) {
  self.fiber_.switch_to(main_);
  throw Unwind();
}

/// A span of this thread leads beyond the last date there is.
void Engine::run_out_of_time(SimThread& self) {
  if (unwinding_) {
    return;
  }
  const std::string what = "simulated time, which has a range of 9223372 seconds, is used up by thread '" +
                           self.name() + "', at " + std::to_string(now_.since_start().in_seconds()) + " seconds";
  if (backend_) {
    throw BeyondTime(what);
  }
  if (!error_) {
    error_ = std::make_exception_ptr(BeyondTime(what));
  }
  give_up(self);
}

std::string Engine::thread_report() const {
  std::string report;
  for (const auto& thread : threads_) {
    if (!thread->finished_) {
      report += "\n  " + thread->name() + " (host " + std::to_string(thread->host_) + ", core " +
                std::to_string(thread->core_) + ") ";
      report += thread->waiting_for_ == nullptr ? "runs" : "waits for " + thread->waiting_for_->describe();
    }
  }
  return report;
}

// What a policy may do with the engine.

CorePolicy::CorePolicy(Engine& engine) : engine_(engine) {
  if (engine.backend_) {
    throw std::invalid_argument("threads can share cores only on contend's own engine");
  }
  engine.policies_.push_back(this);
}

CorePolicy::~CorePolicy() {
  auto& all = engine_.policies_;
  all.erase(std::remove(all.begin(), all.end(), this), all.end());
}

SimThread& CorePolicy::create_thread(std::string name, int host, int core, SimThread::Body body, bool daemon) {
  return engine_.add_thread(std::move(name), host, core, std::move(body), daemon, this);
}

void CorePolicy::pass(SimThread& self, Duration span) { engine_.advance(self, span); }

void CorePolicy::park(SimThread& self) { engine_.park(self); }

void CorePolicy::make_ready(SimThread& thread) { engine_.make_ready(thread); }

void CorePolicy::put_on_core(SimThread& thread, int core) { thread.core_ = core; }

void CorePolicy::schedule_background(Event& event, TimePoint time) {
  engine_.schedule(event, time);
  ++engine_.background_;
}

void CorePolicy::background_fired() { --engine_.background_; }

bool CorePolicy::alive() const {
  return engine_.ready_head_ != nullptr || engine_.queue_.size() > engine_.background_ ||
         std::any_of(engine_.policies_.begin(), engine_.policies_.end(),
                     [](const CorePolicy* policy) { return policy->has_work(); });
}

} // namespace contend
