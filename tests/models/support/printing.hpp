// Lets failed checks show times in picoseconds.
#pragma once

#include "core/time.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace Catch {

template <>
struct StringMaker<contend::Duration> {
  static std::string convert(contend::Duration value) { return std::to_string(value.count()) + " ps"; }
};

template <>
struct StringMaker<contend::TimePoint> {
  static std::string convert(contend::TimePoint value) { return std::to_string(value.since_start().count()) + " ps"; }
};

} // namespace Catch
