#include "scenario/units.hpp"

#include "scenario/diagnostics.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <system_error>
#include <vector>

namespace contend::scenario {

namespace {

__extension__ using Wide = unsigned __int128;

/// One unit is multiplier * 10^exponent of the unit that the program keeps.
struct Unit {
  std::string_view symbol;
  std::uint64_t multiplier;
  int exponent;
};

constexpr std::uint64_t kibi = 1024;
constexpr std::uint64_t mebi = 1024 * kibi;
constexpr std::uint64_t gibi = 1024 * mebi;

constexpr std::array time_units{Unit{"ps", 1, 0},        Unit{"ns", 1, 3}, Unit{"us", 1, 6},
                                Unit{"\xc2\xb5s", 1, 6}, Unit{"ms", 1, 9}, Unit{"s", 1, 12}};
constexpr std::array size_units{Unit{"B", 1, 0},      Unit{"kB", 1, 3},     Unit{"MB", 1, 6},    Unit{"GB", 1, 9},
                                Unit{"KiB", kibi, 0}, Unit{"MiB", mebi, 0}, Unit{"GiB", gibi, 0}};
// A bit is 125 * 10^-3 bytes.
constexpr std::array rate_units{Unit{"B/s", 1, 0},      Unit{"kB/s", 1, 3},     Unit{"MB/s", 1, 6},
                                Unit{"GB/s", 1, 9},     Unit{"KiB/s", kibi, 0}, Unit{"MiB/s", mebi, 0},
                                Unit{"GiB/s", gibi, 0}, Unit{"bit/s", 125, -3}, Unit{"kbit/s", 125, 0},
                                Unit{"Mbit/s", 125, 3}, Unit{"Gbit/s", 125, 6}};
constexpr std::array frequency_units{Unit{"Hz", 1, 0}, Unit{"kHz", 1, 3}, Unit{"MHz", 1, 6}, Unit{"GHz", 1, 9}};

std::span<const Unit> units_of(Dimension dimension) {
  switch (dimension) {
  case Dimension::time:
    return time_units;
  case Dimension::size:
    return size_units;
  case Dimension::rate:
    return rate_units;
  case Dimension::frequency:
    return frequency_units;
  }
  return {};
}

/// The unit that somebody meant who wrote it as other programs do: "Gbps" and "Gb/s" are bits, which the nearest name,
/// "GB/s", is not. Empty: no such unit.
std::string meant_unit(std::string_view written, std::span<const Unit> units) {
  struct Spelling {
    std::string_view end;
    std::string_view meant;
  };
  constexpr std::string_view greek_mu = "\xce\xbcs"; // looks like the micro sign of "\xc2\xb5s"
  if (written == greek_mu && !units.empty() && units.front().symbol == "ps")
    return "us";
  constexpr std::array spellings{Spelling{"bps", "bit/s"}, Spelling{"b/s", "bit/s"}, Spelling{"bits/s", "bit/s"},
                                 Spelling{"Bps", "B/s"},   Spelling{"sec", "s"},     Spelling{"secs", "s"},
                                 Spelling{"seconds", "s"}};
  for (const auto& [end, meant] : spellings) {
    if (!written.ends_with(end))
      continue;
    std::string prefix(written.substr(0, written.size() - end.size()));
    if (prefix == "K")
      prefix = "k";
    std::string symbol = prefix + std::string(meant);
    if (std::any_of(units.begin(), units.end(), [&](const Unit& unit) { return unit.symbol == symbol; }))
      return symbol;
  }
  return {};
}

bool is_same_letter(char a, char b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return lower(a) == lower(b);
}

/// What to say to who wrote a unit that there is not. The first letter of a size or rate says how large it is, and is rarely
/// wrong but for its case: "M" is nearer to "MB" and "MiB" than to "B".
std::string unit_hint(std::string_view written, Dimension dimension) {
  const std::span<const Unit> units = units_of(dimension);
  if (const std::string meant = meant_unit(written, units); !meant.empty())
    return "; did you mean '" + meant + "'?";
  std::vector<std::string> all;
  std::vector<std::string> begun; // what was written is the begin of these
  std::vector<std::string> alike; // these have the first letter
  for (const Unit& unit : units) {
    const std::string_view symbol = unit.symbol;
    all.emplace_back(symbol);
    if (is_same_letter(symbol.front(), written.front()))
      alike.emplace_back(symbol);
    if (written.size() <= symbol.size() && std::equal(written.begin(), written.end(), symbol.begin(), is_same_letter))
      begun.emplace_back(symbol);
  }
  if ((dimension != Dimension::size && dimension != Dimension::rate) || alike.empty())
    return hint(written, all);
  if (begun.empty()) {
    if (std::string nearest = hint(written, alike); !nearest.empty())
      return nearest;
  }
  std::string text;
  for (const std::string& symbol : begun.empty() ? alike : begun)
    text += (text.empty() ? "; did you mean '" : " or '") + symbol + "'";
  return text + "?";
}

/// digits * 10^exponent, exact.
struct Decimal {
  bool negative = false;
  Wide digits = 0;
  int exponent = 0;
};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads digits, fraction and exponent from the front of `text` and leaves the rest there. Empty: no number, or more than
/// 20 significant digits, or an exponent beyond three digits.
std::optional<Decimal> take_number(std::string_view& text) {
  constexpr int most_digits = 20; // times the largest multiplier it still fits Wide
  Decimal number;
  std::size_t i = 0;
  if (i < text.size() && text[i] == '-') {
    number.negative = true;
    ++i;
  }
  int significant = 0;
  bool any = false;
  bool fraction = false;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && any && !fraction) {
      if (i + 1 >= text.size() || !is_digit(text[i + 1]))
        return std::nullopt;
      fraction = true;
      continue;
    }
    if (!is_digit(text[i]))
      break;
    any = true;
    number.digits = number.digits * 10 + static_cast<unsigned>(text[i] - '0');
    if (number.digits != 0 && ++significant > most_digits)
      return std::nullopt;
    if (fraction)
      --number.exponent;
    if (number.exponent < -999)
      return std::nullopt;
  }
  if (!any)
    return std::nullopt;
  // "e" could also begin a unit, so it counts only in front of digits.
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    std::size_t j = i + 1;
    const bool minus = j < text.size() && text[j] == '-';
    if (j < text.size() && (text[j] == '-' || text[j] == '+'))
      ++j;
    if (j < text.size() && is_digit(text[j])) {
      int exponent = 0;
      int length = 0;
      for (; j < text.size() && is_digit(text[j]); ++j) {
        if (++length > 3)
          return std::nullopt;
        exponent = exponent * 10 + (text[j] - '0');
      }
      number.exponent += minus ? -exponent : exponent;
      i = j;
    }
  }
  text.remove_prefix(i);
  return number;
}

