// N machines and one repairman, everything exponential: the simplest model of N threads and one lock.
#include "core/engine.hpp"
#include "core/fifo_mutex.hpp"
#include "support/sanitizers.hpp"
#include "support/statistics.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

using namespace contend;

namespace {

constexpr Duration mean_up = 500_ns;
constexpr Duration mean_repair = 100_ns;
constexpr int replications = 8;

/// Probability that the repairman has nothing to do: 1 / sum over k of N! / (N - k)! * (mean_repair / mean_up)^k.
double exact_idle(int machines) {
  const double ratio = static_cast<double>(mean_repair.count()) / static_cast<double>(mean_up.count());
  double term = 1;
  double sum = 1;
  for (int k = 1; k <= machines; ++k) {
    term *= (machines - k + 1) * ratio;
    sum += term;
  }
  return 1.0 / sum;
}

struct Measured {
  double throughput;  ///< repairs per mean repair time
  double utilisation; ///< share of the time in which the repairman works
  double wait;        ///< mean wait for the repairman, in mean repair times
};

Measured run(int machines, std::uint64_t seed, int repairs_per_machine) {
  Engine engine(seed);
  FifoMutex repairman("repairman");
  std::int64_t repairs = 0;
  const int total = machines * repairs_per_machine;
  for (int i = 0; i < machines; ++i) {
    engine.spawn("machine " + std::to_string(i), 0, i, [&](SimThread& self) {
      RandomStream random = engine.stream(self.name());
      while (repairs < total) { // all stop together, so that no machine works alone at the end
        self.spend(random.exponential(mean_up), Category::software);
        repairman.lock(self);
        self.spend(random.exponential(mean_repair), Category::matching);
        repairman.unlock(self);
        ++repairs;
      }
    });
  }
  engine.run();
  Duration working;
  Duration waiting;
  for (const auto& thread : engine.threads()) {
    working += thread->times()[static_cast<std::size_t>(Category::matching)];
    waiting += thread->times()[static_cast<std::size_t>(Category::lock_wait)];
  }
  const auto repair = static_cast<double>(mean_repair.count());
  const auto end = static_cast<double>(engine.now().since_start().count());
  const auto count = static_cast<double>(repairs);
  return {count * repair / end, static_cast<double>(working.count()) / end,
          static_cast<double>(waiting.count()) / count / repair};
}

} // namespace

TEST_CASE("machine repairman: throughput, utilisation and wait for several numbers of machines", "[queueing]") {
  for (const int machines : {1, 2, 4, 6, 10, 20}) {
    const int repairs_per_machine = (test::sanitized ? 4'000 : 160'000) / machines;
    std::vector<double> throughputs;
    std::vector<double> utilisations;
    std::vector<double> waits;
    for (int i = 0; i < replications; ++i) {
      const Measured measured = run(machines, 1'000 + static_cast<std::uint64_t>(i), repairs_per_machine);
      throughputs.push_back(measured.throughput);
      utilisations.push_back(measured.utilisation);
      waits.push_back(measured.wait);
    }
    const double busy = 1.0 - exact_idle(machines);
    // Little's law over a whole cycle: machines = throughput * (up + wait + repair).
    const double up = static_cast<double>(mean_up.count()) / static_cast<double>(mean_repair.count());
    const double exact_wait = machines / busy - up - 1.0;
    const test::Estimate throughput = test::estimate(throughputs);
    const test::Estimate utilisation = test::estimate(utilisations);
    const test::Estimate wait = test::estimate(waits);
    CAPTURE(machines, busy, exact_wait, throughput.mean, utilisation.mean, wait.mean);
    // Student's t with 7 degrees of freedom exceeds 5.4 with probability 0.001.
    CHECK(std::abs(throughput.z(busy)) < 5.4);
    if (machines > 1) {
      CHECK(std::abs(wait.z(exact_wait)) < 5.4);
    } else {
      CHECK(wait.mean == 0.0);
    }
    if (machines < 20) {
      CHECK(std::abs(utilisation.z(busy)) < 5.4);
    } else { // the repairman is hardly ever idle (1 - 6e-8): what is left is the start, in which no machine is down
      CHECK(utilisation.mean == Approx(busy).epsilon(1e-3));
    }
    if (!test::sanitized) {
      CHECK(throughput.relative_error() < 0.004);
      CHECK(utilisation.relative_error() < 0.004);
      CHECK((machines == 1 || wait.relative_error() < 0.01));
    }
  }
}

TEST_CASE("a saturated lock serves at exactly its rate", "[queueing]") {
  Engine engine(1);
  FifoMutex mutex("m");
  constexpr int threads = 20;
  constexpr int rounds = 100;
  for (int i = 0; i < threads; ++i) {
    engine.spawn("t" + std::to_string(i), 0, i, [&](SimThread& self) {
      for (int round = 0; round < rounds; ++round) {
        mutex.lock(self);
        self.spend(100_ns, Category::matching);
        mutex.unlock(self);
        self.spend(50_ns, Category::software);
      }
    });
  }
  engine.run();
  CHECK(engine.now() == TimePoint::at(threads * rounds * 100_ns + 50_ns));
  // After the first round each waits for the 19 others less the 50 ns it is away.
  for (int i = 0; i < threads; ++i) {
    const auto& times = engine.threads()[static_cast<std::size_t>(i)]->times();
    const Duration expected = i * 100_ns + (rounds - 1) * (19 * 100_ns - 50_ns);
    CHECK(times[static_cast<std::size_t>(Category::lock_wait)] == expected);
  }
}
