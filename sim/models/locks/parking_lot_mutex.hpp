// parking_lot's Mutex (Rust; src/raw_mutex.rs, core/src/parking_lot.rs): a byte with two bits, and a queue of sleepers kept
// outside of it, in a table that all locks of the process share.
//
//   lock:    until cmpxchg(free, held): while nobody has parked, look again after 2, 4, 8 pauses, then after each of seven
//            sched_yield(); then set the bit "parked", join the queue, sleep, and begin anew unless the lock was handed over
//   unlock:  cmpxchg(held, free); if somebody has parked: take the first off the queue, free the byte and wake him. About
//            once in half a millisecond the byte stays held, and the lock is his
#pragma once

#include "core/futex.hpp"
#include "core/ring_queue.hpp"
#include "models/locks/by_thread.hpp"
#include "models/locks/bypasses.hpp"
#include "models/locks/futex_word.hpp"
#include "models/locks/lock.hpp"

namespace contend {

class ParkingLotMutex final : public Lock {
public:
  ParkingLotMutex(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name);

  /// Whether an attempt of a poller falls into another thread's loop counts.
  [[nodiscard]] bool can_be_visited() const override { return false; }

private:
  /// Where a thread sleeps: each has a futex of its own.
  struct Sleeper {
    Sleeper(Engine& engine, const Host& host, std::string_view name) : futex(engine, host, name) {}
    Futex futex;
    bool parked = false;
    bool owner = false; ///< the lock was handed over
  };

  void do_lock(SimThread& self, Category category) override;
  bool do_try_lock(SimThread& self, Category category) override;
  void do_unlock(SimThread& self, Category category) override;
  void do_grant(SimThread& self) override;

  /// What a thread does that is awake. Returns whether it has the lock; if not, the bit "parked" is set.
  bool compete(SimThread& self, Category category);
  /// One attempt to change the byte from "held or not, parked or not" as it was looked at last.
  bool change(SimThread& self, Category category, bool held, bool parked);
  /// Returns false when the turns of spinning are used up.
  bool spin(SimThread& self, Category category, int& turns) const;
  /// Returns whether the thread has the lock when it is awake again.
  bool park(SimThread& self, Category category);
  [[nodiscard]] bool fair_turn();
  [[nodiscard]] Sleeper& sleeper_of(const SimThread& self);

  const Host& host_;
  LockParameters parameters_;
  CacheLine line_;
  bool held_ = false;
  bool parked_ = false;
  Bypasses bypasses_; ///< of threads that are awake
  FutexWord bucket_;  ///< of the table: guards the queue
  RingQueue<Sleeper*> queue_;
  ByThread<Sleeper> sleepers_;
  RandomStream fairness_;
  TimePoint fair_after_;
};

} // namespace contend
