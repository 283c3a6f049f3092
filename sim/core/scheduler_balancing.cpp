// Periodic balancing: which threads change cores although none idles (Linux's sched_balance_rq()).
//
// Cores form domains, one inside the other: the hardware threads of a core, the cores of a cluster, of a socket, the host. From
// time to time a core looks, domain after domain, whether a group of it (a domain of the level below) has more load than its own
// group, and takes threads that wait there. So one thread too many does not stay where it is: it goes round, and over a long
// time all have about as much of the cores.
#include "core/decay.hpp"
#include "core/scheduler_parts.hpp"

#include <algorithm>
#include <cmath>

namespace contend {

namespace {

/// How load is balanced on a level of the topology: sd_init() of kernel/sched/topology.c.
struct LevelRules {
  double tolerated; ///< imbalance_pct: a group may have so much more than the own one
  int patience;     ///< cache_nice_tries: after more attempts in vain warm caches do not matter; -1: they never do
};
constexpr LevelRules within_core{1.10, -1}; // siblings share their caches
constexpr LevelRules within_socket{1.17, 1};
constexpr LevelRules within_host{1.25, 2};

/// Of averages: half is forgotten in 32 ms.
constexpr double mean_life_s = 32e-3 / 0.69314718055994531;

/// Averages this near to each other are alike.
constexpr double alike = 0.01;

} // namespace

void Scheduler::make_domains() {
  const TopologyParameters& topology = host_.topology();
  const int socket = topology.threads_per_core * topology.cores_per_socket;
  struct Level {
    int threads;
    LevelRules rules;
  };
  std::vector<Level> levels{{topology.threads_per_core, within_core}};
  if (topology.cores_per_cluster > 0) {
    levels.push_back({topology.threads_per_core * topology.cores_per_cluster, within_socket});
  }
  levels.push_back({socket, within_socket});
  levels.push_back({socket * topology.sockets, within_host});
  const double newidle_ratio = parameters_.policy == "eevdf" ? parameters_.newidle_ratio : 1.0;
  int group_threads = 1;
  for (const Level& level : levels) {
    if (level.threads <= group_threads) {
      continue; // a level that adds nothing, as Linux leaves it out
    }
    const auto cores = static_cast<int>(cores_.size());
    for (int begin = 0; begin < cores; begin += level.threads) {
      const int end = std::min(begin + level.threads, cores);
      if (end - begin <= group_threads) {
        continue; // one group
      }
      auto domain = std::make_unique<Domain>();
      domain->tolerated = level.rules.tolerated;
      domain->patience = level.rules.patience;
      domain->idle_period = std::max(parameters_.tick, parameters_.balance_period * (end - begin));
      domain->busy_period = parameters_.balance_period * (end - begin) * parameters_.busy_factor;
      // Lest domains of several levels look at once (get_sd_balance_interval(), from 5.10 on).
      if (parameters_.policy == "eevdf") {
        domain->busy_period = std::max(domain->busy_period - parameters_.tick, parameters_.balance_period);
      }
      for (int group = begin; group < end; group += group_threads) {
        auto& members = domain->groups.emplace_back();
        for (int core = group; core < std::min(group + group_threads, end); ++core) {
          members.push_back(cores_[static_cast<std::size_t>(core)].get());
          // Cores look at different times: Linux staggers their timer interrupts, and each began when it was brought up.
          const TimePoint last =
              TimePoint::at(parameters_.balance_period * parameters_.busy_factor * (core - begin + 1)) -
              domain->busy_period;
          members.back()->looks.push_back(
              {domain.get(), domain->groups.size() - 1, last, {}, {}, 0, NewlyIdleRatio(newidle_ratio)});
        }
      }
      domains_.push_back(std::move(domain));
    }
    group_threads = level.threads;
  }
}

/// Brings a core's average load and utilisation up to now, which forget half in LOAD_AVG_PERIOD of Linux (kernel/sched/pelt.c);
/// to be called before its queue changes.
void Scheduler::note_load(Core& core) {
  const double forgotten = decayed((now() - core.load_noted).in_seconds() / mean_life_s);
  core.load += (core.queue->load() - core.load) * forgotten;
  core.utilisation += ((core.queue->length() > 0 ? 1.0 : 0.0) - core.utilisation) * forgotten;
  core.load_noted = now();
}

/// The same for a thread, which wanted a core since its load was noted, or slept.
void Scheduler::note_load(Task& task, bool wanted_core) {
  const double forgotten = decayed((now() - task.load_noted).in_seconds() / mean_life_s);
  task.load += ((wanted_core ? 1.0 : 0.0) - task.load) * forgotten;
  task.load_noted = now();
}

/// Somebody waits who may go elsewhere: cores look for such from now on.
void Scheduler::arm_balancing() {
  if (parameters_.balance_period <= Duration{} || balancing_->armed()) {
    return;
  }
  TimePoint first = TimePoint::never();
  for (const auto& core : cores_) {
    for (Look& look : core->looks) {
      look.next = next_look(*core, look);
      first = std::min(first, look.next);
    }
  }
  if (first != TimePoint::never()) {
    balancing_->at(first);
  }
}

/// When a core will look in a domain if it stays idle, or does not become so.
TimePoint Scheduler::next_look(const Core& core, const Look& look) const {
  if (core.current == nullptr) {
    return next_kick(look);
  }
  const Duration period = look.domain->busy_period;
  const TimePoint next = look.last + period + look.delay;
  if (next >= now()) {
    return next;
  }
  const std::int64_t missed = (now() - next - 1_ps) / period; // looks while nobody waited would have found nobody
  return next + period * (missed + 1);
}

/// An idle core has no timer. It looks when another one on which somebody waits interrupts it, at that one's timer interrupt
/// (nohz_balancer_kick()), in a domain once in its period.
TimePoint Scheduler::next_kick(const Look& look) const {
  const TimePoint from = std::max({now(), kicks_from_, look.last + look.domain->idle_period});
  const Duration tick = parameters_.tick;
  const Duration since_tick = tick > Duration{} ? from.since_start() % tick : Duration{};
  return from + (since_tick > Duration{} ? tick - since_tick : Duration{}) + host_.futex().wake_latency;
}

/// A core has become idle, or is so no longer: it looks at other times.
void Scheduler::look_anew(Core& core) {
  if (!balancing_->armed()) {
    return;
  }
  for (Look& look : core.looks) {
    look.next = next_look(core, look);
    balancing_->at(look.next);
  }
}

/// All cores whose time it is look, domain after domain.
void Scheduler::balance() {
  if (!alive()) {
    return;
  }
  TimePoint kicks_from = TimePoint::never();
  for (const auto& core : cores_) {
    const bool was_idle = core->current == nullptr;
    for (Look& look : core->looks) {
      if (look.next > now()) {
        continue;
      }
      look.last = now() - (was_idle ? host_.futex().wake_latency : Duration{}); // an interrupt of the timer
      look.delay = delay();
      balance(*core, look);
      look.next = next_look(*core, look);
      if (was_idle) {
        const bool is_idle = core->current == nullptr;
        kicks_from = std::min(kicks_from, look.last + (is_idle ? look.domain->idle_period : look.domain->busy_period));
      }
    }
  }
  if (kicks_from != TimePoint::never()) {
    kicks_from_ = kicks_from; // none before an idle core may look again, of those that have just looked
  }
  const bool crowd = std::any_of(tasks_.begin(), tasks_.end(), [](const auto& task) {
    return task && task->state == Task::State::runnable && task->allowed.count() > 1;
  });
  if (crowd) {
    arm_balancing();
  }
}

/// Cores look at the timer's interrupt after the period is over. Were it the same time after it always, the same thread could be
/// the one that waits for ever.
Duration Scheduler::delay() {
  const std::int64_t tick = parameters_.tick.count();
  return Duration::picoseconds(tick > 0 ? static_cast<std::int64_t>(look_.below(static_cast<std::uint64_t>(tick))) : 0);
}

/// One core of a group looks for all: the first that idles, else the first (should_we_balance()).
bool Scheduler::looks_for_group(const Core& core, const std::vector<Core*>& group) {
  const auto idle = std::find_if(group.begin(), group.end(), [](const Core* one) { return one->current == nullptr; });
  return &core == (idle != group.end() ? *idle : group.front());
}

/// Average load of the cores of a group.
double Scheduler::load_of(const std::vector<Core*>& group) {
  double sum = 0.0;
  for (Core* const core : group) {
    note_load(*core);
    sum += core->load;
  }
  return sum / static_cast<double>(group.size());
}

/// The core takes threads of the most loaded group, if that makes groups more alike (find_busiest_group(), detach_tasks()).
void Scheduler::balance(Core& core, Look& look) {
  const Domain& domain = *look.domain;
  const std::vector<Core*>& own = domain.groups[look.group];
  if (!looks_for_group(core, own)) {
    return;
  }
  const double own_load = load_of(own);
  const std::vector<Core*>* busiest = nullptr;
  double busiest_load = 0.0;
  double sum = 0.0;
  std::size_t count = 0;
  for (const std::vector<Core*>& group : domain.groups) {
    const double load = load_of(group);
    sum += load * static_cast<double>(group.size());
    count += group.size();
    const bool somebody_waits =
        std::any_of(group.begin(), group.end(), [](const Core* one) { return one->queue->length() > 1; });
    if (&group != &own && somebody_waits && (busiest == nullptr || load > busiest_load)) {
      busiest = &group;
      busiest_load = load;
    }
  }
  const bool idle = core.current == nullptr;
  if (busiest == nullptr || (!idle && busiest_load <= domain.tolerated * own_load)) {
    look.failed = 0;
    return;
  }
  Core* from = nullptr;
  for (Core* const one : *busiest) {
    from = one->queue->length() > 1 && (from == nullptr || one->load > from->load) ? one : from;
  }
  const double mean = sum / static_cast<double>(count);
  const auto their_cores = static_cast<double>(busiest->size());
  double surplus = std::min((busiest_load - mean) * their_cores, (mean - own_load) * static_cast<double>(own.size()));
  bool moved = false;
  while (Task* const task = candidate(*from, core, look)) {
    const double load = from->queue->load_of(*task);
    if (!fits(load, surplus, (busiest_load - own_load) * their_cores, look.failed) && !idle) {
      break;
    }
    move_to(*from, core, *task, load);
    moved = true;
    surplus -= load;
    if (surplus <= 0.0 || from->queue->length() <= 1) {
      break;
    }
  }
  look.failed = moved ? 0 : look.failed + 1;
}

/// Whether a thread of that load may go where a move of `surplus` would make groups alike. Until Linux 5.5 one went also where
/// that only changed who has one too many (fix_small_imbalance()), and twice the surplus was allowed; since then what is
/// allowed doubles with each attempt that found none. Both let the thread that is one too many go round.
bool Scheduler::fits(double load, double surplus, double difference, int failed) const {
  constexpr int most_doublings = 4;
  if (parameters_.policy == "cfs") {
    return load / 2 <= surplus || difference >= load * (1.0 - alike);
  }
  return load <= std::ldexp(surplus * (1.0 + alike), std::min(failed, most_doublings));
}

/// A thread that waits goes to another core, with its share of the average load.
void Scheduler::move_to(Core& from, Core& to, Task& task, double load) {
  move(from, to, task);
  from.load -= load;
  to.load += load;
  if (to.current == nullptr) {
    dispatch(to, task, {});
  } else if (to.queue->preempts(task, FairQueue::Arrival::migrated)) {
    ask_for(to);
  } else {
    arm(to);
  }
}

} // namespace contend
