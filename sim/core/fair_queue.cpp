#include "core/fair_queue.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace contend {

namespace {

__extension__ using Wide = __int128;

/// What the policies have in common: who runs, who waits, and weights.
class FlatQueue : public FairQueue {
public:
  // Plain data: nothing to move. NOLINTNEXTLINE(modernize-pass-by-value)
  explicit FlatQueue(const SchedulerParameters& parameters) : parameters_(parameters) {}

  void add(FairEntity& entity, Arrival arrival) final {
    place(entity, arrival);
    entity.home = this;
    waiting_.push_back(&entity);
  }
  void remove(FairEntity& entity) final {
    gives_up(entity);
    departs(entity);
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), &entity));
  }
  void reweigh(FairEntity& entity, int weight) final {
    departs(entity);
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), &entity));
    rescale(entity, weight);
    entity.weight = weight;
    place(entity, Arrival::migrated);
    waiting_.push_back(&entity);
  }
  void run(FairEntity& entity) final {
    if (&entity != current_) {
      waiting_.erase(std::find(waiting_.begin(), waiting_.end(), &entity));
      current_ = &entity;
    }
    entity.ran = Duration{};
    given(entity);
  }
  void account(Duration span) final {
    current_->ran += span;
    ran(*current_, virtual_time(span, current_->weight));
  }
  void stop() final {
    puts_back();
    waiting_.push_back(std::exchange(current_, nullptr));
  }
  void leave() final {
    gives_up(*current_);
    departs(*current_);
    current_ = nullptr;
  }
  void end() final { leave(); }

  [[nodiscard]] const std::vector<FairEntity*>& waiting() const final { return waiting_; }
  [[nodiscard]] std::size_t length() const final { return waiting_.size() + (current_ == nullptr ? 0 : 1); }
  [[nodiscard]] double load() const final { return in_threads(total_weight()); }
  [[nodiscard]] double load_of(const FairEntity& entity) const final { return in_threads(entity.weight); }

protected:
  virtual void place(FairEntity& entity, Arrival arrival) = 0;
  virtual void departs(FairEntity& entity) = 0;                   ///< while it still counts
  virtual void rescale(FairEntity& /*entity*/, int /*weight*/) {} ///< before it is of that weight
  virtual void gives_up(const FairEntity& /*entity*/) {}          ///< what it was promised, and what it said
  virtual void puts_back() {}                                     ///< who had the core waits again
  virtual void ran(FairEntity& entity, std::int64_t virtual_span) = 0;
  virtual void given(FairEntity& entity) = 0;

  [[nodiscard]] static std::int64_t virtual_time(Duration span, int weight) {
    return static_cast<std::int64_t>(Wide{span.count()} * FairEntity::normal_weight / weight);
  }
  /// How long a thread of this weight takes for it, rounded up.
  [[nodiscard]] static Duration real_time(std::int64_t virtual_span, int weight) {
    return Duration::picoseconds(static_cast<std::int64_t>(
        (Wide{virtual_span} * weight + FairEntity::normal_weight - 1) / FairEntity::normal_weight));
  }
  [[nodiscard]] static double in_threads(std::int64_t weight) {
    return static_cast<double>(weight) / static_cast<double>(FairEntity::normal_weight);
  }
  [[nodiscard]] std::int64_t total_weight() const {
    std::int64_t sum = current_ == nullptr ? 0 : current_->weight;
    for (const FairEntity* entity : waiting_) {
      sum += entity->weight;
    }
    return sum;
  }

  SchedulerParameters parameters_;
  FairEntity* current_ = nullptr;
  std::vector<FairEntity*> waiting_; ///< in order of arrival
};

bool runs_earlier(const FairEntity* a, const FairEntity* b) { return a->vruntime < b->vruntime; }

class CfsQueue final : public FlatQueue {
public:
  using FlatQueue::FlatQueue;

  FairEntity* best() override {
    FairEntity* const first = least(nullptr);
    FairEntity* const skipped = std::exchange(skip_, nullptr);
    if (first == nullptr || first != skipped) {
      return first;
    }
    // pick_next_entity(): who yields is passed over only for somebody who is not too far ahead.
    FairEntity* const second = least(first);
    const std::int64_t granularity =
        second == nullptr ? 0 : virtual_time(parameters_.wakeup_granularity, second->weight);
    return second != nullptr && second->vruntime - first->vruntime <= granularity ? second : first;
  }

  bool expired() const override {
    if (waiting_.empty()) {
      return false;
    }
    // check_preempt_tick()
    const Duration share = ideal_slice();
    auto* const first = *std::min_element(waiting_.begin(), waiting_.end(), runs_earlier);
    return current_->ran >= share ||
           (current_->ran >= parameters_.slice && current_->vruntime - first->vruntime > share.count());
  }

  Duration slice_left() const override {
    Duration left = ideal_slice() - current_->ran;
    if (!waiting_.empty()) {
      // When it will be a share ahead of the first, and a picosecond more.
      auto* const first = *std::min_element(waiting_.begin(), waiting_.end(), runs_earlier);
      const std::int64_t behind = first->vruntime + ideal_slice().count() + 1 - current_->vruntime;
      left = std::min(left, std::max(parameters_.slice - current_->ran, real_time(behind, current_->weight)));
    }
    return std::max(Duration{}, left);
  }

