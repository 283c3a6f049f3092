// The operating system's scheduler of one host: threads that share cores.
//
// Every core has a run queue (FairQueue). The thread that has the core uses it up slice by slice, whatever it does: a thread that
// spins on a lock or polls keeps its core busy, and notices only while it has the core that what it waits for has come. It
// loses the core when its slice is over, when a thread that wakes up precedes it, or when it yields; it goes on later where it
// stopped. Threads that sleep (Waiting::asleep) free their core. A core with nothing to run takes a waiting thread
// from another one, and from time to time load is balanced (where groups compete one of them is as much load as one thread, so
// that cores with as many groups are alike, whatever their numbers of threads); threads go only to cores that they may use.
//
// What cannot be interrupted: accesses to cache lines (one instruction), and time a thread owes (SimThread::owe), which is over
// first.
#pragma once

#include "core/core_policy.hpp"
#include "core/engine.hpp"
#include "core/fair_queue.hpp"
#include "core/grouped_queue.hpp"
#include "core/host.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace contend {

class Scheduler final : public CorePolicy {
public:
  /// Shares the first `cores` hardware threads of `host`, which has that `number`. Throws std::invalid_argument for no cores,
  /// more than there are, or a machine that says nothing of its scheduler (no slice). `grouped`: not threads compete for cores
  /// but groups of them, see grouped_queue.hpp.
  Scheduler(Engine& engine, const Host& host, int number, const SchedulerParameters& parameters, int cores,
            bool grouped = false);
  ~Scheduler() override;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// How a thread is treated.
  struct Placement {
    CoreSet allowed;                        ///< cores that it may use; none: all that are shared
    int weight = FairEntity::normal_weight; ///< its share of a core against that of others
    bool daemon = false;                    ///< see Engine::spawn_daemon
    int group = FairEntity::no_group;       ///< where groups compete: which one
    int first_core = -1;                    ///< where it begins; -1: see begin()
  };
  /// Adds a thread that does nothing before it begins.
  SimThread& create(std::string name, const Placement& placement, SimThread::Body body);
  /// Lets it begin, on its first core, else on the idlest one that it may use: in the socket with the least to do, there in
  /// such a cluster, and so on. Requires: it has not begun.
  void begin(SimThread& thread);
  /// The same of a thread that `creator` makes, which has a core of this host: without a first core of its own it begins near that,
  /// unless others have less to do.
  void begin(SimThread& thread, const SimThread& creator);
  /// Adds the first thread of a process, which begins now: launching that and setting its library up has kept the core busy.
  SimThread& launch(std::string name, const Placement& placement, SimThread::Body body);
  /// Adds a thread that begins now.
  SimThread& spawn(std::string name, const Placement& placement, SimThread::Body body);

  struct Counters {
    std::uint64_t switches = 0;    ///< a core went to another thread than before
    std::uint64_t preemptions = 0; ///< of these, because the one before lost it, unwillingly
    std::uint64_t yields = 0;      ///< calls of sched_yield()
    std::uint64_t wakeups = 0;     ///< sleeping threads that were woken
    std::uint64_t migrations = 0;  ///< threads that went on on another core
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] int cores() const { return static_cast<int>(cores_.size()); }
  [[nodiscard]] const SchedulerParameters& parameters() const { return parameters_; }
  /// Whether the first thread of a process creates the others; else all begin at once.
  [[nodiscard]] bool begins_in_turn() const {
    return parameters_.thread_create > Duration{} || parameters_.process_skew > Duration{};
  }

  // For the engine.
  void advance(SimThread& self, Duration owed, Duration span, Category category) override;
  [[nodiscard]] bool advance_alone(SimThread& self, Duration owed, Duration span, Category category) override;
  void settle(SimThread& self, Duration owed) override;
  void give_way_if_asked(SimThread& self) override;
  void leaves_kernel(SimThread& self) override;
  void disable_preemption(SimThread& self) override;
  void enable_preemption(SimThread& self) override;
  void repeats(SimThread& self, Repetition& repetition) override;
  void come_back(SimThread& thread, const RepeatedPlace& place) override;
  void note_uninterrupted(SimThread& self, std::vector<UninterruptedSpan>* spans, TimePoint origin) override;
  void wait(SimThread& self, Waiting how, Category category) override;
  void resume(SimThread& thread) override;
  void resume_at(SimThread& thread, TimePoint time) override;
  void wake(SimThread& thread, const SimThread& waker, TimePoint runnable, Duration latency) override;
  [[nodiscard]] Duration wake_call(const SimThread& thread, const SimThread& waker, Duration interrupting) override;
  void yield(SimThread& self) override;
  [[nodiscard]] bool has_core(const SimThread& thread) const override;
  void ended(SimThread& self) override;
  [[nodiscard]] bool has_work() const override;

private:
  struct Core;
  struct Task;
  class CoreTimer;
  class Balancing;
  class TaskEvent;
  struct Domain;
  struct Look;
  struct Crowd;

