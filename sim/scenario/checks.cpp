#include "scenario/checks.hpp"

#include "scenario/checks/check.hpp"
#include "scenario/diagnostics.hpp"

#include <utility>
#include <vector>

namespace contend::scenario {

namespace {

/// In the order in which their findings are told.
std::vector<Check> all_checks() {
  std::vector<Check> all;
  for (const std::span<const Check> some :
       {machine_checks(), placement_checks(), library_checks(), multirate_checks(), latency_checks(), rma_mt_checks(),
        waiting_checks(), ping_pong_checks(), pack_checks(), partitioned_checks(), neighbour_checks(),
        lock_use_checks(), program_checks()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

Problem other_core_count(const PointConfig& point, const PlatformFacts& platform) {
  const TopologyParameters& topology = point.machine.topology;
  const int cores = topology.sockets * topology.cores_per_socket;
  for (const auto& [host, host_cores] :
       {std::pair(platform.from, platform.from_cores), std::pair(platform.to, platform.to_cores)}) {
    if (host_cores != cores)
      return "host " + excerpt(host) + " of platform " + platform.platform + " has " + number(host_cores) +
             " cores, the machine's topology has " + number(cores) + " (" + counted(topology.sockets, "socket") +
             " x " + counted(topology.cores_per_socket, "core") +
             "); without a platform (--set fabric.platform=null), a fabric is its latency and bandwidth";
  }
  return {};
}

std::string point_suffix(const ResolvedPoint& point) {
  std::string suffix;
  for (const auto& [name, value] : point.parameters.items())
    suffix += (suffix.empty() ? " (at " : ", ") + name + " = " + value.dump();
  return suffix.empty() ? suffix : suffix + ")";
}

} // namespace

void check_points(const std::vector<ResolvedPoint>& points, const std::optional<PlatformFacts>& platform,
                  const StatedTraits& traits, const Locate& locate, Diagnostics& diagnostics) {
  const std::vector<Check> checks = all_checks();
  // Point by point, because the configurations of a large sweep fit into no cache; reported check by check.
  std::vector<Problem> first(checks.size() + 1);
  std::vector<std::string> where(checks.size() + 1);
  std::vector<std::size_t> with_it(checks.size() + 1);
  const auto note = [&](std::size_t which, const ResolvedPoint& point, const auto& find) {
    Problem problem = find(point.config);
    if (problem.empty())
      return;
    ++with_it[which];
    if (first[which].empty()) {
      first[which] = std::move(problem);
      where[which] = point_suffix(point);
    }
  };
  for (const ResolvedPoint& point : points) {
    for (std::size_t i = 0; i < checks.size(); ++i) {
      if (checks[i].workload == nullptr || point.config.workload.kind == checks[i].workload)
        note(i, point, [&](const PointConfig& config) { return checks[i].find(config, traits); });
    }
    if (platform)
      note(checks.size(), point, [&](const PointConfig& config) { return other_core_count(config, *platform); });
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i].empty())
      continue;
    const bool is_check = i < checks.size();
    const char* other = is_check ? checks[i].other : nullptr;
    Diagnostic found = locate(is_check ? checks[i].path : "machine.topology.cores_per_socket",
                              other == nullptr ? "" : other, first[i], with_it[i] == points.size());
    found.message += where[i]; // at the end: whoever leaves such points out looks there
    diagnostics.add(std::move(found));
  }
}

} // namespace contend::scenario
