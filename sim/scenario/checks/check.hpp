// What a check of a point is, and what checks share.
#pragma once

#include "scenario/config.hpp"
#include "scenario/names.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace contend::scenario {

/// What is wrong with a point, or "".
using Problem = std::string;

/// What finds a problem: by the point alone, or by what its parts say of themselves, too.
class Finder {
public:
  using ByPoint = Problem (*)(const PointConfig&);
  using ByTraits = Problem (*)(const PointConfig&, const StatedTraits&);

  constexpr Finder(ByPoint find) : by_point_(find) {}   // NOLINT(google-explicit-constructor): stands for the function
  constexpr Finder(ByTraits find) : by_traits_(find) {} // NOLINT(google-explicit-constructor): likewise

  Problem operator()(const PointConfig& point, const StatedTraits& traits) const {
    return by_point_ != nullptr ? by_point_(point) : by_traits_(point, traits);
  }

private:
  ByPoint by_point_ = nullptr; // one of the two
  ByTraits by_traits_ = nullptr;
};

struct Check {
  const char* path = nullptr; ///< the field that the user most likely has to change
  Finder find;
  const char* workload = nullptr; ///< kind of workload that it is about; nullptr: any
  const char* other = nullptr;    ///< the field that it clashes with, which a preset may give; nullptr: none or several
};

// One function for each file of this folder.
[[nodiscard]] std::span<const Check> machine_checks();
[[nodiscard]] std::span<const Check> placement_checks();
[[nodiscard]] std::span<const Check> library_checks();
[[nodiscard]] std::span<const Check> multirate_checks();
[[nodiscard]] std::span<const Check> latency_checks();
[[nodiscard]] std::span<const Check> rma_mt_checks();
[[nodiscard]] std::span<const Check> waiting_checks();
[[nodiscard]] std::span<const Check> ping_pong_checks();
[[nodiscard]] std::span<const Check> pack_checks();
[[nodiscard]] std::span<const Check> partitioned_checks();
[[nodiscard]] std::span<const Check> neighbour_checks();
[[nodiscard]] std::span<const Check> lock_use_checks();
[[nodiscard]] std::span<const Check> program_checks();

/// What to do about more threads than cores.
inline constexpr const char* how_to_share = "; to let threads share cores set placement.threads to \"pinned\", "
                                            "\"pinned-by-process\" or \"floating\"";

[[nodiscard]] inline std::string number(std::int64_t value) { return std::to_string(value); }

/// A number with its noun: "1 core", "2 cores".
[[nodiscard]] inline std::string counted(std::int64_t value, const std::string& noun) {
  return number(value) + " " + noun + (value == 1 ? "" : "s");
}
/// "1 socket x 2 cores x 1 thread"
[[nodiscard]] std::string layout_of(const TopologyParameters& topology);

/// Whether the part is among those that say something of themselves: `says(traits.takes_tasks, point.library.waiting.idle)`.
[[nodiscard]] bool says(const std::vector<std::string>& names, const std::string& part);
/// What a value must be, one of `names`: "a", "b" or "c", in quotes.
[[nodiscard]] std::string alternatives(const std::vector<std::string>& names);
/// The progress engine has a thread of its own in every process.
[[nodiscard]] bool has_progress_thread(const PointConfig& point, const StatedTraits& traits);

/// Hardware threads of a host that may be used.
[[nodiscard]] std::int64_t usable_cores(const PointConfig& point);
/// Simulated time is an integer number of picoseconds, 106 days in all.
[[nodiscard]] Problem longer_than_time(double seconds);
/// What the transport's own copies of a message's payload take, in and out; nothing where an interface moves it.
[[nodiscard]] double seconds_of_transport_copies(const PointConfig& point, std::int64_t bytes);
/// What the buses of both hosts take: the first packet of a fetched payload before the wire, and the last one after it.
[[nodiscard]] double seconds_on_the_buses(const PointConfig& point, std::int64_t bytes);
/// What the payload of a message takes at least where nothing overlaps: copies, registration, packets and the wire.
[[nodiscard]] double seconds_of_a_message(const PointConfig& point, std::int64_t bytes);

// Of several workloads:
/// Each of `processes` on one host has a context of its own. Only a network interface has few.
[[nodiscard]] Problem more_processes_than_contexts(const PointConfig& point, std::int64_t processes);
/// The same of a workload with two processes.
[[nodiscard]] Problem two_processes_with_too_few_contexts(const PointConfig& point);
/// `threads` of one host.
[[nodiscard]] Problem more_threads_than_cores(const PointConfig& point, std::int64_t threads);
/// Two processes with a thread each, and what progress needs.
[[nodiscard]] Problem more_processes_than_cores(const PointConfig& point, const StatedTraits& traits);
[[nodiscard]] Problem one_sided_in_global_section(const PointConfig& point);
[[nodiscard]] Problem one_sided_without_handler_lock(const PointConfig& point);
[[nodiscard]] Problem one_sided_without_interface(const PointConfig& point);
[[nodiscard]] Problem one_sided_memory_between_hosts(const PointConfig& point);
/// Only an interface and shared memory reach the memory of another process.
[[nodiscard]] Problem rendezvous_through_sockets(const PointConfig& point);
[[nodiscard]] Problem progress_thread_at_level_single(const PointConfig& point, const StatedTraits& traits);

} // namespace contend::scenario
