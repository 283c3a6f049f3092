// Finding elements among many by comparing a word of each: what keeps walks over deep queues cheap for the simulator.
#pragma once

#include "models/matching/envelope.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend {

/// Equal for equal (communicator, tag), and rarely equal otherwise.
using Signature = std::uint32_t;

[[nodiscard]] inline Signature signature(int communicator, int tag) {
  return static_cast<Signature>(tag) + static_cast<Signature>(communicator) * 0x9e3779b1U;
}

/// Well-mixed hash of what identifies a message or a receive without wildcards (multiplicative, after Fibonacci).
[[nodiscard]] inline std::uint32_t hash_of(int communicator, int source, int tag) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
  std::uint64_t hash = (std::uint64_t{static_cast<std::uint32_t>(source)} << 32U) | static_cast<std::uint32_t>(tag);
  hash *= golden;
  hash = (hash ^ (hash >> 32U) ^ static_cast<std::uint32_t>(communicator)) * golden;
  return static_cast<std::uint32_t>(hash >> 32U); // the high bits are the good ones
}

/// First index from `begin` on whose signature is one of the two, or the size.
[[nodiscard]] std::size_t find_signature(const std::vector<Signature>& signatures, std::size_t begin, Signature exact,
                                         Signature any);

} // namespace contend
