// Which core a thread begins on.
#include "core/scheduler_parts.hpp"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <tuple>
#include <utility>
#include <vector>

namespace contend {

/// What a group of cores has to do (update_sg_wakeup_stats(), group_classify(); of the averages there utilisation, not also how many wanted a
/// core, which says the same of groups that are used up for long).
struct Scheduler::Crowd {
  enum class Kind { has_spare, fully_busy, overloaded };
  Kind kind;
  std::size_t idle_cores;
  double utilisation; ///< averages of its cores
  double load;

  [[nodiscard]] bool is_less_than(const Crowd& other) const {
    if (kind != other.kind) {
      return kind < other.kind;
    }
    return kind == Kind::has_spare ? std::pair{other.idle_cores, utilisation} < std::pair{idle_cores, other.utilisation}
                                   : load < other.load;
  }
  /// Whether a thread that is created in this group should begin in the other one, which `tolerated` is allowed to be more loaded.
  [[nodiscard]] bool should_send_to(const Crowd& other, double tolerated) const {
    if (kind != other.kind) {
      return other.kind < kind;
    }
    if (kind == Kind::has_spare) {
      return other.idle_cores > idle_cores;
    }
    return other.load < load + tolerated - 1.0 && load > tolerated * other.load;
  }
};

/// Where a thread begins: domain by domain, from the host inwards, in the group with the fewest threads for its cores
/// (find_idlest_group(), find_idlest_cpu()).
Scheduler::Core& Scheduler::idlest_core(const CoreSet& allowed) {
  const auto crowd = [](const Core& core) {
    std::vector<double> by_level; // outermost first, the core itself last
    for (const Look& look : std::ranges::reverse_view(core.looks)) {
      const std::vector<Core*>& group = look.domain->groups[look.group];
      const auto threads = std::accumulate(group.begin(), group.end(), std::size_t{0},
                                           [](std::size_t sum, const Core* one) { return sum + one->queue->length(); });
      by_level.push_back(static_cast<double>(threads) / static_cast<double>(group.size()));
    }
    by_level.push_back(static_cast<double>(core.queue->length()));
    return by_level;
  };
  Core* idlest = nullptr;
  std::vector<double> least;
  for (const auto& core : cores_) {
    if (!allowed.test(static_cast<std::size_t>(core->number))) {
      continue;
    }
    if (std::vector<double> here = crowd(*core); idlest == nullptr || here < least) {
      idlest = core.get();
      least = std::move(here);
    }
  }
  return *idlest;
}

Scheduler::Crowd Scheduler::crowd_of(const std::vector<Core*>& group, double tolerated) {
  const auto cores = static_cast<double>(group.size());
  std::size_t threads = 0;
  Crowd crowd{Crowd::Kind::fully_busy, 0, 0.0, load_of(group)};
  for (const Core* const core : group) {
    threads += core->queue->length();
    crowd.idle_cores += core->current == nullptr ? 1 : 0;
    crowd.utilisation += core->utilisation / cores;
  }
  const bool is_used_up = crowd.utilisation * tolerated > 1.0;
  if (threads < group.size() || !is_used_up) {
    crowd.kind = Crowd::Kind::has_spare;
  } else if (threads > group.size()) {
    crowd.kind = Crowd::Kind::overloaded;
  }
  return crowd;
}

/// Where a thread begins that a running one creates: near that one, unless another group has less to do. While there is time to spare
/// an idle core counts, else the average load (sched_balance_find_dst_group(), sched_balance_find_dst_cpu()). Not modelled: between
/// sockets Linux lets some threads begin beside their creator although the other socket idles (imb_numa_nr).
Scheduler::Core& Scheduler::core_for_new(const CoreSet& allowed, Core& creator) {
  const auto may = [&](const Core* core) { return allowed.test(static_cast<std::size_t>(core->number)); };
  Core* here = may(&creator) ? &creator : &idlest_core(allowed);
  for (std::size_t level = here->looks.size(); level > 0; --level) {
    const Look& look = here->looks[level - 1];
    const Domain& domain = *look.domain;
    const Crowd own = crowd_of(domain.groups[look.group], domain.tolerated);
    const std::vector<Core*>* best = nullptr;
    Crowd least{};
    for (const std::vector<Core*>& group : domain.groups) {
      if (&group == &domain.groups[look.group] || std::ranges::none_of(group, may)) {
        continue;
      }
      if (const Crowd crowd = crowd_of(group, domain.tolerated); best == nullptr || crowd.is_less_than(least)) {
        best = &group;
        least = crowd;
      }
    }
    if (best == nullptr || !own.should_send_to(least, domain.tolerated)) {
      continue;
    }
    here = *std::ranges::min_element(*best, {}, [&](const Core* core) {
      const bool idles = core->current == nullptr; // the one that fell idle last, whose state is the least deep
      return std::tuple{!may(core), !idles, idles ? TimePoint{} - core->idle_since : Duration{}, core->load};
    });
    const auto same = std::ranges::find(here->looks, &domain, &Look::domain);
    level =
        static_cast<std::size_t>(same - here->looks.begin()) + 1; // on with the domains inside this one that it is in
  }
  return *here;
}

} // namespace contend
