#include "scenario/fields.hpp"
#include "support.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <type_traits>
#include <variant>

using namespace contend;
using contend::test::data_directory;
using contend::test::load_options;

namespace {

ResolvedScenario valid(const std::string& name, const LoadOptions& options = load_options()) {
  return load_scenario(data_directory() / "valid" / name, options);
}

LoadOptions with_override(const std::string& path, const std::string& text) {
  LoadOptions options = load_options();
  options.overrides = {{path, text}};
  return options;
}

std::string error_of(const std::string& name, const LoadOptions& options) {
  try {
    (void)valid(name, options);
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "no error";
}

} // namespace

TEST_CASE("a minimal scenario has the profile's values and the defaults", "[scenario][loader]") {
  const ResolvedScenario scenario = valid("base.json");
  REQUIRE(scenario.points.size() == 1);
  const PointConfig& point = scenario.points.front().config;
  CHECK(scenario.points.front().parameters.empty());
  CHECK(point.name == "base");
  CHECK(point.machine.profile == "testbox");
  CHECK(point.machine.topology.hardware_threads() == 20);
  CHECK(point.machine.cache.transfer_remote == Duration::nanoseconds(115));
  CHECK(point.route.latency == Duration::nanoseconds(700));
  CHECK(point.route.bytes_per_second == 12.5e9);
  CHECK(point.library.instances.lock == InstancesDesign{}.lock);
  CHECK(point.workload.multirate.window == 128);
  CHECK(point.run.seed == 1);
  CHECK(scenario.origins["/machine/cache/hit"] == "profile testbox (guess: made up for tests)");
  CHECK(scenario.origins["/fabric/latency"] == "scenario base.json");
  CHECK(scenario.origins["/workload/window"] == "default");
}

TEST_CASE("cores are alike unless a scenario has slow ones", "[scenario][loader]") {
  const auto slow_cores = [](const LoadOptions& options) {
    return valid("base.json", options).points.front().config.machine.slow_cores;
  };
  CHECK(slow_cores(load_options()).share == 0.0);
  CHECK(slow_cores(load_options()).slowdown == 1.0);
  CHECK(valid("base.json").origins["/machine/slow_cores/share"] == "default");
  LoadOptions options = load_options();
  options.overrides = {{"machine.slow_cores.share", "0.25"}, {"machine.slow_cores.slowdown", "1.45"}};
  CHECK(slow_cores(options).share == 0.25);
  CHECK(slow_cores(options).slowdown == 1.45);
  for (const char* const bound : {"0", "1"}) { // both are allowed
    CHECK(slow_cores(with_override("machine.slow_cores.share", bound)).slowdown == 1.0);
  }
  CHECK(slow_cores(with_override("machine.slow_cores.slowdown", "1000")).slowdown == 1000.0);
  CHECK_THAT(error_of("base.json", with_override("machine.slow_cores.slowdown", "0.99")),
             Catch::Contains("found 0.99; allowed: a number from 1.0 to 1000.0"));
}

TEST_CASE("every value of a full scenario arrives", "[scenario][loader]") {
  const ResolvedScenario scenario = valid("full.json");
  REQUIRE(scenario.points.size() == 4 * 2 * 2);
  const PointConfig& point = scenario.points.back().config;
  CHECK(point.machine.cache.transfer_remote == Duration::nanoseconds(120));
  CHECK(point.machine.cache.hit == Duration::nanoseconds(2));
  CHECK(point.machine.cache.l2_bytes == 256 * 1024);
  CHECK(point.route.latency == Duration::nanoseconds(700));
  CHECK(point.library.instances.count == 10);
  CHECK(point.library.instances.assignment == "dedicated");
  CHECK(point.library.progress.engine == "serial-try-lock");
  CHECK(point.library.matching.lock == "ticket");
  CHECK(point.library.protocol.eager_limit_bytes == 4096);
  CHECK(point.library.protocol.pending_order == "fifo");
  CHECK(point.workload.kind == "multirate");
  CHECK(point.workload.multirate.pairs == 19);
  CHECK(point.workload.multirate.message_size_bytes == 1024);
  CHECK(point.workload.multirate.warmup_iterations == 0);
  CHECK(point.workload.multirate.communicator_per_pair);
  CHECK(point.workload.multirate.handshake == "world");
  CHECK(point.workload.multirate.tags == "pair");
  CHECK(point.workload.multirate.allow_overtaking);
  CHECK(point.workload.multirate.any_source);
  CHECK(point.workload.multirate.any_tag);
  CHECK(point.run.seed == 18446744073709551615U);
  CHECK_FALSE(point.run.coalesce_idle_polls);
  CHECK(scenario.origins["/fabric/latency"] == "platform two_nodes.xml");
  CHECK(scenario.origins["/machine/cache/hit"] == "scenario full.json (measured: bench)");
  CHECK(scenario.origins["/machine/cache/transfer_remote"] == "scenario full.json");
}

TEST_CASE("sweep points come first axis slowest, with short names", "[scenario][sweep]") {
  const ResolvedScenario scenario = valid("full.json");
  CHECK(scenario.points[0].parameters.dump() == R"({"pairs":1,"instances":1,"message_size":"0 B"})");
  CHECK(scenario.points[1].parameters.dump() == R"({"pairs":1,"instances":1,"message_size":"1 KiB"})");
  CHECK(scenario.points[2].parameters.dump() == R"({"pairs":1,"instances":10,"message_size":"0 B"})");
  CHECK(scenario.points[4].parameters.dump() == R"({"pairs":7,"instances":1,"message_size":"0 B"})");
}

TEST_CASE("axes with the same last name keep the whole path", "[scenario][sweep]") {
  LoadOptions options = load_options();
  options.overrides = {{"sweep.library.progress.lock", R"(["mcs"])"}, {"sweep.library.matching.lock", R"(["ttas"])"}};
  const ResolvedScenario scenario = valid("base.json", options);
  CHECK(scenario.points.front().parameters.dump() ==
        R"({"library.progress.lock":"mcs","library.matching.lock":"ttas"})");
}

TEST_CASE("a range of times is a sweep", "[scenario][sweep]") {
  const ResolvedScenario scenario = valid(
      "base.json", with_override("sweep.fabric.latency", R"({"from": "500 ns", "to": "1 us", "step": "0.25 us"})"));
  REQUIRE(scenario.points.size() == 3);
  CHECK(scenario.points[1].config.route.latency == Duration::nanoseconds(750));
}

TEST_CASE("a sweep may be a list of points", "[scenario][sweep]") {
  const auto listed = [](const char* points) { return valid("base.json", with_override("sweep", points)); };
  SECTION("which are those points, in their order") {
    const ResolvedScenario scenario = listed(
        R"([{"workload.pairs": 2, "fabric.latency": "1 us"}, {"fabric.latency": "0.5 us", "workload.pairs": 1}])");
    REQUIRE(scenario.points.size() == 2);
    CHECK(scenario.points[0].parameters.dump() == R"({"pairs":2,"latency":"1 us"})");
    CHECK(scenario.points[1].parameters.dump() == R"({"pairs":1,"latency":"500 ns"})");
    CHECK(scenario.points[1].config.route.latency == Duration::nanoseconds(500));
    CHECK(scenario.points[1].config.workload.multirate.pairs == 1);
    CHECK(scenario.origins["/sweep"] == "command line");
  }
  SECTION("with whole designs, presets and others, under values of their own") {
    const ResolvedScenario scenario = listed(
        R"([{"library.preset": "testlib", "library.instances.count": 3},
            {"library.preset": {"mine": {"matching": {"lock": "mcs"}}}, "library.instances.count": 4},
            {"library.preset": "mine", "library.instances.count": 5}])");
    REQUIRE(scenario.points.size() == 3);
    CHECK(scenario.points[0].config.library.name == "testlib");
    CHECK(scenario.points[2].config.library.name == "mine");
    CHECK(scenario.points[2].config.library.matching.lock == "mcs");
    CHECK(scenario.points[2].config.library.instances.count == 5);
  }
  SECTION("and a value given elsewhere ends what they say about it") {
    LoadOptions options = load_options();
    options.overrides = {{"workload.pairs", "1"}};
    const std::string text = R"({"schema_version": 1, "name": "list", "extends": "base.json", "sweep": )";
    const auto load = [&](const std::string& points) {
      return load_scenario_text(text + points + "}", "list", test::data_directory() / "valid", options);
    };
    CHECK(load(R"([{"workload.pairs": 2, "workload.window": 1}, {"workload.pairs": 2, "workload.window": 2}])")
              .points.back()
              .parameters.dump() == R"({"window":2})");
    CHECK(load(R"([{"workload.pairs": 2}, {"workload.pairs": 3}])").points.size() == 1);
  }
}

