// The run queue of one core under a fair scheduler: who has had least of the core runs next. Time that a thread has had is its
// virtual runtime, weighted: a thread of twice the normal weight gets twice the time.
//
// Two policies, as Linux has them for normal threads of one run queue (groups: grouped_queue.hpp):
//   cfs    kernel/sched/fair.c of Linux 5.x. Next is who has the least virtual runtime. A slice is the weighted share of
//          `latency`, or of n times `slice` when n threads are too many for that. A thread that wakes up is put at most
//          latency / 2 behind the others, and takes the core if the running thread is more than wakeup_granularity ahead.
//   eevdf  earliest eligible virtual deadline first (Stoica and Abdel-Wahab 1995; Linux 6.6 on). Eligible is who has had no
//          more than the average; next is the eligible thread with the earliest deadline, one slice after its virtual runtime. A
//          sleeping thread keeps what it was ahead or behind (lag); where `short_sleep` is set, what it owes is forgiven as
//          others run meanwhile (delayed dequeueing, Linux 6.12). Until its slice is over the running thread is protected
//          from threads that wake up while it is eligible itself.
#pragma once

#include "core/machine_parameters.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace contend {

class FairQueue;
struct FairGroup;

/// One thread's place in run queues, or that of a group of threads. Virtual times are in picoseconds of a thread of normal weight.
struct FairEntity {
  static constexpr int normal_weight = 1024; ///< nice 0
  static constexpr int no_group = -1;
  int weight = normal_weight;
  std::int64_t vruntime = 0;
  std::int64_t deadline = 0;       ///< eevdf
  std::int64_t lag = 0;            ///< eevdf: what it was owed when it left a queue
  Duration ran{};                  ///< since it was given the core last
  Duration slept{};                ///< before it woke up last
  bool woken_here = false;         ///< by the running one: it comes back from the kernel there
  const FairQueue* home = nullptr; ///< the queue that `vruntime` is compared in
  int group = no_group;            ///< whose share it has its time from, see grouped_queue.hpp
  FairGroup* member_of = nullptr;  ///< that group on the core where the thread was last
};

class FairQueue {
public:
  enum class Arrival {
    started, ///< exists since the beginning: those of a run start together
    forked,  ///< has been created by a thread that runs
    woken,
    migrated,
  };

  [[nodiscard]] static bool is_new(Arrival arrival) {
    return arrival == Arrival::started || arrival == Arrival::forked;
  }

  FairQueue() = default;
  FairQueue(const FairQueue&) = delete;
  FairQueue& operator=(const FairQueue&) = delete;
  virtual ~FairQueue() = default;

  /// Joins those who wait for the core.
  virtual void add(FairEntity& entity, Arrival arrival) = 0;
  /// One that waits leaves for another core.
  virtual void remove(FairEntity& entity) = 0;
  /// One that waits has another weight from now on, with which it joins afresh; if it is to be next it stays so.
  virtual void reweigh(FairEntity& entity, int weight) = 0;
  /// One that waits, or the running one again, gets the core, for a slice. Requires: no other one runs.
  virtual void run(FairEntity& entity) = 0;
  /// The running one has had the core for `span`.
  virtual void account(Duration span) = 0;
  /// The running one waits again.
  virtual void stop() = 0;
  /// The running one sleeps.
  virtual void leave() = 0;
  /// The running one ends.
  virtual void end() = 0;

  /// Who should have the core, the running one included; nullptr: nobody wants it.
  [[nodiscard]] virtual FairEntity* best() = 0;
  /// Somebody waits, and the running one's slice is over.
  [[nodiscard]] virtual bool expired() const = 0;
  /// What is left of the running one's slice, should nothing change.
  [[nodiscard]] virtual Duration slice_left() const = 0;
  /// `entity`, which waits here since it arrived that way, should have the core at once. Requires: somebody runs.
  [[nodiscard]] virtual bool preempts(FairEntity& entity, Arrival arrival) = 0;
  /// Whether a thread that sleeps would probably take the core if it woke up now, for what telling the core costs. Under cfs
  /// always false, under eevdf if it has slept for short_sleep at most.
  [[nodiscard]] virtual bool would_preempt(const FairEntity& sleeper) const = 0;
  /// The running one asks for others to go first; call best() next.
  virtual void yielded() = 0;
  /// The running one is a group one of whose threads has let others of the group go first; call best() next. Under cfs other
  /// groups go first as well, under eevdf only if this one has had more than its share.
  virtual void yielded_within() = 0;

  /// Those who wait, in order of arrival.
  [[nodiscard]] virtual const std::vector<FairEntity*>& waiting() const = 0;
  /// Threads that want the core or have it.
  [[nodiscard]] virtual std::size_t length() const = 0;
  /// The weight of them together, in threads of normal weight; groups count with what they have on this core.
  [[nodiscard]] virtual double load() const = 0;
  /// What one that waits here contributes to that.
  [[nodiscard]] virtual double load_of(const FairEntity& entity) const = 0;
};

/// Makes the queues of a policy by name; throws std::invalid_argument for an unknown one.
[[nodiscard]] std::unique_ptr<FairQueue> make_fair_queue(const SchedulerParameters& parameters);

} // namespace contend
