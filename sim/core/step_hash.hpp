// A fingerprint of the order of events: two runs with the same hash took the same steps at the same times.
#pragma once

#include "core/engine.hpp"

#include <cstdint>

namespace contend {

/// Folds every step (time, slot) into 64 bits, in order. Equal for equal sequences on any machine and engine.
class StepHash final : public StepObserver {
public:
  void step(TimePoint time, TargetSlot slot) override {
    fold(static_cast<std::uint64_t>(time.since_start().count()));
    fold(slot);
    ++steps_;
  }

  [[nodiscard]] std::uint64_t value() const { return hash_; }
  /// How many steps were folded in.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

private:
  /// FNV-1a by words; the shift spreads high bits, which its multiplication alone never moves down.
  void fold(std::uint64_t word) {
    hash_ = (hash_ ^ word) * 0x100000001b3ULL;
    hash_ ^= hash_ >> 32;
  }

  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
  std::uint64_t steps_ = 0;
};

} // namespace contend
