// What a walk costs whose elements do not fit into the core's own cache.
#include "models/matching/queue_walk.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

using namespace contend;

TEST_CASE("a walk pays for what its core's cache does not hold, and overlaps what it can", "[matching][walk]") {
  const Host host = test::small_host();
  const CacheParameters cache = test::small_cache();
  const Duration element = 3'001_ps;
  const auto price = [&](std::int64_t footprint, int misses_at_once) {
    QueueWalk walk(host, element, 0);
    walk.visit(1000);
    return walk.price(footprint, misses_at_once);
  };
  for (const int misses_at_once : {1, 4}) {
    CHECK(price(0, misses_at_once) == element * 1000);
    CHECK(price(cache.l2_bytes, misses_at_once) == element * 1000);
  }
  // Twice the cache: every other element has to come from the shared cache.
  const Duration miss = cache.l3_hit - cache.l2_hit;
  CHECK(price(2 * cache.l2_bytes, 1) == (element + Duration::picoseconds(miss.count() / 2)) * 1000);
  CHECK(price(2 * cache.l2_bytes, 10) == (element + Duration::picoseconds(miss.count() / 20)) * 1000);
}

TEST_CASE("a shared cache that is faster than the core's own takes nothing off a walk", "[matching][walk]") {
  CacheParameters cache = test::small_cache();
  cache.l3_hit = cache.l2_hit - 1_ns;
  const Host host = test::flat_host(cache);
  QueueWalk walk(host, 3_ns, 0);
  walk.visit(1000);
  CHECK(walk.price(100 * cache.l2_bytes) == 3_us);
}
