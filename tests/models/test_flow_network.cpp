// Max-min sharing: cases that can be worked out on paper, and the two conditions that define it, on random ones.
#include "models/fabric/flow_network.hpp"
#include "support/printing.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

using namespace contend;

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

class End final : public FlowListener {
public:
  explicit End(Engine& engine) : engine_(engine) {}
  void flow_finished() override {
    REQUIRE(date == Duration{});
    date = engine_.now().since_start();
  }
  Duration date{};

private:
  Engine& engine_;
};

struct Plan {
  Duration start;
  std::vector<FlowNetwork::Link> route;
  std::int64_t bytes;
  double limit = unlimited;
};

/// When each flow ends.
std::vector<Duration> ends(const std::vector<double>& capacities, const std::vector<Plan>& plans) {
  Engine engine(1);
  FlowNetwork network(engine);
  for (const double capacity : capacities) {
    network.add_link(capacity);
  }
  std::vector<std::unique_ptr<End>> listeners;
  for (const Plan& plan : plans) {
    listeners.push_back(std::make_unique<End>(engine));
    engine.spawn("starter", 0, 0, [&network, &plan, &end = *listeners.back()](SimThread& self) {
      self.spend(plan.start, Category::software);
      network.start(end, plan.route, plan.bytes, plan.limit);
      self.spend(100'000_ms, Category::software); // until everything has ended
    });
  }
  engine.run();
  CHECK(network.flows() == 0);
  std::vector<Duration> dates;
  for (const auto& listener : listeners) {
    dates.push_back(listener->date);
  }
  return dates;
}

} // namespace

TEST_CASE("a flow alone has its narrowest link", "[flows]") {
  CHECK(ends({1e9, 5e8}, {{0_us, {0, 1}, 1'000'000}}) == std::vector{2_ms});
  CHECK(ends({1e9}, {{3_us, {0}, 1'000, 1e8}}) == std::vector{13_us}); // its own limit
  CHECK(ends({}, {{0_us, {}, 1'000, 1e8}}) == std::vector{10_us});
}

TEST_CASE("flows on one link share it equally, and take over what others leave", "[flows]") {
  CHECK(ends({1e9}, {{0_us, {0}, 1'000'000}, {0_us, {0}, 1'000'000}}) == std::vector{2_ms, 2_ms});
  // 1 ms alone, then half: the second one ends, having moved 1 MB in 2 ms; the first has 1 MB left.
  CHECK(ends({1e9}, {{0_us, {0}, 3'000'000}, {1_ms, {0}, 1'000'000}}) == std::vector{4_ms, 3_ms});
  // What a limited flow cannot use is the others'.
  CHECK(ends({1e9}, {{0_us, {0}, 100'000, 1e8}, {0_us, {0}, 900'000}}) == std::vector{1_ms, 1_ms});
}

TEST_CASE("a flow over two links is held back by the busier one only", "[flows]") {
  // Link 0: flows a, b, c at a third of 900 MB/s each. Link 1: d has what a leaves of 1 GB/s.
  const std::vector<Duration> dates =
      ends({9e8, 1e9}, {{0_us, {0, 1}, 300'000}, {0_us, {0}, 300'000}, {0_us, {0}, 300'000}, {0_us, {1}, 700'000}});
  CHECK(dates == std::vector{1_ms, 1_ms, 1_ms, 1_ms});
}

TEST_CASE("no flow can have more without one taking from a smaller one", "[flows][property]") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    RandomStream random(seed, "network");
    Engine engine(1);
    FlowNetwork network(engine);
    const auto links = 1 + random.below(6);
    std::vector<double> capacities;
    for (std::uint64_t link = 0; link < links; ++link) {
      capacities.push_back(1e9 * (0.1 + random.uniform()));
      network.add_link(capacities.back());
    }
    struct Started {
      std::vector<FlowNetwork::Link> route;
      double limit;
    };
    std::vector<Started> flows;
    std::vector<std::unique_ptr<End>> listeners;
    std::vector<double> loads;
    engine.spawn("starter", 0, 0, [&](SimThread& self) {
      const auto count = 1 + random.below(10);
      for (std::uint64_t i = 0; i < count; ++i) {
        Started flow{{}, random.below(3) == 0 ? 1e9 * (0.01 + random.uniform()) : unlimited};
        for (std::uint64_t link = 0; link < links; ++link) {
          if (random.below(2) == 0) {
            flow.route.push_back(link);
          }
        }
        if (flow.route.empty()) {
          flow.route.push_back(0);
        }
        listeners.push_back(std::make_unique<End>(engine));
        network.start(*listeners.back(), flow.route, 1'000'000'000, flow.limit);
        flows.push_back(flow);
      }
      for (std::uint64_t link = 0; link < links; ++link) {
        loads.push_back(network.load(link));
      }
      self.spend(1_us, Category::software);
    });
    engine.run();
    const auto full = [&](FlowNetwork::Link link) { return loads[link] >= capacities[link] * (1 - 1e-9); };
    for (std::size_t link = 0; link < capacities.size(); ++link) {
      CHECK(loads[link] <= capacities[link] * (1 + 1e-9));
    }
    for (const Started& flow : flows) {
      CHECK((flow.limit < unlimited || std::any_of(flow.route.begin(), flow.route.end(), full)));
    }
  }
}

TEST_CASE("bytes are conserved whatever comes and goes", "[flows][property]") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    RandomStream random(seed, "plans");
    std::vector<Plan> plans;
    std::int64_t bytes = 0;
    for (int i = 0; i < 12; ++i) {
      plans.push_back(
          {Duration::microseconds(random.uniform()), {0}, 1 + static_cast<std::int64_t>(random.below(90'000))});
      bytes += plans.back().bytes;
    }
    plans.front().start = Duration{};
    plans.front().bytes += 20'000; // the link is busy from 0 on until all have begun
    bytes += 20'000;
    const std::vector<Duration> dates = ends({1e10}, plans);
    const Duration last = *std::max_element(dates.begin(), dates.end());
    CHECK(last.in_seconds() == Approx(static_cast<double>(bytes) / 1e10).margin(2e-11)); // dates are whole picoseconds
  }
}

TEST_CASE("a flow without end or way is refused", "[flows]") {
  Engine engine(1);
  FlowNetwork network(engine);
  End end(engine);
  CHECK_THROWS_AS(network.add_link(0), std::invalid_argument);
  const std::array<FlowNetwork::Link, 1> route{network.add_link(1e9)};
  CHECK_THROWS_AS(network.start(end, route, 0), std::invalid_argument);
  CHECK_THROWS_AS(network.start(end, {}, 1), std::invalid_argument);
  CHECK_THROWS_AS(network.start(end, route, 1, 0), std::invalid_argument);
}
