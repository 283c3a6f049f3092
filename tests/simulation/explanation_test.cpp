// What is collected about whole runs agrees with their results, and watching changes nothing.
#include "designs.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

using namespace contend;

namespace {

/// A place for a trace that no other process has, be it this test in another checkout; goes away with the trace.
class ScratchTrace {
public:
  ScratchTrace() {
    std::string name = (std::filesystem::temp_directory_path() / "contend-test-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  ~ScratchTrace() { std::filesystem::remove_all(folder_); }
  ScratchTrace(const ScratchTrace&) = delete;
  ScratchTrace& operator=(const ScratchTrace&) = delete;

  [[nodiscard]] std::string file() const { return (folder_ / "trace.json").string(); }

private:
  std::filesystem::path folder_;
};

PointResult explained(const PointConfig& config) {
  SimulationOptions options;
  options.explain = true;
  options.hash_steps = true;
  return simulate(config, options);
}

Duration charged(const PointResult& result, Category category) {
  Duration sum;
  for (const SimThread::Times& times : result.workload.times) {
    sum += times[static_cast<std::size_t>(category)];
  }
  return sum;
}

Duration in_locks(const Explanation& explanation) {
  return std::accumulate(explanation.locks.begin(), explanation.locks.end(), Duration{},
                         [](Duration sum, const LockReport& lock) { return sum + lock.wait + lock.release; });
}

/// Six pairs of threads at one instance, under every engine whose threads ask for its lock.
std::vector<test::Design> one_crowded_instance() {
  std::vector<test::Design> designs;
  for (const std::string engine : {"serial-blocking", "serial-try-lock", "request-lock", "per-target", "every-nth"}) {
    for (const std::string section : {"fine", "global"}) {
      if (section == "global" && engine != "per-target") {
        continue; // an owner of progress that waits for the global lock is not what this is about
      }
      PointConfig point = test::small_point();
      point.library.progress.engine = engine;
      point.library.progress.global_every = 4;
      point.library.critical_section = section;
      point.workload.multirate.pairs = 6;
      designs.push_back({"crowded, " + engine + ", " + section, point});
    }
  }
  return designs;
}

/// The target's only thread waits for the end, in turns of progress under a lock.
test::Design one_sided_into_busy_target() {
  PointConfig point = test::small_point();
  point.workload.kind = "rma-mt";
  point.workload.rma_mt.threads = 4;
  point.workload.rma_mt.operations = 200;
  point.workload.rma_mt.iterations = 2;
  point.workload.rma_mt.warmup_iterations = 2;
  point.library.progress.engine = "serial-try-lock";
  return {"puts into a target that polls under a lock", point};
}

test::Design locks_only() {
  PointConfig point = test::small_point();
  point.workload.kind = "lock";
  point.workload.lock_use.threads = 4;
  point.workload.lock_use.lines = 1;
  point.workload.lock_use.acquisitions = 200;
  point.workload.lock_use.warmup_acquisitions = 20;
  return {"locks without a library", point};
}

} // namespace

TEST_CASE("a poll that waits for a lock is charged as others that wait for it") {
  for (const std::string engine : {"per-target", "every-nth"}) {
    CAPTURE(engine);
    PointConfig point = test::small_point();
    point.library.progress.engine = engine;
    point.workload.multirate.pairs = 6;
    const PointResult result = explained(point);
    REQUIRE(result.explanation);
    Duration behind_others;
    for (const LockReport& lock : result.explanation->locks) {
      for (const RoleWait& wait : lock.waits) {
        behind_others += wait.holder.empty() ? Duration{} : wait.time;
      }
    }
    CHECK(behind_others > result.workload.elapsed);
    CHECK(charged(result, Category::lock_wait) >= behind_others);
  }
}

TEST_CASE("a run that is explained or traced is the same run") {
  const ScratchTrace scratch;
  const std::string file = scratch.file();
  for (const test::Design& design : test::small_designs()) {
    CAPTURE(design.name);
    SimulationOptions options;
    options.hash_steps = true;
    const PointResult plain = simulate(design.config, options);
    CHECK_FALSE(plain.explanation);
    CHECK(explained(design.config).step_hash == plain.step_hash);
    options.trace_file = file;
    options.trace_limit_bytes = 2'000'000; // cut in some designs
    const PointResult traced = simulate(design.config, options);
    CHECK(traced.step_hash == plain.step_hash);
    CHECK(traced.workload.elapsed == plain.workload.elapsed);
    REQUIRE(traced.trace);
    CHECK(traced.trace->events > 1000);
    CHECK(traced.trace->bytes == std::filesystem::file_size(file));
    CHECK(traced.trace->bytes < 2'100'000);
  }
}

TEST_CASE("waits for locks add up to the time charged to lock_wait") {
  std::vector<test::Design> designs = test::all_designs();
  const std::vector<test::Design> crowded = one_crowded_instance();
  designs.insert(designs.end(), crowded.begin(), crowded.end());
  for (const test::Design& design : designs) {
    CAPTURE(design.name);
    const PointResult result = explained(design.config);
    REQUIRE(result.explanation);
    const Duration lock_wait = charged(result, Category::lock_wait);
    const std::string& engine = design.config.library.progress.engine;
    if (engine == "ownership" || engine == "concurrent") {
      CHECK(in_locks(*result.explanation) <= lock_wait); // handing ownership over is charged to lock_wait as well
      CHECK((in_locks(*result.explanation) > Duration{}) == (design.config.library.thread_level != "single"));
    } else if (engine == "offload-thread") {
      CHECK(in_locks(*result.explanation) >= lock_wait); // with those of the progress thread
    } else {
      CHECK(in_locks(*result.explanation) == lock_wait);
    }
    for (const LockReport& lock : result.explanation->locks) {
      Duration sum;
      for (const RoleWait& wait : lock.waits) {
        sum += wait.time;
      }
      CHECK(sum == lock.wait);
      CHECK(lock.contended <= lock.acquisitions);
    }
  }
}

TEST_CASE("waits for other threads add up to the time asleep and at barriers") {
  std::vector<test::Design> designs = test::all_designs();
  designs.push_back(one_sided_into_busy_target());
  for (const test::Design& design : designs) {
    CAPTURE(design.name);
    const PointResult result = explained(design.config);
    REQUIRE(result.explanation);
    std::map<Category, Duration> waited;
    for (const PlaceReport& place : result.explanation->places) {
      CAPTURE(place.name);
      Duration by_role;
      Duration for_threads;
      for (const PlaceWait& wait : place.by_role) {
        waited[wait.category] += wait.time;
        by_role += wait.time;
        for_threads += wait.awaited.empty() ? Duration{} : wait.time;
        CHECK(wait.how.empty() == wait.awaited.empty());
      }
      CHECK(by_role == place.wait);
      Duration by_thread;
      for (const AwaitedThread& thread : place.awaited) {
        by_thread += thread.time;
      }
      CHECK(by_thread == for_threads);
    }
    CHECK(waited[Category::blocked] == charged(result, Category::blocked));
    CHECK(waited[Category::barrier] == charged(result, Category::barrier));
    CHECK(waited[Category::poll_idle] <= charged(result, Category::poll_idle));
  }
}

TEST_CASE("no lock is held for longer, and no thread does more, than there is time") {
  std::vector<test::Design> designs = test::all_designs();
  for (const test::Design& more : {one_sided_into_busy_target(), locks_only()}) {
    designs.push_back(more);
  }
  for (const test::Design& design : designs) {
    CAPTURE(design.name);
    const PointResult result = explained(design.config);
    REQUIRE(result.explanation);
    const Duration counted = result.explanation->elapsed;
    for (const LockReport& lock : result.explanation->locks) {
      CAPTURE(lock.name);
      CHECK(lock.hold <= counted);
    }
    // Threads enter the timed part one after the other, in these designs within a small part of its length.
    constexpr double tolerance = 1.1;
    CHECK(result.workload.elapsed.in_seconds() <= tolerance * counted.in_seconds());
    for (std::size_t role = 0; role < 2; ++role) {
      CAPTURE(role);
      const SimThread::Times& times = result.workload.times[role];
      const double sum = std::accumulate(times.begin(), times.end(), Duration{}).in_seconds();
      CHECK(sum <= tolerance * result.workload.threads[role] * counted.in_seconds());
      // After the timed part comes a last barrier at most, except for "waiting", which times calls only.
      if (design.config.workload.kind != "waiting") {
        CHECK(counted.in_seconds() <= tolerance * result.workload.elapsed.in_seconds() + 5e-6);
      }
    }
  }
}

TEST_CASE("queues and interfaces are seen as the counters have them") {
  for (const test::Design& design : test::small_designs()) {
    CAPTURE(design.name);
    const PointResult result = explained(design.config);
    REQUIRE(result.explanation);
    std::map<std::string, std::int64_t> longest;
    for (const QueueReport& queue : result.explanation->queues) {
      CHECK(queue.mean >= 0.0);
      CHECK(queue.mean <= static_cast<double>(queue.maximum));
      longest[queue.name] = queue.maximum;
    }
    const MultirateParameters& workload = design.config.workload.multirate;
    const bool one_sided = design.config.workload.kind == "rma-mt";
    if (!one_sided && design.config.workload.kind != "multirate") {
      continue; // what follows is about streams of messages
    }
    if (one_sided) {
      for (const auto& [name, length] : longest) {
        const bool nothing_to_match = name.find("/posted") == std::string::npos || length <= 1; // but barriers
        CHECK(nothing_to_match);
      }
    } else if (workload.mode == "thread") {
      CHECK(longest["rank 1/out of sequence"] <= result.receiver.oos_in_queue_max);
      std::int64_t posted = 0;
      std::int64_t in_one_queue = 0;
      for (const auto& [name, length] : longest) {
        const bool counts = name.rfind("rank 1/", 0) == 0 && name.find("/posted") != std::string::npos;
        posted += counts ? length : 0;
        in_one_queue = std::max(in_one_queue, counts ? length : 0);
      }
      CHECK(posted >= workload.window);
      CHECK(in_one_queue <= workload.pairs * workload.window + 8);
    }
    std::int64_t messages = 0;
    Duration on_wire;
    for (const StageReport& stage : result.explanation->stages) {
      if (stage.name == "host 0/send") {
        messages = stage.messages;
        on_wire = stage.on_wire;
        CHECK(stage.busy >= stage.on_wire);
        CHECK(stage.busy <= result.explanation->elapsed + 1_us);
      }
    }
    // A few of the timed part's messages leave before the last thread enters it.
    CHECK(messages > result.workload.operations / 2);
    CHECK(messages <= (one_sided ? result.sender.one_sided_completed : result.sender.sent) + 100);
    const std::int64_t with_payload = std::min(messages, result.workload.operations * 9 / 10);
    const RmaMtParameters& rma = design.config.workload.rma_mt;
    const std::int64_t payload = !one_sided               ? workload.message_size_bytes
                                 : rma.operation == "put" ? rma.message_size_bytes
                                                          : 0;
    const Duration least = Duration::seconds(static_cast<double>(payload * with_payload) / 12.5e9);
    CHECK(on_wire >= least);
  }
}

TEST_CASE("a failed run leaves a complete trace file, and a run is either explained or traced") {
  const ScratchTrace scratch;
  const std::string file = scratch.file();
  SimulationOptions options;
  options.trace_file = file;
  options.trace_limit_bytes = 1'000'000'000;
  options.step_limit = 5000;
  CHECK_THROWS_AS(simulate(test::small_point(), options), StepLimit);
  CHECK(std::filesystem::file_size(file) > 10'000);
  options.explain = true;
  CHECK_THROWS_AS(simulate(test::small_point(), options), std::invalid_argument);
}