  bool preempts(FairEntity& woken, Arrival /*arrival*/) override { // wakeup_preempt_entity()
    return current_->vruntime - woken.vruntime > virtual_time(parameters_.wakeup_granularity, woken.weight);
  }

  /// Whether it would take the core depends on the virtual runtime that place() gives it when it joins, and is not worked out
  /// before. So no waker pays for the interrupt of a busy core, although Linux sends one wherever preempts() holds.
  bool would_preempt(const FairEntity& /*sleeper*/) const override { return false; }

  void yielded() override { skip_ = current_; }
  void yielded_within() override { skip_ = current_; } // set_skip_buddy() marks every level

private:
  [[nodiscard]] FairEntity* least(const FairEntity* besides) const {
    FairEntity* first = nullptr;
    for (FairEntity* entity : waiting_) {
      if (entity != besides && (first == nullptr || entity->vruntime < first->vruntime)) {
        first = entity;
      }
    }
    // Who has just had the core comes after those who have had as much.
    const bool stays =
        current_ != nullptr && current_ != besides && (first == nullptr || current_->vruntime < first->vruntime);
    return stays ? current_ : first;
  }

  [[nodiscard]] Duration ideal_slice() const { return slice_among(length(), total_weight(), current_->weight); }

  /// sched_slice(): what one of so many threads may run before all have run.
  [[nodiscard]] Duration slice_among(std::size_t threads, std::int64_t weights, std::int64_t weight) const {
    const Duration period = std::max(parameters_.latency, parameters_.slice * static_cast<std::int64_t>(threads));
    return Duration::picoseconds(static_cast<std::int64_t>(Wide{period.count()} * weight / weights));
  }

  void place(FairEntity& entity, Arrival arrival) override {
    if (const auto* from = dynamic_cast<const CfsQueue*>(entity.home); from != nullptr && from != this) {
      entity.vruntime += minimum_ - from->minimum_;
    }
    if (arrival == Arrival::started) {
      entity.vruntime = minimum_;
    } else if (arrival == Arrival::forked) { // START_DEBIT: after a slice of everybody, its own included
      const Duration slice = slice_among(length() + 1, total_weight() + entity.weight, entity.weight);
      entity.vruntime = minimum_ + virtual_time(slice, entity.weight);
    } else if (arrival == Arrival::woken) { // place_entity() with GENTLE_FAIR_SLEEPERS
      entity.vruntime = std::max(entity.vruntime, minimum_ - parameters_.latency.count() / 2);
    }
  }
  void departs(FairEntity& /*entity*/) override {}
  void ran(FairEntity& entity, std::int64_t virtual_span) override {
    entity.vruntime += virtual_span;
    minimum_ = std::max(minimum_, least(nullptr)->vruntime);
  }
  void given(FairEntity& entity) override { gives_up(entity); }
  void gives_up(const FairEntity& entity) override { skip_ = skip_ == &entity ? nullptr : skip_; } // clear_buddies()

  std::int64_t minimum_ = 0; ///< never goes back
  FairEntity* skip_ = nullptr;
};

class EevdfQueue final : public FlatQueue {
public:
  using FlatQueue::FlatQueue;

  FairEntity* best() override {
    FairEntity* const first = choose();
    yielding_ = false;
    favoured_ = nullptr;
    return first;
  }

  bool expired() const override { return !waiting_.empty() && !protected_now(); }

  Duration slice_left() const override {
    const std::int64_t left = std::max<std::int64_t>(0, protected_until_ - current_->vruntime);
    return real_time(left, current_->weight);
  }

  bool preempts(FairEntity& woken, Arrival arrival) override {
    if (parameters_.short_sleep == Duration{}) {
      return choose() == &woken;
    }
    const bool soon =
        arrival == Arrival::woken && (woken.slept <= parameters_.short_sleep || (lazy() && woken.woken_here));
    const std::int64_t mean = average();
    // wakeup_preempt_fair(): who has had less than its share is protected; at the average it is not, because it has gone on since
    // the woken one was placed there.
    const bool is_protected = lazy() && protected_now() && current_->vruntime < mean;
    if (!soon || woken.vruntime > mean || is_protected) {
      return lazy() && choose() == &woken;
    }
    favoured_ = &woken;
    return true;
  }

  bool would_preempt(const FairEntity& sleeper) const override { return sleeper.slept <= parameters_.short_sleep; }

