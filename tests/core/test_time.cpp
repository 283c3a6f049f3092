#include "core/time.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace contend;

TEST_CASE("durations are made from each unit without loss", "[time]") {
  STATIC_REQUIRE(Duration{}.count() == 0);
  STATIC_REQUIRE((7_ps).count() == 7);
  STATIC_REQUIRE(1_ns == 1'000_ps);
  STATIC_REQUIRE(1_us == 1'000_ns);
  STATIC_REQUIRE(1_ms == 1'000_us);
  STATIC_REQUIRE(Duration::seconds(1) == 1'000_ms);
  STATIC_REQUIRE(Duration::microseconds(2.5) == 2'500_ns);
  STATIC_REQUIRE(Duration::nanoseconds(0.25) == 250_ps);
}

TEST_CASE("conversion from floating point rounds to the nearest picosecond, halves away from zero", "[time]") {
  CHECK(Duration::nanoseconds(0.0004) == 0_ps);
  CHECK(Duration::nanoseconds(0.0006) == 1_ps);
  CHECK(Duration::nanoseconds(0.0005) == 1_ps);
  CHECK(Duration::nanoseconds(-0.0005) == -1_ps);
  CHECK(Duration::nanoseconds(-0.0004) == 0_ps);
  CHECK(Duration::nanoseconds(-0.0006) == -1_ps);
  CHECK(Duration::nanoseconds(0.1) == 100_ps); // not representable in binary
  CHECK(Duration::seconds(86400.0 * 100) == Duration::picoseconds(8'640'000'000'000'000'000));
  for (std::int64_t ps = -2'000; ps <= 2'000; ++ps) {
    REQUIRE(Duration::nanoseconds(static_cast<double>(ps) * 1e-3).count() == ps);
  }
}

TEST_CASE("durations add, scale, divide and compare as integers", "[time]") {
  Duration span = 5_ns;
  span += 1_ns;
  span -= 2_ns;
  CHECK(span == 4_ns);
  CHECK(-span + span == Duration{});
  CHECK(3 * span == span * 3);
  CHECK(3 * span == 12_ns);
  CHECK(10_ns / 3_ns == 3);
  CHECK(10_ns % 3_ns == 1_ns);
  CHECK(1_ns < 2_ns);
  CHECK(-1_ns < Duration{});
  CHECK(Duration::max() > Duration::seconds(9e6));
  CHECK((1'500_ps).in_nanoseconds() == Approx(1.5));
  CHECK((1_ms).in_seconds() == Approx(1e-3));
}

TEST_CASE("integer division of durations satisfies q * b + r == a", "[time]") {
  for (std::int64_t a = -50; a <= 50; ++a) {
    for (std::int64_t b = 1; b <= 9; ++b) {
      const Duration x = Duration::picoseconds(a);
      const Duration y = Duration::picoseconds(b);
      REQUIRE(y * (x / y) + x % y == x);
    }
  }
}

TEST_CASE("points in time differ by durations", "[time]") {
  constexpr TimePoint start;
  constexpr TimePoint later = start + 3_us;
  STATIC_REQUIRE(later - start == 3_us);
  STATIC_REQUIRE(later - 1_us == TimePoint::at(2_us));
  STATIC_REQUIRE(start < later);
  STATIC_REQUIRE(TimePoint::never() > later);
  TimePoint moving = start;
  moving += 4_us;
  CHECK(moving.since_start() == 4_us);
}

TEST_CASE("two points beyond the exact range of double are still told apart", "[time]") {
  const TimePoint far = TimePoint::at(Duration::picoseconds((std::int64_t{1} << 60) + 1));
  CHECK(far != TimePoint::at(Duration::picoseconds(std::int64_t{1} << 60)));
  CHECK(far - TimePoint::at(Duration::picoseconds(std::int64_t{1} << 60)) == 1_ps);
}

TEST_CASE("what does not fit into 64 bits of picoseconds is refused", "[time]") {
  CHECK(Duration::seconds(9.22e6) > Duration::seconds(9.21e6));
  CHECK(Duration::seconds(-9.22e6) < Duration{});
  CHECK_THROWS_AS(Duration::seconds(9.23e6), BeyondTime);
  CHECK_THROWS_AS(Duration::seconds(-9.23e6), BeyondTime);
  CHECK_THROWS_AS(Duration::microseconds(1e300), BeyondTime);
  CHECK_THROWS_AS(Duration::nanoseconds(std::numeric_limits<double>::infinity()), BeyondTime);
  CHECK_THROWS_AS(Duration::nanoseconds(std::numeric_limits<double>::quiet_NaN()), BeyondTime);
  CHECK_THROWS_AS(Duration::seconds(5e6).scaled(2), BeyondTime);
}
