// The workloads without an engine: a heap, and a function pointer with its data per entry. There are no stacks, no names,
// no accounts of time, no observers; a process is a state machine that says when it wants to be called again. This is
// the fastest honest way to run the workloads in order of (time, insertion), the bound that contend is compared with.
#include "engines.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace contend::bench {

namespace {

constexpr std::int64_t never = -1;

/// 4-ary min-heap of (time, insertion, slot), compared as one 128-bit number without branches.
class BareLoop {
public:
  /// Called when its date has come; returns its next date or `never`.
  using Callback = std::int64_t (*)(void* data, std::int64_t now);

  std::uint64_t add(Callback callback, void* data) {
    callbacks_.push_back({callback, data});
    return callbacks_.size() - 1;
  }

  void schedule(std::uint64_t slot, std::int64_t time) {
    std::size_t hole = size_++;
    const Key key = make_key(time, slot);
    while (hole > 0 && key < at((hole - 1) / 4)) {
      at(hole) = at((hole - 1) / 4);
      hole = (hole - 1) / 4;
    }
    at(hole) = key;
  }

  void run() {
    while (size_ > 0) {
      const Key top = at(0);
      const auto now = static_cast<std::int64_t>(top >> 64);
      const std::uint64_t slot = static_cast<std::uint64_t>(top) & slot_mask;
      // The root keeps the smallest key while the callback runs, so that it may schedule others.
      const std::int64_t next = callbacks_[slot].function(callbacks_[slot].data, now);
      if (next != never) {
        sift_down(make_key(next, slot)); // replaces the root: no removal, no insertion
      } else if (--size_ > 0) {
        sift_down(at(size_));
      }
    }
  }

private:
  __extension__ using Key = unsigned __int128;
  struct Entry {
    Callback function;
    void* data;
  };
  static constexpr std::size_t capacity = 64; ///< more than the workloads have processes
  static constexpr std::uint64_t slot_bits = 16;
  static constexpr std::uint64_t slot_mask = (1U << slot_bits) - 1;
  static constexpr std::size_t lead = 3; ///< the children of a node then fill one cache line

  Key make_key(std::int64_t time, std::uint64_t slot) {
    return static_cast<Key>(time) << 64 | (++sequence_ << slot_bits | slot);
  }
  Key& at(std::size_t index) { return heap_[index + lead]; }

  void sift_down(Key key) {
    std::size_t hole = 0;
    for (;;) {
      const std::size_t first = 4 * hole + 1;
      std::size_t best = first;
      if (first + 4 <= size_) {
        const std::size_t left = first + (at(first + 1) < at(first) ? 1U : 0U);
        const std::size_t right = first + 2 + (at(first + 3) < at(first + 2) ? 1U : 0U);
        best = at(right) < at(left) ? right : left;
      } else if (first < size_) {
        for (std::size_t child = first + 1; child < size_; ++child) {
          best = at(child) < at(best) ? child : best;
        }
      } else {
        break;
      }
      if (!(at(best) < key)) {
        break;
      }
      at(hole) = at(best);
      hole = best;
    }
    at(hole) = key;
  }

  alignas(64) std::array<Key, capacity + lead> heap_;
  std::vector<Entry> callbacks_;
  std::size_t size_ = 0;
  std::uint64_t sequence_ = 0;
};

struct HoldProcess {
  int process;
  Recorder* recorder;
  Delays delays;
  bool started = false;

  static std::int64_t call(void* data, std::int64_t now) {
    auto& self = *static_cast<HoldProcess*>(data);
    if (!self.started) {
      self.started = true;
    } else if (!self.recorder->add(now, self.process)) {
      return never;
    }
    return now + self.delays.next();
  }
};

void run_hold(BareLoop& loop, const Task& task, Recorder& recorder) {
  std::vector<HoldProcess> processes;
  for (int p = 0; p < Hold::processes; ++p) {
    processes.push_back({p, &recorder, Delays(p, task.ties)});
  }
  for (HoldProcess& process : processes) {
    loop.schedule(loop.add(&HoldProcess::call, &process), process.process);
  }
  loop.run();
}

/// The mutex and its queue, which holds each process at most once.
struct BareMutex {
  bool taken = false;
  std::array<std::uint8_t, 32> waiting{};
  unsigned head = 0;
  unsigned tail = 0;
};

struct LockProcess {
  int process;
  BareLoop* loop;
  BareMutex* mutex;
  Recorder* recorder;
  bool holding = false;

  static std::int64_t call(void* data, std::int64_t now) {
    auto& self = *static_cast<LockProcess*>(data);
    BareMutex& mutex = *self.mutex;
    if (self.holding) {
      self.holding = false;
      self.release(now);
      return now + Lock::away_ps;
    }
    if (mutex.taken) {
      mutex.waiting[mutex.tail++ % mutex.waiting.size()] = static_cast<std::uint8_t>(self.process);
      return never;
    }
    mutex.taken = true;
    return self.enter(now) ? now + Lock::held_ps : never;
  }

  bool enter(std::int64_t now) {
    holding = recorder->add(now, process);
    return holding;
  }

  void release(std::int64_t now) {
    if (mutex->head == mutex->tail) {
      mutex->taken = false;
      return;
    }
    LockProcess& next = this[mutex->waiting[mutex->head++ % mutex->waiting.size()] - process]; // they lie in one array
    if (next.enter(now)) {
      loop->schedule(static_cast<std::uint64_t>(next.process), now + Lock::held_ps);
    }
  }
};

void run_lock(BareLoop& loop, Recorder& recorder) {
  BareMutex mutex;
  std::vector<LockProcess> processes;
  for (int p = 0; p < Lock::processes; ++p) {
    processes.push_back({p, &loop, &mutex, &recorder});
  }
  for (LockProcess& process : processes) {
    loop.schedule(loop.add(&LockProcess::call, &process), 0);
  }
  loop.run();
}

} // namespace

int run_on_bare_heap(const Task& task) {
  BareLoop loop;
  Recorder recorder(task.events);
  const Stopwatch stopwatch;
  if (task.lock) {
    run_lock(loop, recorder);
  } else {
    run_hold(loop, task, recorder);
  }
  return print_result(task, recorder, stopwatch.cpu_s(), stopwatch.wall_s());
}

} // namespace contend::bench
