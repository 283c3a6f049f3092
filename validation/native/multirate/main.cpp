// contend-multirate: message rate of many senders and receivers.
#include "mpi/counters.hpp"
#include "mpi/session.hpp"
#include "mpi/timed_run.hpp"
#include "mpi/usage.hpp"
#include "multirate/all_to_all.hpp"
#include "multirate/pairwise.hpp"
#include "multirate/slots.hpp"
#include "support/affinity.hpp"
#include "support/clock.hpp"
#include "support/deadline.hpp"
#include "support/failure.hpp"
#include "support/statistics.hpp"
#include "support/thread_team.hpp"

#include <algorithm>
#include <memory>

namespace contend::native {

namespace {

struct MultirateOptions {
  Workload workload;
  MpiOptions mpi;
  std::string thread_level; ///< empty: the least that the mode can do with
  std::string iteration_times = "distribution";
  double target_seconds = 0;
  bool verify = false;
  std::int64_t corrupt = -1;

  void declare(Options& options) {
    workload.declare(options);
    options.number("target-seconds", target_seconds, 0, 1e5,
                   "choose the iterations so that a repetition takes so long");
    std::vector<std::string> levels = thread_level_names();
    levels.emplace_back("");
    options.choice("thread-level", thread_level, levels, "thread level to ask for, by default what the mode needs");
    options.choice("iteration-times", iteration_times, {"distribution", "all"},
                   "what to print of each iteration's time");
    options.flag("verify", verify, "correctness mode: check payload and order of every message");
    options.integer("corrupt", corrupt, -1, 1'000'000'000, "test hook: a wrong payload in this iteration");
    mpi.declare(options);
  }

  [[nodiscard]] int level() const {
    const bool threads = workload.mode != "process";
    const int needed = threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    const int asked = thread_level.empty() ? needed : native::thread_level(thread_level);
    if (asked < needed) {
      throw Failure(ExitCode::bad_options,
                    "mode " + workload.mode + " needs thread level multiple, not " + thread_level);
    }
    return asked;
  }
};

/// One process's part of the run.
class Multirate {
public:
  Multirate(const MultirateOptions& options, const Session& session)
      : options_(options), session_(session), role_(options.workload.role_of_rank(session.rank())),
        threads_(options.workload.threads_per_rank(role_)), placement_(session.place(threads_)),
        communicators_(options.workload), counters_(options.mpi.counters ? options.mpi.counter_filter : "") {
    if (options.verify) {
      verifier_ = std::make_unique<Verifier>(options.workload);
    }
    Verifier* verifier = verifier_.get();
    if (!options.workload.windows()) {
      exchange_ = std::make_unique<Slots>(options.workload, communicators_, verifier, options.corrupt);
    } else if (options.workload.pairwise()) {
      exchange_ = std::make_unique<Pairwise>(options.workload, communicators_, verifier, options.corrupt);
    } else {
      exchange_ = std::make_unique<AllToAll>(options.workload, communicators_, verifier, options.corrupt);
    }
    entities_.resize(static_cast<std::size_t>(threads_));
  }

