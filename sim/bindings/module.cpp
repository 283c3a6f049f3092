// The Python module contend._core: JSON in, JSON out, and the points of a scenario as objects that can be run. The
// interpreter lock is released while a simulation runs.
#include "scenario/costs.hpp"
#include "scenario/loader.hpp"
#include "scenario/schema.hpp"
#include "simulation/names.hpp"
#include "simulation/run_point.hpp"
#include "simulation/simulation.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

namespace nb = nanobind;

namespace contend {

namespace {

std::atomic<bool> stop_requested{false};

/// (platform file, from host, to host) -> (latency in s, bandwidth in bytes/s, cores of from, cores of to), or what a RouteError has:
/// (key, problem)
using PythonRoute = std::variant<std::tuple<double, double, int, int>, std::pair<std::string, std::string>>;
using PythonResolver = std::function<PythonRoute(const std::string&, const std::string&, const std::string&)>;

/// A point that is ready to run. The configuration never changes, so that any number of threads may run it.
class PythonPoint {
public:
  explicit PythonPoint(PointConfig config) : config_(std::make_shared<const PointConfig>(std::move(config))) {}

  [[nodiscard]] std::string config() const { return to_json(*config_).dump(); }
  [[nodiscard]] nb::bytes identity() const {
    const std::string text = identity_of(*config_);
    return nb::bytes(text.data(), text.size());
  }
  [[nodiscard]] std::int64_t replications() const { return config_->run.replications; }
  [[nodiscard]] std::uint64_t operations() const { return planned_operations(*config_); }
  [[nodiscard]] std::uint64_t most_steps() const { return contend::most_steps(*config_); }
  [[nodiscard]] std::string run(int replication, bool trace_hash, bool explain, const std::string& trace_file,
                                std::uint64_t trace_limit_bytes, const std::string& trace_title) const;

private:
  std::shared_ptr<const PointConfig> config_;
};

PythonPoint point_of(const std::string& config_json) {
  return PythonPoint(point_from_json(nlohmann::ordered_json::parse(config_json), known_names()));
}

/// A scenario file, or the text of one: then `path` stands for it in messages, and relative paths start at its folder.
/// Returns JSON {"document", "origins", "parameters": those of each point}, and the points.
std::pair<std::string, std::vector<PythonPoint>>
resolve(const std::string& path, const std::vector<std::pair<std::string, std::string>>& overrides,
        const std::vector<std::string>& profile_dirs, const std::vector<std::string>& preset_dirs,
        const PythonResolver& route_resolver, const std::optional<std::string>& text) {
  LoadOptions options;
  options.names = known_names();
  options.profile_directories.assign(profile_dirs.begin(), profile_dirs.end());
  options.preset_directories.assign(preset_dirs.begin(), preset_dirs.end());
  options.overrides = overrides;
  // An exception of Python's, such as Ctrl-C, is no problem of the platform: it goes back as it came.
  std::exception_ptr raised;
  options.resolve_route = [&](const std::filesystem::path& platform, const std::string& from, const std::string& to) {
    PythonRoute route;
    try {
      route = route_resolver(platform.string(), from, to);
    } catch (const nb::python_error&) {
      raised = std::current_exception();
      throw;
    }
    if (const auto* error = std::get_if<1>(&route)) {
      throw RouteError(error->first, error->second);
    }
    const auto& [latency, bandwidth, from_cores, to_cores] = std::get<0>(route);
    return RouteFacts{{Duration::seconds(latency), bandwidth}, from_cores, to_cores};
  };
  const std::filesystem::path file(path);
  ResolvedScenario scenario;
  try {
    scenario = text ? load_scenario_text(*text, file.filename().string(), file.parent_path(), options)
                    : load_scenario(file, options);
  } catch (...) {
    if (raised)
      std::rethrow_exception(raised);
    throw;
  }
  nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
  std::vector<PythonPoint> points;
  points.reserve(scenario.points.size());
  for (ResolvedPoint& point : scenario.points) {
    parameters.push_back(std::move(point.parameters));
    points.emplace_back(std::move(point.config));
  }
  nlohmann::ordered_json answer = nlohmann::ordered_json::object();
  answer["document"] = std::move(scenario.document);
  answer["origins"] = std::move(scenario.origins);
  answer["parameters"] = std::move(parameters);
  answer["replaced"] = std::move(scenario.replaced);
  return {answer.dump(), std::move(points)};
}

std::string names() {
  const KnownNames known = known_names();
  return nlohmann::ordered_json{{"locks", known.locks},
                                {"matching", known.matching},
                                {"progress", known.progress},
                                {"assignments", known.assignments},
                                {"partitioned", known.partitioned},
                                {"workloads", known.workloads},
                                {"transports", known.transports},
                                {"notifications", known.notifications},
                                {"idling", known.idling},
                                {"schedulers", known.schedulers},
                                {"process_queues", known.process_queues},
                                {"window_paths", known.window_paths},
                                {"buffer_transfers", known.buffer_transfers}}
      .dump();
}

std::string schema(const std::string& kind) {
  if (kind == "scenario") {
    return scenario_schema(known_names()).dump(1);
  }
  if (kind == "profile") {
    return profile_schema().dump(1);
  }
  if (kind == "preset") {
    return preset_schema(known_names()).dump(1);
  }
  throw std::invalid_argument("there are schemas for 'scenario', 'profile' and 'preset', not for '" + kind + "'");
}

/// The prices in a point.
std::string costs(const std::string& config_json) {
  const PointConfig point = point_from_json(nlohmann::ordered_json::parse(config_json), known_names());
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Cost& cost : costs_of(point)) {
    list.push_back({{"path", cost.path}, {"doc", cost.doc}, {"value", cost.value}, {"free", cost.free}});
  }
  return list.dump();
}

/// The point with some prices multiplied by a factor, and which of them are at their bound instead.
std::string scale_costs(const std::string& config_json, const std::vector<std::string>& paths, double factor) {
  PointConfig point = point_from_json(nlohmann::ordered_json::parse(config_json), known_names());
  nlohmann::ordered_json bounded = nlohmann::ordered_json::array();
  for (const std::string& path : paths) {
    if (scale_cost(point, path, factor)) {
      bounded.push_back(path);
    }
  }
  return nlohmann::ordered_json{{"config", to_json(point)}, {"at_bound", std::move(bounded)}}.dump();
}

/// A run that failed: deadlock, violated invariant, stopped. Bad input is a ScenarioError instead.
class SimulationError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string PythonPoint::run(int replication, bool trace_hash, bool explain, const std::string& trace_file,
                             std::uint64_t trace_limit_bytes, const std::string& trace_title) const {
  RunPointOptions options;
  options.hash_events = trace_hash;
  options.explain = explain;
  options.trace_file = trace_file;
  options.trace_limit_bytes = trace_limit_bytes;
  options.trace_title = trace_title;
  options.stop = &stop_requested;
  try {
    return run_point(*config_, replication, options);
  } catch (const std::system_error& error) { // the trace file
    const nb::gil_scoped_acquire interpreter;
    errno = error.code().value();
    PyErr_SetFromErrno(PyExc_OSError);
    throw nb::python_error();
  } catch (const std::exception& error) {
    throw SimulationError(error.what());
  }
}

} // namespace

} // namespace contend

