// Bit sets over the elements of a queue, word by word.
#pragma once

#include <cstddef>
#include <cstdint>

namespace contend {

/// Elements per word.
inline constexpr std::size_t word_bits = 64;

/// Where an element is in its word.
[[nodiscard]] constexpr std::uint64_t bit_of(std::size_t index) { return std::uint64_t{1} << (index % word_bits); }

} // namespace contend
