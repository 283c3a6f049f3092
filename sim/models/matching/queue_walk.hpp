// What it costs to walk a queue: elements in this core's cache are cheap, others have to be fetched first.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"

#include <algorithm>
#include <cstdint>

namespace contend {

/// Which cores have a queue element in their cache: a bit per core. Cores share a bit when the host has more than 64.
struct CachePresence {
  [[nodiscard]] static std::uint64_t bit(int core) { return std::uint64_t{1} << (static_cast<unsigned>(core) % 64U); }
};

/// Adds up the price of one walk by one core.
class QueueWalk {
public:
  /// `element`: price of visiting one element that is in the L2 of `core`.
  QueueWalk(const Host& host, Duration element, int core) : host_(host), element_(element), core_(core) {}

  /// The walk goes over `elements` elements.
  void visit(std::int64_t elements) { visited_ += elements; }
  /// An element is not in the walker's cache: it comes from `owner`, the core that wrote it.
  void fetch_from(int owner) { fetched_ += host_.transfer(owner, core_); }

  [[nodiscard]] int core() const { return core_; }
  [[nodiscard]] std::int64_t visited() const { return visited_; }

  /// Time of the walk. `footprint` is the size of everything the walker goes through again and again: what does not fit
  /// into its L2 comes from the shared cache. An element of a list is found by the one before it; where the addresses are
  /// known beforehand the core has `misses_at_once` under way.
  [[nodiscard]] Duration price(std::int64_t footprint, int misses_at_once = 1) const {
    const std::int64_t l2 = host_.cache().l2_bytes;
    Duration element = element_;
    if (footprint > l2 && footprint > 0) {
      const double missing = (1.0 - static_cast<double>(l2) / static_cast<double>(footprint)) / misses_at_once;
      // A scenario may set them in any order.
      const Duration miss = std::max(host_.cache().l3_hit - host_.cache().l2_hit, Duration{});
      element += Duration::picoseconds(static_cast<std::int64_t>(missing * static_cast<double>(miss.count())));
    }
    return element * visited_ + fetched_;
  }

private:
  const Host& host_;
  Duration element_;
  int core_;
  std::int64_t visited_ = 0;
  Duration fetched_{};
};

} // namespace contend
