// Multirate, what both of its loops share: who the entities are, when the timed part begins and ends, and the result.
#pragma once

#include "workloads/thread_barrier.hpp"
#include "workloads/workload.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// Entities send from one host to the other. An entity is a thread: of the side's only process, or of a process of its own.
class Multirate : public Workload {
public:
  explicit Multirate(MultirateParameters parameters) : parameters_(std::move(parameters)) {}

  [[nodiscard]] std::vector<int> host_of_rank() const override;
  [[nodiscard]] Role role_of_rank(int rank) const override;
  [[nodiscard]] std::uint64_t planned_operations() const override;
  void start(World& world) override;
  [[nodiscard]] WorkloadResult result(const World& world) const override;

protected:
  static constexpr int sending_host = 0;
  static constexpr int receiving_host = 1;

  /// One thread's part in one process.
  struct Entity {
    Role role;
    int number; ///< among the entities of its role
    int rank;
    int thread; ///< among the threads of its process
    Process* process;
    ThreadBarrier* barrier; ///< of the threads of this process

    /// Speaks for its process.
    [[nodiscard]] bool leads() const { return thread == 0; }
  };

  [[nodiscard]] const MultirateParameters& parameters() const { return parameters_; }
  [[nodiscard]] int iterations() const { return parameters_.warmup_iterations + parameters_.iterations; }
  [[nodiscard]] int entities(Role role) const { return parameters_.entities(role); }
  [[nodiscard]] virtual std::int64_t messages_per_iteration() const = 0;
  /// Of the whole run.
  [[nodiscard]] virtual std::int64_t messages() const { return messages_per_iteration() * iterations(); }
  [[nodiscard]] bool threads(Role role) const { return parameters_.are_threads(role); }
  [[nodiscard]] int ranks(Role role) const { return parameters_.processes(role); }
  [[nodiscard]] int first_rank(Role role) const { return role == Role::sender ? 0 : ranks(Role::sender); }
  [[nodiscard]] int rank_of(Role role, int number) const { return first_rank(role) + (threads(role) ? 0 : number); }
  [[nodiscard]] int threads_per_rank(Role role) const { return threads(role) ? entities(role) : 1; }
  [[nodiscard]] int world_communicator() const { return world_communicator_; }
  // What a receive of data asks for. Nothing but data can match its wildcards: only receiving processes post it, and to
  // them come data and messages of barriers, whose tags are negative and not the application's. Ready words and
  // acknowledgements go the other way, to receives that name source and tag.
  [[nodiscard]] int wanted_source(int rank) const { return parameters_.any_source ? any_source : rank; }
  [[nodiscard]] int wanted_tag(int tag) const { return parameters_.any_tag ? any_tag : tag; }

  /// Creates the communicators besides the one of all ranks.
  virtual void create_communicators(World& world) = 0;
  virtual void run(SimThread& self, const Entity& entity) = 0;
  /// All threads of the process, then all processes; nobody goes on before everybody is there.
  void meet_all(SimThread& self, const Entity& entity) const;
  /// Call at the start of every iteration: the clocks start with the timed ones, if need be after all have met.
  void begin_iteration(SimThread& self, const Entity& entity, int iteration);
  /// Call after the last iteration: the clocks stop.
  void end_iterations(SimThread& self, const Entity& entity);

private:
  /// A clock starts when the last of those it waits for begins, and stops when the last one ends.
  struct Clock {
    TimePoint start;
    TimePoint end;
  };
  [[nodiscard]] bool times_each_process() const { return parameters_.timing == "slowest-process"; }
  [[nodiscard]] bool meets_before_timing() const;
  [[nodiscard]] Clock& clock_of(const Entity& entity);
  /// Whether the time that threads spent before the clock of all began, in the mean, is much of the time that it ran.
  [[nodiscard]] bool has_long_head_start(Duration elapsed) const;

  MultirateParameters parameters_;
  std::vector<std::unique_ptr<ThreadBarrier>> barriers_;   ///< by rank
  std::array<std::vector<SimThread*>, 2> threads_of_role_; ///< by role
  int world_communicator_ = 0;
  int finished_ = 0;
  std::vector<Clock> clocks_;     ///< by rank, or one for all
  std::vector<TimePoint> starts_; ///< of each thread's timed part, where one clock is for all
};

} // namespace contend
