// contend-rma: one-sided operations by many threads.
#include "mpi/counters.hpp"
#include "mpi/session.hpp"
#include "mpi/timed_run.hpp"
#include "mpi/usage.hpp"
#include "rma/origin.hpp"
#include "support/affinity.hpp"
#include "support/clock.hpp"
#include "support/deadline.hpp"
#include "support/failure.hpp"
#include "support/statistics.hpp"
#include "support/thread_team.hpp"

#include <atomic>

namespace contend::native {

namespace {

struct RmaOptions {
  RmaWorkload workload;
  MpiOptions mpi;
  double target_seconds = 0;
  bool verify = false;
  bool corrupt = false;

  void declare(Options& options) {
    workload.declare(options);
    options.number("target-seconds", target_seconds, 0, 1e5,
                   "choose the iterations so that a repetition takes so long");
    options.flag("verify", verify, "correctness mode: check what the memory of the target holds in the end");
    options.flag("corrupt", corrupt, "test hook: something wrong for --verify to find");
    mpi.declare(options);
  }
};

/// One process's part of the run: rank 0 is the origin, rank 1 the target.
class Rma {
public:
  Rma(const RmaOptions& options, const Session& session)
      : options_(options), session_(session),
        threads_(session.leads() ? static_cast<int>(options.workload.threads) : 1), placement_(session.place(threads_)),
        windows_(options.workload), origin_(options.workload, windows_), barrier_(threads_),
        counters_(options.mpi.counters ? options.mpi.counter_filter : "") {}

  Json run(const Options& command_line) {
    const std::int64_t start_ns = now_ns();
    const RmaWorkload& workload = options_.workload;
    TimedRun timed(
        threads_,
        {.warmup_iterations = workload.warmup_iterations,
         .iterations = workload.iterations,
         .repetitions = options_.mpi.common.repetitions,
         .target_seconds = options_.target_seconds,
         .hooks = session_.leads() ? options_.mpi.common.hooks : Hooks{}},
        [this](int thread, std::int64_t iteration) { iterate(thread, iteration); },
        [this](int thread) { meet(thread); });
    if (workload.flushes() && session_.leads()) {
      windows_.lock_all();
    }
    const Usage before = Usage::now();
    run_team(threads_, [&](int thread) {
      if (options_.mpi.bind == "compact") {
        bind_compact(placement_.cores, placement_.core_of(thread));
      }
      timed.run_thread(thread);
    });
    const Usage used = Usage::now().since(before);
    const std::vector<Counters::Value> values = counters_.read();
    if (workload.flushes() && session_.leads()) {
      windows_.unlock_all();
    }

    Json point = Json::object();
    point.set("parameters", Json::object().set("threads", workload.threads));
    add_times(point, timed.result());
    add_counters(point, values);
    point.set("usage", gather_usage(used, session_.rank()));
    if (options_.verify) {
      point.set("verification", verify(timed.iterations_run()));
    }
    RmaWorkload ran = workload;
    ran.iterations = timed.result().iterations;
    Json document = begin_mpi_document(command_line, session_, session_.describe(placement_, options_.mpi.bind));
    Json points = Json::array();
    points.push_back(std::move(point));
    document.set("workload", ran.describe())
        .set("points", std::move(points))
        .set("wall_s", seconds(now_ns() - start_ns));
    return document;
  }

private:
  void iterate(int thread, std::int64_t iteration) {
    if (session_.leads()) {
      origin_.iterate(thread, iteration);
    } else if (options_.workload.fences()) { // fences are collective: one before the operations, one behind
      windows_.fence_all();
      windows_.fence_all();
    }
  }

  void meet(int thread) {
    barrier_.wait();
    if (thread == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
    }
    barrier_.wait();
  }

  void add_times(Json& point, const TimedRunResult& result) const {
    const RmaWorkload& workload = options_.workload;
    const auto operations = static_cast<double>(workload.threads * workload.operations * result.iterations);
    std::vector<double> rates;
    std::vector<double> all;
    for (std::size_t repetition = 0; repetition < result.elapsed_s.size(); ++repetition) {
      rates.push_back(operations / result.elapsed_s[repetition]);
      const std::vector<double>& times = result.iteration_s[repetition];
      all.insert(all.end(), times.begin(), times.end());
    }
    point.set("message_rate", metric(rates, "msg/s")).set("elapsed", metric(result.elapsed_s, "s"));
    point.set("iterations", Json::array_of(std::vector<std::int64_t>(rates.size(), result.iterations)));
    point.set("iteration_s", distribution(std::move(all)));
  }

  void add_counters(Json& point, const std::vector<Counters::Value>& values) const {
    const SideCounters sides = gather_counters(values, session_.rank());
    Json counters = Json::object();
    add_known_counters(counters, sides.receiver);
    point.set("counters", std::move(counters));
    point.set("mpi_t",
              Json::object().set("sender", raw_counters(sides.sender)).set("receiver", raw_counters(sides.receiver)));
  }

  /// Collective; throws on both ranks if anything was wrong.
  Json verify(std::int64_t iterations) {
    const RmaWorkload& workload = options_.workload;
    std::atomic<std::int64_t> errors{0};
    if (!session_.leads() && workload.operation == "get") {
      fill_target(workload, windows_);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (session_.leads()) {
      windows_.lock_all();
      run_team(threads_, [&](int thread) { errors += origin_.verify_thread(thread, options_.corrupt); });
      windows_.unlock_all();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!session_.leads()) {
      windows_.lock_all(); // an access of its own memory, ordered after the others'
      errors += verify_target(workload, windows_, workload.operations * iterations);
      windows_.unlock_all();
    }
    const std::int64_t mine = errors.load();
    std::int64_t sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (sum > 0) {
      throw Failure(ExitCode::incorrect, std::to_string(sum) + " errors in the memory of the target", true);
    }
    Json result = Json::object();
    result.set("messages", workload.threads * workload.operations * iterations)
        .set("payload_checked", true)
        .set("order_checked", false)
        .set("errors", sum)
        .set("overtaken", 0);
    return result;
  }

  const RmaOptions& options_;
  const Session& session_;
  int threads_;
  Placement placement_;
  Windows windows_;
  Origin origin_;
  ThreadBarrier barrier_;
  Counters counters_;
};

void run(int argc, char** argv) {
  RmaOptions options;
  Options command_line("contend-rma", "one-sided operations by many threads");
  options.declare(command_line);
  if (!command_line.parse(argc, argv)) {
    return;
  }
  options.workload.check();
  const Deadline deadline(options.mpi.common.seconds_limit);
  const Session session(MPI_THREAD_MULTIPLE);
  session.require_ranks(2, "contend-rma");
  const Json document = Rma(options, session).run(command_line);
  if (session.leads()) {
    print_document(document, options.mpi.common.pretty);
  }
}

} // namespace

} // namespace contend::native

int main(int argc, char** argv) {
  return contend::native::run_mpi_program("contend-rma", [argc, argv] { contend::native::run(argc, argv); });
}
