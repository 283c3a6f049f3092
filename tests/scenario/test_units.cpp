#include "scenario/units.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <random>
#include <string>

using namespace contend;
using namespace contend::scenario;

TEST_CASE("times become whole picoseconds", "[scenario][units]") {
  const auto [text, picoseconds] = GENERATE(table<std::string, std::int64_t>({
      {"85 ns", 85'000},
      {"85ns", 85'000},
      {"0 ns", 0},
      {"0.001 ns", 1},
      {"1.7 ns", 1'700},
      {"0.1 us", 100'000},
      {"0.3 ms", 300'000'000},
      {"2 \xc2\xb5s", 2'000'000},
      {"1 s", 1'000'000'000'000},
      {"1.5e-9 s", 1'500},
      {"1E3 ps", 1'000},
      {"0.0004 ns", 0},
      {"0.0005 ns", 1},
      {"0.00149 ns", 1},
      {"0.00050000000000000001 ns", 1},
      {"-3 ns", -3'000},
      {"9223372.036854775807 s", std::numeric_limits<std::int64_t>::max()},
  }));
  CAPTURE(text);
  const auto parsed = parse_time(text);
  REQUIRE(parsed.value.has_value());
  CHECK(parsed.value->count() == picoseconds);
}

TEST_CASE("sizes become whole bytes", "[scenario][units]") {
  const auto [text, bytes] = GENERATE(table<std::string, std::int64_t>({
      {"0 B", 0},
      {"256 B", 256},
      {"8 KiB", 8'192},
      {"1.5 KiB", 1'536},
      {"8 kB", 8'000},
      {"2 MiB", 2'097'152},
      {"1 GB", 1'000'000'000},
      {"0.5 GiB", 536'870'912},
      {"1000000e-6 B", 1},
  }));
  CAPTURE(text);
  CHECK(parse_size(text).value == bytes);
}

TEST_CASE("bandwidths and frequencies become the nearest double", "[scenario][units]") {
  const auto [text, value] = GENERATE(table<std::string, double>({
      {"100 Gbit/s", 12.5e9},
      {"12.5 GB/s", 12.5e9},
      {"1 bit/s", 0.125},
      {"10 MiB/s", 10.0 * 1024 * 1024},
      {"0.1 GB/s", 1e8},
      {"0.3 B/s", 0.3},
  }));
  CAPTURE(text);
  CHECK(parse_rate(text).value == value);
  CHECK(parse_frequency("2.3 GHz").value == 2.3e9);
}

TEST_CASE("what is no quantity is refused with the reason", "[scenario][units]") {
  const auto [text, problem] = GENERATE(table<std::string, std::string>({
      {"", "is not a number"},
      {"ns", "is not a number"},
      {"85", "has no unit; allowed units: ps, ns, us"},
      {"85 ", "has no unit"},
      {"85  ns", "unknown unit"},
      {" 85 ns", "is not a number"},
      {"85 NS", "did you mean 'ns'?"},
      {"85 sn", "did you mean 'ns'?"},
      {"85 usec", "did you mean 'us'?"},
      {"3 seconds", "did you mean 's'?"},
      {"85 B", "unknown unit"},
      {"+85 ns", "is not a number"},
      {".5 ns", "is not a number"},
      {"5. ns", "is not a number"},
      {"1.2.3 ns", "unknown unit"},
      {"0x10 ns", "unknown unit"},
      {"nan ns", "is not a number"},
      {"inf ns", "is not a number"},
      {"1e9999 s", "is not a number"},
      {"123456789012345678901 ps", "is not a number"},
      {"1e30 s", "does not fit"},
      {std::string("1 ns\0", 5), "unknown unit"},
  }));
  CAPTURE(text);
  const auto parsed = parse_time(text);
  CHECK_FALSE(parsed.value.has_value());
  CHECK_THAT(parsed.problem, Catch::Contains(problem));
}

TEST_CASE("a Greek mu is no micro sign, but looks like one", "[scenario][units]") {
  CHECK(parse_time("1 \xc2\xb5s").problem.empty());
  CHECK_THAT(parse_time("1 \xce\xbcs").problem, Catch::EndsWith("; did you mean 'us'?"));
}

TEST_CASE("the first letter of a unit is what was meant, whatever its case", "[scenario][units]") {
  const auto [text, meant] = GENERATE(table<std::string, std::string>({
      {"4 M", "'MB' or 'MiB'"},
      {"5 m", "'MB' or 'MiB'"},
      {"4k", "'kB' or 'KiB'"},
      {"1 G", "'GB' or 'GiB'"},
      {"4 KB", "'kB'"},
      {"4 kib", "'KiB'"},
      {"4 Mi", "'MiB'"},
      {"4 megabytes", "'MB' or 'MiB'"},
      {"8 bytes", "'B'"},
      {"8 b", "'B'"},
  }));
  CAPTURE(text);
  CHECK_THAT(parse_size(text).problem, Catch::EndsWith("; did you mean " + meant + "?"));
  CHECK_THAT(parse_size("4 x").problem, Catch::EndsWith("did you mean 'B'?"));
  CHECK_THAT(parse_rate("10 M").problem, Catch::EndsWith("; did you mean 'MB/s' or 'MiB/s' or 'Mbit/s'?"));
  CHECK_THAT(parse_frequency("2 ghz").problem, Catch::EndsWith("; did you mean 'GHz'?"));
  CHECK_THAT(parse_time("2 min").problem, !Catch::Contains("did you mean"));
}

TEST_CASE("bits are not taken for bytes", "[scenario][units]") {
  const auto [text, problem] = GENERATE(table<std::string, std::string>({
      {"100 Gbps", "did you mean 'Gbit/s'?"},
      {"100 Gb/s", "did you mean 'Gbit/s'?"},
      {"10 Mbits/s", "did you mean 'Mbit/s'?"},
      {"64 Kbps", "did you mean 'kbit/s'?"},
      {"9 bps", "did you mean 'bit/s'?"},
      {"12 GBps", "did you mean 'GB/s'?"},
      {"12 gb/s", "unknown unit"},
  }));
  CAPTURE(text);
  const auto parsed = parse_rate(text);
  CHECK_FALSE(parsed.value.has_value());
  CHECK_THAT(parsed.problem, Catch::Contains(problem));
}

TEST_CASE("canonical forms", "[scenario][units]") {
  CHECK(format_time(Duration{}) == "0 ns");
  CHECK(format_time(Duration::picoseconds(1)) == "1 ps");
  CHECK(format_time(Duration::picoseconds(1'700)) == "1.7 ns");
  CHECK(format_time(Duration::picoseconds(1'000'000)) == "1 us");
  CHECK(format_time(Duration::picoseconds(-2'500)) == "-2.5 ns");
  CHECK(format_size(0) == "0 B");
  CHECK(format_size(8'192) == "8 KiB");
  CHECK(format_size(8'193) == "8193 B");
  CHECK(format_rate(12.5e9) == "12.5 GB/s");
  CHECK(format_rate(0.125) == "0.125 B/s");
  CHECK(format_rate(0.0) == "0 B/s");
  CHECK(format_rate(1e3) == "1 kB/s");
}

TEST_CASE("parsing a canonical form gives back the value", "[scenario][units]") {
  std::mt19937_64 random(1); // raw output only: distributions differ between standard libraries
  for (int i = 0; i < 20'000; ++i) {
    const auto count = static_cast<std::int64_t>(random() >> (1 + random() % 62));
    CAPTURE(count);
    REQUIRE(parse_time(format_time(Duration::picoseconds(count))).value == Duration::picoseconds(count));
    REQUIRE(parse_size(format_size(count)).value == count);
    const double rate = static_cast<double>(count) / 3.0;
    if (rate < 1e15)
      REQUIRE(parse_rate(format_rate(rate)).value == rate);
  }
}