TEST_CASE("the extending file wins", "[scenario][layers]") {
  const ResolvedScenario scenario = valid("extends.json");
  const PointConfig& point = scenario.points.front().config;
  CHECK(point.name == "extends");
  CHECK(point.machine.cache.hit == Duration::nanoseconds(3));
  CHECK(point.machine.cache.transfer_remote == Duration::nanoseconds(120));
  CHECK(point.route.latency == Duration::microseconds(1));
  CHECK(point.workload.multirate.window == 64);
  SECTION("a value ends the sweep over it, an axis replaces an axis, the others stay") {
    CHECK(point.workload.multirate.pairs == 2);
    REQUIRE(scenario.points.size() == 2);
    CHECK(scenario.points[1].parameters.dump() == R"({"instances":2,"message_size":"1 KiB"})");
  }
  CHECK(scenario.origins["/workload/window"] == "scenario full.json");
  CHECK(scenario.origins["/workload/pairs"] == "scenario extends.json");
}

TEST_CASE("a machine can be given in full", "[scenario][loader]") {
  const ResolvedScenario scenario = valid("inline_machine.json");
  CHECK(scenario.points.front().config.machine.profile == "by hand");
}

TEST_CASE("the command line wins over the files", "[scenario][overrides]") {
  SECTION("JSON text") {
    const ResolvedScenario scenario = valid("full.json", with_override("workload.pairs", "3"));
    CHECK(scenario.points.size() == 4); // the sweep over pairs is gone
    CHECK(scenario.points.front().config.workload.multirate.pairs == 3);
    CHECK(scenario.origins["/workload/pairs"] == "command line");
  }
  SECTION("a bare string") {
    CHECK(valid("base.json", with_override("workload.mode", "process")).points.front().config.workload.multirate.mode ==
          "process");
    CHECK(valid("base.json", with_override("workload.message_size", "64 B"))
              .points.front()
              .config.workload.multirate.message_size_bytes == 64);
  }
  SECTION("one value of a platform's route") {
    const PointConfig point = valid("full.json", with_override("fabric.latency", "2 us")).points.front().config;
    CHECK(point.route.latency == Duration::microseconds(2));
    CHECK(point.route.bytes_per_second == 12.5e9);
  }
  SECTION("one value of the machine") {
    const PointConfig point = valid("base.json", with_override("machine.nic.post", "1 ns")).points.front().config;
    CHECK(point.machine.nic.post == Duration::nanoseconds(1));
    CHECK(point.machine.profile == "testbox");
  }
  SECTION("mistakes are located there") {
    using Catch::Contains;
    CHECK_THAT(error_of("base.json", with_override("workload.pears", "3")),
               Contains("command line: /workload: unknown key \"pears\"; did you mean 'pairs'?"));
    CHECK_THAT(error_of("base.json", with_override("workload.pairs", "0")),
               Contains("command line: /workload/pairs: found 0"));
    CHECK_THAT(error_of("base.json", with_override("", "0")), Contains("is no path"));
    CHECK_THAT(error_of("base.json", with_override("workload..pairs", "0")), Contains("is no path"));
    CHECK_THAT(error_of("base.json", with_override("schema_version", "2")),
               Contains("stays as the file has it: it cannot be overridden"));
    CHECK_THAT(error_of("base.json", with_override("workload", "[1, 2")),
               Contains("/workload: found \"[1, 2\"; allowed: an object"));
  }
}