  void yielded() override { // yield_task_fair() of Linux 6.18: the rest of the slice is given up
    if (current_->vruntime <= average()) {
      current_->vruntime = current_->deadline;
      current_->deadline += slice_of(*current_);
    }
    yielding_ = true;
  }
  void yielded_within() override {} // the group is judged as ever: it goes on while it is eligible

private:
  /// Whom best() would name. A thread that wakes up is compared with that one while others wait to be chosen: it must not end
  /// their turn.
  [[nodiscard]] FairEntity* choose() const {
    if (favoured_ != nullptr) {
      return favoured_;
    }
    const std::int64_t mean = average();
    // pick_eevdf() with RUN_TO_PARITY protects only who is eligible: has had no more than its share.
    if (current_ != nullptr && !yielding_ && protected_now() && current_->vruntime <= mean) {
      return current_;
    }
    FairEntity* first = nullptr;
    for_each([&](FairEntity& entity) {
      if (entity.vruntime <= mean && (first == nullptr || entity.deadline < first->deadline)) {
        first = &entity;
      }
    });
    return first;
  }
  template <typename Visitor>
  void for_each(Visitor visitor) const {
    for (FairEntity* entity : waiting_) {
      visitor(*entity);
    }
    if (current_ != nullptr) { // after those who are as good
      visitor(*current_);
    }
  }

  [[nodiscard]] std::int64_t slice_of(const FairEntity& entity) const {
    return virtual_time(parameters_.slice, entity.weight);
  }
  [[nodiscard]] bool lazy() const { return parameters_.preemption == "lazy"; }
  [[nodiscard]] bool protected_now() const { return current_->vruntime < protected_until_; }

  /// Weighted average of virtual runtimes, rounded up so that somebody is always eligible; the last one of an empty queue.
  [[nodiscard]] std::int64_t average() const {
    std::int64_t base = std::numeric_limits<std::int64_t>::max();
    for_each([&](const FairEntity& entity) { base = std::min(base, entity.vruntime); });
    Wide sum = 0;
    std::int64_t weight = 0;
    for_each([&](const FairEntity& entity) {
      sum += Wide{entity.vruntime - base} * entity.weight;
      weight += entity.weight;
    });
    return weight == 0 ? last_average_ : base + static_cast<std::int64_t>((sum + weight - 1) / weight);
  }

  void place(FairEntity& entity, Arrival arrival) override { // place_entity()
    const std::int64_t mean = average();
    const std::int64_t weight = total_weight();
    // The average moves when the entity joins: it is put as far away as makes its lag right afterwards.
    if (arrival == Arrival::woken && parameters_.short_sleep > Duration{}) {
      // It stayed in the queue, not to run, until others had had as much (delayed dequeue).
      const std::int64_t others = entity.slept.count() / (1 + static_cast<std::int64_t>(length()));
      entity.lag = std::min<std::int64_t>(entity.lag + others, std::max<std::int64_t>(entity.lag, 0));
    }
    const std::int64_t lag = is_new(arrival) || weight == 0
                                 ? 0
                                 : static_cast<std::int64_t>(Wide{entity.lag} * (weight + entity.weight) / weight);
    const std::int64_t ahead = arrival == Arrival::migrated ? entity.deadline - entity.vruntime : slice_of(entity);
    entity.vruntime = mean - lag;
    entity.deadline = entity.vruntime + (is_new(arrival) ? ahead / 2 : ahead);
  }
  void departs(FairEntity& entity) override { // update_entity_lag()
    const std::int64_t limit = virtual_time(std::max(parameters_.slice * 2, parameters_.tick), entity.weight);
    last_average_ = average();
    entity.lag = std::clamp(last_average_ - entity.vruntime, -limit, limit);
  }
  /// reweight_entity() of Linux 6.12 on: the time that it is owed, and that is left of its slice, stays what it is; virtual times
  /// of another weight are other ones.
  void rescale(FairEntity& entity, int weight) override {
    const auto rescaled = [&](std::int64_t virtual_span) {
      return static_cast<std::int64_t>(Wide{virtual_span} * entity.weight / weight);
    };
    entity.lag = rescaled(entity.lag);
    entity.deadline = entity.vruntime + rescaled(entity.deadline - entity.vruntime);
  }
  void gives_up(const FairEntity& entity) override {
    favoured_ = favoured_ == &entity ? nullptr : favoured_;
    yielding_ = yielding_ && current_ != &entity;
  }
  void puts_back() override { yielding_ = false; }
  void ran(FairEntity& entity, std::int64_t virtual_span) override {
    entity.vruntime += virtual_span;
    if (entity.vruntime >= entity.deadline) { // update_deadline()
      entity.deadline = entity.vruntime + slice_of(entity);
    }
  }
  void given(FairEntity& entity) override { protected_until_ = entity.deadline; }

  std::int64_t protected_until_ = 0; ///< virtual runtime at which the running one has had its slice
  std::int64_t last_average_ = 0;
  bool yielding_ = false;
  FairEntity* favoured_ = nullptr; ///< has woken up, and goes next
};

} // namespace

std::unique_ptr<FairQueue> make_fair_queue(const SchedulerParameters& parameters) {
  if (parameters.policy == "cfs") {
    return std::make_unique<CfsQueue>(parameters);
  }
  if (parameters.policy == "eevdf") {
    return std::make_unique<EevdfQueue>(parameters);
  }
  throw std::invalid_argument("no scheduling policy is called '" + parameters.policy + "'");
}

} // namespace contend
