#include "locks/contest.hpp"

#include "locks/mcs_lock.hpp"
#include "locks/mutex_lock.hpp"
#include "locks/spin_lock.hpp"
#include "locks/ticket_lock.hpp"
#include "locks/trylock_lock.hpp"
#include "locks/ttas_lock.hpp"
#include "support/affinity.hpp"
#include "support/busy_work.hpp"
#include "support/clock.hpp"
#include "support/failure.hpp"
#include "support/thread_barrier.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <thread>

namespace contend::native {

namespace {

constexpr std::size_t most_clock_readings = 100'000; ///< per thread

/// What the lock protects: written by holders only, without atomics.
struct alignas(line_bytes) Protected {
  std::int64_t acquisitions = 0;
  std::int64_t same_thread = 0;
  std::int64_t released_ns = 0;
  int last_holder = -1;
};

struct ThreadRecord {
  LockSlot slot;
  std::int64_t acquisitions = 0;
  std::vector<double> hold_s;
  std::vector<double> hand_over_s;
};

/// Lock, what it protects and the rest are on lines of their own: the padding is wanted.
template <typename Lock>
class Contest { // NOLINT(clang-analyzer-optin.performance.Padding)
public:
  explicit Contest(const ContestParameters& parameters)
      : parameters_(parameters), start_(parameters.threads + 1),
        records_(static_cast<std::size_t>(parameters.threads)) {}

  ContestResult run() {
    std::vector<std::jthread> threads;
    threads.reserve(records_.size());
    for (std::size_t index = 0; index < records_.size(); ++index) {
      threads.emplace_back([this, index] { compete(index); });
    }
    start_.wait();
    const std::int64_t begin = now_ns();
    std::this_thread::sleep_for(std::chrono::duration<double>(parameters_.seconds));
    stop_.store(true, std::memory_order_relaxed);
    const std::int64_t end = now_ns();
    threads.clear(); // joins
    return result(seconds(end - begin));
  }

private:
  void compete(std::size_t index) {
    if (parameters_.bind) {
      bind_compact(parameters_.cores, index);
    }
    ThreadRecord& record = records_[index];
    if (parameters_.read_clock) {
      record.hold_s.reserve(most_clock_readings);
      record.hand_over_s.reserve(most_clock_readings);
    }
    start_.wait();
    while (!stop_.load(std::memory_order_relaxed)) {
      lock_.lock(record.slot);
      const std::int64_t got_ns = parameters_.read_clock ? now_ns() : 0;
      critical_section(static_cast<int>(index), record, got_ns);
      lock_.unlock(record.slot);
      ++record.acquisitions;
      busy_rounds(parameters_.outside_rounds);
    }
  }

  void critical_section(int me, ThreadRecord& record, std::int64_t got_ns) {
    const bool same = protected_.last_holder == me;
    ++protected_.acquisitions;
    protected_.same_thread += same ? 1 : 0;
    busy_rounds(parameters_.inside_rounds);
    if (parameters_.read_clock) {
      if (!same && protected_.last_holder >= 0 && record.hand_over_s.size() < most_clock_readings) {
        record.hand_over_s.push_back(seconds(got_ns - protected_.released_ns));
      }
      protected_.released_ns = now_ns();
      if (record.hold_s.size() < most_clock_readings) {
        record.hold_s.push_back(seconds(protected_.released_ns - got_ns));
      }
    }
    protected_.last_holder = me;
  }

  ContestResult result(double elapsed_s) const {
    ContestResult result;
    result.elapsed_s = elapsed_s;
    std::int64_t total = 0;
    for (const ThreadRecord& record : records_) {
      total += record.acquisitions;
      result.acquisitions.push_back(static_cast<double>(record.acquisitions));
      result.failed_tries += static_cast<double>(record.slot.failed_tries);
      result.hold_s.insert(result.hold_s.end(), record.hold_s.begin(), record.hold_s.end());
      result.hand_over_s.insert(result.hand_over_s.end(), record.hand_over_s.begin(), record.hand_over_s.end());
    }
    if (total != protected_.acquisitions) {
      throw Failure(ExitCode::incorrect, "the lock let two threads in: " + std::to_string(total) + " acquisitions, " +
                                             std::to_string(protected_.acquisitions) + " counted inside");
    }
    result.same_thread = static_cast<double>(protected_.same_thread);
    return result;
  }

  const ContestParameters& parameters_;
  ThreadBarrier start_;
  alignas(line_bytes) Lock lock_;
  Protected protected_;
  alignas(line_bytes) std::atomic<bool> stop_{false};
  std::vector<ThreadRecord> records_;
};

template <typename Lock>
ContestResult run_with(const ContestParameters& parameters) {
  return std::make_unique<Contest<Lock>>(parameters)->run();
}

using Run = std::function<ContestResult(const ContestParameters&)>;

const std::map<std::string, Run>& registry() {
  static const std::map<std::string, Run> locks{{"mutex", run_with<MutexLock>}, {"spin", run_with<SpinLock>},
                                                {"ttas", run_with<TtasLock>},   {"ticket", run_with<TicketLock>},
                                                {"mcs", run_with<McsLock>},     {"trylock", run_with<TrylockLock>}};
  return locks;
}

} // namespace

const std::vector<std::string>& lock_names() {
  static const std::vector<std::string> names{"mutex", "spin", "ttas", "ticket", "mcs", "trylock"};
  return names;
}

ContestResult run_contest(const std::string& lock, const ContestParameters& parameters) {
  return registry().at(lock)(parameters);
}

} // namespace contend::native
