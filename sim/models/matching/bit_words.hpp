// Bit sets over the elements of a queue, word by word.
#pragma once

#include <cstddef>
#include <cstdint>

namespace contend {

/// Elements per word.
inline constexpr std::size_t word_bits = 64;

/// Where an element is in its word.
[[nodiscard]] constexpr std::uint64_t bit_of(std::size_t index) { return std::uint64_t{1} << (index % word_bits); }

/// How many elements a word has. By sums of neighbours (Warren, "Hacker's Delight", 5-1): std::popcount is a call of a
/// library where programs are compiled for every x86-64.
[[nodiscard]] constexpr int count_elements(std::uint64_t word) {
  word -= (word >> 1) & 0x5555555555555555ULL;
  word = (word & 0x3333333333333333ULL) + ((word >> 2) & 0x3333333333333333ULL);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
  return static_cast<int>((word * 0x0101010101010101ULL) >> 56);
}

} // namespace contend
