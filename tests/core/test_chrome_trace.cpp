// Traces are valid: JSON, slices nest, flows and asynchronous events have both ends, and an early end closes everything.
#include "core/chrome_trace.hpp"
#include "core/fifo_mutex.hpp"
#include "core/scheduler.hpp"
#include "core/trace_scope.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace contend;
using nlohmann::json;

namespace {

/// Tests run side by side, each in a process of its own.
struct File {
  File() : path(std::filesystem::temp_directory_path() / ("contend_trace_" + std::to_string(getpid()) + ".json")) {}
  ~File() { std::filesystem::remove(path); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] json read() const { return json::parse(std::ifstream(path)); }

  std::filesystem::path path;
};

std::int64_t nanoseconds(const json& microseconds) { return std::llround(microseconds.get<double>() * 1e3); }

/// Slices of each thread by (begin, end), in nanoseconds; fails when two of a thread overlap without nesting.
std::map<int, std::vector<std::string>> slices_by_thread(const json& trace) {
  std::map<int, std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, std::string>>> slices;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      const std::int64_t begin = nanoseconds(event["ts"]);
      const std::int64_t end = begin + nanoseconds(event["dur"]);
      CHECK(begin < end);
      slices[event["tid"]].push_back({{begin, -end}, event["name"]}); // parents before their children
    }
  }
  std::map<int, std::vector<std::string>> names;
  for (auto& [thread, list] : slices) {
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::int64_t> open;
    for (const auto& [times, name] : list) {
      while (!open.empty() && open.back() <= times.first) {
        open.pop_back();
      }
      CHECK((open.empty() || -times.second <= open.back()));
      open.push_back(-times.second);
      names[thread].push_back(name);
    }
  }
  return names;
}

