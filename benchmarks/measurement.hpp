// Command line, clock and output that all benchmark programs share.
#pragma once

#include "workload.hpp"

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>

namespace contend::bench {

/// What to run: "WORKLOAD EVENTS [ties]".
struct Task {
  bool lock;
  bool ties;
  std::uint64_t events;
};

inline std::optional<Task> parse_task(int argc, char** argv, int first) {
  if (argc - first < 2) {
    return std::nullopt;
  }
  const std::string workload = argv[first];
  char* end = nullptr;
  const std::uint64_t events = std::strtoull(argv[first + 1], &end, 10);
  const bool ties = argc - first == 3 && std::string(argv[first + 2]) == "ties";
  if ((workload != "hold" && workload != "lock") || *end != '\0' || events == 0 || (argc - first > 2 && !ties)) {
    return std::nullopt;
  }
  return Task{workload == "lock", ties, events};
}

/// Time of the simulation proper; building the model and loading the program are not measured. CPU time is what rates
/// are computed from: other programs on the machine disturb it much less.
class Stopwatch {
public:
  [[nodiscard]] double wall_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_start_).count();
  }
  [[nodiscard]] double cpu_s() const { return cpu_now() - cpu_start_; }

private:
  static double cpu_now() {
    std::timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  }

  std::chrono::steady_clock::time_point wall_start_ = std::chrono::steady_clock::now();
  double cpu_start_ = cpu_now();
};

/// One line of JSON on standard output; returns the exit status.
inline int print_result(const Task& task, const Recorder& recorder, double cpu_s, double wall_s) {
  if (recorder.left() != 0) {
    std::fprintf(stderr, "the simulation ended %" PRIu64 " events early\n", recorder.left());
    return 1;
  }
  std::printf("{\"events\": %" PRIu64 ", \"cpu_s\": %.9f, \"wall_s\": %.9f, \"hash\": \"%016" PRIx64 "\"}\n",
              task.events, cpu_s, wall_s, recorder.hash());
  return 0;
}

} // namespace contend::bench