TEST_CASE("null on the command line takes away what the files say", "[scenario][overrides]") {
  LoadOptions options = load_options();
  SECTION("a platform and its hosts, for the plain fabric") {
    options.overrides = {{"fabric.platform", "null"}, {"fabric.latency", "2 us"}, {"fabric.bandwidth", "1 GB/s"}};
    const ResolvedScenario scenario = valid("full.json", options);
    CHECK(scenario.points.front().config.route.latency == Duration::microseconds(2));
    CHECK(scenario.points.front().config.route.bytes_per_second == 1e9);
    CHECK(scenario.origins["/fabric/bandwidth"] == "command line");
    // without it the platform's hosts must have as many cores as the machine
    options.overrides.emplace_back("machine.topology.cores_per_socket", "11");
    CHECK(valid("full.json", options).points.front().config.machine.topology.cores_per_socket == 11);
  }
  SECTION("a platform alone: nothing is in its place") {
    options.overrides = {{"fabric.platform", "null"}};
    CHECK_THAT(error_of("full.json", options), Catch::Contains("/fabric/latency: is missing"));
  }
  SECTION("values for a platform") {
    options.overrides = {{"fabric.latency", "null"},
                         {"fabric.bandwidth", "null"},
                         {"fabric.platform", "p.xml"},
                         {"fabric.from", "node0"},
                         {"fabric.to", "missing-host"}};
    CHECK_THAT(error_of("base.json", options), !Catch::Contains("both a platform and"));
  }
  SECTION("a value, so that its default holds") {
    options.overrides = {{"workload.tags", "null"}};
    CHECK(valid("full.json", options).origins["/workload/tags"] == "default");
    // the last one wins
    options.overrides.emplace_back("workload.tags", "window");
    CHECK(valid("full.json", options).origins["/workload/tags"] == "command line");
  }
  SECTION("a sweep") {
    options.overrides = {{"sweep.workload.pairs", "null"}};
    const ResolvedScenario one = valid("full.json", options);
    CHECK(one.points.size() < valid("full.json", load_options()).points.size());
    CHECK(one.points.front().config.workload.multirate.pairs == 4);
  }
  SECTION("nothing else") {
    options.overrides = {{"fabric.platfrom", "null"}};
    CHECK_THAT(
        error_of("full.json", options),
        Catch::Contains("command line: \"fabric.platfrom\": null takes away what the scenario's file says of it"));
    options.overrides = {{"sweep.workload.window", "null"}};
    CHECK_THAT(error_of("full.json", options), Catch::Contains("\"sweep.workload.window\": null takes away"));
  }
}

