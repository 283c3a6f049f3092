// A queue lock that is handed on without its central word, last come first served within a queue, and whose holder can run the
// critical sections of those that wait (folly, DistributedMutex.h, of 2019). The word has the last who came, and a bit:
//
//   lock:    if fetch-and-set(bit) found it clear: done
//            previous = swap(word, mine); free: done; else swap (mine.answer, time) until it says: yours, skipped or served
//   unlock:  hand over to the one before me in the queue, with the queue's end; I was the end:
//            cmpxchg(word, what I left there, free), else swap(word, bit) and hand over to the last who came
//   hand over to node, pass p: it asked to be served, p <= 2 or it has lost its core: run its section, and go on to the next
//            it has its core: yours;   it has not: skipped, it queues up anew and sleeps;   it sleeps: collect it, and go on
#pragma once

#include "core/futex.hpp"
#include "models/locks/by_thread.hpp"
#include "models/locks/lock.hpp"
#include "models/locks/spinners.hpp"

namespace contend {

class DistributedMutex final : public Lock {
public:
  DistributedMutex(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name);

  /// Who asks comes to another line than who gives it back.
  [[nodiscard]] bool can_be_visited() const override { return false; }

private:
  struct Node;
  /// The lock's word: free, held by somebody who left no address, or with the node of the last who came.
  struct Word {
    bool locked = false;
    Node* last = nullptr;
    bool operator==(const Word&) const = default;
  };
  /// What a waiting thread shows to whoever looks at its node.
  enum class Shown { nothing, spins, wants_service, sleeps };
  enum class Answer { none, yours, skipped, served };
  /// A thread's place in the queue, on its stack.
  struct Node {
    Node(SimThread& its_thread, const Host& host, Duration turn, std::string_view name);
    SimThread& thread;
    CacheLine line;
    Spinners publishing; ///< the thread, between looks that write the time
    Spinners reading;    ///< the same, between looks that write nothing
    Futex futex;
    const Section* section = nullptr; ///< to be run by somebody else
    Shown shown = Shown::nothing;
    bool shows_time = false;                  ///< of its last look: tells whether it has its core
    TimePoint naps_from = TimePoint::never(); ///< what it shows from then on is a time long ago
    Answer answer = Answer::none;
    Word before; ///< who came before it; where sleepers are collected: the next of these
    bool asleep = false;
    bool woken = false;
    // From whoever hands the lock over.
    Word end;                 ///< of the queue: who began to hand over
    Node* sleepers = nullptr; ///< to be woken when the lock is free
  };
  /// What the holder has to know to give the lock back.
  struct Tenure {
    Node* next = nullptr; ///< in the queue; nullptr: it is the end of one, or there is none
    Word expected;        ///< in the lock's word if nobody came
    Word end;
    Node* sleepers = nullptr;
    Node* ready = nullptr; ///< to be woken whatever happens
  };
  static constexpr Word bit{true, nullptr};

  void do_lock(SimThread& self, Category category) override;
  bool do_lock_or_delegate(SimThread& self, Category category, const Section& section) override;
  bool do_try_lock(SimThread& self, Category category) override;
  void do_unlock(SimThread& self, Category category) override;
  void do_grant(SimThread& self) override;

  [[nodiscard]] Node& node_of(SimThread& self);
  /// Returns whether `self` has the lock; false: somebody else has run its section.
  bool enter(SimThread& self, Category category, const Section* section);
  bool set_bit(SimThread& self, Category category);
  /// Both return whether they were not in vain: skipped or woken, the thread has to queue up anew.
  bool spin(SimThread& self, Category category, Node& mine) const;
  static bool fall_asleep(SimThread& self, Category category, Node& mine, Node*& ready);
  void give_back(SimThread& self, Category category, const Tenure& tenure);
  /// Goes from `first` to the end of its queue; returns whether somebody has the lock now.
  bool hand_over(SimThread& self, Category category, Node* first, Word end, Node*& sleepers, int pass);
  static void wake(SimThread& self, Category category, Node* sleeper);

  const Host& host_;
  LockParameters parameters_;
  Duration turn_; ///< of a waiting thread, besides the look: PAUSE, and what time is it
  Word word_;
  CacheLine line_;
  Tenure tenure_; ///< of the holder
  ByThread<Node> nodes_;
};

} // namespace contend
