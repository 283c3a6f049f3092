// A line that many cores want: one transfer at a time, and who is next.
#include "core/cache_line.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace contend;
using test::cache;

namespace {

Host host_with_bias(double bias, Duration smt = cache.transfer_smt) {
  CacheParameters prices = cache;
  prices.proximity_bias = bias;
  prices.transfer_smt = smt;
  return {test::small_topology, prices, test::small_futex()};
}

/// How often each of `rivals` gets the line first when all ask while core 0 is receiving it.
std::vector<int> first_winners(double bias, const std::vector<int>& rivals, int rounds) {
  Engine engine(7);
  const Host host = host_with_bias(bias);
  CacheLine line(engine, host, "line");
  std::vector<int> wins(rivals.size(), 0);
  int winner_of_round = -1;
  for (std::size_t i = 0; i <= rivals.size(); ++i) {
    const bool first = i == 0;
    engine.spawn("t" + std::to_string(i), 0, first ? 0 : rivals[i - 1], [&, i, first](SimThread& self) {
      for (int round = 1; round <= rounds; ++round) {
        const TimePoint start = TimePoint::at(round * 10_us + (first ? 0_ps : 1_ps));
        self.spend(start - self.now(), Category::software);
        line.atomic(self, Category::line_transfer);
        if (!first && winner_of_round < round) {
          winner_of_round = round;
          ++wins[i - 1];
        }
      }
    });
  }
  engine.run();
  return wins;
}

} // namespace

TEST_CASE("exclusive transfers never overlap and follow each other at once", "[cache line]") {
  Engine engine(3);
  const Host host = host_with_bias(0.5);
  CacheLine line(engine, host, "line");
  std::vector<std::pair<TimePoint, int>> completions;
  constexpr int threads = 16;
  constexpr int rounds = 50;
  for (int core = 0; core < threads; ++core) {
    engine.spawn("t" + std::to_string(core), 0, core, [&, core](SimThread& self) {
      for (int round = 0; round < rounds; ++round) {
        line.atomic(self, Category::line_transfer);
        completions.emplace_back(self.now(), core);
        self.spend(3_ns, Category::software);
      }
    });
  }
  engine.run();
  REQUIRE(completions.size() == threads * rounds);
  // While somebody waits, every completion lies exactly one transfer after the one before.
  std::size_t transfers = 0;
  std::size_t back_to_back = 0;
  for (std::size_t i = 1; i < completions.size(); ++i) {
    const auto [before, from] = completions[i - 1];
    const auto [after, to] = completions[i];
    const Duration transfer = host.transfer(from, to) + cache.atomic_hit;
    if (from == to) {
      REQUIRE(after >= before + cache.atomic_hit);
      continue;
    }
    REQUIRE(after >= before + transfer);
    ++transfers;
    back_to_back += after == before + transfer ? 1U : 0U;
  }
  CHECK(back_to_back > transfers * 9 / 10);
  CHECK(line.transfers() >= transfers);
  CHECK(line.transfers() <= completions.size());
}

TEST_CASE("a saturated line serves one access per transfer time", "[cache line]") {
  for (const int threads : {2, 4}) {
    Engine engine(5);
    const Host host = host_with_bias(0.0);
    CacheLine line(engine, host, "line");
    constexpr int rounds = 500;
    for (int i = 0; i < threads; ++i) {
      engine.spawn("t" + std::to_string(i), 0, 2 * i, [&](SimThread& self) { // one per core of a socket
        for (int round = 0; round < rounds; ++round) {
          line.atomic(self, Category::line_transfer);
          self.spend(1_ps, Category::software); // so that a waiting thread exists whenever the line arrives
        }
      });
    }
    engine.run();
    const std::int64_t accesses = std::int64_t{threads} * rounds;
    const Duration transfer = cache.transfer_socket + cache.atomic_hit;
    CAPTURE(threads);
    const double ratio =
        static_cast<double>(test::clock(engine).count()) / static_cast<double>((transfer * accesses).count());
    if (threads == 2) { // strict alternation, but for the first access
      CHECK(test::clock(engine) == transfer * (accesses - 1) + cache.l3_hit + cache.atomic_hit + 1_ps);
    } else { // near the end a thread may have the line to itself
      CHECK(ratio <= 1.0);
      CHECK(ratio > 0.95);
    }
  }
}

TEST_CASE("without bias every waiting core wins equally often", "[cache line][statistical]") {
  const std::vector<int> rivals{1, 3, 6, 9, 14}; // every distance from core 0
  constexpr int rounds = 20'000;
  const std::vector<int> wins = first_winners(0.0, rivals, rounds);
  const double expected = static_cast<double>(rounds) / static_cast<double>(rivals.size());
  double chi_square = 0;
  for (const int count : wins) {
    chi_square += (count - expected) * (count - expected) / expected;
  }
  CHECK(chi_square < 18.47); // 4 degrees of freedom: exceeded with probability 0.001
}

TEST_CASE("with full bias cores win in proportion to 1 / transfer time", "[cache line][statistical]") {
  const std::vector<int> rivals{1, 3, 9};
  constexpr int rounds = 20'000;
  const std::vector<int> wins = first_winners(1.0, rivals, rounds);
  const double nearest = static_cast<double>(cache.transfer_smt.count());
  const std::array<double, 3> weights{1.0, nearest / static_cast<double>(cache.transfer_socket.count()),
                                      nearest / static_cast<double>(cache.transfer_remote.count())};
  const double total = weights[0] + weights[1] + weights[2];
  double chi_square = 0;
  for (std::size_t i = 0; i < rivals.size(); ++i) {
    const double expected = rounds * weights[i] / total;
    chi_square += (wins[i] - expected) * (wins[i] - expected) / expected;
  }
  CHECK(chi_square < 13.82); // 2 degrees of freedom: exceeded with probability 0.001
  CHECK(wins[0] > wins[1]);
  CHECK(wins[1] > wins[2]);
}

TEST_CASE("more bias favours the near core more", "[cache line][statistical]") {
  int last = 0;
  for (const double bias : {0.0, 0.5, 1.0}) {
    const std::vector<int> wins = first_winners(bias, {2, 9}, 5'000);
    CHECK(wins[0] > last);
    last = wins[0];
  }
}
