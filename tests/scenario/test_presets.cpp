// Library presets: layers below a scenario's own values, and designs as an axis of a sweep.
#include "support.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>

using namespace contend;
using contend::test::data_directory;
using contend::test::load_options;

namespace {

ResolvedScenario overridden(const std::string& name, const std::string& path = {}, const std::string& text = {}) {
  LoadOptions options = load_options();
  if (!path.empty())
    options.overrides = {{path, text}};
  return load_scenario(data_directory() / "valid" / name, options);
}

} // namespace

TEST_CASE("a preset gives what the scenario leaves open", "[scenario][presets]") {
  const ResolvedScenario scenario = overridden("preset.json");
  const LibraryDesign& library = scenario.points.front().config.library;
  CHECK(library.name == "testlib");
  CHECK(library.instances.count == 6);
  CHECK(library.instances.assignment == "dedicated");
  CHECK(library.matching.lock == "ticket");
  CHECK(library.matching.engine == LibraryDesign{}.matching.engine);
  CHECK(library.protocol.eager_limit_bytes == 4096);
  CHECK(scenario.origins["/library/instances/count"] == "scenario preset.json");
  CHECK(scenario.origins["/library/instances/assignment"] == "preset testlib (guess: made up)");
  CHECK(scenario.origins["/library/matching/engine"] == "default");
}

TEST_CASE("the command line changes single values of a preset, or the preset", "[scenario][presets]") {
  const LibraryDesign one = overridden("preset.json", "library.matching.lock", "mcs").points.front().config.library;
  CHECK(one.matching.lock == "mcs");
  CHECK(one.instances.assignment == "dedicated");
  const LibraryDesign other = overridden("base.json", "library.preset", "testlib").points.front().config.library;
  CHECK(other.instances.count == 4);
}

TEST_CASE("a preset changes the one that it extends", "[scenario][presets]") {
  const ResolvedScenario scenario = overridden("base.json", "library.preset", "testlib-mcs-two");
  const LibraryDesign& library = scenario.points.front().config.library;
  CHECK(library.name == "testlib-mcs-two");
  CHECK(library.instances.count == 2);
  CHECK(library.instances.assignment == "dedicated");
  CHECK(library.matching.lock == "mcs");
  CHECK(library.protocol.eager_limit_bytes == 4096);
  CHECK(scenario.origins["/library/instances/count"] == "preset testlib-mcs-two (guess: made up)");
  CHECK(scenario.origins["/library/matching/lock"] == "preset testlib-mcs (guess: made up)");
  CHECK(scenario.origins["/library/instances/assignment"] == "preset testlib (guess: made up)");
}

TEST_CASE("fields are swept upon a preset", "[scenario][presets]") {
  const ResolvedScenario scenario = overridden("preset.json", "sweep.library.instances.count", "[1, 2]");
  REQUIRE(scenario.points.size() == 2);
  CHECK(scenario.points[1].config.library.instances.count == 2);
  CHECK(scenario.points[1].config.library.instances.assignment == "dedicated");
}

TEST_CASE("designs are an axis", "[scenario][presets]") {
  const ResolvedScenario scenario = overridden("preset_sweep.json");
  REQUIRE(scenario.points.size() == 2 * 3);
  CHECK(scenario.points[0].parameters.dump() == R"({"lock":"mcs","preset":"plain"})");
  const auto library = [&](std::size_t i) -> const LibraryDesign& { return scenario.points[i].config.library; };
  SECTION("each is a layer upon the scenario's library, whose values win over a preset's") {
    CHECK(library(0).instances.count == InstancesDesign{}.count);
    CHECK(library(1).instances.count == 4);
    CHECK(library(2).instances.count == 2);
    CHECK(library(0).matching.lock == "ttas");
    CHECK(library(1).matching.lock == "ttas");
    CHECK(library(2).matching.lock == "mcs");
    for (std::size_t i = 0; i < 6; ++i)
      CHECK(library(i).progress.engine == "serial-try-lock");
  }
  SECTION("single fields are set upon the designs, also when their axis is written first") {
    CHECK(library(1).instances.lock == "mcs");
    CHECK(library(4).instances.lock == "ticket");
  }
  SECTION("a design has its own name") {
    CHECK(library(0).name == "plain");
    CHECK(library(1).name == "as it is");
  }
  SECTION("origins are known for each design") {
    const auto origin = [&](const std::string& place) { return scenario.origins["/sweep/library.preset/" + place]; };
    CHECK(origin("as it is/instances/count") == "preset testlib (guess: made up)");
    CHECK(origin("changed/instances/count") == "scenario preset_sweep.json");
  }
}

