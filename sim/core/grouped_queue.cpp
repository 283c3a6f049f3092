#include "core/grouped_queue.hpp"

#include <algorithm>
#include <utility>

namespace contend {

GroupedQueue::GroupedQueue(const SchedulerParameters& parameters, std::shared_ptr<GroupSizes> sizes,
                           const Engine& engine)
    : parameters_(parameters), sizes_(std::move(sizes)), engine_(engine), groups_(make_fair_queue(parameters)) {}

FairGroup& GroupedQueue::group_of(const FairEntity& entity) {
  FairGroup& group = by_number_[entity.group];
  if (!group.members) {
    group.members = make_fair_queue(parameters_);
  }
  return group;
}

/// calc_group_shares(), with numbers of threads where Linux has averages of their load.
int GroupedQueue::weight_of(const FairGroup& group) const {
  const int all = sizes_->at(group.group);
  return std::max(1, FairEntity::normal_weight * group.threads / std::max(1, all));
}

/// The group, which has a thread that wants the core, joins the other groups; or its weight is brought up to date there.
void GroupedQueue::enter(FairGroup& group, Arrival arrival) {
  const int weight = weight_of(group);
  if (&group == running_) {
    return;
  }
  if (group.members->length() > 0) { // it waits already
    if (weight != group.weight) {
      groups_->reweigh(group, weight);
    }
    return;
  }
  group.weight = weight;
  groups_->add(group, arrival);
}

void GroupedQueue::add(FairEntity& entity, Arrival arrival) {
  FairGroup& group = group_of(entity);
  group.group = entity.group;
  if (entity.member_of != &group) {
    if (entity.member_of == nullptr) {
      ++(*sizes_)[entity.group];
    } else {
      --entity.member_of->threads;
    }
    ++group.threads;
    entity.member_of = &group;
  }
  put_back();
  group.slept = engine_.now() - group.left;
  // Only the thread is new, or comes from elsewhere; a group that had nobody here wakes up (ENQUEUE_WAKEUP of enqueue_task_fair()).
  enter(group, is_new(arrival) ? Arrival::started : Arrival::woken);
  group.members->add(entity, arrival);
  waiting_.push_back(&entity);
}

void GroupedQueue::forget(const FairEntity& entity) {
  waiting_.erase(std::find(waiting_.begin(), waiting_.end(), &entity));
}

void GroupedQueue::put_back() {
  if (lingering_ != nullptr) {
    groups_->stop();
    lingering_ = nullptr;
  }
}

void GroupedQueue::remove(FairEntity& entity) {
  FairGroup& group = group_of(entity);
  put_back();
  group.members->remove(entity);
  forget(entity);
  if (group.members->length() == 0) {
    groups_->remove(group);
    empty(group);
  }
}

void GroupedQueue::reweigh(FairEntity& entity, int weight) { group_of(entity).members->reweigh(entity, weight); }

void GroupedQueue::run(FairEntity& entity) {
  if (&entity != current_) {
    forget(entity);
    current_ = &entity;
  }
  running_ = &group_of(entity);
  if (lingering_ == running_) {
    lingering_ = nullptr;
  }
  put_back();
  groups_->run(*running_);
  running_->members->run(entity);
}

void GroupedQueue::account(Duration span) {
  running_->members->account(span);
  groups_->account(span);
}

void GroupedQueue::stop() {
  waiting_.push_back(std::exchange(current_, nullptr));
  running_->members->stop();
  groups_->stop();
  enter(*std::exchange(running_, nullptr), Arrival::migrated);
}

void GroupedQueue::leave() {
  current_ = nullptr;
  running_->members->leave();
  if (running_->members->length() == 0) {
    groups_->leave();
    empty(*running_);
  } else {
    lingering_ = running_;
  }
  running_ = nullptr;
}

/// What the group has is divided among fewer threads from now on; on other cores it learns of that when its threads there stop
/// or start.
void GroupedQueue::end() {
  FairEntity& entity = *current_;
  FairGroup& group = *running_;
  leave();
  put_back();
  --group.threads;
  --sizes_->at(entity.group);
  entity.member_of = nullptr;
  if (group.members->length() > 0) {
    enter(group, Arrival::migrated);
  }
}

FairEntity* GroupedQueue::best() {
  auto* const group = static_cast<FairGroup*>(groups_->best());
  return group == nullptr ? nullptr : group->members->best();
}

bool GroupedQueue::expired() const { return groups_->expired() || running_->members->expired(); }

Duration GroupedQueue::slice_left() const {
  const FairQueue& members = *running_->members;
  if (groups_->waiting().empty()) {
    return members.slice_left();
  }
  const Duration left = groups_->slice_left();
  return members.waiting().empty() ? left : std::min(left, members.slice_left());
}

/// Threads of one group are compared with each other, others by their groups (find_matching_se()).
bool GroupedQueue::preempts(FairEntity& entity, Arrival arrival) {
  FairGroup& group = group_of(entity);
  if (&group == running_) {
    return group.members->preempts(entity, arrival);
  }
  group.slept = entity.slept; // how soon it is, not how long the group was away
  group.woken_here = entity.woken_here;
  return groups_->preempts(group, arrival);
}

/// task_h_load(): an equal part of what the group has here.
double GroupedQueue::load_of(const FairEntity& entity) const {
  const FairGroup& group = by_number_.at(entity.group);
  return groups_->load_of(group) / static_cast<double>(std::max<std::size_t>(1, group.members->length()));
}

bool GroupedQueue::would_preempt(const FairEntity& sleeper) const { return groups_->would_preempt(sleeper); }

void GroupedQueue::yielded() {
  running_->members->yielded();
  groups_->yielded_within();
}

} // namespace contend
