// The run queue of one core where groups of threads compete, not threads (Linux: CONFIG_FAIR_GROUP_SCHED): the core goes to
// the group that has had least of it, and within the group to the thread that has. A group has as much of the machine as a single
// thread of normal weight has, whatever its number of threads; on each core its weight is the share of its threads that are there.
//
// Linux makes such a group for each session (autogroup), and launchers of MPI differ in whether they give every process a session of
// its own. Where they do, and under eevdf, a thread that yields gives its core to others of its process only. Their group keeps the
// core until it has had more than the others, so that processes that wait use up what is theirs. Under cfs the group is passed over
// with its thread.
#pragma once

#include "core/engine.hpp"
#include "core/fair_queue.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

namespace contend {

/// Threads of each group, on all cores of a host.
using GroupSizes = std::map<int, int>;

/// A group on one core: its place among the groups there, and its threads.
struct FairGroup : FairEntity {
  std::unique_ptr<FairQueue> members;
  int threads = 0; ///< that were on this core last, sleeping ones too, ended ones not
  TimePoint left;  ///< when none of them wanted the core any more
};

class GroupedQueue final : public FairQueue {
public:
  /// `sizes` is shared by the queues of a host. Throws std::invalid_argument for an unknown policy.
  GroupedQueue(const SchedulerParameters& parameters, std::shared_ptr<GroupSizes> sizes, const Engine& engine);

  void add(FairEntity& entity, Arrival arrival) override;
  void remove(FairEntity& entity) override;
  void reweigh(FairEntity& entity, int weight) override;
  void run(FairEntity& entity) override;
  void account(Duration span) override;
  void stop() override;
  void leave() override;
  void end() override;
  [[nodiscard]] FairEntity* best() override;
  [[nodiscard]] bool expired() const override;
  [[nodiscard]] Duration slice_left() const override;
  [[nodiscard]] bool preempts(FairEntity& entity, Arrival arrival) override;
  [[nodiscard]] bool would_preempt(const FairEntity& sleeper) const override;
  void yielded() override;
  void yielded_within() override {}
  [[nodiscard]] const std::vector<FairEntity*>& waiting() const override { return waiting_; }
  [[nodiscard]] std::size_t length() const override { return waiting_.size() + (current_ == nullptr ? 0 : 1); }
  [[nodiscard]] double load() const override { return groups_->load(); }
  [[nodiscard]] double load_of(const FairEntity& entity) const override;

private:
  [[nodiscard]] FairGroup& group_of(const FairEntity& entity);
  [[nodiscard]] int weight_of(const FairGroup& group) const;
  void enter(FairGroup& group, Arrival arrival);
  void forget(const FairEntity& entity);
  /// The group has no thread any more that wants the core.
  void empty(FairGroup& group) const { group.left = engine_.now(); }
  /// A group whose thread has gone to sleep beside others waits with the other groups.
  void put_back();

  SchedulerParameters parameters_;
  std::shared_ptr<GroupSizes> sizes_;
  const Engine& engine_;
  std::unique_ptr<FairQueue> groups_;
  std::map<int, FairGroup> by_number_;
  FairGroup* running_ = nullptr; ///< whose thread has the core
  /// Whose thread has gone to sleep beside others: until somebody is chosen the core is still that group's, with what is left of
  /// its slice (Linux: the group's entity stays cfs_rq->curr).
  FairGroup* lingering_ = nullptr;
  FairEntity* current_ = nullptr;
  std::vector<FairEntity*> waiting_; ///< of all groups, in order of arrival
};

} // namespace contend
