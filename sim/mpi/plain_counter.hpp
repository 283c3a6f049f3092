// A counter that threads increment without an atomic operation.
#pragma once

#include "core/cache_line.hpp"
#include "core/engine.hpp"
#include "core/host.hpp"

#include <string_view>

namespace contend {

/// A shared number on a cache line of its own, incremented by a load and a store, as next_uct_index of Open MPI's btl/uct is
/// on purpose. Threads that read it before another one's store is visible draw the same number.
class PlainCounter {
public:
  PlainCounter(Engine& engine, const Host& host, std::string_view name) : line_(engine, host, name) {}

  /// Returns the number that this thread reads, and stores the one after it.
  unsigned draw(SimThread& self, Category category) {
    line_.load(self, category);
    const unsigned drawn = next_;
    line_.store(self, category);
    next_ = drawn + 1;
    return drawn;
  }

private:
  CacheLine line_;
  unsigned next_ = 0;
};

} // namespace contend
