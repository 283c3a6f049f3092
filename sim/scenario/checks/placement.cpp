// Threads on cores.
#include "scenario/checks/check.hpp"
#include "scenario/diagnostics.hpp"

#include <array>

namespace contend::scenario {

namespace {

Problem more_cores_than_there_are(const PointConfig& point) {
  const int cores = point.machine.topology.hardware_threads();
  if (point.placement.cores <= cores)
    return {};
  return number(point.placement.cores) + " hardware threads are to be used on a host that has " + number(cores);
}

Problem unknown_scheduler(const PointConfig& point) {
  if (!point.placement.shares_cores() || point.machine.scheduler.slice > Duration{})
    return {};
  return "threads share cores, but machine " + excerpt(point.machine.profile) +
         " says nothing of its scheduler: give machine.scheduler, at least its slice";
}

Problem shares_without_crowd(const PointConfig& point) {
  if (point.placement.shares == "threads" || point.placement.shares_cores())
    return {};
  return std::string("shares of cores mean nothing where each thread has a core to itself") + how_to_share;
}

Problem start_of_bound_threads(const PointConfig& point) {
  if (point.placement.start == "in-turn" || point.placement.threads == "floating")
    return {};
  return "where threads begin can be chosen only if they are not bound to cores: placement.threads must be "
         "\"floating\"";
}

} // namespace

std::span<const Check> placement_checks() {
  static constexpr std::array checks{
      Check{"placement.cores", more_cores_than_there_are}, Check{"placement.threads", unknown_scheduler},
      Check{"placement.shares", shares_without_crowd}, Check{"placement.start", start_of_bound_threads}};
  return checks;
}

} // namespace contend::scenario
