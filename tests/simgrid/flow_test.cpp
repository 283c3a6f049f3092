// Our max-min sharing gives every flow the end that SimGrid's flow model gives it.
#include "core/engine.hpp"
#include "models/fabric/flow_network.hpp"
#include "simgrid/flow_model.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <string>

using namespace contend;

namespace {

class End final : public FlowListener {
public:
  explicit End(Engine& engine) : engine_(engine) {}
  void flow_finished() override { date = engine_.now().since_start(); }
  Duration date{};

private:
  Engine& engine_;
};

std::vector<Duration> our_ends(const FlowProblem& problem) {
  Engine engine(1);
  FlowNetwork network(engine);
  for (const double capacity : problem.capacities) {
    network.add_link(capacity);
  }
  std::vector<std::unique_ptr<End>> listeners;
  for (const FlowProblem::Flow& flow : problem.flows) {
    listeners.push_back(std::make_unique<End>(engine));
    engine.spawn("flow", 0, 0, [&network, &flow, &end = *listeners.back()](SimThread& self) {
      self.spend(flow.start, Category::software);
      network.start(end, flow.route, flow.bytes, flow.limit);
      self.spend(10'000_ms, Category::software);
    });
  }
  engine.run();
  std::vector<Duration> ends;
  for (const auto& listener : listeners) {
    ends.push_back(listener->date);
  }
  return ends;
}

void require_same(const FlowProblem& problem) {
  const std::vector<Duration> ours = our_ends(problem);
  const std::vector<Duration> theirs = simgrid_flow_ends(problem);
  REQUIRE(ours.size() == theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    CAPTURE(i, ours[i].in_seconds(), theirs[i].in_seconds());
    // Ours are whole picoseconds, rounded at every change of rates; SimGrid's are doubles.
    const Duration difference = ours[i] > theirs[i] ? ours[i] - theirs[i] : theirs[i] - ours[i];
    CHECK(difference <= Duration::picoseconds(1'000) + ours[i].scaled(1e-9));
  }
}

} // namespace

TEST_CASE("what threads of one host send to another shares both wires") {
  FlowProblem problem;
  problem.capacities = {11.4e9, 11.4e9};
  for (int i = 0; i < 63; ++i) {
    problem.flows.push_back({Duration::nanoseconds(37.0 * i), {0, 1}, 65536});
  }
  problem.flows.push_back({Duration::microseconds(400), {0, 1}, 65536});
  require_same(problem);
}

TEST_CASE("random flows end when SimGrid says") {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    CAPTURE(seed);
    RandomStream random(seed, "flow problem");
    FlowProblem problem;
    const auto links = 1 + random.below(6);
    for (std::uint64_t link = 0; link < links; ++link) {
      problem.capacities.push_back(1e9 * (0.2 + random.uniform()));
    }
    const auto flows = 2 + random.below(20);
    for (std::uint64_t i = 0; i < flows; ++i) {
      FlowProblem::Flow flow;
      flow.start = Duration::microseconds(1000 * random.uniform());
      flow.bytes = static_cast<std::int64_t>(1000 + random.below(3'000'000));
      for (std::uint64_t link = 0; link < links; ++link) {
        if (random.below(2) == 0) {
          flow.route.push_back(link);
        }
      }
      if (flow.route.empty()) {
        flow.route.push_back(random.below(links));
      }
      if (random.below(4) == 0) {
        flow.limit = 1e8 * (0.5 + random.uniform());
      }
      problem.flows.push_back(flow);
    }
    require_same(problem);
  }
}

TEST_CASE("the comparison can fail") {
  FlowProblem problem;
  problem.capacities = {1e9};
  problem.flows = {{Duration{}, {0}, 1'000'000}, {Duration{}, {0}, 1'000'000}};
  const std::vector<Duration> shared = simgrid_flow_ends(problem);
  problem.flows.pop_back();
  CHECK(simgrid_flow_ends(problem).front() == Duration::microseconds(1000));
  CHECK(shared.front() == Duration::microseconds(2000));
}
