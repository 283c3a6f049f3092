// Observers of the step sequence: a recorder for comparisons and a hash for golden values.
#pragma once

#include "core/engine.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace contend::test {

/// Keeps every step as (picoseconds, slot).
class StepRecorder final : public StepObserver {
public:
  using Step = std::pair<std::int64_t, TargetSlot>;

  void step(TimePoint time, TargetSlot slot) override { steps_.emplace_back(time.since_start().count(), slot); }
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

private:
  std::vector<Step> steps_;
};

/// FNV-1a over 64-bit words: depends on every step and on their order.
class StepHash final : public StepObserver {
public:
  void step(TimePoint time, TargetSlot slot) override {
    add(static_cast<std::uint64_t>(time.since_start().count()));
    add(slot);
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

private:
  void add(std::uint64_t word) { value_ = (value_ ^ word) * 0x100000001b3ULL; }

  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

} // namespace contend::test