  /// The document, on rank 0.
  Json run(const Options& command_line) {
    const std::int64_t start_ns = now_ns();
    TimedRunParameters parameters{.warmup_iterations = options_.workload.warmup_iterations,
                                  .iterations = options_.workload.iterations,
                                  .repetitions = options_.mpi.common.repetitions,
                                  .target_seconds = options_.target_seconds,
                                  .hooks = session_.leads() ? options_.mpi.common.hooks : Hooks{}};
    TimedRun timed(
        threads_, parameters,
        [this](int thread, std::int64_t iteration) { exchange_->iterate(entity(thread), iteration); },
        [this](int thread) { exchange_->meet_all(entity(thread)); });
    const Usage before = Usage::now();
    const std::int64_t begin_ns = now_ns();
    run_team(threads_, [&](int thread) {
      begin_thread(thread);
      timed.run_thread(thread);
      exchange_->finish(entity(thread));
    });
    const Usage used = Usage::now().since(before);
    const std::vector<Counters::Value> values = counters_.read();

    Json point = Json::object();
    point.set("parameters", options_.workload.parameters());
    add_times(point, timed.result());
    add_counters(point, values, timed.iterations_run());
    point.set("usage", gather_usage(used, static_cast<int>(role_)));
    add_skew(point, begin_ns);
    if (verifier_) {
      point.set("verification", verify(timed.iterations_run()));
    }
    Workload ran = options_.workload;
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
  Entity& entity(int thread) { return entities_[static_cast<std::size_t>(thread)]; }

  void begin_thread(int thread) {
    if (options_.mpi.bind == "compact") {
      bind_compact(placement_.cores, placement_.core_of(thread));
    }
    Entity& self = entity(thread);
    self.role = role_;
    self.thread = thread;
    self.number = session_.rank() - options_.workload.first_rank(role_) + thread;
    exchange_->prepare(self);
  }

  void add_times(Json& point, const TimedRunResult& result) const {
    const auto messages = static_cast<double>(options_.workload.messages_per_iteration() * result.iterations);
    std::vector<double> rates;
    std::vector<double> all;
    Json lists = Json::array();
    for (std::size_t repetition = 0; repetition < result.elapsed_s.size(); ++repetition) {
      rates.push_back(messages / result.elapsed_s[repetition]);
      const std::vector<double>& times = result.iteration_s[repetition];
      all.insert(all.end(), times.begin(), times.end());
      lists.push_back(Json::array_of(times));
    }
    point.set("message_rate", metric(rates, "msg/s")).set("elapsed", metric(result.elapsed_s, "s"));
    point.set("iterations", Json::array_of(std::vector<std::int64_t>(rates.size(), result.iterations)));
    point.set("iteration_s", distribution(std::move(all)));
    if (options_.iteration_times == "all") {
      point.set("iteration_times_s", std::move(lists));
    }
  }

  /// How much later than the first process each other one began to create its threads, where all read one clock.
  void add_skew(Json& point, std::int64_t begin_ns) const {
    std::vector<std::int64_t> begins(static_cast<std::size_t>(session_.size()));
    MPI_Gather(&begin_ns, 1, MPI_INT64_T, begins.data(), 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (placement_.hosts != 1 || begins.size() == 1) {
      return;
    }
    std::sort(begins.begin(), begins.end());
    std::vector<double> later;
    for (auto begin = std::next(begins.begin()); begin != begins.end(); ++begin) {
      later.push_back(seconds(*begin - begins.front()));
    }
    point.set("begin_skew_s", Json::array_of(later));
  }

  void add_counters(Json& point, const std::vector<Counters::Value>& values, std::int64_t iterations) const {
    const SideCounters sides = gather_counters(values, static_cast<int>(role_));
    const std::int64_t messages = exchange_->messages(iterations);
    Json counters = Json::object();
    counters.set("messages_sent", messages).set("messages_received", messages);
    add_known_counters(counters, sides.receiver);
    point.set("counters", std::move(counters));
    point.set("mpi_t",
              Json::object().set("sender", raw_counters(sides.sender)).set("receiver", raw_counters(sides.receiver)));
  }

  /// {"messages", "payload_checked", "order_checked", "errors", "overtaken"}. Collective; throws on every rank if anything was wrong.
  Json verify(std::int64_t iterations) {
    if (role_ == Role::receiver) {
      const bool all_here = options_.workload.threads(Role::receiver);
      verifier_->check_complete(exchange_->messages_by_place(iterations), all_here ? -1 : entities_.front().number);
    }
    const std::array<std::int64_t, 3> mine{verifier_->checked(), verifier_->errors(), verifier_->overtaken()};
    std::array<std::int64_t, 3> sum{};
    MPI_Allreduce(mine.data(), sum.data(), 3, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (sum[1] > 0) {
      throw Failure(ExitCode::incorrect, std::to_string(sum[1]) + " errors in " + std::to_string(sum[0]) + " messages",
                    true);
    }
    Json result = Json::object();
    result.set("messages", sum[0])
        .set("payload_checked", verifier_->stamps())
        .set("order_checked", verifier_->stamps() && !options_.workload.allow_overtaking)
        .set("errors", sum[1])
        .set("overtaken", sum[2]);
    return result;
  }

  const MultirateOptions& options_;
  const Session& session_;
  Role role_;
  int threads_;
  Placement placement_;
  Communicators communicators_;
  Counters counters_;
  std::unique_ptr<Verifier> verifier_;
  std::unique_ptr<Exchange> exchange_;
  std::vector<Entity> entities_;
};

void run(int argc, char** argv) {
  MultirateOptions options;
  Options command_line("contend-multirate", "message rate of many senders and receivers");
  options.declare(command_line);
  if (!command_line.parse(argc, argv)) {
    return;
  }
  options.workload.check();
  const Deadline deadline(options.mpi.common.seconds_limit);
  const Session session(options.level());
  const Workload& workload = options.workload;
  session.require_ranks(workload.ranks(), "mode " + workload.mode + ", pattern " + workload.pattern + " with " +
                                              std::to_string(workload.entities(Role::sender)) + " senders and " +
                                              std::to_string(workload.entities(Role::receiver)) + " receivers");
  const Json document = Multirate(options, session).run(command_line);
  if (session.leads()) {
    print_document(document, options.mpi.common.pretty);
  }
}

} // namespace

} // namespace contend::native

int main(int argc, char** argv) {
  return contend::native::run_mpi_program("contend-multirate", [argc, argv] { contend::native::run(argc, argv); });
}
