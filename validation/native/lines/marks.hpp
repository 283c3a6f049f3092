// What tells a trace of memory accesses which phase it is in: stores to a page that nothing else is on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace contend::native {

inline constexpr std::int64_t most_threads = 63;

/// Phases of a round, by their number in a trace.
enum class Phase : std::size_t { none, post, progress, wait, idle };

class Marks {
public:
  /// What follows belongs to a phase, and to one of the imagined threads, which are counted from 1. A store to the slot
  /// 64 phase + thread, of 8 bytes each.
  static void begin(Phase phase, std::int64_t thread) {
    page[64 * static_cast<std::size_t>(phase) + static_cast<std::size_t>(thread)] = 1;
  }
  /// A round begins: slot 63.
  static void begin_round() { page[63] = 1; }
  /// Says where things are, before anything else: eight stores to the page in an order that nothing else has, one to the first and one
  /// to the last byte of what belongs to the program, and one to the stack.
  static void announce(volatile char& first, volatile char& last) {
    for (const std::size_t slot : signature) {
      page[slot] = 1;
    }
    first = 0;
    last = 0;
    [[maybe_unused]] volatile char local = 0;
  }

private:
  static constexpr std::array<std::size_t, 8> signature{511, 384, 509, 386, 507, 388, 505, 390};

  alignas(4096) static inline std::array<volatile std::int64_t, 512> page{};
};

} // namespace contend::native
