#include "rma/workload.hpp"

#include "support/failure.hpp"

namespace contend::native {

void RmaWorkload::declare(Options& options) {
  options.choice("operation", operation, {"put", "get", "accumulate", "fetch-and-op"}, "what the threads call");
  options.choice("synchronisation", synchronisation, {"flush", "flush-all", "flush-local", "lock", "lock-all", "fence"},
                 "how operations are completed");
  options.choice("synchronised-by", synchronised_by, {"every-thread", "one-thread"},
                 "who flushes; locks and fences are always left to one thread per window");
  options.flag("window-per-thread", window_per_thread, "each thread has a window of its own");
  options.integer("threads", threads, 1, 4096, "threads of the origin process");
  options.size("message-size", message_size, std::int64_t{1} << 30, "payload of one operation");
  options.integer("operations", operations, 1, 10'000'000, "operations per thread and iteration");
  options.integer("iterations", iterations, 1, 10'000'000, "timed iterations per repetition");
  options.integer("warmup-iterations", warmup_iterations, 0, 10'000'000, "iterations before the timed ones");
}

void RmaWorkload::check() const {
  constexpr std::int64_t word = 8;
  if (message_size < 1) {
    throw Failure(ExitCode::bad_options, "--message-size is at least 1 B for one-sided operations");
  }
  if (operation == "accumulate" && message_size % word != 0) {
    throw Failure(ExitCode::bad_options, "accumulate adds words of 8 B, --message-size must be a multiple");
  }
  if (operation == "fetch-and-op" && message_size != word) {
    throw Failure(ExitCode::bad_options, "fetch-and-op works on one word, --message-size must be 8 B");
  }
}

Json RmaWorkload::describe() const {
  Json result = Json::object();
  result.set("kind", "rma-mt")
      .set("operation", operation)
      .set("synchronisation", synchronisation)
      .set("synchronised_by", synchronised_by)
      .set("window_per_thread", window_per_thread)
      .set("threads", threads)
      .set("message_size", size_text(message_size))
      .set("operations", operations)
      .set("iterations", iterations)
      .set("warmup_iterations", warmup_iterations);
  return result;
}

} // namespace contend::native
