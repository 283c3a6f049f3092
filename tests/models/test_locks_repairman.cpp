// A lock on a machine without costs is a repairman: N threads think and hold for exponential times. Whoever is next, the
// server never idles while somebody waits, so throughput and waiting time are those of the closed M/M/1 queue.
#include "../core/support/sanitizers.hpp"
#include "../core/support/statistics.hpp"
#include "models/locks/lock.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace contend;

namespace {

constexpr Duration mean_think = 50_us; // a turn of distributed-mutex reads the time, which is never free
constexpr Duration mean_hold = 10_us;

/// Probability that the lock is free.
double exact_idle(int threads) {
  const double ratio = static_cast<double>(mean_hold.count()) / static_cast<double>(mean_think.count());
  double term = 1;
  double sum = 1;
  for (int k = 1; k <= threads; ++k) {
    term *= (threads - k + 1) * ratio;
    sum += term;
  }
  return 1.0 / sum;
}

struct Measured {
  double throughput; ///< acquisitions per mean hold time
  double wait;       ///< mean time between asking and having, in mean hold times
};

Measured run(const std::string& kind, int threads, int total, std::uint64_t seed) {
  Engine engine(seed);
  engine.set_idle_step_limit(10'000'000, "threads that wait for lock \"" + kind + "\" go on for ever");
  const Host host = test::free_host();
  const auto lock = lock_registry().at(kind)(engine, host, LockParameters{}, "lock");
  int sections = 0;
  for (int i = 0; i < threads; ++i) {
    engine.spawn("t" + std::to_string(i), 0, i, [&](SimThread& self) {
      RandomStream random = engine.stream(self.name());
      while (sections < total) { // all stop together, so that nobody works alone at the end
        self.spend(random.exponential(mean_think), Category::software);
        lock->lock(self);
        self.spend(random.exponential(mean_hold), Category::matching);
        lock->unlock(self, Category::completion);
        ++sections;
        engine.note_operation();
      }
    });
  }
  engine.run();
  Duration waiting;
  for (const auto& thread : engine.threads()) {
    waiting += test::spent(*thread, Category::lock_wait);
  }
  const auto hold = static_cast<double>(mean_hold.count());
  return {sections * hold / static_cast<double>(test::clock(engine).count()),
          static_cast<double>(waiting.count()) / sections / hold};
}

/// Whether threads that wait for a lock write to it again and again: where that costs nothing it has no end.
bool waiters_write(const std::string& kind) {
  Engine engine(1);
  engine.set_step_limit(1'000'000);
  const Host host = test::flat_host();
  const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "lock");
  std::uint64_t transfers = 0;
  for (int i = 0; i < 3; ++i) {
    engine.spawn("t" + std::to_string(i), 0, i, [&, i](SimThread& self) {
      self.spend(i * 10_us, Category::software);
      lock->lock(self);
      self.spend(1_ms, Category::software); // some 20000 transfers
      transfers += self.line_transfers();
      lock->unlock(self);
    });
  }
  engine.run();
  return transfers > 1'000;
}

} // namespace

TEST_CASE("every lock whose waiters do not write is a repairman when nothing costs time",
          "[locks][queueing][statistical]") {
  CHECK(waiters_write("tas"));
  CHECK_FALSE(waiters_write("ttas"));
  for (const std::string& kind : lock_registry().names()) {
    if (waiters_write(kind)) {
      continue;
    }
    for (const int threads : {1, 2, 5, 12}) {
      std::vector<double> throughputs;
      std::vector<double> waits;
      for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const Measured measured = run(kind, threads, test::sanitized ? 1'000 : 10'000, seed);
        throughputs.push_back(measured.throughput);
        waits.push_back(measured.wait);
      }
      const double busy = 1.0 - exact_idle(threads);
      // Little's law over a whole cycle: threads = throughput * (think + wait + hold).
      const double think = static_cast<double>(mean_think.count()) / static_cast<double>(mean_hold.count());
      const double exact_wait = threads / busy - think - 1.0;
      const test::Estimate throughput = test::estimate(throughputs);
      const test::Estimate wait = test::estimate(waits);
      CAPTURE(kind, threads, busy, exact_wait, throughput.mean, wait.mean);
      // Student's t with 7 degrees of freedom exceeds 5.4 with probability 0.001.
      CHECK(std::abs(throughput.z(busy)) < 5.4);
      if (threads > 1) {
        CHECK(std::abs(wait.z(exact_wait)) < 5.4);
      } else {
        CHECK(wait.mean == 0.0);
      }
      if (!test::sanitized) {
        CHECK(throughput.relative_error() < 0.01);
      }
    }
  }
}