TEST_CASE("a list of presets names its designs after them", "[scenario][presets]") {
  const ResolvedScenario scenario = overridden("base.json", "sweep.library.preset", R"(["testlib"])");
  REQUIRE(scenario.points.size() == 1);
  CHECK(scenario.points.front().parameters.dump() == R"({"preset":"testlib"})");
  CHECK(scenario.points.front().config.library.name == "testlib");
  CHECK(scenario.points.front().config.library.instances.count == 4);
}

TEST_CASE("the command line wins over designs, a preset given there ends their sweep", "[scenario][presets]") {
  const ResolvedScenario changed = overridden("preset_sweep.json", "library.instances.count", "7");
  for (const ResolvedPoint& point : changed.points)
    CHECK(point.config.library.instances.count == 7);
  const ResolvedScenario single = overridden("preset_sweep.json", "library.preset", "testlib");
  CHECK(single.points.size() == 2);
  CHECK(single.points.front().config.library.matching.lock == "ticket");
}

TEST_CASE("a preset on the command line is the whole design", "[scenario][presets]") {
  LoadOptions options = load_options();
  options.overrides = {{"library.matching.lock", "mcs"}, {"library.preset", "testlib"}};
  const ResolvedScenario scenario = load_scenario(data_directory() / "valid" / "preset.json", options);
  const LibraryDesign& library = scenario.points.front().config.library;
  CHECK(library.instances.count == 4); // 6 in the file
  CHECK(library.matching.lock == "mcs");
  CHECK(scenario.replaced == std::vector<std::string>{"instances.count"});
  CHECK(overridden("base.json", "library.preset", "testlib").replaced.empty());
  CHECK(overridden("preset.json", "library.instances.count", "7").replaced.empty());
}

TEST_CASE("what clashes with a preset is reported at the scenario's own value", "[scenario][presets]") {
  LoadOptions options = load_options();
  options.preset_directories = {test::repository() / "libraries"};
  const auto error = [&] {
    try {
      (void)load_scenario(data_directory() / "valid" / "base.json", options);
    } catch (const ScenarioError& found) {
      return std::string(found.what());
    }
    return std::string("it was accepted");
  };
  options.overrides = {{"library.preset", "ch4-vci-tag"}, {"workload.any_tag", "true"}};
  const std::string of_preset = "a receive with any tag cannot know its instance when tags decide on it; "
                                "library.instances.mapping is \"tag\" in preset ch4-vci-tag (";
  CHECK_THAT(error(), Catch::StartsWith("command line: /workload/any_tag: " + of_preset));
  CHECK_THAT(error(), Catch::Contains("ch4-vci-tag.json:"));
  options.overrides.emplace_back("sweep.workload.pairs", "[1, 2]");
  CHECK_THAT(error(), Catch::EndsWith(") (at pairs = 1)"));
  // Where the scenario sweeps it, the axis is what it can change.
  options.overrides = {{"library.preset", "ch4-vci-tag"}, {"sweep.workload.any_tag", "[false, true]"}};
  CHECK_THAT(error(), Catch::Contains("/sweep/workload.any_tag: a receive with any tag"));
  options.overrides = {
      {"library.preset", "ch4-vci-tag"}, {"library.instances.mapping", "tag"}, {"workload.any_tag", "true"}};
  CHECK_THAT(error(), Catch::EndsWith("when tags decide on it; library.instances.mapping is \"tag\""));
}

