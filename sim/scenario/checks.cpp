#include "scenario/checks.hpp"

#include "scenario/units.hpp"

#include <array>

namespace contend::scenario {

namespace {

/// What is wrong with a point, or "".
using Problem = std::string;

std::string number(std::int64_t value) { return std::to_string(value); }

Problem oversubscribed(const PointConfig& point) {
  const TopologyParameters& topology = point.machine.topology;
  if (point.workload.pairs <= topology.hardware_threads())
    return {};
  return number(point.workload.pairs) + " pairs need " + number(point.workload.pairs) +
         " hardware threads on each host, which has " + number(topology.hardware_threads()) + " (" +
         number(topology.sockets) + " sockets x " + number(topology.cores_per_socket) + " cores x " +
         number(topology.threads_per_core) + " threads); oversubscription is not supported";
}

Problem inline_above_eager(const PointConfig& point) {
  const ProtocolDesign& protocol = point.library.protocol;
  if (protocol.eager_limit_bytes >= protocol.inline_limit_bytes)
    return {};
  return "the eager limit " + format_size(protocol.eager_limit_bytes) + " is below the inline limit " +
         format_size(protocol.inline_limit_bytes);
}

Problem needs_rendezvous(const PointConfig& point) {
  const std::int64_t limit = point.library.protocol.eager_limit_bytes;
  if (point.workload.message_size_bytes <= limit)
    return {};
  return "messages of " + format_size(point.workload.message_size_bytes) + " are above the eager limit " +
         format_size(limit) + "; the rendezvous protocol is not available";
}

Problem too_many_instances(const PointConfig& point) {
  if (point.library.instances.count <= point.machine.nic.max_contexts)
    return {};
  return number(point.library.instances.count) +
         " instances need as many contexts of the network interface, which has " +
         number(point.machine.nic.max_contexts);
}

/// One thread's messages take several ways when instances take turns, and a reversing list mixes them.
Problem transport_cannot_order(const PointConfig& point) {
  const LibraryDesign& library = point.library;
  if (!library.matching.ordered_by_transport())
    return {};
  if (library.instances.assignment == "round-robin" && library.instances.count > 1)
    return "round-robin assignment sends the messages of one thread through " + number(library.instances.count) +
           " instances, and a transport keeps the order within one only";
  if (library.protocol.pending_order != "fifo")
    return "a transport keeps messages in order only if delayed sends wait in order: "
           "library.protocol.pending_order must be \"fifo\"";
  return {};
}

Problem offload_with_sequence_numbers(const PointConfig& point) {
  const MatchingDesign& matching = point.library.matching;
  if (matching.engine != "offload" || matching.ordered_by_transport())
    return {};
  return "an interface that matches messages knows no sequence numbers: "
         "library.matching.ordering must be \"transport\"";
}

/// Sequence numbers are 16 bit and wrap: two messages of one stream that are 2^15 or more apart cannot be ordered.
Problem sequence_numbers_wrap(const PointConfig& point) {
  constexpr std::int64_t most = 32767;
  const MultirateParameters& workload = point.workload;
  if (workload.allow_overtaking || point.library.matching.ordered_by_transport())
    return {};
  const bool shared = workload.mode == "thread" && !workload.communicator_per_pair;
  const std::int64_t outstanding = std::int64_t{workload.window} * (shared ? workload.pairs : 1);
  if (outstanding <= most)
    return {};
  return number(outstanding) + " messages can be outstanding " +
         (shared ? "in the shared communicator (pairs x window)" : "between two entities (window)") +
         ", but 16-bit sequence numbers tell only " + number(most) + " apart";
}

Problem backoff_reversed(const PointConfig& point) {
  const LockParameters& locks = point.machine.locks;
  if (locks.backoff_minimum <= locks.backoff_maximum)
    return {};
  return "the least back-off " + format_time(locks.backoff_minimum) + " is above the greatest " +
         format_time(locks.backoff_maximum);
}

struct Check {
  const char* path; ///< the field that the user most likely has to change
  Problem (*find)(const PointConfig&);
};

constexpr std::array checks{Check{"workload.pairs", oversubscribed},
                            Check{"library.protocol.eager_limit", inline_above_eager},
                            Check{"workload.message_size", needs_rendezvous},
                            Check{"library.instances.count", too_many_instances},
                            Check{"workload.window", sequence_numbers_wrap},
                            Check{"machine.locks.backoff_minimum", backoff_reversed},
                            Check{"library.matching.ordering", transport_cannot_order},
                            Check{"library.matching.engine", offload_with_sequence_numbers}};

Problem other_core_count(const PointConfig& point, const PlatformFacts& platform) {
  const TopologyParameters& topology = point.machine.topology;
  const int cores = topology.sockets * topology.cores_per_socket;
  for (const auto& [host, host_cores] :
       {std::pair(platform.from, platform.from_cores), std::pair(platform.to, platform.to_cores)}) {
    if (host_cores != cores)
      return "host " + excerpt(host) + " of platform " + platform.platform + " has " + number(host_cores) +
             " cores, the machine's topology has " + number(cores) + " (" + number(topology.sockets) + " sockets x " +
             number(topology.cores_per_socket) + ")";
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
                  const Locate& locate, Diagnostics& diagnostics) {
  const auto report_first = [&](const char* path, const auto& find) {
    for (const ResolvedPoint& point : points) {
      if (const Problem problem = find(point.config); !problem.empty()) {
        diagnostics.add(locate(path, problem + point_suffix(point)));
        return;
      }
    }
  };
  for (const Check& check : checks)
    report_first(check.path, check.find);
  if (platform)
    report_first("machine.topology.cores_per_socket",
                 [&](const PointConfig& point) { return other_core_count(point, *platform); });
}

} // namespace contend::scenario
