#include "fuzz_entry.hpp"

#include "support.hpp"

#include <stdexcept>
#include <string>

namespace contend::test {

bool exercise_loader(std::string_view text) {
  static const LoadOptions options = [] {
    LoadOptions small = load_options();
    small.max_points = 500; // a sweep of the largest allowed size is slow and finds nothing more
    return small;
  }();
  ResolvedScenario loaded;
  try {
    loaded = load_scenario_text(text, "fuzz", data_directory() / "valid", options);
  } catch (const ScenarioError& error) {
    if (error.diagnostics().empty())
      throw std::logic_error("an error without a diagnostic");
    return false;
  }
  const ResolvedScenario again = load_scenario_text(loaded.document.dump(), "fuzz", "", options);
  if (again.document != loaded.document || again.points.size() != loaded.points.size())
    throw std::logic_error("the resolved document loads to something else");
  for (std::size_t i = 0; i < loaded.points.size(); ++i) {
    if (to_json(loaded.points[i].config) != to_json(again.points[i].config))
      throw std::logic_error("a point of the resolved document differs");
  }
  return true;
}

} // namespace contend::test