/// Two threads with calls, a lock and a queue.
void run_example(Engine& engine, int rounds) {
  static const TraceLabel lock_label("the \"lock\"\n");
  static const TraceLabel queue("rank 0/queue", 0);
  FifoMutex mutex("mutex");
  for (int i = 0; i < 2; ++i) {
    SimThread& thread = engine.spawn("thread " + std::to_string(i), 0, i, [&](SimThread& self) {
      for (int round = 0; round < rounds; ++round) {
        const TraceScope call(self, "call");
        self.owe(Duration::picoseconds(1'700), Category::software);
        self.spend(Duration::picoseconds(2'900), Category::software);
        {
          const TraceScope inner(self, "inner");
          self.spend(Duration::picoseconds(3'300), Category::matching);
          if (TraceSink* trace = engine.trace(); trace != nullptr) {
            trace->lock_requested(self, lock_label, self.now());
          }
          mutex.lock(self);
          if (TraceSink* trace = engine.trace(); trace != nullptr) {
            trace->lock_acquired(self, lock_label, Category::lock_wait, self.now());
            trace->length(queue, engine.now(), round);
          }
          self.spend(11_ns, Category::nic_post);
          if (TraceSink* trace = engine.trace(); trace != nullptr) {
            trace->lock_released(self, lock_label, self.now());
          }
          mutex.unlock(self);
          self.spend(1_ns, Category::lock_wait);
          if (TraceSink* trace = engine.trace(); trace != nullptr) {
            trace->unlock_done(self, lock_label, Category::lock_wait, self.now());
          }
        }
      }
    });
    thread.set_process(i);
  }
  engine.run();
}

} // namespace

TEST_CASE("a trace has nested slices, named tracks and counters", "[trace]") {
  const File file;
  Engine engine(1);
  ChromeTrace trace(engine, file.path.string(), 1'000'000, "a \"title\"");
  run_example(engine, 1);
  const ChromeTrace::Summary summary = trace.finish();
  CHECK(engine.trace() == nullptr);
  const json document = file.read();
  CHECK(summary.complete);
  CHECK(summary.bytes == std::filesystem::file_size(file.path));
  CHECK(summary.events == document["traceEvents"].size());
  CHECK(document["otherData"]["title"] == "a \"title\"");
  CHECK(document["otherData"]["complete"] == true);

  auto slices = slices_by_thread(document);
  CHECK(std::vector<std::string>(slices[1].begin(), slices[1].begin() + 2) ==
        std::vector<std::string>{"call", "software"});
  CHECK(slices[1].size() == 6); // call, software, inner, matching, nic_post, lock_release; the first lock has no wait
  CHECK(slices[2].size() == 7); // the second waits
  std::set<std::string> holders;
  for (const auto& [thread, names] : slices) {
    if (thread > 2) {
      holders.insert(names.begin(), names.end()); // the track of the lock
    }
  }
  CHECK(holders == std::set<std::string>{"thread 0", "thread 1"});
  bool waited = false;
  int counters = 0;
  for (const json& event : document["traceEvents"]) {
    if (event["name"] == "lock_wait") {
      waited = true;
      CHECK(event["args"]["lock"] == "the \"lock\"\n");
      CHECK(event["args"]["holder"] == "thread 0");
    }
    if (event["ph"] == "C") {
      ++counters;
      CHECK(event["args"]["length"].is_number());
      CHECK(event["name"] == "queue");
    }
  }
  CHECK(waited);
  CHECK(counters == 1); // the same length again is no news
}

TEST_CASE("a trace that reaches its limit closes what is open, and the run goes on", "[trace]") {
  const File file;
  Engine engine(1);
  ChromeTrace trace(engine, file.path.string(), 20'000, "limited");
  run_example(engine, 1000);
  const TimePoint end_of_run = engine.now();
  const ChromeTrace::Summary summary = trace.finish();
  CHECK_FALSE(summary.complete);
  CHECK(summary.bytes < 25'000);
  CHECK(summary.bytes == std::filesystem::file_size(file.path));
  CHECK(summary.end < end_of_run);
  const json document = file.read();
  CHECK(document["otherData"]["complete"] == false);
  CHECK(document["traceEvents"].back()["ph"] == "i");
  for (const auto& [thread, names] : slices_by_thread(document)) {
    CHECK(names.size() > 10);
  }
}

TEST_CASE("a trace that ends early shows what a thread waits in until then", "[trace]") {
  struct Nothing final : Waitable {
    [[nodiscard]] std::string describe() const override { return "nothing"; }
  };
  const File file;
  Engine engine(1);
  ChromeTrace trace(engine, file.path.string(), 1'000'000, "cut");
  const Nothing nothing;
  SimThread& sleeper = engine.spawn("sleeper", 0, 0, [&](SimThread& self) {
    const TraceScope call(self, "call");
    self.spend(1_us, Category::software);
    self.wait(nothing, Category::blocked, Waiting::asleep);
  });
  engine.spawn("waker", 0, 1, [&](SimThread& self) {
    self.spend(101_us, Category::software);
    trace.cut("enough");
    sleeper.resume();
  });
  engine.run();
  CHECK_FALSE(trace.finish().complete);
  const json document = file.read();
  CHECK(slices_by_thread(document).size() == 2);
  const auto& events = document["traceEvents"];
  const auto wait = std::find_if(events.begin(), events.end(),
                                 [](const json& event) { return event["ph"] == "X" && event["name"] == "blocked"; });
  REQUIRE(wait != events.end());
  CHECK(nanoseconds((*wait)["ts"]) == 1'000);
  CHECK(nanoseconds((*wait)["dur"]) == 100'000);
}

TEST_CASE("a run that is watched takes the same steps", "[trace]") {
  const auto steps = [](bool traced) {
    const File file;
    Engine engine(1);
    std::unique_ptr<ChromeTrace> trace;
    if (traced) {
      trace = std::make_unique<ChromeTrace>(engine, file.path.string(), 1'000'000, "steps");
    }
    run_example(engine, 50);
    return std::pair(engine.steps(), engine.now());
  };
  CHECK(steps(true) == steps(false));
}

TEST_CASE("a trace says when it cannot be written", "[trace]") {
  Engine engine(1);
  CHECK_THROWS_AS(ChromeTrace(engine, "/no/such/folder/trace.json", 1'000, ""), std::system_error);
  CHECK(engine.trace() == nullptr);
  if (std::filesystem::exists("/dev/full")) {
    ChromeTrace trace(engine, "/dev/full", 1'000'000'000, "full");
    run_example(engine, 2000); // goes on without the trace
    CHECK_THROWS_AS(trace.finish(), std::system_error);
  }
}

TEST_CASE("a trace shows when a thread had lost its core, in a call and while it waited for a lock",
          "[trace][scheduler]") {
  const File file;
  Engine engine(1);
  const Host host({1, 1, 1}, {}, {});
  SchedulerParameters parameters;
  parameters.policy = "cfs";
  parameters.latency = 200_us;
  parameters.slice = 50_us;
  parameters.context_switch = 2_us;
  Scheduler scheduler(engine, host, 0, parameters, 1);
  static const TraceLabel lock_label("spin lock");
  ChromeTrace trace(engine, file.path.string(), 100'000'000, "shared core");
  for (int i = 0; i < 2; ++i) {
    scheduler.spawn("thread " + std::to_string(i), {}, [&](SimThread& self) {
      const TraceScope call(self, "call");
      self.spend(310_us, Category::software);
      engine.trace()->lock_requested(self, lock_label, self.now());
      self.spend(330_us, Category::lock_wait); // spins
      engine.trace()->lock_acquired(self, lock_label, Category::lock_wait, self.now());
      self.spend(20_us, Category::matching);
    });
  }
  engine.run();
  CHECK(trace.finish().complete);
  const json document = file.read();
  static_cast<void>(slices_by_thread(document)); // they nest
  int outside = 0;
  int inside = 0;
  std::vector<std::pair<double, double>> waits;
  for (const json& event : document["traceEvents"]) {
    if (event["ph"] == "X" && event["name"] == "lock_wait") {
      waits.emplace_back(event["ts"].get<double>(), event["ts"].get<double>() + event["dur"].get<double>());
    }
  }
  for (const json& event : document["traceEvents"]) {
    if (event["ph"] == "X" && event["name"] == "run_queue") {
      const auto begin = event["ts"].get<double>();
      const bool in_wait = std::any_of(waits.begin(), waits.end(),
                                       [&](const auto& wait) { return wait.first <= begin && begin < wait.second; });
      ++(in_wait ? inside : outside);
    }
  }
  CHECK(outside > 0);
  CHECK(inside > 0);
}
