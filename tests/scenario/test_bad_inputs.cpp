// Every file in bad/ is refused with the message that the manifest states, and with nothing but a ScenarioError.
#include "support.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <map>
#include <set>
#include <string>

using namespace contend;
using contend::test::data_directory;
using contend::test::load_options;

namespace {

/// The text of the ScenarioError, or why there was none.
std::string outcome(const std::filesystem::path& file, const std::string& kind) {
  try {
    if (kind != "scenario") {
      nlohmann::json scenario = {{"schema_version", 1},
                                 {"name", "uses a bad file"},
                                 {"machine", {{"profile", "testbox"}}},
                                 {"fabric", {{"latency", "1 us"}, {"bandwidth", "1 GB/s"}}}};
      scenario[kind == "profile" ? "machine" : "library"][kind] = "./" + file.filename().string();
      (void)load_scenario_text(scenario.dump(), "inline", file.parent_path(), load_options());
    } else {
      (void)load_scenario(file, load_options());
    }
  } catch (const ScenarioError& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another exception: ") + error.what();
  }
  return "it was accepted";
}

std::string outcome_of_text(const std::string& text) {
  try {
    (void)load_scenario_text(text, "inline", data_directory() / "valid", load_options());
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "it was accepted";
}

} // namespace

TEST_CASE("bad inputs are refused with their message", "[scenario][bad]") {
  const std::filesystem::path directory = data_directory() / "bad";
  const auto manifest = nlohmann::json::parse(test::slurp(directory / "manifest.json"));
  REQUIRE(manifest.size() >= 45);
  std::set<std::string> listed{"manifest.json"};
  for (const auto& entry : manifest) {
    const std::string file = entry.at("file");
    listed.insert(file);
    CAPTURE(file);
    const std::string text = outcome(directory / file, entry.value("kind", "scenario"));
    CHECK_THAT(text, Catch::Contains(entry.at("message").get<std::string>()));
    CHECK_THAT(text, !Catch::Contains("another exception"));
    CHECK(text.size() < 20'000);
  }
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    CAPTURE(entry.path());
    CHECK(listed.count(entry.path().filename().string()) == 1);
  }
}

TEST_CASE("inputs that no file can express", "[scenario][bad]") {
  using Catch::Contains;
  CHECK_THAT(outcome(data_directory() / "bad", "scenario"), Contains("it is a directory"));
  CHECK_THAT(outcome(data_directory() / "nothing.json", "scenario"), Contains("no such file"));
  CHECK_THAT(outcome("/dev/null", "scenario"), Contains("not a regular file"));
  CHECK_THAT(outcome_of_text(std::string(9 * 1024 * 1024, ' ')), Contains("larger than 8 MiB"));
  CHECK_THAT(outcome_of_text("[" + std::string(4 * 1024 * 1024, '[')), Contains("nested deeper"));
  std::string many = "[0";
  for (int i = 0; i < 1'100'000; ++i)
    many += ",0";
  CHECK_THAT(outcome_of_text(many + "]"), Contains("more than 1000000 values"));
}

TEST_CASE("an error says file, line and place", "[scenario][bad]") {
  const std::string text = outcome_of_text("{\"schema_version\": 1,\n \"extends\": \"base.json\",\n \"workload\": {\n"
                                           "  \"pairs\": 0\n }\n}");
  CHECK_THAT(text, Catch::Equals("inline:4: /workload/pairs: found 0; allowed: a whole number from 1 to 4096"));
  CHECK_THAT(outcome_of_text("{\"schema_version\": 1,\n \"name\": tru\n}"),
             Catch::StartsWith("inline:2: column 13: not valid JSON"));
  CHECK_THAT(outcome_of_text("{\"schema_version\": 1\n \"name\": \"a\"}"),
             Catch::Contains("inline:2: column 7") && Catch::EndsWith("is a comma missing before it?"));
}

TEST_CASE("a number is shown as it is spelled", "[scenario][bad]") {
  const auto with = [](const std::string& number) {
    return outcome_of_text(R"({"schema_version": 1, "extends": "base.json", "workload": {"pairs": )" + number + "}}");
  };
  for (const std::string number : {"4.0", "1e3", "-1", "99999999999999999999999"})
    CHECK_THAT(with(number), Catch::Contains("/workload/pairs: found " + number + "; allowed: a whole number"));
  CHECK_THAT(with("1" + std::string(300, '0')), Catch::Contains("found 1" + std::string(59, '0') + "...; allowed"));
}

TEST_CASE("at thread level single a thread may send its part, if it is the only one", "[scenario][bad]") {
  const auto with = [](const std::string& partitions) {
    return outcome_of_text(R"({"schema_version": 1, "extends": "base.json", "library": {"thread_level": "single"},
      "workload": {"kind": "partitioned", "method": "multi-send", "partitions": )" +
                           partitions + "}}");
  };
  CHECK(with("1") == "it was accepted");
  CHECK_THAT(with("2"), Catch::Contains("only the first thread may call the library"));
}

TEST_CASE("what is wrong with a route is reported where the scenario asks for it", "[scenario][bad]") {
  LoadOptions options = load_options();
  const std::string text = "{\"schema_version\": 1, \"extends\": \"base.json\",\n\"fabric\": {\n"
                           "\"platform\": \"../platforms/two_nodes.xml\",\n\"from\": \"a\",\n\"to\": \"b\"}}";
  for (const auto& [key, line] : std::map<std::string, std::string>{{"platform", "3"}, {"from", "4"}, {"to", "5"}}) {
    options.resolve_route = [wrong = key](const auto&, const auto&, const auto&) -> RouteFacts {
      throw RouteError(wrong, "it is wrong");
    };
    CHECK_THROWS_WITH(load_scenario_text(text, "inline", data_directory() / "valid", options),
                      Catch::StartsWith("inline:" + line + ": /fabric/" + key + ": platform \"") &&
                          Catch::EndsWith("two_nodes.xml\": it is wrong"));
  }
}

TEST_CASE("all mistakes are reported at once, up to a limit", "[scenario][bad]") {
  const std::string base = "{\"schema_version\": 1, \"extends\": \"base.json\", \"workload\": ";
  const std::string two = outcome_of_text(base + R"({"pairs": 0, "window": "x"}})");
  CHECK_THAT(two, Catch::Contains("/workload/pairs") && Catch::Contains("/workload/window"));
  std::string many = base + "{\"x0\": 1";
  for (int i = 1; i < 100; ++i)
    many += ", \"x" + std::to_string(i) + "\": 1";
  CHECK_THAT(outcome_of_text(many + "}}"), Catch::Contains("and 80 more errors"));
}

TEST_CASE("without a resolver a platform is refused", "[scenario][bad]") {
  LoadOptions options = load_options();
  options.resolve_route = nullptr;
  CHECK_THROWS_WITH(load_scenario(data_directory() / "valid" / "full.json", options),
                    Catch::Contains("give latency and bandwidth instead"));
}
