// What it costs to walk a queue: elements in this core's cache are cheap, others have to be fetched first.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"

#include <cstdint>

namespace contend {

/// Which cores have a queue element in their cache. Cores share a bit when the host has more than 64.
class CachePresence {
public:
  /// `core` has written the element.
  void written_by(int core) {
    owner_ = static_cast<std::int16_t>(core);
    present_ = bit(core);
  }
  /// `core` reads the element. Returns the core it has to come from, or -1 when it is in the cache already.
  int read_by(int core) {
    if ((present_ & bit(core)) != 0) {
      return -1;
    }
    present_ |= bit(core);
    return owner_;
  }

private:
  static std::uint64_t bit(int core) { return std::uint64_t{1} << (static_cast<unsigned>(core) % 64U); }
  std::uint64_t present_ = 0;
  std::int16_t owner_ = 0;
};

/// Adds up the price of one walk by one core.
class QueueWalk {
public:
  /// `element`: price of visiting one element that is in the L2 of `core`.
  QueueWalk(const Host& host, Duration element, int core) : host_(host), element_(element), core_(core) {}

  void visit(CachePresence& element) {
    ++visited_;
    if (const int from = element.read_by(core_); from >= 0) {
      fetched_ += host_.transfer(from, core_);
    }
  }
  void visit() { ++visited_; }

  [[nodiscard]] std::int64_t visited() const { return visited_; }

  /// Time of the walk. `footprint` is the size of everything the walker goes through again and again: what does not fit
  /// into its L2 comes from the shared cache.
  [[nodiscard]] Duration price(std::int64_t footprint) const {
    const std::int64_t l2 = host_.cache().l2_bytes;
    Duration element = element_;
    if (footprint > l2 && footprint > 0) {
      const double missing = 1.0 - static_cast<double>(l2) / static_cast<double>(footprint);
      const Duration miss = host_.cache().l3_hit - host_.cache().l2_hit;
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
