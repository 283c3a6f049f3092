// Simulated time: an integer number of picoseconds behind two types, so that a point in time and a span of time
// cannot be mixed up and no rounding ever depends on the platform.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace contend {

/// Simulated time ends before what a run needs: a size is too large for a rate, or a price is.
class BeyondTime : public std::range_error {
public:
  using std::range_error::range_error;
};

/// A span of simulated time. Unit: picoseconds, integer. Range: +-106 days.
class Duration {
public:
  constexpr Duration() = default;

  [[nodiscard]] static constexpr Duration picoseconds(std::int64_t value) { return Duration(value); }
  [[nodiscard]] static constexpr Duration nanoseconds(double value) { return rounded(value * 1e3); }
  [[nodiscard]] static constexpr Duration microseconds(double value) { return rounded(value * 1e6); }
  [[nodiscard]] static constexpr Duration seconds(double value) { return rounded(value * 1e12); }
  [[nodiscard]] static constexpr Duration max() { return Duration(std::numeric_limits<std::int64_t>::max()); }

  [[nodiscard]] constexpr std::int64_t count() const { return picoseconds_; }
  [[nodiscard]] constexpr double in_nanoseconds() const { return static_cast<double>(picoseconds_) * 1e-3; }
  /// This span times `factor`, rounded to the nearest picosecond.
  [[nodiscard]] constexpr Duration scaled(double factor) const {
    return rounded(static_cast<double>(picoseconds_) * factor);
  }
  [[nodiscard]] constexpr double in_seconds() const { return static_cast<double>(picoseconds_) * 1e-12; }

  constexpr auto operator<=>(const Duration&) const = default;
  constexpr Duration operator-() const { return Duration(-picoseconds_); }
  /// Sums beyond the range wrap around; the engine refuses the dates that come of them.
  constexpr Duration& operator+=(Duration other) {
    picoseconds_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(picoseconds_) +
                                             static_cast<std::uint64_t>(other.picoseconds_));
    return *this;
  }
  constexpr Duration& operator-=(Duration other) {
    picoseconds_ -= other.picoseconds_;
    return *this;
  }
  friend constexpr Duration operator+(Duration a, Duration b) { return a += b; }
  friend constexpr Duration operator-(Duration a, Duration b) { return a -= b; }
  friend constexpr Duration operator*(Duration a, std::int64_t n) { return Duration(a.picoseconds_ * n); }
  friend constexpr Duration operator*(std::int64_t n, Duration a) { return a * n; }
  friend constexpr std::int64_t operator/(Duration a, Duration b) { return a.picoseconds_ / b.picoseconds_; }
  friend constexpr Duration operator%(Duration a, Duration b) { return Duration(a.picoseconds_ % b.picoseconds_); }

private:
  explicit constexpr Duration(std::int64_t picoseconds) : picoseconds_(picoseconds) {}
  static constexpr Duration rounded(double picoseconds) {
    // The conversion of what does not fit is undefined, and time that runs backwards breaks everything else.
    if (!(__builtin_fabs(picoseconds) < beyond)) [[unlikely]] {
      refuse(picoseconds);
    }
    return Duration(static_cast<std::int64_t>(picoseconds < 0 ? picoseconds - 0.5 : picoseconds + 0.5));
  }

  static constexpr double beyond = 0x1p63;
  [[noreturn, gnu::noinline, gnu::cold]] static void refuse(double picoseconds) {
    throw BeyondTime("something takes " + std::to_string(picoseconds * 1e-12) +
                     " seconds of simulated time, which has a range of 9223372");
  }

  std::int64_t picoseconds_ = 0;
};

/// A point in simulated time, counted from the start of the simulation.
class TimePoint {
public:
  constexpr TimePoint() = default;

  [[nodiscard]] static constexpr TimePoint at(Duration since_start) { return TimePoint(since_start); }
  [[nodiscard]] static constexpr TimePoint never() { return TimePoint(Duration::max()); }

  [[nodiscard]] constexpr Duration since_start() const { return since_start_; }

  constexpr auto operator<=>(const TimePoint&) const = default;
  constexpr TimePoint& operator+=(Duration span) {
    since_start_ += span;
    return *this;
  }
  friend constexpr TimePoint operator+(TimePoint t, Duration span) { return t += span; }
  friend constexpr TimePoint operator-(TimePoint t, Duration span) { return t += -span; }
  friend constexpr Duration operator-(TimePoint a, TimePoint b) { return a.since_start_ - b.since_start_; }

private:
  explicit constexpr TimePoint(Duration since_start) : since_start_(since_start) {}

  Duration since_start_{};
};

inline namespace time_literals {
constexpr Duration operator""_ps(unsigned long long value) {
  return Duration::picoseconds(static_cast<std::int64_t>(value));
}
constexpr Duration operator""_ns(unsigned long long value) {
  return Duration::picoseconds(static_cast<std::int64_t>(value) * 1'000);
}
constexpr Duration operator""_us(unsigned long long value) {
  return Duration::picoseconds(static_cast<std::int64_t>(value) * 1'000'000);
}
constexpr Duration operator""_ms(unsigned long long value) {
  return Duration::picoseconds(static_cast<std::int64_t>(value) * 1'000'000'000);
}
} // namespace time_literals

} // namespace contend
