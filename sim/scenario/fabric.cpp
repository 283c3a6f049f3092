#include "scenario/fabric.hpp"

#include "scenario/json_source.hpp"
#include "scenario/units.hpp"

#include <cmath>
#include <exception>
#include <memory>

namespace contend::scenario {

namespace {

/// The text under `key`, or "" with a diagnostic.
std::string text_of(const Node& fabric, const std::string& key, Diagnostics& diagnostics) {
  const std::string pointer = child_pointer("/fabric", key);
  const Node* node = fabric.find(key);
  if (node == nullptr)
    diagnostics.add(at(fabric, pointer, R"(is missing; a platform needs "platform", "from" and "to")"));
  else if (!node->is_string() || node->text.empty() || node->text.find('\0') != std::string::npos)
    diagnostics.add(at(*node, pointer, "found " + found(*node) + "; allowed: a text"));
  else
    return node->text;
  return {};
}

} // namespace

std::optional<PlatformFacts> insert_route(Node& fabric, const RouteResolver& resolve, Diagnostics& diagnostics) {
  const Node* platform = fabric.find("platform");
  if (platform == nullptr) {
    for (const char* key : {"from", "to"}) {
      if (const Node* host = fabric.find(key))
        diagnostics.add(at(*host, child_pointer("/fabric", key), "a host needs \"platform\" as well"));
      fabric.erase(key);
    }
    return std::nullopt;
  }
  for (const char* key : {"latency", "bandwidth"}) {
    const Node* value = fabric.find(key);
    if (value != nullptr && !value->source->command_line)
      diagnostics.add(at(*value, child_pointer("/fabric", key),
                         "both a platform and a " + std::string(key) +
                             " are given; allowed: platform, from and to, or latency and bandwidth"));
  }
  const Node given = fabric;
  PlatformFacts facts;
  facts.platform = text_of(fabric, "platform", diagnostics);
  facts.from = text_of(fabric, "from", diagnostics);
  facts.to = text_of(fabric, "to", diagnostics);
  for (const char* key : {"platform", "from", "to"})
    fabric.erase(key);
  if (facts.platform.empty() || facts.from.empty() || facts.to.empty())
    return std::nullopt;

  const std::filesystem::path file = given.find("platform")->source->directory / facts.platform;
  const auto refuse = [&](const std::string& problem, const std::string& key = "platform") {
    const std::string message = "platform " + quoted_path(file) + ": " + problem;
    diagnostics.add(at(*given.find(key), child_pointer("/fabric", key), message));
    return std::nullopt;
  };
  if (const std::string problem = file_problem(file); !problem.empty())
    return refuse(problem);
  if (!resolve)
    return refuse("platforms cannot be read here; give latency and bandwidth instead");
  RouteFacts route;
  try {
    route = resolve(file, facts.from, facts.to);
  } catch (const RouteError& problem) {
    return refuse(problem.what(), problem.key());
  } catch (const std::exception& problem) {
    return refuse(problem.what());
  }
  if (!std::isfinite(route.route.bytes_per_second))
    return refuse("its bandwidth is not a finite number");
  facts.platform = file.filename().string();
  facts.from_cores = route.from_cores;
  facts.to_cores = route.to_cores;
  const auto source =
      std::make_shared<const Source>(Source{file.string(), "platform " + facts.platform, file.parent_path(), false});
  if (fabric.find("latency") == nullptr)
    fabric.set("latency", Node::string(format_time(route.route.latency), source));
  if (fabric.find("bandwidth") == nullptr)
    fabric.set("bandwidth", Node::string(format_rate(route.route.bytes_per_second), source));
  return facts;
}

} // namespace contend::scenario
