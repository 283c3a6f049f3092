// A lock with a thread of its own that runs the critical sections of others (folly, FlatCombining.h, of 2019, "dedicated"). Who
// wants a section to be run leaves it in a record; the records that were used of late are a list:
//
//   execute: if trylock(mutex): count it, run the section, unlock(mutex)
//            record.section = mine; record.valid = true; post(pending); fence
//            the record is in no list: put it in front; post(pending)
//            look at record.done for 2 us with PAUSE, then with sched_yield
//   combiner: wait(pending), for 2 us, then asleep; reset(pending)
//            repeat: count it; lock(mutex); up to 100 sections, in passes over the list until one finds none, and count the passes;
//            count the sections; unlock(mutex)
//            until they were fewer than 100
//   pass:    each record: valid: run the section, record.done = true
//                         not valid for more than ten passes, and not the first: out of the list
//
// All counts are on one line. So is what a thread with a record of its own asks for that record first: the lock's class has its
// table of records behind the counters that it inherits.
#pragma once

#include "core/futex.hpp"
#include "models/locks/by_thread.hpp"
#include "models/locks/lock.hpp"
#include "models/locks/pthread_word.hpp"
#include "models/locks/spinners.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace contend {

class FlatCombining : public Lock {
public:
  FlatCombining(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name);

  /// Its combiner changes the lock whenever it has a core.
  [[nodiscard]] bool can_be_visited() const override { return false; }
  [[nodiscard]] SimThread::Body own_thread() override;

protected:
  /// What a request costs before it and after it. A record that is the thread's for good has to be found in the table, no more.
  virtual void take_record(SimThread& self, Category category) { counts_line_.load(self, category); }
  virtual void give_record_back(SimThread& /*self*/, Category /*category*/) {}
  [[nodiscard]] const Host& host() const { return host_; }

private:
  /// A thread's place for a request.
  struct Record {
    Record(Engine& engine, const Host& host, Duration turn, Duration yield_call, const std::string& name);
    CacheLine flags;    ///< valid, done, disconnected, and the way to the next record
    CacheLine function; ///< how to call the section
    CacheLine frame;    ///< of the thread that waits: what the section refers to, and its result
    Spinners pausing;   ///< the thread, at the flags
    Spinners yielding;
    const Section* section = nullptr;
    bool valid = false;
    bool done = true;
    bool disconnected = true;
    std::uint64_t last = 0; ///< pass in which it was served last
    Record* next = nullptr;
  };
  enum class Pending { no, yes, combiner_sleeps };

  void do_lock(SimThread& self, Category category) override { word_.lock(self, category); }
  bool do_lock_or_delegate(SimThread& self, Category category, const Section& section) override;
  bool do_try_lock(SimThread& self, Category category) override { return word_.try_lock(self, category); }
  void do_unlock(SimThread& self, Category category) override {
    const bool gives_back = std::exchange(holder_has_record_, false);
    word_.unlock(self, category, [this] { released(); });
    if (gives_back) {
      give_record_back(self, category);
    }
  }
  void do_grant(SimThread& /*self*/) override { word_.grant(); }

  void count(SimThread& self, Category category);
  void request(SimThread& self, Category category, Record& mine, const Section& section);
  void fence(SimThread& self, Category category) const;
  void post_pending(SimThread& self, Category category);
  void connect(SimThread& self, Category category, Record& mine);
  void await_done(SimThread& self, Category category, Record& mine) const;

  [[noreturn]] void combine(SimThread& self);
  void await_pending(SimThread& self);
  /// Returns how many sections were run.
  std::uint64_t pass(SimThread& self);
  void serve(SimThread& self, Record& record) const;

  const Host& host_;
  Duration turn_; ///< of a loop with PAUSE that asks what time it is
  Duration yield_call_;
  PthreadWord word_; ///< std::mutex
  CacheLine pending_line_;
  Spinners pending_spinner_;
  Futex pending_futex_;
  Pending pending_ = Pending::no;
  CacheLine head_line_; ///< of the list, and of what says that the lock has a combiner
  Record* head_ = nullptr;
  CacheLine counts_line_;
  std::uint64_t passes_ = 0;
  bool has_combiner_ = false;
  bool holder_has_record_ = false; ///< it runs its own section, after a request that found the mutex free
  ByThread<Record> records_;
};

/// The same where a thread has a record for the time of its request only: it takes it from a pool, and gives it back there.
/// Hardware threads of a core share a list of the pool.
class PooledFlatCombining final : public FlatCombining {
public:
  PooledFlatCombining(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name);

private:
  void take_record(SimThread& self, Category category) override { change_list(self, category); }
  void give_record_back(SimThread& self, Category category) override { change_list(self, category); }
  void change_list(SimThread& self, Category category);

  struct List {
    std::unique_ptr<CacheLine> line;
    std::uint64_t version = 0;
  };
  std::vector<List> lists_;
};

} // namespace contend
