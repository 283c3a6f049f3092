#include "simulation/run_point.hpp"

#include "scenario/loader.hpp"
#include "simulation/names.hpp"
#include "simulation/simulation.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>

namespace contend {

namespace {

using Json = nlohmann::ordered_json;

Json counters_of(const PointResult& result) {
  const SpcCounters& receiver = result.receiver;
  return {
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
}

Json times_of(const WorkloadResult& workload, Role role) {
  Json times = Json::object();
  for (std::size_t i = 0; i < category_count; ++i) {
    times[std::string(name_of(static_cast<Category>(i)))] =
        workload.times[static_cast<std::size_t>(role)][i].in_nanoseconds();
  }
  return times;
}

} // namespace

std::string run_point(std::string_view config_json, int replication,
                      const std::function<std::unique_ptr<Backend>()>& make_backend, bool hash_events,
                      const std::atomic<bool>* stop) {
  const PointConfig config = point_from_json(Json::parse(config_json), known_names());
  SimulationOptions options;
  options.replication = replication;
  options.make_backend = make_backend;
  options.hash_steps = hash_events;
  options.stop = stop;
  // Far more than any design needs (a few hundred steps per message with all threads polling): a run that gets there polls
  // for ever.
  options.step_limit = 10'000'000 + 100'000 * planned_operations(config);
  const PointResult result = simulate(config, options);

  const double elapsed = result.workload.elapsed.in_seconds();
  Json json = {
      {"message_rate", elapsed > 0 ? static_cast<double>(result.workload.operations) / elapsed : 0.0},
      {"elapsed_s", elapsed},
      {"simulated_s", result.simulated.in_seconds()},
      {"events", result.steps},
      {"counters", counters_of(result)},
      {"time_by_category_ns",
       {{"sender", times_of(result.workload, Role::sender)}, {"receiver", times_of(result.workload, Role::receiver)}}},
      {"threads",
       {{"sender", result.workload.threads[static_cast<std::size_t>(Role::sender)]},
        {"receiver", result.workload.threads[static_cast<std::size_t>(Role::receiver)]}}},
  };
  if (hash_events) {
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(result.step_hash));
    json["event_hash"] = digits.data();
  }
  return json.dump();
}

} // namespace contend
