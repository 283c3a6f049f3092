// The program that holds SimGrid: contend's other parts ask it for platforms and for runs on the second engine, so that
// none of them loads SimGrid or depends on what it does to its process.
#include "simgrid/flow_model.hpp"
#include "simgrid/platform.hpp"
#include "simgrid/s4u_backend.hpp"
#include "simulation/run_point.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

namespace {

constexpr int exit_failure = 1; ///< a simulation failed
constexpr int exit_usage = 2;   ///< arguments or platform files cannot be used
constexpr int exit_from = 3;    ///< it is the host FROM that cannot be used
constexpr int exit_to = 4;      ///< likewise TO

const char* const help = R"(usage: contend-simgrid VERB

  platform FILE FROM TO   look up the route between two hosts of a SimGrid platform file; prints JSON. Status 3: no such
                          host FROM, 4: no such host TO
  run [--replication K] [--trace-hash]
                          simulate the resolved point on standard input on SimGrid's S4U engine; prints JSON,
                          with the hash of the sequence of events if asked for
  flows                   when do the flows on standard input end, by SimGrid's flow model; prints JSON. Input:
                          {"capacities_Bps": [N...], "flows": [{"start_s": N, "route": [LINK...], "bytes": N}...]}
  --version               print the version
  --help                  print this text
)";

/// Seconds with all digits down to the picosecond. Binary fractions would not show, nor give back, whole picoseconds.
std::string exact_seconds(contend::Duration span) {
  constexpr std::int64_t per_second = 1'000'000'000'000;
  std::string digits = std::to_string(span.count() % per_second);
  digits.insert(0, 12 - digits.size(), '0');
  return std::to_string(span.count() / per_second) + "." + digits;
}

std::string shortest(double value) { return nlohmann::json(value).dump(); }

int print_route(const std::string& file, const std::string& from, const std::string& to) {
  const contend::PlatformRoute found = contend::read_platform(file, from, to);
  std::cout << "{\"latency_s\":" << exact_seconds(found.route.latency)
            << ",\"bandwidth_Bps\":" << shortest(found.route.bytes_per_second) << ",\"from_cores\":" << found.from.cores
            << ",\"to_cores\":" << found.to.cores << ",\"from_speed\":" << shortest(found.from.flops_per_second)
            << ",\"to_speed\":" << shortest(found.to.flops_per_second) << "}\n";
  return 0;
}

int run(int replication, bool trace_hash) {
  const std::string config(std::istreambuf_iterator<char>(std::cin), {});
  contend::RunPointOptions options;
  options.make_backend = contend::make_s4u_backend;
  options.hash_events = trace_hash;
  std::cout << contend::run_point(config, replication, options) << '\n';
  return 0;
}

/// A number without sign, spaces or anything after it; -1 when the text is none.
int replication_number(const std::string& text) {
  constexpr std::size_t most_digits = 9;
  if (text.empty() || text.size() > most_digits || text.find_first_not_of("0123456789") != std::string::npos) {
    return -1;
  }
  return std::stoi(text);
}

int print_flow_ends() {
  const nlohmann::json input = nlohmann::json::parse(std::cin);
  contend::FlowProblem problem;
  problem.capacities = input.at("capacities_Bps").get<std::vector<double>>();
  for (const nlohmann::json& entry : input.at("flows")) {
    contend::FlowProblem::Flow& flow = problem.flows.emplace_back();
    flow.start = contend::Duration::seconds(entry.at("start_s").get<double>());
    flow.route = entry.at("route").get<std::vector<std::size_t>>();
    flow.bytes = entry.at("bytes").get<std::int64_t>();
    flow.limit = entry.value("limit_Bps", flow.limit);
  }
  nlohmann::json ends = nlohmann::json::array();
  for (const contend::Duration end : contend::simgrid_flow_ends(problem)) {
    ends.push_back(end.in_seconds());
  }
  std::cout << nlohmann::json{{"ends_s", ends}}.dump() << '\n';
  return 0;
}

int usage_error() {
  std::cerr << "error: cannot make sense of the arguments; try --help\n";
  return exit_usage;
}

int run_with(const std::vector<std::string>& options) {
  int replication = 0;
  bool trace_hash = false;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (options[i] == "--trace-hash") {
      trace_hash = true;
    } else if (options[i] == "--replication" && i + 1 < options.size()) {
      replication = replication_number(options[++i]);
    } else {
      return usage_error();
    }
  }
  return replication < 0 ? usage_error() : run(replication, trace_hash);
}

int dispatch(const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "--help") {
    std::cout << help;
    return 0;
  }
  if (words.size() == 1 && words[0] == "--version") {
    std::cout << "contend-simgrid " CONTEND_VERSION "\n";
    return 0;
  }
  if (words.size() == 4 && words[0] == "platform") {
    return print_route(words[1], words[2], words[3]);
  }
  if (words.size() == 1 && words[0] == "flows") {
    return print_flow_ends();
  }
  if (!words.empty() && words[0] == "run") {
    return run_with({words.begin() + 1, words.end()});
  }
  return usage_error();
}

} // namespace

int main(int argc, char** argv) {
  try {
    const int status = dispatch({argv + 1, argv + argc});
    std::cout.flush();
    return std::cout ? status : exit_failure;
  } catch (const contend::PlatformError& error) {
    std::cerr << "error: " << error.what() << '\n';
    switch (error.fault()) {
    case contend::PlatformError::Fault::from:
      return exit_from;
    case contend::PlatformError::Fault::to:
      return exit_to;
    case contend::PlatformError::Fault::file:
      break;
    }
    return exit_usage;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return exit_failure;
  }
}