NB_MODULE(_core, module) {
  using namespace contend;
  module.doc() = "contend's simulator core.";
  // Who still has a point when the interpreter ends, such as a notebook's cell or a frame of a test's runner, need not be told.
  nb::set_leak_warnings(false);
  const nb::exception<ScenarioError> scenario_error(module, "ScenarioError", PyExc_ValueError);
  const nb::exception<SimulationError> simulation_error(module, "SimulationError", PyExc_RuntimeError);

  nb::class_<PythonPoint>(module, "Point", "A point of a sweep, ready to run.")
      .def("config", &PythonPoint::config, "Its configuration, as JSON.")
      .def("identity", &PythonPoint::identity, "Everything that its results depend on, to be hashed.")
      .def_prop_ro("replications", &PythonPoint::replications)
      .def_prop_ro("operations", &PythonPoint::operations, "Messages or operations of one replication.")
      .def_prop_ro("most_steps", &PythonPoint::most_steps, "Steps after which a replication ends with an error.")
      .def("run", &PythonPoint::run, nb::arg("replication"), nb::arg("trace_hash") = false, nb::arg("explain") = false,
           nb::kw_only(), nb::arg("trace_file") = "", nb::arg("trace_limit_bytes") = 100'000'000,
           nb::arg("trace_title") = "", nb::call_guard<nb::gil_scoped_release>());
  module.def("point", &point_of, nb::arg("config_json"), "The point that has a configuration.");

  module.def("version", [] { return std::string(CONTEND_VERSION); });
  module.def("known_names", &names, "Registered models by kind, as JSON.");
  module.def("resolve", &resolve, nb::arg("path"), nb::arg("overrides"), nb::arg("profile_dirs"),
             nb::arg("preset_dirs"), nb::arg("route_resolver"), nb::arg("text") = nb::none());
  module.def("costs", &costs, nb::arg("config_json"), "Prices in a point's configuration, as JSON.");
  module.def("scale_costs", &scale_costs, nb::arg("config_json"), nb::arg("paths"), nb::arg("factor"));
  module.def("schema", &schema, nb::arg("kind"));
  module.def(
      "request_stop", [] { stop_requested = true; }, "Running simulations end soon with an error.");
  module.def("clear_stop", [] { stop_requested = false; });
}
