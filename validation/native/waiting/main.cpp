// contend-waiting: what test and wait calls over many requests cost.
#include "mpi/session.hpp"
#include "support/affinity.hpp"
#include "support/clock.hpp"
#include "support/deadline.hpp"
#include "support/failure.hpp"
#include "waiting/waiting.hpp"

#include <algorithm>
#include <set>
#include <sstream>

namespace contend::native {

namespace {

struct WaitingOptions {
  MpiOptions mpi;
  std::vector<std::string> calls = waiting_calls();
  std::vector<std::int64_t> requests{1, 4, 16, 64, 256, 1024};
  std::string complete = "0,1,all";
  std::int64_t iterations = 1000;
  std::string level = "multiple";

  void declare(Options& options) {
    options.choices("call", calls, waiting_calls(), "calls to measure");
    options.integers("requests", requests, 1, 20'000, "numbers of requests");
    options.text("complete", complete, "numbers of complete requests, or all");
    options.integer("iterations", iterations, 1, 10'000'000, "calls per point and repetition");
    options.choice("thread-level", level, thread_level_names(), "thread level to ask for");
    mpi.declare(options);
  }

  /// For n requests; numbers above n are left out.
  [[nodiscard]] std::set<std::int64_t> complete_of(std::int64_t n) const {
    std::set<std::int64_t> result;
    std::istringstream parts(complete);
    std::string part;
    while (std::getline(parts, part, ',')) {
      const bool digits = !part.empty() && part.size() < 7 && part.find_first_not_of("0123456789") == std::string::npos;
      if (part != "all" && !digits) {
        throw Failure(ExitCode::bad_options, "--complete takes numbers and all, not \"" + part + "\"");
      }
      const std::int64_t k = part == "all" ? n : std::stoll(part);
      if (k <= n) {
        result.insert(k);
      }
    }
    return result;
  }
};

Json measure_point(const WaitingPoint& point, const WaitingOptions& options, int rank) {
  std::vector<double> samples;
  for (std::int64_t repetition = 0; repetition < options.mpi.common.repetitions; ++repetition) {
    MPI_Barrier(MPI_COMM_WORLD);
    samples.push_back(measure_waiting(point, rank));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  Json parameters = Json::object();
  parameters.set("call", point.call).set("requests", point.requests).set("complete", point.complete);
  return std::move(Json::object().set("parameters", parameters).set("time_per_operation", metric(samples, "s")));
}

void run(int argc, char** argv) {
  WaitingOptions options;
  Options command_line("contend-waiting", "what test and wait calls over n requests cost, k of them complete");
  options.declare(command_line);
  if (!command_line.parse(argc, argv)) {
    return;
  }
  (void)options.complete_of(1);
  const Deadline deadline(options.mpi.common.seconds_limit);
  const Session session(thread_level(options.level));
  session.require_ranks(2, "contend-waiting");
  const Placement placement = session.place(1);
  if (options.mpi.bind == "compact") {
    bind_compact(placement.cores, placement.core_of(0));
  }
  const Hooks hooks = session.leads() ? options.mpi.common.hooks : Hooks{};
  const std::int64_t start = now_ns();
  Json points = Json::array();
  std::int64_t step = 0;
  for (const std::string& call : options.calls) {
    for (const std::int64_t requests : options.requests) {
      for (const std::int64_t complete : options.complete_of(requests)) {
        const WaitingPoint point{call, requests, complete, options.iterations};
        if (returns(point)) {
          hooks.begin_step(step++);
          points.push_back(measure_point(point, options, session.rank()));
        }
      }
    }
  }
  Json document = begin_mpi_document(command_line, session, session.describe(placement, options.mpi.bind));
  document.set("workload", Json::object().set("kind", "waiting").set("iterations", options.iterations));
  document.set("points", std::move(points)).set("wall_s", seconds(now_ns() - start));
  if (session.leads()) {
    print_document(document, options.mpi.common.pretty);
  }
}

} // namespace

} // namespace contend::native

int main(int argc, char** argv) {
  return contend::native::run_mpi_program("contend-waiting", [argc, argv] { contend::native::run(argc, argv); });
}
