// What a check of a point is, and what checks share.
#pragma once

#include "scenario/config.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace contend::scenario {

/// What is wrong with a point, or "".
using Problem = std::string;

struct Check {
  const char* path = nullptr; ///< the field that the user most likely has to change
  Problem (*find)(const PointConfig&) = nullptr;
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

/// The progress engine with a thread of its own.
inline constexpr const char* offload_engine = "offload-thread";

/// What to do about more threads than cores.
inline constexpr const char* how_to_share = "; to let threads share cores set placement.threads to \"pinned\", "
                                            "\"pinned-by-process\" or \"floating\"";

[[nodiscard]] inline std::string number(std::int64_t value) { return std::to_string(value); }

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
[[nodiscard]] Problem more_processes_than_cores(const PointConfig& point);
[[nodiscard]] Problem one_sided_in_global_section(const PointConfig& point);
[[nodiscard]] Problem one_sided_without_handler_lock(const PointConfig& point);
[[nodiscard]] Problem one_sided_without_interface(const PointConfig& point);
[[nodiscard]] Problem one_sided_memory_between_hosts(const PointConfig& point);
/// Only an interface and shared memory reach the memory of another process.
[[nodiscard]] Problem rendezvous_through_sockets(const PointConfig& point);
[[nodiscard]] Problem progress_thread_at_level_single(const PointConfig& point);

} // namespace contend::scenario
