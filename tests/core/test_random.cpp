#include "core/engine.hpp"
#include "core/random.hpp"
#include "support/statistics.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

using namespace contend;

namespace {

constexpr double ks_limit = 1.95; ///< significance 0.001 for each fixed seed
constexpr std::size_t sample_size = 100'000;

} // namespace

// Computed by an independent implementation with integers of any length. They must never change: results of all
// scenarios depend on them.
TEST_CASE("random streams have their values for ever", "[random]") {
  const auto check = [](std::uint64_t seed, const char* name, const std::array<std::uint64_t, 4>& expected) {
    RandomStream stream(seed, name);
    for (const std::uint64_t value : expected) {
      CHECK(stream.bits() == value);
    }
  };
  check(1, "", {0x7619de6ddd1fd955, 0xbea6f47fd01351a9, 0x760aab6e98dd2742, 0x93b52220661bb360});
  check(1, "arrivals", {0x6417a69a31fbbd44, 0xefe6c6d3c4eaea89, 0x187c176b879c56c6, 0x426babb6e1388340});
  check(2, "arrivals", {0x40544505b7478e88, 0x4faeffb1075a254d, 0xe161e92cf0d28c3e, 0x3277fd30a8b6ccd3});
  check(std::numeric_limits<std::uint64_t>::max(), "sender.thread[19]",
        {0xd3c4a68199445cf1, 0xd0e27027037c51ba, 0xf026220a435c5567, 0xd81082c900303caa});
}

TEST_CASE("derived values are fixed too", "[random]") {
  RandomStream exponential(1, "arrivals");
  // mean * -ln(1 - u) in 50-digit arithmetic: 495913.83, 2766449.57, 100531.62, 300369.45, 105723.96, 805537.76
  for (const std::int64_t expected : {495'914, 2'766'450, 100'532, 300'369, 105'724, 805'538}) {
    CHECK(exponential.exponential(1_us).count() == expected);
  }
  RandomStream below(1, "arrivals");
  for (const std::uint64_t expected : {390U, 937U, 95U, 259U, 100U, 553U}) {
    CHECK(below.below(1'000) == expected);
  }
}

TEST_CASE("a stream depends on its seed and its name only, not on who drew before", "[random]") {
  Engine engine(42);
  RandomStream first = engine.stream("first");
  RandomStream second = engine.stream("second");
  std::vector<std::uint64_t> in_turn;
  for (int i = 0; i < 10; ++i) {
    in_turn.push_back(first.bits());
    in_turn.push_back(second.bits());
  }
  RandomStream late = engine.stream("second");
  RandomStream again = engine.stream("first");
  for (std::size_t i = 0; i < 10; ++i) {
    CHECK(late.bits() == in_turn[2 * i + 1]);
  }
  for (std::size_t i = 0; i < 10; ++i) {
    CHECK(again.bits() == in_turn[2 * i]);
  }
}

TEST_CASE("streams of many names and seeds do not overlap", "[random]") {
  std::set<std::uint64_t> seen;
  std::size_t drawn = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (int object = 0; object < 50; ++object) {
      RandomStream stream(seed, "object[" + std::to_string(object) + "]");
      for (int i = 0; i < 50; ++i, ++drawn) {
        seen.insert(stream.bits());
      }
    }
  }
  CHECK(seen.size() == drawn); // 50,000 of 2^64: a collision has probability 7e-11
}

TEST_CASE("uniform draws are uniform", "[random]") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    RandomStream stream(seed, "uniform");
    std::vector<double> sample(sample_size);
    double squares = 0;
    double product = 0; // of neighbours
    double previous = 0.5;
    for (double& value : sample) {
      value = stream.uniform();
      REQUIRE(value >= 0.0);
      REQUIRE(value < 1.0);
      squares += value * value;
      product += (value - 0.5) * (previous - 0.5);
      previous = value;
    }
    const auto n = static_cast<double>(sample_size);
    CAPTURE(seed);
    CHECK(std::abs(test::estimate(sample).z(0.5)) < 3.3);
    CHECK(std::abs(squares / n - 1.0 / 3) < 3.3 * std::sqrt(4.0 / 45 / n));
    CHECK(std::abs(product / n) < 3.3 / 12 / std::sqrt(n));
    CHECK(test::kolmogorov_smirnov(sample, [](double x) { return x; }) < ks_limit);
  }
}

TEST_CASE("the least of some uniform draws takes them, and is the least", "[random]") {
  RandomStream one_by_one(1, "arrivals");
  RandomStream at_once(1, "arrivals");
  for (std::size_t count = 1; count <= 20; ++count) {
    double least = 1.0;
    for (std::size_t i = 0; i < count; ++i) {
      least = std::min(least, one_by_one.uniform());
    }
    CHECK(at_once.least_uniform(count) == least);
  }
  CHECK(at_once.bits() == one_by_one.bits());
}

TEST_CASE("exponential draws are exponential", "[random]") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    RandomStream stream(seed, "exponential");
    const Duration mean = 10_us; // 1e7 ps: rounding to picoseconds is far below the resolution of the test
    std::vector<double> sample(sample_size);
    double squares = 0;
    for (double& value : sample) {
      value = static_cast<double>(stream.exponential(mean).count()) / static_cast<double>(mean.count());
      REQUIRE(value >= 0.0);
      squares += value * value;
    }
    const auto n = static_cast<double>(sample_size);
    CAPTURE(seed);
    CHECK(std::abs(test::estimate(sample).z(1.0)) < 3.3);
    CHECK(std::abs(squares / n - 2.0) < 3.3 * std::sqrt(20.0 / n)); // E X^4 - (E X^2)^2 = 24 - 4
    CHECK(test::kolmogorov_smirnov(sample, [](double x) { return 1.0 - std::exp(-x); }) < ks_limit);
  }
}

TEST_CASE("an exponential draw with mean zero is zero and takes no draw", "[random]") {
  RandomStream stream(3, "x");
  CHECK(stream.exponential(Duration{}) == Duration{});
  CHECK(stream.bits() == RandomStream(3, "x").bits());
}

TEST_CASE("exponential draws follow the logarithm of the C library to the last digits", "[random]") {
  RandomStream draws(5, "log");
  RandomStream uniforms(5, "log");
  const Duration mean = Duration::picoseconds(1'000'000'000'000); // a relative error of 1e-12 would be one picosecond
  for (int i = 0; i < 20'000; ++i) {
    const double expected = -std::log(1.0 - uniforms.uniform()) * static_cast<double>(mean.count());
    REQUIRE(std::abs(static_cast<double>(draws.exponential(mean).count()) - expected) <= 1.0);
  }
}

TEST_CASE("below(n) stays below n and hits every value equally often", "[random]") {
  RandomStream stream(9, "below");
  CHECK(stream.below(1) == 0);
  constexpr std::size_t cells = 101;
  constexpr double draws_per_cell = 1'000;
  std::array<int, cells> counts{};
  for (std::size_t i = 0; i < cells * static_cast<std::size_t>(draws_per_cell); ++i) {
    const std::uint64_t value = stream.below(cells);
    REQUIRE(value < cells);
    ++counts[value];
  }
  double chi_square = 0;
  for (const int count : counts) {
    chi_square += (count - draws_per_cell) * (count - draws_per_cell) / draws_per_cell;
  }
  // 100 degrees of freedom: 149.4 is exceeded with probability 0.001, 60.4 is not reached with the same probability.
  CHECK(chi_square < 149.4);
  CHECK(chi_square > 60.4);
}
