// What docs/extending.md shows works: these are the files that it shows, added by the lines that it shows.
#include "extending/back_off_progress.hpp"
#include "extending/by_tag_matcher.hpp"
#include "extending/tas_lock.hpp"
#include "scenario/loader.hpp"
#include "simulation/names.hpp"
#include "simulation/run_point.hpp"
#include "simulation/simulation.hpp"
#include "workloads/workload.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

using namespace contend;

namespace {

const std::filesystem::path repository = CONTEND_REPOSITORY;

std::string slurp(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  REQUIRE(stream);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// Two processes; one naps.
class Idle final : public Workload {
public:
  static inline std::string also_measures;

  [[nodiscard]] std::vector<int> host_of_rank() const override { return {0, 1}; }
  [[nodiscard]] Role role_of_rank(int rank) const override { return rank == 0 ? Role::sender : Role::receiver; }
  [[nodiscard]] std::uint64_t planned_operations() const override { return 1; }
  void start(World& world) override {
    world.spawn(0, "napper", [](SimThread& self) { self.spend(250_ms, Category::compute); });
  }
  [[nodiscard]] WorkloadResult result(const World& world) const override {
    WorkloadResult result;
    result.operations = 1;
    result.elapsed = world.engine().last_end().since_start();
    result.measures = {{"naps_per_s", 1.0 / result.elapsed.in_seconds()}, {"nap_s", result.elapsed.in_seconds()}};
    if (!also_measures.empty()) {
      result.measures.emplace_back(also_measures, 1.0);
    }
    return result;
  }
};

/// Once, before the first simulation.
void register_parts() {
  static const bool once = [] {
    lock_registry().add("test-and-set", make_lock<example::TasLock>);
    matcher_registry().add("by-tag", make_matcher<example::ByTagMatcher>);
    progress_registry().add("back-off", make_progress<example::BackOffProgress>);
    workload_registry().add("idle", [](const WorkloadParameters& /*parameters*/) -> std::unique_ptr<Workload> {
      return std::make_unique<Idle>();
    });
    return true;
  }();
  static_cast<void>(once);
}

PointConfig example_point() {
  register_parts();
  LoadOptions options;
  options.names = known_names();
  options.profile_directories = {repository / "calibration" / "profiles"};
  return load_scenario(repository / "examples" / "extending" / "scenario.json", options).points.at(0).config;
}

} // namespace

TEST_CASE("a scenario chooses parts that were added by one line each", "[extending]") {
  const PointConfig point = example_point();
  REQUIRE(point.library.matching.engine == "by-tag");
  REQUIRE(point.library.matching.lock == "test-and-set");
  REQUIRE(point.library.progress.engine == "back-off");
  const PointResult result = simulate(point, {});
  CHECK(result.receiver.received == std::int64_t{4} * 32 * 4);
  CHECK(result.receiver.unexpected_in_queue == 0);
  CHECK(result.workload.operations == std::int64_t{4} * 32 * 3);

  // Tags repeat in every window, so that a tag's list holds a receive per pair: less to walk than ob1's list of the peer.
  PointConfig ob1 = point;
  ob1.library.matching.engine = "ob1";
  CHECK(result.receiver.match_time < simulate(ob1, {}).receiver.match_time);
}

TEST_CASE("an unknown part is refused before it is registered", "[extending]") {
  LoadOptions options;
  options.names = known_names();
  std::erase(options.names.locks, "test-and-set");
  options.profile_directories = {repository / "calibration" / "profiles"};
  CHECK_THROWS_WITH(load_scenario(repository / "examples" / "extending" / "scenario.json", options),
                    Catch::Contains("\"test-and-set\""));
}

TEST_CASE("the example's lock excludes", "[extending]") {
  register_parts();
  Engine engine(1);
  const PointConfig point = example_point();
  const Host host(point.machine.topology, point.machine.cache, point.machine.futex);
  const auto lock = lock_registry().at("test-and-set")(engine, host, point.machine.locks, "lock");
  int inside = 0;
  int violations = 0;
  for (int i = 0; i < 6; ++i) {
    engine.spawn("t" + std::to_string(i), 0, i, [&](SimThread& self) {
      for (int round = 0; round < 20; ++round) {
        lock->lock(self);
        violations += ++inside == 1 ? 0 : 1;
        self.spend(100_ns, Category::software);
        --inside;
        lock->unlock(self);
      }
    });
  }
  engine.run();
  CHECK(violations == 0);
  CHECK(lock->acquisitions() == 120);
}

TEST_CASE("the example's lock pays for giving back what the holder wrote, as the shipped one does", "[extending]") {
  register_parts();
  const PointConfig point = example_point();
  CacheParameters cache = point.machine.cache;
  cache.store_buffer = false; // where stores wait in one the shipped lock leaves its release there
  cache.release = 31_ns;
  const auto cost = [&](const char* kind) {
    Engine engine(1);
    const Host host(point.machine.topology, cache, point.machine.futex);
    const auto lock = lock_registry().at(kind)(engine, host, point.machine.locks, "lock");
    std::vector<std::int64_t> times; // of lock and unlock by turns, in ps
    engine.spawn("t", 0, 0, [&](SimThread& self) {
      for (int round = 0; round < 3; ++round) {
        const TimePoint start = self.now();
        lock->lock(self);
        times.push_back((self.now() - start).count());
        const TimePoint release = self.now();
        lock->unlock(self);
        times.push_back((self.now() - release).count());
      }
    });
    engine.run();
    return times;
  };
  const std::vector<std::int64_t> ours = cost("test-and-set");
  CHECK(ours == cost("tas"));
  CHECK(ours.back() == (cache.release + cache.hit).count());
}

TEST_CASE("what only a workload of one's own measures is in its result, under a name that nothing else has",
          "[extending]") {
  register_parts();
  PointConfig point = example_point();
  point.workload.kind = "idle";
  CHECK_THAT(run_point(point, 0), Catch::Contains("\"naps_per_s\":4.0") && Catch::Contains("\"nap_s\":0.25"));
  Idle::also_measures = "events";
  CHECK_THROWS_WITH(run_point(point, 0), Catch::Contains("\"events\""));
  Idle::also_measures = "wall_s"; // a name in results.json
  CHECK_THROWS_WITH(run_point(point, 0), Catch::Contains("\"wall_s\""));
  Idle::also_measures.clear();
}

TEST_CASE("the example's matching engine finds what the plain list finds", "[extending]") {
  register_parts();
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Engine engine(seed);
    const PointConfig point = example_point();
    const Host host(point.machine.topology, point.machine.cache, point.machine.futex);
    const MatcherSetup setup{host, point.machine.matching, {}, 3};
    const auto ours = matcher_registry().at("by-tag")(setup);
    const auto list = matcher_registry().at("list")(setup);
    engine.spawn("t", 0, 0, [&](SimThread& self) {
      RandomStream random = engine.stream("operations");
      std::deque<std::pair<PostedReceive, PostedReceive>> receives; // ours, the list's
      for (int step = 0; step < 200; ++step) {
        const int source = static_cast<int>(random.below(3));
        const int tag = static_cast<int>(random.below(4));
        if (random.below(2) == 0) {
          auto& [mine, plain] = receives.emplace_back();
          mine.source = random.below(4) == 0 ? any_source : source;
          mine.tag = random.below(4) == 0 ? any_tag : tag;
          plain = mine;
          const auto found = ours->post(self, mine);
          const auto expected = list->post(self, plain);
          REQUIRE(found.has_value() == expected.has_value());
          REQUIRE((!found || found->bytes == expected->bytes));
        } else {
          const Envelope message{0, source, tag, 0, step};
          const PostedReceive* const found = ours->arrive(self, message);
          const PostedReceive* const expected = list->arrive(self, message);
          REQUIRE((found == nullptr) == (expected == nullptr));
          REQUIRE((found == nullptr || found->order == expected->order));
        }
      }
      REQUIRE(ours->posted() == list->posted());
      REQUIRE(ours->visited() <= list->visited());
    });
    engine.run();
  }
}

TEST_CASE("docs/extending.md shows the files as they are", "[extending]") {
  const std::string page = slurp(repository / "docs" / "extending.md");
  for (const char* file : {"tas_lock.hpp", "by_tag_matcher.hpp", "back_off_progress.hpp", "scenario.json"}) {
    CAPTURE(file);
    CHECK(page.find("\n" + slurp(repository / "examples" / "extending" / file) + "```") != std::string::npos);
  }
  const std::string here = slurp(repository / "tests" / "extending" / "test_extending.cpp");
  for (const char* line : {"lock_registry().add(\"test-and-set\", make_lock<example::TasLock>);",
                           "matcher_registry().add(\"by-tag\", make_matcher<example::ByTagMatcher>);",
                           "progress_registry().add(\"back-off\", make_progress<example::BackOffProgress>);"}) {
    CAPTURE(line);
    CHECK(page.find(line) != std::string::npos);
    CHECK(here.find("    " + std::string(line) + "\n") != std::string::npos);
  }
}
