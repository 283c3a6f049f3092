#include "partitioned/workload.hpp"

#include "partitioned/transfer.hpp"
#include "support/failure.hpp"

#include <sstream>

namespace contend::native {

void PartitionedWorkload::declare(Options& options) {
  options.choice("method", method, transfer_names(), "how the partitions travel");
  options.integer("partitions", partitions, 1, 4096, "of the send side, one thread each");
  options.integer("receive-partitions", receive_partitions, 1, 4096, "of the receive side; method partitioned");
  options.size("buffer-size", buffer_size, std::int64_t{1} << 30, "all partitions together");
  options.number("compute-ms", compute_ms, 0, 1e5, "every thread computes for so long");
  options.number("noise-pct", noise_pct, 0, 1e4, "one thread computes longer by so much");
  options.integer("iterations", iterations, 1, 10'000'000, "timed iterations per repetition");
  options.integer("warmup-iterations", warmup_iterations, 0, 10'000'000, "iterations before the timed ones");
}

void PartitionedWorkload::check() const {
  if (buffer_size == 0 || buffer_size % partitions != 0 || buffer_size % receive_partitions != 0) {
    throw Failure(ExitCode::bad_options, "--buffer-size " + size_text(buffer_size) + " cannot be divided by " +
                                             std::to_string(partitions) + " and " + std::to_string(receive_partitions) +
                                             " partitions");
  }
  if (method != "partitioned" && receive_partitions != 1) {
    throw Failure(ExitCode::bad_options, "--receive-partitions is for method partitioned");
  }
}

Json PartitionedWorkload::describe() const {
  std::ostringstream compute;
  compute << compute_ms << " ms";
  Json result = Json::object();
  result.set("kind", "partitioned").set("method", method).set("partitions", partitions);
  if (method == "partitioned") {
    result.set("receive_partitions", receive_partitions);
  }
  result.set("buffer_size", size_text(buffer_size))
      .set("compute_time", compute.str())
      .set("noise_pct", noise_pct)
      .set("iterations", iterations)
      .set("warmup_iterations", warmup_iterations);
  return result;
}

} // namespace contend::native
