#include "models/memory/working_set.hpp"

#include <algorithm>
#include <numeric>

namespace contend {

namespace {

/// Share of the accesses with this reuse distance that a cache does not serve. A cache of no size is not modelled.
double missing(std::int64_t distance, std::int64_t capacity) {
  return distance <= capacity || capacity <= 0 ? 0.0
                                               : 1.0 - static_cast<double>(capacity) / static_cast<double>(distance);
}

double step(Duration far, Duration near) { return std::max(0.0, static_cast<double>((far - near).count())); }

} // namespace

WorkingSet::WorkingSet(const CacheParameters& cache, const MemoryParameters& memory, int sharers)
    : cache_(cache), memory_(memory), l3_share_(memory.l3_bytes / std::max(sharers, 1)),
      // A copy reads and writes. Alone a core reads twice as fast as it copies; together they share what memory gives.
      far_rate_(2.0 * memory.copy_far_bytes_per_second) {
  if (memory.socket_bytes_per_second > 0) {
    far_rate_ = std::min(far_rate_, memory.socket_bytes_per_second / std::max(sharers, 1));
  }
}

double WorkingSet::beyond_l2_ps(std::int64_t distance) const {
  double time = missing(distance, cache_.l2_bytes) * step(cache_.l3_hit, cache_.l2_hit);
  if (l3_share_ > 0) {
    time += missing(distance, l3_share_) * step(memory_.latency, cache_.l3_hit);
  }
  return time;
}

double WorkingSet::beyond_tlb_ps(std::int64_t bytes) const {
  return missing(bytes, memory_.tlb_bytes) * static_cast<double>(memory_.tlb_miss.count());
}

double WorkingSet::beyond_l1_ps(std::int64_t distance) const {
  return missing(distance, memory_.l1_bytes) * step(cache_.l2_hit, cache_.hit) + beyond_l2_ps(distance);
}

Duration WorkingSet::beyond_l1(std::int64_t distance) const {
  return Duration::nanoseconds(beyond_l1_ps(distance) * 1e-3);
}

Duration WorkingSet::beyond_l2(std::int64_t distance) const {
  return Duration::nanoseconds(beyond_l2_ps(distance) * 1e-3);
}

Duration WorkingSet::beyond_l1_strided(std::int64_t lines, std::int64_t stride) const {
  constexpr std::int64_t line = 64;
  const auto conflicts = [&](std::int64_t capacity) {
    if (memory_.ways <= 0 || capacity <= 0) {
      return false;
    }
    const std::int64_t sets = std::max<std::int64_t>(capacity / line / memory_.ways, 1);
    const std::int64_t used = sets / std::gcd(std::max<std::int64_t>(stride / line, 1), sets);
    return lines > used * memory_.ways;
  };
  Duration cost = beyond_l1(lines * line);
  if (conflicts(memory_.l1_bytes)) {
    cost = std::max(cost, cache_.l2_hit - cache_.hit);
  }
  if (conflicts(cache_.l2_bytes)) {
    cost = std::max(cost, cache_.l3_hit - cache_.hit);
  }
  return cost;
}

Duration WorkingSet::exposed(double accesses, Duration cost) const { return cost.scaled(accesses * memory_.exposed); }

Duration WorkingSet::beyond_tlb(std::int64_t bytes) const { return Duration::nanoseconds(beyond_tlb_ps(bytes) * 1e-3); }

Duration WorkingSet::stall(double operations, Reuse reuse) const {
  return Duration::nanoseconds(operations * reuse.accesses * memory_.exposed * beyond_l1_ps(reuse.distance) * 1e-3);
}

Duration WorkingSet::stream(double bytes, std::int64_t distance) const {
  const auto slower = [&](double rate) { return rate > 0 ? 1.0 / rate : 0.0; };
  const double near = slower(2.0 * memory_.copy_bytes_per_second);
  // A scenario may set them in any order: what is further away is never faster.
  const double shared = std::max(near, slower(2.0 * memory_.copy_l3_bytes_per_second));
  const double far = std::max(shared, slower(far_rate_));
  const double per_byte =
      missing(distance, cache_.l2_bytes) * (shared - near) + missing(distance, l3_share_) * (far - shared);
  return Duration::seconds(bytes * per_byte);
}

Duration WorkingSet::copy(std::int64_t bytes, std::int64_t footprint) const {
  if (memory_.copy_bytes_per_second <= 0) {
    return memory_.copy_start;
  }
  double per_byte = 1.0 / memory_.copy_bytes_per_second;
  if (memory_.copy_l3_bytes_per_second > 0) {
    per_byte += missing(footprint, cache_.l2_bytes) * std::max(0.0, 1.0 / memory_.copy_l3_bytes_per_second - per_byte);
  }
  if (memory_.copy_far_bytes_per_second > 0) {
    per_byte += missing(footprint, l3_share_) * std::max(0.0, 1.0 / memory_.copy_far_bytes_per_second - per_byte);
  }
  return memory_.copy_start + Duration::seconds(static_cast<double>(bytes) * per_byte);
}

} // namespace contend
