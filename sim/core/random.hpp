// Named, counter-based random streams: a draw depends on (seed, name, index) only, never on who drew before.
#pragma once

#include "core/time.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace contend {

/// One stream per model object. Draw n is the SplitMix64 finaliser (Steele, Lea, Flood 2014) of key + n * gamma, so a
/// stream has no hidden state but its counter. Only integer and correctly rounded IEEE operations are used: the values
/// are the same on every machine, compiler and C library.
class RandomStream {
public:
  RandomStream() = default;
  /// The stream called `name` of the run with `seed`.
  RandomStream(std::uint64_t seed, std::string_view name) : key_(mix(hash(name) ^ mix(seed))) {}

  /// Uniform over all 64-bit integers.
  std::uint64_t bits() { return at(++index_); }

  /// Uniform over [0, 1) with 53 random bits.
  double uniform() { return unit_interval(bits()); }

  /// The least of the next n draws of uniform(). Requires n > 0.
  double least_uniform(std::size_t n) {
    std::uint64_t least = bits();
    while (--n > 0) {
      least = std::min(least, bits());
    }
    return unit_interval(least);
  }

  /// Uniform over 0 .. n-1. Requires n > 0. The bias of the multiplication method is below n / 2^64.
  std::uint64_t below(std::uint64_t n) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(bits()) * n) >> 64);
  }

  /// Exponential with the given mean; zero when the mean is zero.
  Duration exponential(Duration mean) {
    if (mean == Duration{}) {
      return mean;
    }
    if (prepared_for_ != index_ + 1) [[unlikely]] {
      prepare_exponential();
    }
    const double drawn = prepared_;
    ++index_;
    // A draw is a long chain of dependent operations, and time cannot go on without it. The one after it is computed while
    // the processor goes on with other things.
    prepare_exponential();
    return mean.scaled(drawn);
  }

private:
  /// Computes what the next draw is for a mean of one.
  void prepare_exponential() {
    prepared_for_ = index_ + 1;
    prepared_ = -natural_logarithm(1.0 - unit_interval(at(prepared_for_)));
  }

  static constexpr std::uint64_t gamma = 0x9e3779b97f4a7c15ULL;

  [[nodiscard]] std::uint64_t at(std::uint64_t index) const { return mix(key_ + gamma * index); }

  static double unit_interval(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  static constexpr std::uint64_t hash(std::string_view text) { // FNV-1a
    std::uint64_t value = 0xcbf29ce484222325ULL;
    for (const char c : text) {
      value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
    return value;
  }

  /// std::log may differ in the last bit between C libraries; this one cannot. Absolute error below 1e-15: far under a
  /// picosecond for any delay drawn here. Requires a positive normal number.
  static double natural_logarithm(double x) {
    // x = 2^e * m with m in [1, 2), m = c * (1 + r) with c the lower end of one of 128 equal parts, so r < 1/128.
    constexpr std::uint64_t fraction = (std::uint64_t{1} << 52) - 1;
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const auto exponent = static_cast<double>(static_cast<int>(bits >> 52) - 1023);
    const auto mantissa = std::bit_cast<double>((bits & fraction) | std::bit_cast<std::uint64_t>(1.0));
    const LogarithmPart& part = logarithm_parts[(bits & fraction) >> 45];
    const double r = (mantissa - part.lower) * part.reciprocal;
    const double square = r * r;
    const double series = r + square * ((-1.0 / 2 + r * (1.0 / 3)) +
                                        square * ((-1.0 / 4 + r * (1.0 / 5)) + square * (-1.0 / 6 + r * (1.0 / 7))));
    return exponent * 0.69314718055994530942 + (part.logarithm + series);
  }

  struct LogarithmPart {
    double lower;
    double reciprocal;
    double logarithm; ///< of `lower`
  };
  static const std::array<LogarithmPart, 128> logarithm_parts;

  std::uint64_t key_ = 0;
  std::uint64_t index_ = 0;
  std::uint64_t prepared_for_ = 0; ///< index whose draw is prepared_; 0: none
  double prepared_ = 0.0;
};

} // namespace contend
