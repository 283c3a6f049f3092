// contend-machine: what the parts of this machine cost.
#include "machine/probe.hpp"
#include "support/affinity.hpp"
#include "support/deadline.hpp"
#include "support/failure.hpp"
#include "support/program.hpp"

#include <algorithm>

namespace contend::native {

namespace {

std::vector<std::string> probe_names() {
  std::vector<std::string> names;
  for (const Probe& probe : probes()) {
    names.push_back(probe.name);
  }
  return names;
}

void run(int argc, char** argv) {
  const std::vector<int> allowed = allowed_cores();
  std::vector<std::int64_t> cores(allowed.begin(), allowed.end());
  std::vector<std::string> names = probe_names();
  ProbeContext context;
  CommonOptions common;
  Options command_line("contend-machine", "what cache lines, atomics, wake-ups, switches, copies and clocks cost here");
  command_line.choices("probe", names, probe_names(), "what to measure");
  command_line.integers("cores", cores, 0, 65535, "cores to use");
  command_line.integer("iterations", context.iterations, 1, 1'000'000'000,
                       "operations per sample, fewer for slow ones");
  common.declare(command_line);
  if (!command_line.parse(argc, argv)) {
    return;
  }
  for (const std::int64_t core : cores) {
    if (std::find(allowed.begin(), allowed.end(), core) == allowed.end()) {
      throw Failure(ExitCode::bad_options, "core " + std::to_string(core) + " may not be used here");
    }
    context.cores.push_back(static_cast<int>(core));
  }
  context.repetitions = common.repetitions;
  context.hooks = common.hooks;
  const Deadline deadline(common.seconds_limit);
  const std::int64_t start = now_ns();
  for (const Probe& probe : probes()) {
    if (std::find(names.begin(), names.end(), probe.name) != names.end()) {
      probe.run(context);
    }
  }
  Json document = begin_document(command_line);
  document.set("placement", Json::object()
                                .set("cores_allowed", static_cast<std::int64_t>(allowed.size()))
                                .set("cores", Json::array_of(cores)));
  document.set("workload", Json::object().set("kind", "machine").set("iterations", context.iterations));
  document.set("points", std::move(context.points)).set("wall_s", seconds(now_ns() - start));
  print_document(document, common.pretty);
}

} // namespace

} // namespace contend::native

int main(int argc, char** argv) {
  return contend::native::run_program("contend-machine", [argc, argv] { contend::native::run(argc, argv); });
}
