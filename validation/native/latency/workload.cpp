#include "latency/workload.hpp"

#include "support/failure.hpp"

#include <string>

namespace contend::native {

void LatencyWorkload::declare(Options& options) {
  options.integer("senders", senders, 1, 4096, "threads of the first process, which send and wait for an answer");
  options.integer("receivers", receivers, 1, 4096, "threads of the second one, which wait for a message and answer");
  options.size("message-size", message_size, std::int64_t{1} << 30, "payload of a message and of its answer");
  options.integer("iterations", iterations, 1, 10'000'000, "timed round trips of all threads, per repetition");
  options.integer("warmup-iterations", warmup_iterations, 0, 10'000'000, "round trips before the timed ones");
}

void LatencyWorkload::check() const {
  if (senders > 1 && round() > guaranteed_tags) {
    throw Failure(ExitCode::bad_options, std::to_string(senders) + " senders and " + std::to_string(receivers) +
                                             " receivers need " + std::to_string(round()) + " tags; MPI guarantees " +
                                             std::to_string(guaranteed_tags));
  }
}

Json LatencyWorkload::describe() const {
  Json result = Json::object();
  result.set("kind", "latency")
      .set("senders", senders)
      .set("receivers", receivers)
      .set("message_size", size_text(message_size))
      .set("iterations", iterations)
      .set("warmup_iterations", warmup_iterations);
  return result;
}

} // namespace contend::native
