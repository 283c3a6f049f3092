#include "simgrid/s4u_backend.hpp"

#include "core/engine.hpp"
#include "simgrid/process_engine.hpp"
#include "simgrid/sanitizer.hpp"

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/NetZone.hpp>
#include <simgrid/s4u/Semaphore.hpp>

#include <cstdint>
#include <exception>
#include <list>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

namespace contend {
namespace {

namespace s4u = simgrid::s4u;
using simgrid::kernel::timer::Timer;

/// Doubles hold every integer up to here.
constexpr std::int64_t last_exact_date = std::int64_t{1} << 53;

/// Thrown through SimGrid's main loop, by its signals and hence on run()'s own stack, to get out of it.
struct LeaveSimGrid {};

class S4uBackend;
S4uBackend* active_backend = nullptr;

/// SimGrid decides when something is due, the turnstile who goes first of those that are due at the same date: SimGrid
/// promises no order among equals. Every sleep is a SimGrid sleep and every later event or wake-up a SimGrid timer of its
/// own; the turnstile keeps them by date only, in a hash table, so it could not tell which date comes next.
///
/// One thread at most has the turn, which is the right to run model code. It gives it up by sleeping, parking or ending,
/// and the turn goes to the next in order. When that one's SimGrid sleep has not returned yet (the actors of one date are
/// resumed one after the other) the turn stays free, and it takes the turn as it comes. The others that return before
/// their turn block on their gate, a semaphore.
class S4uBackend final : public Backend {
public:
  S4uBackend();
  ~S4uBackend() override;
  S4uBackend(const S4uBackend&) = delete;
  S4uBackend& operator=(const S4uBackend&) = delete;

  [[nodiscard]] TimePoint now() const override { return now_; }
  void start(SimThread& thread) override;
  void sleep_until(SimThread& self, TimePoint time) override;
  void park(SimThread& self) override;
  void wake(SimThread& thread, TimePoint time) override;
  void schedule(Event& event, TimePoint time) override;
  void run() override;
  void abandon() override;

  /// For SimGrid's signals: leaves the main loop when there is no more to do.
  void time_advances() const;
  void nothing_left() const;

private:
  /// Someone to whom the turn goes at a date: a thread or an event.
  struct Entry {
    SimThread* thread = nullptr;
    Event* event = nullptr;
    Timer* timer = nullptr; ///< of SimGrid; deletes itself when it has fired
    bool due = false;       ///< SimGrid has reported the date
  };
  using Line = std::list<Entry>; // entries never move: timers and sleeping threads refer to theirs

  static s4u::Semaphore& gate(SimThread& thread) { return *static_cast<s4u::Semaphore*>(thread.backend_context); }

  /// The date on SimGrid's clock.
  [[nodiscard]] double clock_at(TimePoint time) const;
  Entry& enter(Entry entry, TimePoint time);
  void set_timer(Entry& entry, TimePoint time);
  void reach(Entry& entry, TimePoint time);
  void pass_turn();
  void go_on(SimThread& self);
  void live(SimThread& thread);
  [[nodiscard]] bool ending() const { return failure_ != nullptr || (engine_ != nullptr && engine_->ending()); }

