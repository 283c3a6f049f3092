#include "simulation/run_point.hpp"

#include "scenario/loader.hpp"
#include "simulation/names.hpp"
#include "simulation/simulation.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>

namespace contend {

namespace {

using Json = nlohmann::ordered_json;

/// What no measure of a workload may be called: names that a result gets later, or has in results.json.
constexpr std::array<std::string_view, 9> other_names{"lock_use", "notes",      "explain",      "trace",   "event_hash",
                                                      "wall_s",   "parameters", "replications", "measured"};

Json counters_of(const PointResult& result) {
  const SpcCounters& receiver = result.receiver;
  Json counters = {
      {"messages_sent", result.sender.sent},
      {"messages_received", receiver.received},
      {"receives_posted", receiver.posted},
      {"out_of_sequence", receiver.out_of_sequence},
      {"oos_in_queue", receiver.oos_in_queue},
      {"oos_in_queue_max", receiver.oos_in_queue_max},
      {"unexpected", receiver.unexpected},
      {"unexpected_in_queue", receiver.unexpected_in_queue},
      {"unexpected_in_queue_max", receiver.unexpected_in_queue_max},
      {"match_time_ns", receiver.match_time.in_nanoseconds()},
      {"delayed_sends", result.sender.delayed_sends},
      {"oos_ranges_visited", receiver.oos_ranges_visited},
  };
  const SpcCounters& origin = result.sender;
  if (origin.puts + origin.gets + origin.accumulates + origin.fetch_and_ops > 0) {
    counters.update({
        {"puts", origin.puts},
        {"gets", origin.gets},
        {"accumulates", origin.accumulates},
        {"fetch_and_ops", origin.fetch_and_ops},
        {"hardware_atomics", origin.hardware_atomics},
        {"flushes", origin.flushes},
        {"one_sided_completed", origin.one_sided_completed},
        {"window_lock_retries", origin.window_lock_retries},
    });
  }
  if (result.scheduling) {
    const Scheduler::Counters& scheduling = *result.scheduling;
    counters.update({
        {"context_switches", scheduling.switches},
        {"preemptions", scheduling.preemptions},
        {"yields", scheduling.yields},
        {"wakeups", scheduling.wakeups},
        {"migrations", scheduling.migrations},
    });
  }
  for (const auto& [name, count] : result.more_counters) {
    counters[name] = count;
  }
  return counters;
}

Json times_of(const WorkloadResult& workload, Role role, bool shared_cores) {
  Json times = Json::object();
  for (std::size_t i = 0; i < category_count; ++i) {
    const auto category = static_cast<Category>(i);
    if (!shared_cores && (category == Category::run_queue || category == Category::context_switch)) {
      continue;
    }
    times[std::string(name_of(static_cast<Category>(i)))] =
        workload.times[static_cast<std::size_t>(role)][i].in_nanoseconds();
  }
  return times;
}

Json to_json(const ProcessorUse& use) {
  return {{"processor_s", use.processor.in_seconds()},
          {"voluntary_switches", use.voluntary_switches},
          {"involuntary_switches", use.involuntary_switches}};
}

Json locks_of(const Explanation& explanation) {
  Json locks = Json::array();
  for (const LockReport& lock : explanation.locks) {
    Json waits = Json::array();
    for (const RoleWait& wait : lock.waits) {
      waits.push_back({{"waiter", wait.waiter}, {"holder", wait.holder}, {"time_ns", wait.time.in_nanoseconds()}});
    }
    locks.push_back({{"name", lock.name},
                     {"acquisitions", lock.acquisitions},
                     {"contended", lock.contended},
                     {"refused", lock.refused},
                     {"delegated", lock.delegated},
                     {"wait_ns", lock.wait.in_nanoseconds()},
                     {"release_ns", lock.release.in_nanoseconds()},
                     {"hold_ns", lock.hold.in_nanoseconds()},
                     {"waits", std::move(waits)}});
  }
  return locks;
}

Json places_of(const Explanation& explanation) {
  Json places = Json::array();
  for (const PlaceReport& place : explanation.places) {
    Json waits = Json::array();
    for (const PlaceWait& wait : place.by_role) {
      waits.push_back({{"waiter", wait.waiter},
                       {"category", name_of(wait.category)},
                       {"awaited", wait.awaited},
                       {"how", wait.how},
                       {"time_ns", wait.time.in_nanoseconds()}});
    }
    Json awaited = Json::array();
    for (const AwaitedThread& thread : place.awaited) {
      awaited.push_back({{"thread", thread.name},
                         {"how", thread.how},
                         {"times", thread.times},
                         {"time_ns", thread.time.in_nanoseconds()}});
    }
    Json meanwhile = Json::object();
    for (const auto& [category, time] : place.meanwhile) {
      meanwhile[std::string(name_of(category))] = time.in_nanoseconds();
    }
    places.push_back({{"name", place.name},
                      {"waits", place.waits},
                      {"wait_ns", place.wait.in_nanoseconds()},
                      {"by_role", std::move(waits)},
                      {"awaited", std::move(awaited)},
                      {"meanwhile_ns", std::move(meanwhile)}});
  }
  return places;
}

Json to_json(const Explanation& explanation) {
  Json queues = Json::array();
  for (const QueueReport& queue : explanation.queues) {
    queues.push_back({{"name", queue.name}, {"mean", queue.mean}, {"maximum", queue.maximum}});
  }
  Json stages = Json::array();
  for (const StageReport& stage : explanation.stages) {
    stages.push_back({{"name", stage.name},
                      {"messages", stage.messages},
                      {"busy_ns", stage.busy.in_nanoseconds()},
                      {"queueing_ns", stage.queueing.in_nanoseconds()},
                      {"on_wire_ns", stage.on_wire.in_nanoseconds()}});
  }
  return {{"elapsed_ns", explanation.elapsed.in_nanoseconds()},
          {"locks", locks_of(explanation)},
          {"waiting_places", places_of(explanation)},
          {"queues", std::move(queues)},
          {"interface_stages", std::move(stages)}};
}

Json to_json(const LockUseStatistics& use) {
  return {{"acquisitions_per_thread_mean", use.acquisitions_mean},
          {"acquisitions_per_thread_sd", use.acquisitions_sd},
          {"acquisitions_per_thread_least", use.acquisitions_least},
          {"acquisitions_per_thread_most", use.acquisitions_most},
          {"wait_mean_ns", use.wait_mean_ns},
          {"wait_sd_ns", use.wait_sd_ns},
          {"wait_max_ns", use.wait_max_ns},
          {"hand_overs", use.hand_overs},
          {"refused", use.refused},
          {"delegated", use.delegated}};
}

Json to_json(const ChromeTrace::Summary& trace) {
  return {{"bytes", trace.bytes},
          {"events", trace.events},
          {"messages", trace.messages},
          {"end_s", trace.end.since_start().in_seconds()},
          {"complete", trace.complete}};
}

} // namespace

std::string run_point(const PointConfig& config, int replication, const RunPointOptions& wanted) {
  SimulationOptions options;
  options.replication = replication;
  options.make_backend = wanted.make_backend;
  options.hash_steps = wanted.hash_events;
  options.stop = wanted.stop;
  options.explain = wanted.explain;
  options.trace_file = wanted.trace_file;
  options.trace_limit_bytes = wanted.trace_limit_bytes;
  options.trace_title = wanted.trace_title;
  options.idle_step_limit = static_cast<std::uint64_t>(config.run.steps_without_operation);
  options.step_limit = most_steps(config);
  const PointResult result = simulate(config, options);

  if (result.workload.operations > 0 && result.workload.elapsed == Duration{}) {
    throw std::runtime_error(
        "the " + std::to_string(result.workload.operations) +
        " operations of the timed part take no time, so they have no rate: nothing that they do has a "
        "price on this machine");
  }
  const double elapsed = result.workload.elapsed.in_seconds();
  constexpr double mebibyte = 1024.0 * 1024.0;
  Json json = {
      {"message_rate", elapsed > 0 ? static_cast<double>(result.workload.operations) / elapsed : 0.0},
      {"elapsed_s", elapsed},
      {"simulated_s", result.simulated.in_seconds()},
      {"events", result.steps},
      {"counters", counters_of(result)},
      {"time_by_category_ns",
       {{"sender", times_of(result.workload, Role::sender, result.scheduling.has_value())},
        {"receiver", times_of(result.workload, Role::receiver, result.scheduling.has_value())}}},
      {"usage",
       {{"sender", to_json(result.workload.use[static_cast<std::size_t>(Role::sender)])},
        {"receiver", to_json(result.workload.use[static_cast<std::size_t>(Role::receiver)])}}},
      {"threads",
       {{"sender", result.workload.threads[static_cast<std::size_t>(Role::sender)]},
        {"receiver", result.workload.threads[static_cast<std::size_t>(Role::receiver)]}}},
  };
  if (result.workload.bytes > 0 && elapsed > 0) {
    json["bandwidth"] = static_cast<double>(result.workload.bytes) / mebibyte / elapsed;
  }
  for (const auto& [name, value] : result.workload.measures) {
    if (json.contains(name) || std::find(other_names.begin(), other_names.end(), name) != other_names.end()) {
      throw std::logic_error("the workload has a measure \"" + name + "\": results have something else of that name");
    }
    json[name] = value;
  }
  if (result.workload.locks) {
    json["lock_use"] = to_json(*result.workload.locks);
  }
  if (!result.notes.empty()) {
    json["notes"] = result.notes;
  }
  if (result.explanation) {
    json["explain"] = to_json(*result.explanation);
  }
  if (result.trace) {
    json["trace"] = to_json(*result.trace);
  }
  if (wanted.hash_events) {
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(result.step_hash));
    json["event_hash"] = digits.data();
  }
  return json.dump();
}

std::string run_point(std::string_view config_json, int replication, const RunPointOptions& wanted) {
  return run_point(point_from_json(Json::parse(config_json), known_names()), replication, wanted);
}

} // namespace contend
