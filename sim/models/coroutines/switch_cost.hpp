// What a switch from one coroutine to the next costs: the library's code, and the lines of the next one's stack.
#pragma once

#include "models/coroutines/parameters.hpp"
#include "models/memory/working_set.hpp"

#include <cstdint>
#include <string_view>

namespace contend {

/// The price of one switch. Each coroutine touches `stack_lines` lines of its own between two switches, on a page of its own:
/// what all of them touch is the reuse distance of these lines. With few coroutines they stay in L1 and L2, and the price
/// is the measured one; with many, they come from the shared cache or memory, and their pages miss the translation buffer.
class SwitchCost {
public:
  SwitchCost(const CoroutineParameters& prices, std::string_view backend, const WorkingSet& memory)
      : base_(backend == "os"         ? prices.os_switch
              : backend == "portable" ? prices.portable_switch
                                      : prices.light_switch),
        lines_(prices.stack_lines), memory_(memory) {}

  /// `coroutines` take turns.
  [[nodiscard]] Duration price(std::int64_t coroutines) const {
    constexpr std::int64_t line = 64;
    constexpr std::int64_t page = 4096;
    const Duration lines = memory_.beyond_l2(coroutines * lines_ * line) * lines_;
    const Duration translation = memory_.beyond_tlb(coroutines * page);
    return base_ + lines + translation;
  }

private:
  Duration base_;
  int lines_;
  WorkingSet memory_;
};

} // namespace contend
