// contend-partitioned: threads fill a buffer piece by piece; how soon is it at the other side?
#include "mpi/session.hpp"
#include "partitioned/transfer.hpp"
#include "partitioned/workload.hpp"
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

constexpr int answer = 20'000; ///< tag

struct PartitionedOptions {
  PartitionedWorkload workload;
  MpiOptions mpi;
  bool verify = false;
  std::int64_t corrupt = -1;

  void declare(Options& options) {
    workload.declare(options);
    options.flag("verify", verify, "correctness mode: check the payload of every partition");
    options.integer("corrupt", corrupt, -1, 1'000'000'000, "test hook: a wrong payload in this iteration");
    mpi.declare(options);
  }
};

/// Times of the iterations of a repetition, in seconds.
struct Times {
  std::vector<double> perceived;     ///< send side: last thread's end of computing to completion
  std::vector<double> communication; ///< send side: last ready to the receiver's answer, less its way
  std::vector<double> extra_compute; ///< receive side: first arrival to completion
};

void send_answer() { MPI_Send(nullptr, 0, MPI_CHAR, 0, answer, MPI_COMM_WORLD); }
void receive_answer(int from) { MPI_Recv(nullptr, 0, MPI_CHAR, from, answer, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

/// Half a round trip of empty messages: what an answer's way takes.
double answer_time(bool leads) {
  constexpr int rounds = 51;
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t begin = now_ns();
    if (leads) {
      MPI_Send(nullptr, 0, MPI_CHAR, 1, answer, MPI_COMM_WORLD);
      receive_answer(1);
    } else {
      receive_answer(0);
      send_answer();
    }
    times.push_back(seconds(now_ns() - begin) / 2);
  }
  return median(std::move(times));
}

/// What a byte of a partition is in an iteration.
std::byte mark(std::int64_t iteration, std::int64_t partition) {
  return static_cast<std::byte>(1 + (iteration * 31 + partition) % 251);
}

/// "Computes" until the clock says so: threads that share a core compute at the same time, as on a machine with more.
void compute(double duration_s) {
  const std::int64_t end = now_ns() + static_cast<std::int64_t>(duration_s * 1e9);
  while (now_ns() < end) {
  }
}

class Sender {
public:
  explicit Sender(const PartitionedOptions& options)
      : options_(options), workload_(options.workload), buffer_(static_cast<std::size_t>(workload_.buffer_size)),
        side_(make_send_side(workload_, buffer_)), barrier_(static_cast<int>(workload_.partitions)),
        computed_ns_(static_cast<std::size_t>(workload_.partitions)), ready_ns_(computed_ns_.size()),
        answer_s_(answer_time(true)) {}

  /// Runs iterations in the team of threads; every thread calls it.
  void run_thread(int thread, std::int64_t first, std::int64_t count, Times& times) {
    for (std::int64_t iteration = first; iteration < first + count; ++iteration) {
      if (thread == 0) {
        options_.mpi.common.hooks.begin_step(iteration);
        MPI_Barrier(MPI_COMM_WORLD);
        side_->start();
      }
      barrier_.wait();
      fill(thread, iteration);
      // one thread is late, each in its turn
      const bool late = thread == iteration % workload_.partitions;
      compute(workload_.compute_ms * 1e-3 * (late ? 1 + workload_.noise_pct / 100 : 1));
      computed_ns_[static_cast<std::size_t>(thread)] = now_ns();
      side_->ready(thread);
      ready_ns_[static_cast<std::size_t>(thread)] = now_ns();
      barrier_.wait();
      if (thread == 0) {
        finish(times);
      }
      barrier_.wait();
    }
  }

private:
  void fill(int thread, std::int64_t iteration) {
    if (options_.verify) {
      const auto bytes = static_cast<std::ptrdiff_t>(workload_.partition_bytes());
      const auto begin = buffer_.begin() + thread * bytes;
      std::fill(begin, begin + bytes, mark(iteration, thread));
      if (iteration == options_.corrupt && thread == 0) {
        *begin ^= std::byte{1};
      }
    }
  }

  void finish(Times& times) {
    side_->wait();
    const std::int64_t complete_ns = now_ns();
    receive_answer(1);
    const double answered = seconds(now_ns() - *std::max_element(ready_ns_.begin(), ready_ns_.end()));
    times.perceived.push_back(seconds(complete_ns - *std::max_element(computed_ns_.begin(), computed_ns_.end())));
    times.communication.push_back(answered - answer_s_);
  }

  const PartitionedOptions& options_;
  const PartitionedWorkload& workload_;
  std::vector<std::byte> buffer_;
  std::unique_ptr<SendSide> side_;
  ThreadBarrier barrier_;
  std::vector<std::int64_t> computed_ns_;
  std::vector<std::int64_t> ready_ns_;
  double answer_s_;
};

class Receiver {
public:
  explicit Receiver(const PartitionedOptions& options)
      : options_(options), workload_(options.workload), buffer_(static_cast<std::size_t>(workload_.buffer_size)),
        side_(make_receive_side(workload_, buffer_)) {
    (void)answer_time(false);
  }

  void run(std::int64_t first, std::int64_t count, Times& times) {
    for (std::int64_t iteration = first; iteration < first + count; ++iteration) {
      MPI_Barrier(MPI_COMM_WORLD);
      side_->start();
      side_->wait_first();
      const std::int64_t first_ns = now_ns();
      side_->wait();
      times.extra_compute.push_back(seconds(now_ns() - first_ns));
      send_answer();
      if (options_.verify) {
        check(iteration);
      }
    }
  }

  [[nodiscard]] std::int64_t errors() const { return errors_; }

private:
  void check(std::int64_t iteration) {
    for (std::size_t at = 0; at < buffer_.size(); ++at) {
      const std::int64_t partition = static_cast<std::int64_t>(at) / workload_.partition_bytes();
      if (buffer_[at] != mark(iteration, partition)) {
        print_error(ExitCode::incorrect,
                    "partition " + std::to_string(partition) + " is wrong in iteration " + std::to_string(iteration));
        ++errors_;
        return;
      }
    }
  }

  const PartitionedOptions& options_;
  const PartitionedWorkload& workload_;
  std::vector<std::byte> buffer_;
  std::unique_ptr<ReceiveSide> side_;
  std::int64_t errors_ = 0;
};

/// One sample per repetition.
struct Samples {
  std::vector<double> bandwidth;
  std::vector<double> communication;
  std::vector<double> extra_compute;
  std::vector<double> all_perceived;

  /// Collective: the receiver's part comes to rank 0.
  void add(Times& times, const PartitionedWorkload& workload, bool leads) {
    double extra = leads ? 0 : median(times.extra_compute);
    MPI_Bcast(&extra, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    extra_compute.push_back(extra);
    if (leads) {
      constexpr double mebibyte = 1 << 20;
      bandwidth.push_back(static_cast<double>(workload.buffer_size) / mebibyte / median(times.perceived));
      communication.push_back(median(times.communication));
      all_perceived.insert(all_perceived.end(), times.perceived.begin(), times.perceived.end());
    }
  }
};

/// Warm-up, then the repetitions. Returns the errors found by this rank.
std::int64_t run_side(const PartitionedOptions& options, const Session& session, const Placement& placement,
                      Samples& samples) {
  const PartitionedWorkload& workload = options.workload;
  std::unique_ptr<Sender> sender;
  std::unique_ptr<Receiver> receiver;
  if (session.leads()) {
    sender = std::make_unique<Sender>(options);
  } else {
    receiver = std::make_unique<Receiver>(options);
  }
  std::int64_t first = 0;
  for (std::int64_t repetition = -1; repetition < options.mpi.common.repetitions; ++repetition) {
    const std::int64_t count = repetition < 0 ? workload.warmup_iterations : workload.iterations;
    Times times;
    if (sender) {
      run_team(static_cast<int>(workload.partitions), [&](int thread) {
        if (options.mpi.bind == "compact") {
          bind_compact(placement.cores, placement.core_of(thread));
        }
        sender->run_thread(thread, first, count, times);
      });
    } else {
      receiver->run(first, count, times);
    }
    first += count;
    if (repetition >= 0) {
      samples.add(times, workload, session.leads());
    }
  }
  return receiver ? receiver->errors() : 0;
}

void run(int argc, char** argv) {
  PartitionedOptions options;
  Options command_line("contend-partitioned",
                       "threads fill a buffer piece by piece; how soon is it at the other side?");
  options.declare(command_line);
  if (!command_line.parse(argc, argv)) {
    return;
  }
  options.workload.check();
  const Deadline deadline(options.mpi.common.seconds_limit);
  const Session session(MPI_THREAD_MULTIPLE);
  session.require_ranks(2, "contend-partitioned");
  if (options.workload.method == "partitioned" && !has_partitioned()) {
    throw Failure(ExitCode::not_supported, "the MPI library has no partitioned communication (MPI_Psend_init)", true);
  }
  const std::int64_t start_ns = now_ns();
  const Placement placement = session.place(session.leads() ? static_cast<int>(options.workload.partitions) : 1);
  if (!session.leads()) {
    options.mpi.common.hooks = Hooks{};
    if (options.mpi.bind == "compact") {
      bind_compact(placement.cores, placement.core_of(0));
    }
  }
  Samples samples;
  std::int64_t errors = run_side(options, session, placement, samples);
  MPI_Bcast(&errors, 1, MPI_INT64_T, 1, MPI_COMM_WORLD);
  if (errors > 0) {
    throw Failure(ExitCode::incorrect, std::to_string(errors) + " iterations with wrong payload", true);
  }
  Json point = Json::object();
  point
      .set("parameters", Json::object()
                             .set("partitions", options.workload.partitions)
                             .set("buffer_size", size_text(options.workload.buffer_size)))
      .set("perceived_bandwidth", metric(samples.bandwidth, "MiB/s"))
      .set("communication_time", metric(samples.communication, "s"))
      .set("extra_compute_time", metric(samples.extra_compute, "s"))
      .set("perceived_s", distribution(samples.all_perceived));
  if (options.verify) {
    point.set("verification", Json::object().set("payload_checked", true).set("errors", errors));
  }
  Json points = Json::array();
  points.push_back(std::move(point));
  Json document = begin_mpi_document(command_line, session, session.describe(placement, options.mpi.bind));
  document.set("workload", options.workload.describe())
      .set("points", std::move(points))
      .set("wall_s", seconds(now_ns() - start_ns));
  if (session.leads()) {
    print_document(document, options.mpi.common.pretty);
  }
}

} // namespace

} // namespace contend::native

int main(int argc, char** argv) {
  return contend::native::run_mpi_program("contend-partitioned", [argc, argv] { contend::native::run(argc, argv); });
}
