// Loads a scenario: strict JSON in, typed configurations out, with the origin of every value.
#pragma once

#include "scenario/config.hpp"
#include "scenario/diagnostics.hpp"
#include "scenario/names.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// What a platform says about the way between two of its hosts.
struct RouteFacts {
  RouteParameters route;
  int from_cores = 0; ///< cores of the first host
  int to_cores = 0;   ///< cores of the second host
};

/// Why a platform has no route. Loading reports it at the value of the fabric that is to blame: "platform", "from" or "to".
class RouteError : public std::runtime_error {
public:
  RouteError(std::string key, const std::string& problem) : std::runtime_error(problem), key_(std::move(key)) {}

  [[nodiscard]] const std::string& key() const { return key_; }

private:
  std::string key_;
};

/// Asks a platform file. May throw a RouteError, or any std::exception, which is reported at the platform.
using RouteResolver =
    std::function<RouteFacts(const std::filesystem::path& platform, const std::string& from, const std::string& to)>;

struct LoadOptions {
  KnownNames names;                                       ///< what the engine has registered
  std::vector<std::filesystem::path> profile_directories; ///< searched in order for NAME.json
  std::vector<std::filesystem::path> preset_directories;  ///< likewise, for library presets
  RouteResolver resolve_route;                            ///< without one, scenarios with a platform are refused
  /// From the command line: dotted path, and JSON text or a bare string. Wins over the files.
  std::vector<std::pair<std::string, std::string>> overrides;
  std::size_t max_points = 100'000; ///< a sweep with more points is refused
};

/// One point of a sweep.
struct ResolvedPoint {
  /// The swept values in canonical form. Keys are the last part of the path ("pairs"; for a count what is counted:
  /// "instances"), or the whole dotted path where two axes would have the same name.
  nlohmann::ordered_json parameters;
  PointConfig config;
};

struct ResolvedScenario {
  /// Every value in canonical units and fixed order, with the route in place of the platform and the machine in full in
  /// place of the profile. It is a scenario file itself: loading it gives the same points.
  nlohmann::ordered_json document;
  /// JSON pointer into `document` -> where the value comes from: "scenario a.json", "profile alembert (literature: ...)",
  /// "preset ob1-base (literature: ...)",
  /// "platform x.xml", "command line" or "default".
  nlohmann::ordered_json origins;
  /// The points of the sweep, first axis slowest; a single one without a sweep.
  std::vector<ResolvedPoint> points;
  /// Values of the files' library, by dotted path below it, that a preset on the command line has put aside.
  std::vector<std::string> replaced;
};

/// Loads a scenario file. Throws ScenarioError, and nothing else for bad input, with all mistakes found.
[[nodiscard]] ResolvedScenario load_scenario(const std::filesystem::path& file, const LoadOptions& options);

/// Loads a scenario from text. `name` stands for the file in messages and origins; relative paths start at `base_dir`.
[[nodiscard]] ResolvedScenario load_scenario_text(std::string_view text, const std::string& name,
                                                  const std::filesystem::path& base_dir, const LoadOptions& options);

/// One point as JSON in canonical form, for another process.
[[nodiscard]] nlohmann::ordered_json to_json(const PointConfig& point);

/// Everything that the results of a point depend on, as text to be hashed: two points have the same text when they have the
/// same values, but for their names and numbers of replications. Defaults are left out: a point is the same after the format
/// has got another value, whose default is what there was before. Another default for a value that is there changes results
/// and no identity, as a change of a model does; the published schema shows it.
[[nodiscard]] std::string identity_of(const PointConfig& point);

/// The reverse of to_json. Strict: every value must be there. Throws ScenarioError.
[[nodiscard]] PointConfig point_from_json(const nlohmann::ordered_json& json, const KnownNames& names);

} // namespace contend