TEST_CASE("overtaking lifts the limit of the sequence numbers", "[scenario][checks]") {
  LoadOptions options = load_options();
  options.overrides = {{"workload.window", "65536"}, {"workload.allow_overtaking", "true"}};
  CHECK_NOTHROW(valid("base.json", options));
}

TEST_CASE("a resolved scenario loads to the same points without any other file", "[scenario][resolved]") {
  const std::string name = GENERATE("base.json", "full.json", "extends.json", "inline_machine.json", "preset.json",
                                    "preset_sweep.json", "list_of_points.json", "processes.json");
  CAPTURE(name);
  const ResolvedScenario first = valid(name);
  LoadOptions bare;
  bare.names = load_options().names;
  const ResolvedScenario second = load_scenario_text(first.document.dump(2), "resolved", "nowhere", bare);
  CHECK(first.document.dump() == second.document.dump());
  REQUIRE(first.points.size() == second.points.size());
  for (std::size_t i = 0; i < first.points.size(); ++i) {
    CHECK(first.points[i].parameters.dump() == second.points[i].parameters.dump());
    CHECK(to_json(first.points[i].config).dump() == to_json(second.points[i].config).dump());
  }
  CHECK(first.origins.size() == second.origins.size());
}

TEST_CASE("a point survives the way to another process", "[scenario][resolved]") {
  const KnownNames names = load_options().names;
  const PointConfig point = valid("full.json").points.back().config;
  const nlohmann::ordered_json json = to_json(point);
  CHECK(to_json(point_from_json(json, names)).dump() == json.dump());
  nlohmann::ordered_json incomplete = json;
  incomplete["workload"].erase("window");
  CHECK_THROWS_WITH(point_from_json(incomplete, names), Catch::Contains("/workload/window: is missing"));
  nlohmann::ordered_json surplus = json;
  surplus["machine"]["profile"] = "testbox";
  CHECK_THROWS_AS(point_from_json(surplus, names), ScenarioError);
  CHECK_THROWS_AS(point_from_json(nlohmann::ordered_json::array(), names), ScenarioError);
}

TEST_CASE("the identity of a point tells points apart, but not by their name and the number of replications",
          "[scenario][resolved]") {
  const std::string name = GENERATE("base.json", "full.json", "preset_sweep.json", "processes.json", "waiting.json");
  CAPTURE(name);
  std::map<std::string, std::string> point_with_identity;
  for (const ResolvedPoint& point : valid(name).points) {
    PointConfig config = point.config;
    const std::string identity = identity_of(config);
    config.name = "other";
    config.run.replications += 1;
    CHECK(identity_of(config) == identity);
    config.run.seed += 1;
    CHECK(identity_of(config) != identity);
    const auto [place, is_new] = point_with_identity.emplace(identity, to_json(point.config).dump());
    CHECK((is_new || place->second == to_json(point.config).dump()));
  }
}

TEST_CASE("the identity of a point says nothing of defaults, so that new ones leave it as it is",
          "[scenario][resolved]") {
  PointConfig config;
  CHECK(identity_of(config).empty());
  config.run.seed += 1;
  config.machine.cache.hit = 1200_ps;
  CHECK(identity_of(config) == "machine.cache.hit=1200\nrun.seed=" + std::to_string(config.run.seed) + "\n");
}

