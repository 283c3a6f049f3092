// Work of the library that any of its threads can do: a lock-free queue, first in, first out, with both its ends on one cache line.
//
//   push(t): an atomic operation on the line puts t last
//   run_one(): read the line; if there is a task, an atomic operation takes the first one, or finds that it is gone; run it
//
// A thread with nothing to do reads the line until somebody writes to it. Where the tasks themselves lie costs nothing.
#pragma once

#include "core/cache_line.hpp"
#include "core/ring_queue.hpp"
#include "models/waiting/sync_object.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A piece of work; whoever pushes it keeps it alive until it has run.
class Task {
public:
  virtual ~Task() = default;
  /// Runs once, on any thread of the process, which holds no lock of the library.
  virtual void run(SimThread& self) = 0;
};

class TaskPool final : public Waitable {
public:
  /// `dispatch`: CPU cost of a push, and of taking a task, besides the line.
  TaskPool(Engine& engine, const Host& host, Duration dispatch, std::string_view name)
      : dispatch_(dispatch), line_(engine, host, name), name_(name) {}

  void push(SimThread& self, Task& task);
  /// Takes a task and runs it. Returns whether there was one.
  bool run_one(SimThread& self, Category category);

  [[nodiscard]] bool empty() const { return tasks_.empty(); }
  /// Reads the line. Returns whether there is nothing to take; no time has passed since.
  [[nodiscard]] bool look(SimThread& self, Category category) {
    line_.load(self, category);
    return tasks_.empty();
  }
  /// Reads the lines of the pool and of `sync` until one is written: to be called without letting time pass after looking at
  /// both. push() and stop_spinning() end it.
  void spin(SimThread& self, SyncObject& sync);
  /// The thread of `sync` goes on, if it spins.
  void stop_spinning(SyncObject& sync);

  /// Tasks run so far, and how many of these by threads other than the one that pushed them.
  [[nodiscard]] std::uint64_t run() const { return run_; }
  [[nodiscard]] std::uint64_t stolen() const { return stolen_; }
  [[nodiscard]] std::string describe() const override { return "a task of '" + name_ + "', or its requests"; }

private:
  struct Entry {
    Task* task;
    int pushed_by; ///< id of a thread
  };

  Duration dispatch_;
  CacheLine line_;
  RingQueue<Entry> tasks_;
  std::vector<SyncObject*> spinning_;
  std::uint64_t run_ = 0;
  std::uint64_t stolen_ = 0;
  std::string name_;
};

} // namespace contend
