// Quantities written as a decimal number and a unit: "85 ns", "100 Gbit/s", "256 KiB". Parsed without binary rounding.
#pragma once

#include "core/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace contend::scenario {

/// What a quantity measures, and the unit in which the program keeps it.
enum class Dimension {
  time,     ///< kept in whole picoseconds; ps, ns, us, µs, ms, s
  size,     ///< kept in whole bytes; B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024)
  rate,     ///< kept in bytes per second; B/s ... GB/s, KiB/s ... GiB/s, bit/s ... Gbit/s
  frequency ///< kept in hertz; Hz, kHz, MHz, GHz
};

/// A value, or why there is none; `problem` reads on after what was found, as in: "85" has no unit.
template <class T>
struct Parsed {
  std::optional<T> value;
  std::string problem;
};

/// A time, rounded to the nearest picosecond (halves away from zero). May be negative.
[[nodiscard]] Parsed<Duration> parse_time(std::string_view text);
/// A size in bytes; a fraction of a byte is refused. May be negative.
[[nodiscard]] Parsed<std::int64_t> parse_size(std::string_view text);
/// Bytes per second, the double nearest to the written decimal number. May be negative.
[[nodiscard]] Parsed<double> parse_rate(std::string_view text);
/// Hertz, the double nearest to the written decimal number. May be negative.
[[nodiscard]] Parsed<double> parse_frequency(std::string_view text);

/// Canonical text in the largest unit that leaves at least 1 in front of the point. Parsing it gives back the same value.
[[nodiscard]] std::string format_time(Duration value);
/// Canonical text in the largest binary unit that leaves a whole number.
[[nodiscard]] std::string format_size(std::int64_t bytes);
/// Canonical text, decimal units, shortest digits that give back the same double. `value` must be finite.
[[nodiscard]] std::string format_rate(double bytes_per_second);

/// Names of the units of a dimension, for messages and schemas.
[[nodiscard]] std::string unit_list(Dimension dimension);
/// Regular expression (ECMA) for a non-negative quantity of a dimension.
[[nodiscard]] std::string unit_pattern(Dimension dimension);
/// A quantity to show as an example.
[[nodiscard]] std::string unit_example(Dimension dimension);

} // namespace contend::scenario
