#include "machine/probe.hpp"

namespace contend::native {

void ProbeContext::add_point(const std::string& probe, const Json::Object& parameters,
                             const std::function<double()>& measure) {
  hooks.begin_step(steps++);
  std::vector<double> samples;
  for (std::int64_t repetition = 0; repetition < repetitions; ++repetition) {
    samples.push_back(measure());
  }
  Json all = Json::object();
  all.set("probe", probe);
  for (const auto& [key, value] : parameters) {
    all.set(key, value);
  }
  points.push_back(std::move(Json::object().set("parameters", all).set("time_per_operation", metric(samples, "s"))));
}

const std::vector<Probe>& probes() {
  static const std::vector<Probe> all{{"clock", probe_clock},
                                      {"cache_line", probe_cache_line},
                                      {"atomic", probe_atomic},
                                      {"futex_wake", probe_futex_wake},
                                      {"context_switch", probe_context_switch},
                                      {"yield", probe_yield},
                                      {"memcpy", probe_memcpy},
                                      {"thread_create", probe_thread_create},
                                      {"busy_cores", probe_busy_cores},
                                      {"futex_calls", probe_futex_calls},
                                      {"busy_wake", probe_busy_wake},
                                      {"guarded_wake", probe_guarded_wake},
                                      {"socket", probe_socket},
                                      {"socket_answers", probe_socket_answers},
                                      {"socket_polls", probe_socket_polls},
                                      {"socket_queue", probe_socket_queue},
                                      {"socket_turns", probe_socket_turns},
                                      {"turns", probe_turns}};
  return all;
}

} // namespace contend::native
