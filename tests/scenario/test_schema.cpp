#include "scenario/reference.hpp"
#include "scenario/schema.hpp"
#include "support.hpp"

#include <catch2/catch.hpp>

using namespace contend;

TEST_CASE("the committed schemas are what the declarations say", "[scenario][schema]") {
  INFO("schemas/update.sh rewrites them");
  const std::filesystem::path schemas = test::repository() / "schemas";
  CHECK(test::slurp(schemas / "scenario.schema.json") == scenario_schema(test::load_options().names).dump(1) + "\n");
  CHECK(test::slurp(schemas / "profile.schema.json") == profile_schema().dump(1) + "\n");
  CHECK(test::slurp(schemas / "preset.schema.json") == preset_schema(test::load_options().names).dump(1) + "\n");
  CHECK(test::slurp(test::repository() / "docs" / "scenario-reference.md") ==
        scenario_reference(test::load_options().names));
}

TEST_CASE("the open sets of names are those that the caller gives", "[scenario][schema]") {
  KnownNames names = test::load_options().names;
  names.locks.emplace_back("new-lock");
  const auto locks = scenario_schema(names)["properties"]["library"]["properties"]["instances"]["properties"]["lock"];
  CHECK(locks["anyOf"][0]["enum"].back() == "new-lock");
  CHECK_THAT(scenario_reference(names), Catch::Contains("new-lock") && Catch::Contains("`workload.pairs`"));
}