TEST_CASE("suggestions leave out files of another kind", "[scenario][presets]") {
  LoadOptions options = load_options();
  options.preset_directories.push_back(data_directory() / "valid"); // scenarios
  options.overrides = {{"library.preset", "base2"}};
  CHECK_THROWS_WITH(load_scenario(data_directory() / "valid" / "base.json", options),
                    Catch::Contains("available: testlib") && !Catch::Contains("full"));
}

TEST_CASE("the presets of the repository load, in thread and in process mode", "[scenario][presets]") {
  // Some use transports that the machine of the tests has no prices for.
  const std::string tcp_prices =
      R"({"send_call": "2 us", "contended_send": "0 ns", "full_send_call": "1 us", "receive_call": "1 us", "poll_call": "400 ns",
          "poll_socket": "0 ns", "dispatch": "50 ns", "copy_bandwidth": "8 GB/s", "buffer": "2 MiB", "packet": "768 B",
          "receive_size": "30 KiB"})";
  const std::string shared_memory_prices =
      R"({"box_write": "10 ns", "box_read": "10 ns", "queue_write": "40 ns", "queue_read": "40 ns", "poll_box": "2 ns",
          "poll_queue": "2 ns", "copy_call": "500 ns", "copy_bandwidth": "8 GB/s", "box_size": "1 KiB",
          "box_limit": "256 B", "box_threshold": 16, "fragments": 512, "poll_batch": 32})";
  LoadOptions options = load_options();
  options.preset_directories = {test::repository() / "libraries"};
  std::size_t loaded = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::repository() / "libraries")) {
    if (entry.path().extension() != ".json")
      continue;
    CAPTURE(entry.path());
    std::ifstream file(entry.path());
    if (nlohmann::json::parse(file).at("library").contains("coroutines"))
      continue; // of processes that are coroutines
    for (const char* mode : {"thread", "process"}) {
      options.overrides = {{"library.preset", entry.path().stem().string()},
                           {"workload.mode", mode},
                           {"placement.hosts", "1"}, // shared memory connects no others
                           {"machine.tcp", tcp_prices},
                           {"machine.shared_memory", shared_memory_prices}};
      ResolvedScenario scenario;
      CHECK_NOTHROW(scenario = load_scenario(data_directory() / "valid" / "base.json", options));
      CHECK(scenario.points.front().config.library.name == entry.path().stem().string());
    }
    ++loaded;
  }
  CHECK(loaded >= 1);
}

TEST_CASE("a preset of coroutines is for programs alone, whatever else the workload would simulate",
          "[scenario][presets]") {
  LoadOptions options = load_options();
  options.preset_directories = {test::repository() / "libraries"};
  const auto base = data_directory() / "valid" / "base.json";
  options.overrides = {{"library.preset", "layered-runtime"}};
  CHECK_THROWS_WITH(load_scenario(base, options),
                    Catch::Contains("preset layered-runtime designs MPI processes that are coroutines") &&
                        Catch::Contains("\"multirate\" has not") && Catch::Contains("ping, ring"));
  options.overrides = {{"sweep.library.preset", R"(["ob1-base", "fg-mpi"])"}};
  CHECK_THROWS_WITH(load_scenario(base, options),
                    Catch::Contains("/sweep/library.preset") && Catch::Contains("preset fg-mpi designs"));
  const auto program = test::repository() / "scenarios" / "fine-grain" / "ring.json";
  LoadOptions shipped = options;
  shipped.profile_directories = {test::repository() / "calibration" / "profiles"};
  shipped.overrides = {{"library.preset", "fg-mpi"}};
  CHECK_NOTHROW(load_scenario(program, shipped));
}
