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

/// The same for (communicator, source, tag): where many peers use the same tags.
[[nodiscard]] inline Signature signature(int communicator, int source, int tag) {
  return signature(communicator, tag) + static_cast<Signature>(source) * 0x85ebca6bU;
}

/// Well-mixed hash of what identifies a message or a receive without wildcards (multiplicative, after Fibonacci).
[[nodiscard]] inline std::uint32_t hash_of(int communicator, int source, int tag) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
  std::uint64_t hash = (std::uint64_t{static_cast<std::uint32_t>(source)} << 32U) | static_cast<std::uint32_t>(tag);
  hash *= golden;
  hash = (hash ^ (hash >> 32U) ^ static_cast<std::uint32_t>(communicator)) * golden;
  return static_cast<std::uint32_t>(hash >> 32U); // the high bits are the good ones
}

/// What a removed element compares as: few have it, so that walks seldom stop at a gap.
inline constexpr Signature gap_signature = 0x80000001U;

/// First index from `begin` to before `end` whose signature is one of the two, or `end`.
[[nodiscard]] std::size_t find_signature(const std::vector<Signature>& signatures, std::size_t begin, std::size_t end,
                                         Signature exact, Signature any);

} // namespace contend
