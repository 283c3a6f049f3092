// contend-latency: latency between threads of two processes, by the loop of osu_latency_mt.
#include "latency/round_trips.hpp"
#include "latency/workload.hpp"
#include "mpi/counters.hpp"
#include "mpi/session.hpp"
#include "mpi/timed_run.hpp"
#include "mpi/usage.hpp"
#include "support/affinity.hpp"
#include "support/clock.hpp"
#include "support/deadline.hpp"
#include "support/failure.hpp"
#include "support/statistics.hpp"
#include "support/thread_barrier.hpp"
#include "support/thread_team.hpp"

#include <algorithm>

namespace contend::native {

namespace {

struct LatencyOptions {
  LatencyWorkload workload;
  MpiOptions mpi;
  std::string thread_level; ///< empty: the least that the threads can do with
  double target_seconds = 0;
  bool verify = false;
  std::int64_t corrupt = -1;

  void declare(Options& options) {
    workload.declare(options);
    options.number("target-seconds", target_seconds, 0, 1e5,
                   "choose the iterations so that a repetition takes so long");
    std::vector<std::string> levels = thread_level_names();
    levels.emplace_back("");
    options.choice("thread-level", thread_level, levels, "thread level to ask for, by default what the threads need");
    options.flag("verify", verify, "correctness mode: check every answer");
    options.integer("corrupt", corrupt, -1, 1'000'000'000, "test hook: a wrong answer to this round trip");
    mpi.declare(options);
  }

  [[nodiscard]] int level() const {
    const int needed = std::max(workload.senders, workload.receivers) > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    const int asked = thread_level.empty() ? needed : native::thread_level(thread_level);
    if (asked < needed) {
      throw Failure(ExitCode::bad_options, "several threads need thread level multiple, not " + thread_level);
    }
    return asked;
  }
};

/// One process's part of the run.
class Latency {
public:
  Latency(const LatencyOptions& options, const Session& session)
      : options_(options), session_(session),
        threads_(static_cast<int>(session.leads() ? options.workload.senders : options.workload.receivers)),
        placement_(session.place(threads_)), barrier_(threads_),
        round_trips_(options.workload, session.rank(), options.verify, options.corrupt),
        counters_(options.mpi.counters ? options.mpi.counter_filter : "") {}

  Json run(const Options& command_line) {
    const std::int64_t start_ns = now_ns();
    const LatencyWorkload& workload = options_.workload;
    TimedRun timed(
        threads_,
        {.warmup_iterations = workload.rounds_of(workload.warmup_iterations),
         .iterations = workload.rounds_of(workload.iterations),
         .repetitions = options_.mpi.common.repetitions,
         .target_seconds = options_.target_seconds,
         .hooks = session_.leads() ? options_.mpi.common.hooks : Hooks{}},
        [this](int thread, std::int64_t round) { round_trips_.iterate(thread, round); },
        [this](int thread) { meet(thread); });
    const Usage before = Usage::now();
    run_team(threads_, [&](int thread) {
      if (options_.mpi.bind == "compact") {
        bind_compact(placement_.cores, placement_.core_of(thread));
      }
      meet(thread); // before the warm-up, too, as osu_latency_mt does: who runs first decides who makes progress later
      timed.run_thread(thread);
    });
    const Usage used = Usage::now().since(before);
    const std::vector<Counters::Value> values = counters_.read();

    Json point = Json::object();
    point.set("parameters", Json::object().set("senders", workload.senders).set("receivers", workload.receivers));
    add_times(point, timed.result());
    add_counters(point, values, timed.iterations_run() * workload.round());
    point.set("usage", gather_usage(used, session_.rank()));
    if (options_.verify) {
      point.set("verification", verify(timed.iterations_run() * workload.round()));
    }
    LatencyWorkload ran = workload;
    ran.iterations = timed.result().iterations * workload.round();
    ran.warmup_iterations = workload.rounds_of(workload.warmup_iterations) * workload.round();
    Json document = begin_mpi_document(command_line, session_, session_.describe(placement_, options_.mpi.bind));
    Json points = Json::array();
    points.push_back(std::move(point));
    document.set("workload", ran.describe())
        .set("points", std::move(points))
        .set("wall_s", seconds(now_ns() - start_ns));
    return document;
  }

private:
  void meet(int thread) {
    barrier_.wait();
    if (thread == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
    }
    barrier_.wait();
  }

  void add_times(Json& point, const TimedRunResult& result) const {
    const std::int64_t round_trips = result.iterations * options_.workload.round();
    const auto messages = static_cast<double>(2 * round_trips);
    std::vector<double> latencies;
    std::vector<double> rates;
    std::vector<double> all;
    for (std::size_t repetition = 0; repetition < result.elapsed_s.size(); ++repetition) {
      const double elapsed = result.elapsed_s[repetition];
      latencies.push_back(elapsed * static_cast<double>(options_.workload.senders) / messages);
      rates.push_back(messages / elapsed);
      const std::vector<double>& times = result.iteration_s[repetition];
      all.insert(all.end(), times.begin(), times.end());
    }
    point.set("latency", metric(latencies, "s"))
        .set("message_rate", metric(rates, "msg/s"))
        .set("elapsed", metric(result.elapsed_s, "s"));
    point.set("iterations", Json::array_of(std::vector<std::int64_t>(rates.size(), round_trips)));
    point.set("round_s", distribution(std::move(all)));
  }

  void add_counters(Json& point, const std::vector<Counters::Value>& values, std::int64_t round_trips) const {
    const SideCounters sides = gather_counters(values, session_.rank());
    Json counters = Json::object();
    counters.set("messages_sent", round_trips).set("messages_received", round_trips);
    add_known_counters(counters, sides.receiver);
    point.set("counters", std::move(counters));
    point.set("mpi_t",
              Json::object().set("sender", raw_counters(sides.sender)).set("receiver", raw_counters(sides.receiver)));
  }

  /// Collective; throws on both ranks if anything was wrong.
  Json verify(std::int64_t round_trips) const {
    const std::int64_t mine = round_trips_.errors();
    std::int64_t sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (sum > 0) {
      throw Failure(ExitCode::incorrect, std::to_string(sum) + " wrong answers in " + std::to_string(round_trips),
                    true);
    }
    Json result = Json::object();
    result.set("messages", 2 * round_trips)
        .set("payload_checked", round_trips_.numbered())
        .set("order_checked", false)
        .set("errors", sum)
        .set("overtaken", 0);
    return result;
  }

  const LatencyOptions& options_;
  const Session& session_;
  int threads_;
  Placement placement_;
  ThreadBarrier barrier_;
  RoundTrips round_trips_;
  Counters counters_;
};

void run(int argc, char** argv) {
  LatencyOptions options;
  Options command_line("contend-latency", "latency between threads of two processes");
  options.declare(command_line);
  if (!command_line.parse(argc, argv)) {
    return;
  }
  options.workload.check();
  const Deadline deadline(options.mpi.common.seconds_limit);
  const Session session(options.level());
  session.require_ranks(2, "contend-latency");
  const Json document = Latency(options, session).run(command_line);
  if (session.leads()) {
    print_document(document, options.mpi.common.pretty);
  }
}

} // namespace

} // namespace contend::native

int main(int argc, char** argv) {
  return contend::native::run_mpi_program("contend-latency", [argc, argv] { contend::native::run(argc, argv); });
}