TEST_CASE("every value but two is in a point's identity", "[scenario][resolved]") {
  const auto another = [](const scenario::Value& value) {
    return std::visit(
        [](const auto& plain) -> scenario::Value {
          using Plain = std::decay_t<decltype(plain)>;
          if constexpr (std::is_same_v<Plain, std::string>) {
            return plain + "x";
          } else if constexpr (std::is_same_v<Plain, bool>) {
            return !plain;
          } else {
            return static_cast<Plain>(plain + 1);
          }
        },
        value);
  };
  const std::string name = GENERATE("base.json", "full.json", "processes.json", "waiting.json");
  const PointConfig point = valid(name).points.front().config;
  const std::string identity = identity_of(point);
  for (const auto& [path, field] : scenario::fields_by_path(point)) {
    if (field->selector) {
      continue; // other values apply then
    }
    CAPTURE(name, path);
    PointConfig changed = point;
    field->set(changed, another(field->get(point)));
    CHECK((identity_of(changed) != identity) == (path != "name" && path != "run.replications"));
  }
}

TEST_CASE("waiting, its workloads, and tasks", "[scenario][loader]") {
  const ResolvedScenario waiting = valid("waiting.json");
  REQUIRE(waiting.points.size() == 2);
  const PointConfig& point = waiting.points.front().config;
  CHECK(point.library.waiting.idle == "steal");
  CHECK(point.library.progress.yield_when_idle);
  CHECK(point.library.tasks.matching);
  CHECK(point.library.tasks.pack_piece_bytes == 32 * 1024);
  CHECK(point.workload.waiting.call == "sync-query-bulk");
  CHECK(point.workload.waiting.requests == 8);
  CHECK(point.workload.waiting.complete == 3);
  const PointConfig ping_pong = valid("ping_pong.json").points.front().config;
  CHECK(ping_pong.workload.ping_pong.message_size_bytes == 40'000);
  CHECK(ping_pong.workload.ping_pong.runtime_work == 3_us);
  CHECK(ping_pong.workload.ping_pong.short_limit_bytes == 2048);
  const PointConfig latency = valid("latency.json").points.front().config;
  CHECK(latency.workload.latency.senders == 3);
  CHECK(latency.workload.latency.receivers == 5);
  CHECK(latency.workload.latency.message_size_bytes == 2048);
  const PointConfig pack = valid("pack.json").points.front().config;
  CHECK(pack.workload.pack.block_bytes == 128);
  CHECK(pack.workload.pack.helpers == 3);
  CHECK(pack.machine.datatype.l3_bytes == 16 * 1024 * 1024);
}

TEST_CASE("a scenario of another kind of workload", "[scenario][loader]") {
  const ResolvedScenario scenario = valid("rma_mt.json");
  REQUIRE(scenario.points.size() == 4 * 2);
  const PointConfig& point = scenario.points.back().config;
  CHECK(point.workload.kind == "rma-mt");
  CHECK(point.workload.rma_mt.operation == "accumulate");
  CHECK(point.workload.rma_mt.synchronisation == "lock-all");
  CHECK(point.workload.rma_mt.synchronised_by == "one-thread");
  CHECK(point.workload.rma_mt.window_per_thread);
  CHECK(point.workload.rma_mt.threads == 16);
  CHECK(point.workload.rma_mt.message_size_bytes == 4096);
  CHECK(point.workload.rma_mt.operations == 500);
  CHECK(point.library.one_sided.completion == "counter");
  CHECK(point.library.one_sided.atomics == "lock");
  // Only the values of its kind are written out, and they load again.
  CHECK_FALSE(scenario.document["workload"].contains("pairs"));
  const KnownNames names = load_options().names;
  CHECK(to_json(point_from_json(to_json(point), names)) == to_json(point));
}

TEST_CASE("loading twice gives the same bytes", "[scenario][loader]") {
  CHECK(valid("full.json").document.dump() == valid("full.json").document.dump());
  CHECK(valid("full.json").origins.dump() == valid("full.json").origins.dump());
}

TEST_CASE("the scenarios and profiles of the repository load", "[scenario][loader]") {
  LoadOptions options = load_options();
  options.profile_directories = {test::repository() / "calibration" / "profiles"};
  options.preset_directories = {test::repository() / "libraries"};
  // SimGrid reads platforms; here the number of cores that the file states is enough.
  options.resolve_route = [](const std::filesystem::path& platform, const std::string&, const std::string&) {
    const std::string text = test::slurp(platform);
    const int cores = std::stoi(text.substr(text.find(" core=\"") + 7));
    return RouteFacts{{Duration::nanoseconds(700), 12.5e9}, cores, cores};
  };
  std::size_t loaded = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::repository() / "scenarios")) {
    if (entry.path().extension() != ".json")
      continue;
    CAPTURE(entry.path());
    CHECK_NOTHROW(load_scenario(entry.path(), options));
    ++loaded;
  }
  CHECK(loaded >= 2);
}
