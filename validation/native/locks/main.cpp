// contend-locks: what locks cost under contention.
#include "locks/contest.hpp"
#include "support/affinity.hpp"
#include "support/busy_work.hpp"
#include "support/clock.hpp"
#include "support/deadline.hpp"
#include "support/program.hpp"
#include "support/statistics.hpp"

#include <algorithm>
#include <numeric>

namespace contend::native {

namespace {

struct LocksOptions {
  CommonOptions common;
  std::vector<std::string> locks = lock_names();
  std::vector<std::int64_t> threads;
  std::vector<std::int64_t> critical_section_ns{0, 50, 200};
  std::int64_t outside_ns = 0;
  double seconds = 0.2;
  std::string bind = "compact";

  explicit LocksOptions(std::size_t cores) : threads(cores) { std::iota(threads.begin(), threads.end(), 1); }

  void declare(Options& options) {
    options.choices("lock", locks, lock_names(), "locks to measure");
    options.integers("threads", threads, 1, 4096, "numbers of competing threads");
    options.integers("critical-section-ns", critical_section_ns, 0, 1'000'000'000, "work inside the lock");
    options.integer("outside-ns", outside_ns, 0, 1'000'000'000, "work between two critical sections");
    options.number("seconds", seconds, 1e-4, 1e4, "time per point and repetition");
    options.choice("bind", bind, {"none", "compact"}, "thread i on the i-th core, or where the system likes");
    common.declare(options);
  }
};

/// The samples of one point, by metric.
struct Samples {
  std::vector<double> rate;
  std::vector<double> fairness;
  std::vector<double> least;
  std::vector<double> most;
  std::vector<double> same_thread;
  std::vector<double> failed_tries;

  void add(const ContestResult& result) {
    const double total = std::accumulate(result.acquisitions.begin(), result.acquisitions.end(), 0.0);
    const auto [low, high] = std::minmax_element(result.acquisitions.begin(), result.acquisitions.end());
    rate.push_back(total / result.elapsed_s);
    fairness.push_back(jain_index(result.acquisitions));
    least.push_back(*low);
    most.push_back(*high);
    same_thread.push_back(result.same_thread / total);
    failed_tries.push_back(result.failed_tries / total);
  }
};

Json measure_point(const std::string& lock, std::int64_t threads, std::int64_t inside_ns, const LocksOptions& options,
                   ContestParameters parameters, double rounds_per_ns) {
  parameters.threads = static_cast<int>(threads);
  parameters.inside_rounds = static_cast<std::int64_t>(static_cast<double>(inside_ns) * rounds_per_ns);
  parameters.outside_rounds = static_cast<std::int64_t>(static_cast<double>(options.outside_ns) * rounds_per_ns);
  Samples samples;
  for (std::int64_t repetition = 0; repetition < options.common.repetitions; ++repetition) {
    samples.add(run_contest(lock, parameters));
  }
  parameters.read_clock = true;
  ContestResult timed = run_contest(lock, parameters);

  Json point = Json::object();
  point.set("parameters", Json::object()
                              .set("lock", lock)
                              .set("threads", threads)
                              .set("critical_section_ns", inside_ns)
                              .set("outside_ns", options.outside_ns));
  point.set("acquisition_rate", metric(samples.rate, "1/s"));
  point.set("fairness", metric(samples.fairness, "1"));
  point.set("acquisitions_min", metric(samples.least, "1"));
  point.set("acquisitions_max", metric(samples.most, "1"));
  point.set("same_thread", metric(samples.same_thread, "1"));
  if (lock == "trylock") {
    point.set("failed_tries", metric(samples.failed_tries, "1"));
  }
  point.set("hold_s", distribution(std::move(timed.hold_s)));
  point.set("hand_over_s", distribution(std::move(timed.hand_over_s)));
  return point;
}

void run(int argc, char** argv) {
  const std::vector<int> cores = allowed_cores();
  LocksOptions options(cores.size());
  Options command_line("contend-locks", "rate, fairness, hold and hand-over times of locks under contention");
  options.declare(command_line);
  if (!command_line.parse(argc, argv)) {
    return;
  }
  const Deadline deadline(options.common.seconds_limit);
  const std::int64_t start = now_ns();
  ContestParameters parameters;
  parameters.seconds = options.seconds;
  parameters.bind = options.bind == "compact";
  parameters.cores = cores;
  const double rounds_per_ns = busy_rounds_per_ns();
  Json points = Json::array();
  std::int64_t step = 0;
  for (const std::string& lock : options.locks) {
    for (const std::int64_t threads : options.threads) {
      for (const std::int64_t inside_ns : options.critical_section_ns) {
        options.common.hooks.begin_step(step++);
        points.push_back(measure_point(lock, threads, inside_ns, options, parameters, rounds_per_ns));
      }
    }
  }
  Json document = begin_document(command_line);
  document.set("placement",
               Json::object().set("cores_allowed", static_cast<std::int64_t>(cores.size())).set("bind", options.bind));
  document.set("workload",
               Json::object().set("kind", "locks").set("seconds", options.seconds).set("bind", options.bind));
  document.set("points", std::move(points)).set("wall_s", seconds(now_ns() - start));
  print_document(document, options.common.pretty);
}

} // namespace

} // namespace contend::native

int main(int argc, char** argv) {
  return contend::native::run_program("contend-locks", [argc, argv] { contend::native::run(argc, argv); });
}
