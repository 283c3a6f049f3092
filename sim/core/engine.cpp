#include "core/engine.hpp"

#include <cstdlib>
#include <utility>

namespace contend {

Target::Target(Engine& engine, bool is_thread)
    : engine_(engine), slot_(engine.add_target(*this)), is_thread_(is_thread) {}

Target::~Target() { engine_.remove_target(slot_); }

SimThread::SimThread(Engine& engine, std::string name, int host, int core, Body body)
    : Target(engine, true), name_(std::move(name)), id_(static_cast<int>(engine.threads().size())), host_(host),
      core_(core), body_(std::move(body)) {}

void SimThread::wait(const Waitable& reason, Category category) {
  waiting_for_ = &reason;
  const TimePoint start = engine_.now();
  engine_.park(*this);
  waiting_for_ = nullptr;
  charge(engine_.now() - start, category);
}

void SimThread::resume_at(TimePoint time) { engine_.wake_at(*this, time); }

void SimThread::run_body() {
  try {
    body_(*this);
  } catch (const Engine::Unwind&) {
    // the simulation was given up; only the stack had to be cleaned
  } catch (...) {
    // While the simulation is given up, a backend may unwind with an exception of its own: that is no error.
    if (!engine_.unwinding_ && !engine_.error_) {
      engine_.error_ = std::current_exception();
    }
  }
  finished_ = true;
  --engine_.unfinished_;
}

void SimThread::fiber_entry(void* self) {
  auto& thread = *static_cast<SimThread*>(self);
  thread.run_body();
  Engine& engine = thread.engine_;
  if (engine.unwinding_ || engine.error_) {
    thread.fiber_.switch_to(engine.main_);
  }
  try {
    engine.dispatch_from(thread.fiber_, &thread);
  } catch (...) {
    if (!engine.error_) {
      engine.error_ = std::current_exception(); // an event threw; below this frame nobody would catch it
    }
  }
  thread.fiber_.switch_to(engine.main_); // outside the handler: the runtime counts handlers by system thread
  std::abort(); // a finished thread is never continued
}

Engine::Engine(std::uint64_t seed, std::unique_ptr<Backend> backend) : backend_(std::move(backend)), seed_(seed) {}

Engine::~Engine() { abandon(); }

void Engine::abandon() {
  unwinding_ = true;
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

SimThread& Engine::spawn(std::string name, int host, int core, SimThread::Body body) {
  threads_.push_back(std::make_unique<SimThread>(*this, std::move(name), host, core, std::move(body)));
  SimThread& thread = *threads_.back();
  ++unfinished_;
  if (backend_) {
    backend_->start(thread);
  } else {
    make_ready(thread);
  }
  return thread;
}

void Engine::run() {
  if (backend_) {
    backend_->run();
  } else if (ready_head_ != nullptr || !queue_.empty()) {
    dispatch_from(main_, nullptr);
  }
  if (error_) {
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
  if (unfinished_ > 0) {
    throw Deadlock("deadlock at " + std::to_string(now_.since_start().count()) + " ps of simulated time:" +
                   thread_report());
  }
}

void Engine::schedule(Event& event, TimePoint time) {
  if (time < now_) {
    throw InvariantViolation("an event was scheduled in the past");
  }
  if (backend_) {
    backend_->schedule(event, time);
  } else {
    insert(event, time);
  }
}

void Engine::park(SimThread& self) {
  if (backend_) {
    backend_->park(self);
  } else {
    dispatch_from(self.fiber_, &self);
  }
}

void Engine::make_ready(SimThread& thread) {
  if (backend_) {
    backend_->wake(thread, now_);
    return;
  }
  append_ready(thread);
}

void Engine::append_ready(Target& target) {
  (ready_head_ == nullptr ? ready_head_ : ready_tail_->next_ready_) = &target;
  ready_tail_ = &target;
}

void Engine::insert(Target& target, TimePoint time) {
  if (time == now_ && ready_head_ != nullptr) {
    append_ready(target); // the queue would let it overtake
  } else {
    queue_.push(EventKey(time, ++sequence_, target.slot_));
  }
}

void Engine::wake_at(SimThread& thread, TimePoint time) {
  if (time < now_) {
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

/// Leaves the context `current` (a thread's or run()'s) and continues whatever is due next, which may be itself.
void Engine::dispatch_from(Fiber& current, SimThread* self) {
  for (;;) {
    Target* target = nullptr;
    // Entries of the queue that are due now were inserted before now became now: they precede the ready list.
    if (ready_head_ != nullptr && (queue_.empty() || queue_.next().time() > now_)) {
      target = std::exchange(ready_head_, ready_head_->next_ready_);
      target->next_ready_ = nullptr;
    } else if (!queue_.empty()) {
      const EventKey key = queue_.take();
      now_ = key.time();
      target = targets_[key.slot()];
    } else {
      if (self != nullptr) {
        current.switch_to(main_);
        if (unwinding_) {
          throw Unwind();
        }
      }
      return;
    }
    count_step(target->slot_);
    if ((steps_ & stop_check_mask) == 0) [[unlikely]] {
      if (self != nullptr) {
        stop_if_asked(*self);
      } else if (check_stop(); error_) {
        return;
      }
    }
    if (target->is_thread_) {
      auto& thread = *static_cast<SimThread*>(target);
      if (&thread == self) {
        return;
      }
      if (!thread.started_) {
        thread.started_ = true;
        thread.stack_ = stacks_.acquire();
        thread.fiber_.prepare(thread.stack_, &SimThread::fiber_entry, &thread);
      }
      current.switch_to(thread.fiber_);
      if (unwinding_) [[unlikely]] {
        throw Unwind();
      }
      return; // somebody continued this context: a thread's date has come, or run() ends
    }
    static_cast<Event*>(target)->fire();
  }
}

void Engine::backend_step(TimePoint time, TargetSlot slot) {
  now_ = time;
  count_step(slot);
  if ((steps_ & stop_check_mask) == 0) [[unlikely]] {
    check_stop();
  }
}

void Engine::check_stop() {
  if (stop_flag_ != nullptr && stop_flag_->load(std::memory_order_relaxed) && !error_) {
    error_ = std::make_exception_ptr(Stopped("the run was stopped"));
  }
  if (steps_ > step_limit_ && !error_) {
    error_ = std::make_exception_ptr(StepLimit("no end after " + std::to_string(steps_) + " steps, at " +
                                               std::to_string(now_.since_start().count()) +
                                               " ps of simulated time:" + thread_report()));
  }
}

void Engine::stop_if_asked(SimThread& self) {
  check_stop();
  if (error_) {
    self.fiber_.switch_to(main_);
    throw Unwind();
  }
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

} // namespace contend