Parsed<Decimal> parse(std::string_view text, Dimension dimension) {
  std::string_view rest = text;
  const std::optional<Decimal> number = take_number(rest);
  if (!number)
    return {{}, "is not a number (up to 20 digits) with a unit, such as \"" + unit_example(dimension) + "\""};
  if (!rest.empty() && rest.front() == ' ')
    rest.remove_prefix(1);
  if (rest.empty())
    return {{}, "has no unit; allowed units: " + unit_list(dimension)};
  for (const Unit& unit : units_of(dimension)) {
    if (rest == unit.symbol) {
      Decimal scaled = *number;
      scaled.digits *= unit.multiplier;
      scaled.exponent += unit.exponent;
      return {scaled, {}};
    }
  }
  return {{},
          "has the unknown unit " + excerpt(rest) + "; allowed units: " + unit_list(dimension) +
              unit_hint(rest, dimension)};
}

enum class Fraction { round, refuse };

/// The decimal as a 64-bit integer; empty when it does not fit or has a fraction that is refused.
std::optional<std::int64_t> to_integer(Decimal number, Fraction fraction) {
  constexpr auto largest = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());
  for (; number.exponent > 0 && number.digits != 0; --number.exponent) {
    if (number.digits > largest)
      return std::nullopt;
    number.digits *= 10;
  }
  unsigned last = 0; // the most significant digit that was cut off decides the rounding
  for (; number.exponent < 0 && (number.digits != 0 || last != 0); ++number.exponent) {
    if (fraction == Fraction::refuse && number.digits % 10 != 0)
      return std::nullopt;
    last = static_cast<unsigned>(number.digits % 10);
    number.digits /= 10;
  }
  if (last >= 5)
    ++number.digits;
  if (number.digits > largest)
    return std::nullopt;
  const auto value = static_cast<std::int64_t>(number.digits);
  return number.negative ? -value : value;
}

std::string digits_of(Wide value) {
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  return digits;
}

Parsed<double> parse_double(std::string_view text, Dimension dimension) {
  const Parsed<Decimal> number = parse(text, dimension);
  if (!number.value)
    return {{}, number.problem};
  // One correctly rounded conversion of the exact decimal.
  const std::string exact = (number.value->negative ? "-" : "") + digits_of(number.value->digits) + "e" +
                            std::to_string(number.value->exponent);
  double value = 0.0;
  const auto result = std::from_chars(exact.data(), exact.data() + exact.size(), value);
  if (result.ec != std::errc() || !std::isfinite(value))
    return {{}, "is outside the range of a floating-point number"};
  return {value, {}};
}

