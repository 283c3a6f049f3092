// Threads of one process that contend for locks or atomic variables: what an acquisition costs by number of threads.
#pragma once

#include "models/locks/lock.hpp"
#include "workloads/condition_barrier.hpp"
#include "workloads/workload.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace contend {

class LockUse final : public Workload {
public:
  explicit LockUse(LockUseParameters parameters) : parameters_(std::move(parameters)) {}

  /// One process, which never calls the library.
  [[nodiscard]] std::vector<int> host_of_rank() const override { return {0}; }
  [[nodiscard]] Role role_of_rank(int /*rank*/) const override { return Role::sender; }
  /// Threads that locks bring along are the receivers: of sections.
  [[nodiscard]] Role role_of(const SimThread& thread) const override {
    return thread.daemon() ? Role::receiver : Role::sender;
  }
  [[nodiscard]] std::uint64_t planned_operations() const override;
  void start(World& world) override;
  [[nodiscard]] WorkloadResult result(const World& world) const override;

private:
  /// A lock with what it guards, or the lines that atomic operations work on.
  struct Shared {
    std::unique_ptr<Lock> lock; ///< nullptr for atomic operations
    std::vector<std::unique_ptr<CacheLine>> lines;
    std::vector<std::uint64_t> values; ///< of the lines
    std::int64_t operations = 0;       ///< those that changed the values
    int last = -1;                     ///< thread that had it last
  };
  /// A thread's own account of the timed part.
  struct Account {
    SimThread* thread = nullptr;
    std::int64_t all = 0; ///< operations, warm-up included
    std::int64_t acquisitions = 0;
    std::int64_t hand_overs = 0;
    std::int64_t refused = 0;
    std::int64_t delegated = 0;
    Duration wait_max;
    double wait_sum_ns = 0.0;
    double wait_squares = 0.0; ///< in ns^2
    TimePoint start;
    TimePoint end;
  };
  /// What came of one operation.
  struct Outcome {
    Duration waited; ///< until its critical section began
    std::int64_t refused = 0;
    bool delegated = false;
    bool handed_over = false;
  };
  enum class Operation {
    lock,
    try_lock,
    execute,
    fetch_and_add,
    compare_and_swap,
    fetch_and_xor,
    take_turns,
    swap,
    store
  };

  /// Creates the threads, lets them begin together, and waits for all of them: the time is the one that this thread sees.
  void release(SimThread& self, World& world, const std::vector<int>& cores);
  void spawn(World& world, int number, int core);
  void spawn_own_threads(World& world, const std::vector<int>& cores);
  void run(SimThread& self, Account& account, int number);
  Outcome operate(SimThread& self, Shared& shared, int number, RandomStream& random);
  /// Returns how often it was refused.
  [[nodiscard]] std::int64_t acquire(SimThread& self, Lock& lock) const;
  /// What a lock guards.
  void section(SimThread& self, Shared& shared, int number, RandomStream& random) const;
  void work(SimThread& self, Duration span, RandomStream& random) const;
  /// Returns how many attempts failed.
  std::int64_t work_on_lines(SimThread& self, Shared& shared, int number) const;
  void change_lines(SimThread& self, Shared& shared) const;
  void change_own_line(SimThread& self, int number) const;
  /// Reads the value and exchanges it for the next one until nobody has changed it in between; returns how many attempts failed.
  std::int64_t change_by_comparison(SimThread& self, CacheLine& line, std::uint64_t& value) const;
  /// Compares until it is the thread's turn, and leaves the value to the next one; returns how many attempts failed.
  std::int64_t take_turn(SimThread& self, CacheLine& line, std::uint64_t& value, int number) const;
  void begin_if_warm(SimThread& self, Account& account);
  void begin_of_own_threads() const;
  /// Whether every thread begins and ends its timed part by itself.
  [[nodiscard]] bool alone() const { return parameters_.stop != "together"; }
  [[nodiscard]] bool done(const Account& account) const;
  /// Whether an operation of this thread that ends now belongs to the timed part.
  [[nodiscard]] bool counts(const Account& account) const;
  static void add(const Outcome& outcome, Account& account);
  void check_values() const;

  [[nodiscard]] bool locks() const {
    return operation_ == Operation::lock || operation_ == Operation::try_lock || operation_ == Operation::execute;
  }
  [[nodiscard]] bool makes_comparisons() const {
    return operation_ == Operation::compare_and_swap || operation_ == Operation::fetch_and_xor ||
           operation_ == Operation::take_turns;
  }
  /// One line stands for all of a lock.
  [[nodiscard]] bool one_for_all() const { return locks() || operation_ == Operation::store; }
  [[nodiscard]] std::int64_t warm_up() const;
  [[nodiscard]] std::int64_t goal() const;

  LockUseParameters parameters_;
  Operation operation_ = Operation::lock;
  Duration jitter_;
  Duration hit_;
  std::vector<Shared> shared_;
  std::vector<std::unique_ptr<CacheLine>> own_lines_; ///< of the threads, if they have any
  std::vector<Account> accounts_;
  std::vector<SimThread*> own_threads_;      ///< of locks that bring one along
  std::unique_ptr<ConditionBarrier> gate_;   ///< where threads sleep that are released together
  std::unique_ptr<ConditionBarrier> finish_; ///< where these, and the main thread, wait for each other
  std::int64_t all_ = 0;                     ///< operations of all threads, warm-up included
  TimePoint released_;                       ///< when the main thread had released all and had a core again
  TimePoint all_finished_;                   ///< when it had a core after all had come to the finish
  TimePoint end_;                            ///< when the goal was reached
  bool timed_ = false;                       ///< the timed part has begun
};

} // namespace contend