  [[nodiscard]] Task& task_of(const SimThread& thread) const { return *tasks_[static_cast<std::size_t>(thread.id())]; }

  // What happens to the thread that has a core.
  void finish_step(Task& task);
  void interrupt(Task& task);
  void end_repetition(Task& task);
  void go_on(Task& task, RepeatedPlace& place);
  [[nodiscard]] bool leave_span(Task& task, const RepeatedPlace& place);
  [[nodiscard]] static const UninterruptedSpan* next_span(const RepeatedPlace& place);
  [[nodiscard]] static Duration still_to_pass(Task& task, Duration span);
  void note_span(const Task& task, Duration owed) const;
  void charge_step(Task& task) const;
  void lose_core(Task& task);
  void free_core(Task& task);
  void take_tick(Task& task);
  [[nodiscard]] static bool interruptible(const Task& task);

  // Who has a core.
  void account(Core& core);
  void dispatch(Core& core, Task& task, Duration latency);
  void dispatch_next(Core& core);
  void ask_for(Core& core);
  Task* successor(Core& core);
  void choose_again(Core& core);
  void give_way(Task& task);
  void arm(Core& core);
  void timer(Core& core);
  [[nodiscard]] Duration switch_cost(const Core& core, const Task& task);
  [[nodiscard]] static int strangers_since(Core& core, int process);
  [[nodiscard]] Duration refill(const Core& core, const Task& task, int strangers) const;

  // Which core.
  void enqueue(Core& core, Task& task, FairQueue::Arrival arrival);
  void woken(Task& task);
  [[nodiscard]] Core& core_for(const Task& task);
  [[nodiscard]] bool looks_for_idle_cores();
  [[nodiscard]] Core& idlest_core(const CoreSet& allowed);
  [[nodiscard]] Core& core_for_new(const CoreSet& allowed, Core& creator);
  [[nodiscard]] Crowd crowd_of(const std::vector<Core*>& group, double tolerated);
  void begin_on(Core& core, Task& task);
  [[nodiscard]] Task* candidate(const Core& from, const Core& to, const Look& look) const;
  void move(Core& from, Core& to, Task& task);

  // A core without a thread.
  void begin_idle(Core& core);
  void end_idle(Core& core);
  [[nodiscard]] bool idles_for_moments(const Core& core) const;
  bool pull(Core& core);
  bool pull(Core& core, Look& look);

  // Balancing.
  void make_domains();
  void note_load(Core& core);
  void note_load(Task& task, bool wanted_core);
  [[nodiscard]] bool is_drawn_to(Core& waker, Core& last, const Task& task);
  void arm_balancing();
  [[nodiscard]] TimePoint next_look(const Core& core, const Look& look) const;
  [[nodiscard]] TimePoint next_kick(const Look& look) const;
  void look_anew(Core& core);
  void balance();
  void balance(Core& core, Look& look);
  [[nodiscard]] Duration delay();
  [[nodiscard]] static bool looks_for_group(const Core& core, const std::vector<Core*>& group);
  [[nodiscard]] double load_of(const std::vector<Core*>& group);
  [[nodiscard]] bool fits(double load, double surplus, double difference, int failed) const;
  void move_to(Core& from, Core& to, Task& task, double load);

  const Host& host_;
  const CorePaces* paces_; ///< none: all cores are alike
  int number_;
  SchedulerParameters parameters_;
  bool grouped_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<std::unique_ptr<Domain>> domains_; ///< among which load is balanced, inner ones first
  std::vector<std::unique_ptr<Task>> tasks_;     ///< by thread id
  std::unique_ptr<Balancing> balancing_;
  TimePoint kicks_from_; ///< before, idle cores are not interrupted to look for load (nohz.next_balance)
  RandomStream jitter_;
  RandomStream placement_;
  RandomStream look_;
  RandomStream newly_idle_;
  Counters counters_;
};

} // namespace contend