/// digits * 10^exponent in plain notation: (125, -1) is "12.5".
std::string plain(std::string digits, int exponent) {
  while (digits.size() > 1 && digits.back() == '0') {
    digits.pop_back();
    ++exponent;
  }
  if (exponent >= 0)
    return digits + std::string(static_cast<std::size_t>(exponent), '0');
  const auto decimals = static_cast<std::size_t>(-exponent);
  if (digits.size() <= decimals)
    digits.insert(0, decimals + 1 - digits.size(), '0');
  return digits.insert(digits.size() - decimals, ".");
}

} // namespace

Parsed<Duration> parse_time(std::string_view text) {
  const Parsed<Decimal> number = parse(text, Dimension::time);
  if (!number.value)
    return {{}, number.problem};
  const std::optional<std::int64_t> picoseconds = to_integer(*number.value, Fraction::round);
  if (!picoseconds)
    return {{}, "does not fit 64 bits of picoseconds"};
  return {Duration::picoseconds(*picoseconds), {}};
}

Parsed<std::int64_t> parse_size(std::string_view text) {
  const Parsed<Decimal> number = parse(text, Dimension::size);
  if (!number.value)
    return {{}, number.problem};
  const std::optional<std::int64_t> bytes = to_integer(*number.value, Fraction::refuse);
  if (!bytes)
    return {{}, "is not a whole number of bytes that fits 64 bits"};
  return {*bytes, {}};
}

Parsed<double> parse_rate(std::string_view text) { return parse_double(text, Dimension::rate); }

Parsed<double> parse_frequency(std::string_view text) { return parse_double(text, Dimension::frequency); }

std::string format_time(Duration value) {
  const std::int64_t count = value.count();
  const Wide magnitude = count < 0 ? Wide{0} - static_cast<Wide>(count) : static_cast<Wide>(count);
  if (magnitude == 0)
    return "0 ns";
  constexpr std::array scale{Unit{"s", 1, 12}, Unit{"ms", 1, 9}, Unit{"us", 1, 6}, Unit{"ns", 1, 3}, Unit{"ps", 1, 0}};
  const std::string digits = digits_of(magnitude);
  const auto* unit = std::find_if(scale.begin(), scale.end(), [&](const Unit& candidate) {
    return static_cast<int>(digits.size()) > candidate.exponent;
  });
  return (count < 0 ? "-" : "") + plain(digits, -unit->exponent) + " " + std::string(unit->symbol);
}

std::string format_size(std::int64_t bytes) {
  constexpr std::array scale{Unit{"GiB", gibi, 0}, Unit{"MiB", mebi, 0}, Unit{"KiB", kibi, 0}};
  for (const Unit& unit : scale) {
    const auto size = static_cast<std::int64_t>(unit.multiplier);
    if (bytes != 0 && bytes % size == 0)
      return std::to_string(bytes / size) + " " + std::string(unit.symbol);
  }
  return std::to_string(bytes) + " B";
}

std::string format_rate(double bytes_per_second) {
  // Shifting the point of the shortest decimal form is exact, dividing the double would not be.
  std::array<char, 40> buffer{};
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), bytes_per_second, std::chars_format::scientific);
  std::string text(buffer.data(), result.ptr);
  const bool negative = text.front() == '-';
  if (negative)
    text.erase(0, 1);
  const std::size_t e = text.find('e');
  int exponent = 0;
  const char* exponent_text = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(exponent_text, text.data() + text.size(), exponent);
  std::string digits = text.substr(0, 1);
  if (e > 2)
    digits += text.substr(2, e - 2);
  constexpr std::array scale{Unit{"GB/s", 1, 9}, Unit{"MB/s", 1, 6}, Unit{"kB/s", 1, 3}, Unit{"B/s", 1, 0}};
  const auto* unit = std::find_if(scale.begin(), scale.end() - 1,
                                  [&](const Unit& candidate) { return exponent >= candidate.exponent; });
  const int last_digit = exponent - static_cast<int>(digits.size()) + 1;
  return (negative ? "-" : "") + plain(digits, last_digit - unit->exponent) + " " + std::string(unit->symbol);
}

std::string unit_list(Dimension dimension) {
  std::string list;
  for (const Unit& unit : units_of(dimension))
    list += (list.empty() ? "" : ", ") + std::string(unit.symbol);
  return list;
}

std::string unit_pattern(Dimension dimension) {
  std::string symbols;
  for (const Unit& unit : units_of(dimension))
    symbols += (symbols.empty() ? "" : "|") + std::string(unit.symbol);
  return "^[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]{1,3})? ?(" + symbols + ")$";
}

std::string unit_example(Dimension dimension) {
  switch (dimension) {
  case Dimension::time:
    return "85 ns";
  case Dimension::size:
    return "256 KiB";
  case Dimension::rate:
    return "100 Gbit/s";
  case Dimension::frequency:
    return "2.3 GHz";
  }
  return {};
}

} // namespace contend::scenario