  s4u::Engine* simgrid_ = nullptr;
  s4u::Host* host_ = nullptr; ///< actors need one; where threads run is the models' business
  Engine* engine_ = nullptr;  ///< known from the first thread on
  std::int64_t origin_ = 0;   ///< SimGrid's clock when this simulation's began
  TimePoint now_;
  Line due_;                                     ///< entries for now_, in order of insertion
  std::unordered_map<std::int64_t, Line> later_; ///< by date in picoseconds
  std::list<s4u::SemaphorePtr> gates_;
  std::exception_ptr failure_; ///< of an event that fired on no thread's stack
  bool turn_taken_ = false;
  bool abandoned_ = false;
};

/// Makes SimGrid's engine and a platform of one host on the first call.
s4u::Host& simulation_host() {
  static s4u::Host* const host = [] {
    if (has_process_engine()) {
      throw std::logic_error("this process uses SimGrid's only engine for something else");
    }
    make_process_engine({
        "--cfg=contexts/nthreads:1",           // model code is not thread-safe
        "--log=ker_engine.app:file:/dev/null", // what it says at a deadlock; contend has its own report
        // SimGrid does not tell sanitizers when it changes stacks; with a system thread per actor it need not.
        under_sanitizer ? "--cfg=contexts/factory:thread" : "--cfg=contexts/stack-size:256", // KiB; models are shallow
    });
    s4u::NetZone* const zone = s4u::create_full_zone("contend");
    s4u::Host* const result = zone->create_host("threads", 1.0);
    zone->seal();
    s4u::Engine::on_time_advance_cb([](double /*delta*/) {
      if (active_backend != nullptr) {
        active_backend->time_advances();
      }
    });
    s4u::Engine::on_deadlock_cb([] {
      if (active_backend != nullptr) {
        active_backend->nothing_left();
      }
    });
    return result;
  }();
  return *host;
}

S4uBackend::S4uBackend() {
  if (active_backend != nullptr) {
    throw std::logic_error("SimGrid runs one simulation at a time in a process");
  }
  host_ = &simulation_host();
  simgrid_ = s4u::Engine::get_instance();
  origin_ = static_cast<std::int64_t>(s4u::Engine::get_clock());
  active_backend = this;
}

S4uBackend::~S4uBackend() { active_backend = nullptr; }

double S4uBackend::clock_at(TimePoint time) const {
  if (time.since_start().count() > last_exact_date - origin_) {
    throw std::overflow_error("on SimGrid's clock only the first 2^53 ps (2.5 hours) of simulated time are exact");
  }
  return static_cast<double>(origin_ + time.since_start().count());
}

S4uBackend::Entry& S4uBackend::enter(Entry entry, TimePoint time) {
  entry.due = time == now_;
  Line& line = entry.due ? due_ : later_[time.since_start().count()];
  return line.emplace_back(entry);
}

void S4uBackend::set_timer(Entry& entry, TimePoint time) {
  entry.timer = Timer::set(clock_at(time), [this, &entry, time] {
    entry.timer = nullptr;
    try {
      reach(entry, time);
      if (!turn_taken_) {
        pass_turn();
      }
    } catch (...) {
      failure_ = std::current_exception(); // SimGrid's loop is no place for exceptions of models
    }
  });
}

/// SimGrid reports that `time` has come for `entry`.
void S4uBackend::reach(Entry& entry, TimePoint time) {
  if (s4u::Engine::get_clock() != clock_at(time)) {
    throw InvariantViolation("SimGrid's clock is not at the date it was asked for");
  }
  if (time != now_) {
    if (turn_taken_ || !due_.empty()) {
      throw InvariantViolation("SimGrid's clock went on although something was still due");
    }
    now_ = time;
    const auto line = later_.find(time.since_start().count());
    due_.splice(due_.end(), line->second);
    later_.erase(line);
  }
  entry.due = true;
}

/// Gives the turn to the next in order; events run here and now.
void S4uBackend::pass_turn() {
  turn_taken_ = false;
  while (!due_.empty()) {
    const Entry entry = due_.front();
    if (!entry.due || ending()) {
      return; // not yet back from SimGrid: takes the turn as it comes
    }
    due_.pop_front();
    turn_taken_ = true;
    if (entry.thread != nullptr) {
      gate(*entry.thread).release();
      return;
    }
    if (engine_ == nullptr) {
      throw InvariantViolation("the S4U backend needs a thread before the first event");
    }
    engine_->backend_step(now_, Engine::slot_of(*entry.event));
    if (!ending()) {
      entry.event->fire();
    }
    turn_taken_ = false;
  }
}

/// The calling thread has got the turn.
void S4uBackend::go_on(SimThread& self) {
  if (!ending()) {
    engine_->backend_step(now_, Engine::slot_of(self));
  }
  if (ending()) {
    gate(self).acquire(); // nobody opens it again: abandon() ends this thread
  }
}

void S4uBackend::start(SimThread& thread) {
  if (abandoned_) {
    return;
  }
  engine_ = &thread.engine();
  thread.backend_context = gates_.emplace_back(s4u::Semaphore::create(0)).get();
  due_.push_back({.thread = &thread, .due = true});
  s4u::Actor::create(thread.name(), host_, [this, &thread] { live(thread); });
}

void S4uBackend::live(SimThread& thread) {
  gate(thread).acquire();
  go_on(thread);
  thread.run_body();
  if (abandoned_) {
    return;
  }
  try {
    pass_turn();
  } catch (...) {
    failure_ = std::current_exception(); // of an event; an actor that throws would end the process
  }
}

void S4uBackend::sleep_until(SimThread& self, TimePoint time) {
  if (abandoned_) {
    return; // a destructor on a stack that is being unwound
  }
  const double date = clock_at(time);
  Entry& entry = enter({.thread = &self}, time);
  if (entry.due) {
    pass_turn();
    gate(self).acquire();
  } else {
    pass_turn();
    s4u::this_actor::sleep_until(date);
    reach(entry, time);
    if (!turn_taken_ && &due_.front() == &entry) {
      due_.pop_front();
      turn_taken_ = true;
    } else {
      gate(self).acquire();
    }
  }
  go_on(self);
}

void S4uBackend::park(SimThread& self) {
  if (abandoned_) {
    return;
  }
  pass_turn();
  gate(self).acquire();
  go_on(self);
}

void S4uBackend::wake(SimThread& thread, TimePoint time) {
  if (abandoned_) {
    return;
  }
  if (time == now_) {
    due_.push_back({.thread = &thread, .due = true});
  } else {
    set_timer(enter({.thread = &thread}, time), time);
  }
}

void S4uBackend::schedule(Event& event, TimePoint time) {
  if (abandoned_) {
    return;
  }
  Entry& entry = enter({.event = &event}, time);
  if (!entry.due) {
    set_timer(entry, time);
  }
}

void S4uBackend::run() {
  pass_turn();
  try {
    simgrid_->run();
  } catch (const LeaveSimGrid&) {
    // nothing is left to do, or the simulation has failed; who is still blocked stays so until abandon()
  }
  if (failure_) {
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }
}

void S4uBackend::time_advances() const {
  if (!abandoned_ && ending()) {
    throw LeaveSimGrid();
  }
}

void S4uBackend::nothing_left() const {
  if (!abandoned_) {
    throw LeaveSimGrid(); // SimGrid would kill the blocked actors now, before anyone can say what they wait for
  }
}

void S4uBackend::abandon() {
  if (std::exchange(abandoned_, true)) {
    return;
  }
  for (auto& [date, line] : later_) {
    for (Entry& entry : line) {
      if (entry.timer != nullptr) {
        entry.timer->remove();
      }
    }
  }
  s4u::Actor::kill_all();
  simgrid_->run(); // the actors unwind their stacks
}

} // namespace

std::unique_ptr<Backend> make_s4u_backend() { return std::make_unique<S4uBackend>(); }

} // namespace contend
