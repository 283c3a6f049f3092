// The checks of programs know every program that there is: one that they did not know would run unchecked.
#include "scenario/checks/check.hpp"
#include "workloads/programs/program.hpp"
#include "workloads/workload.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace contend;

TEST_CASE("every registered program is checked, and no other workload is taken for one") {
  PointConfig point;
  point.placement.cores = 1; // programs are laid out by the workload
  const auto refused = [&](const std::string& kind) {
    point.workload.kind = kind;
    const auto checks = scenario::program_checks();
    return std::any_of(checks.begin(), checks.end(), [&](const scenario::Check& check) {
      return std::string(check.path) == "placement.threads" && !check.find(point, {}).empty();
    });
  };
  for (const std::string& kind : program_registry().names()) {
    CAPTURE(kind);
    CHECK(refused(kind));
  }
  for (const std::string& kind : workload_registry().names()) {
    CAPTURE(kind);
    CHECK_FALSE(refused(kind));
  }
}
