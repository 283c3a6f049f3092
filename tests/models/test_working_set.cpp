#include "models/coroutines/switch_cost.hpp"
#include "models/memory/working_set.hpp"
#include "models/nic/stream_interface.hpp"

#include <catch2/catch.hpp>

using namespace contend;

namespace {

CacheParameters caches() {
  CacheParameters cache;
  cache.hit = 1_ns;
  cache.l2_hit = 4_ns;
  cache.l3_hit = 14_ns;
  cache.l2_bytes = 1000;
  return cache;
}

MemoryParameters memory() {
  MemoryParameters prices;
  prices.l1_bytes = 100;
  prices.l3_bytes = 40'000;
  prices.latency = 64_ns;
  prices.copy_start = 10_ns;
  prices.copy_bytes_per_second = 8e9;
  prices.copy_l3_bytes_per_second = 4e9;
  prices.copy_far_bytes_per_second = 2e9;
  prices.socket_bytes_per_second = 6e9;
  prices.exposed = 0.5;
  prices.tlb_bytes = 8192;
  prices.tlb_miss = 20_ns;
  return prices;
}

} // namespace

TEST_CASE("what fits into a cache costs what the cache costs", "[memory]") {
  const WorkingSet alone(caches(), memory(), 1);
  CHECK(alone.beyond_l1(100) == 0_ns);
  CHECK(alone.beyond_l1(200) == Duration::nanoseconds(1.5)); // half of it misses L1
  CHECK(alone.beyond_l2(1000) == 0_ns);
  CHECK(alone.beyond_l2(4000) == Duration::nanoseconds(7.5)); // three quarters miss L2
  CHECK(alone.beyond_tlb(8192) == 0_ns);
  CHECK(alone.beyond_tlb(16384) == 10_ns);
}

TEST_CASE("prices rise with the distance, up to memory's", "[memory]") {
  const WorkingSet shared(caches(), memory(), 4);
  Duration last{};
  for (std::int64_t distance = 1; distance < (std::int64_t{1} << 40); distance *= 2) {
    const Duration price = shared.beyond_l1(distance);
    CHECK(price >= last);
    CHECK(price <= 63_ns);
    last = price;
  }
  CHECK(last > Duration::nanoseconds(62.9));
}

TEST_CASE("a column whose lines meet in few sets does not stay in a cache it would fit", "[memory]") {
  CacheParameters cache = caches();
  cache.l2_bytes = 256 * 1024;
  MemoryParameters prices = memory();
  prices.l1_bytes = 32 * 1024;
  prices.ways = 8;
  const WorkingSet set(cache, prices, 1);
  CHECK(set.beyond_l1_strided(64, 512) == 0_ns);        // 8 sets of 64, 8 ways each: just fits
  CHECK(set.beyond_l1_strided(65, 512) == 3_ns);        // from L2
  CHECK(set.beyond_l1_strided(128, 1024) == 3_ns);      // 4 sets
  CHECK(set.beyond_l1_strided(128, 64) == 0_ns);        // all sets
  CHECK(set.beyond_l1_strided(128, 1024 + 64) == 0_ns); // an odd number of lines apart: all sets
  CHECK(set.beyond_l1_strided(512, 4096) == 13_ns);     // one set of L1, 8 sets of L2: from L3
  prices.ways = 0;
  CHECK(WorkingSet(cache, prices, 1).beyond_l1_strided(512, 4096) == set.beyond_l1(512 * 64));
  CHECK(set.exposed(10, 3_ns) == 15_ns);
}

TEST_CASE("busy cores share the last cache and the memory", "[memory]") {
  const WorkingSet alone(caches(), memory(), 1);
  const WorkingSet shared(caches(), memory(), 4);
  CHECK(alone.beyond_l2(20'000) < shared.beyond_l2(20'000));
  CHECK(alone.stream(1e6, 1 << 30) < shared.stream(1e6, 1 << 30));
  // 6 GB/s for four of them, and 2 x 8 GB/s out of L2 is not counted.
  CHECK(shared.stream(1e9, std::int64_t{1} << 50).in_seconds() == Approx(4.0 / 6.0 - 1.0 / 16.0));
}

TEST_CASE("a faster level makes no stream slower, even where it is faster than a nearer one", "[memory]") {
  MemoryParameters prices = memory();
  Duration last = WorkingSet(caches(), prices, 1).stream(1e6, 1 << 30);
  for (const double rate : {6e9, 8e9, 20e9, 1e15}) { // out of L2: 8e9
    prices.copy_l3_bytes_per_second = rate;
    const Duration now = WorkingSet(caches(), prices, 1).stream(1e6, 1 << 30);
    CHECK(now <= last);
    last = now;
  }
  prices.copy_l3_bytes_per_second = 0; // not known: as the core's own
  CHECK(WorkingSet(caches(), prices, 1).stream(1e9, std::int64_t{1} << 50).in_seconds() ==
        Approx(1.0 / 4.0 - 1.0 / 16.0));
}

TEST_CASE("computation waits for the exposed part of its misses", "[memory]") {
  const WorkingSet alone(caches(), memory(), 1);
  CHECK(alone.stall(1000, {0.25, 200}) == Duration::nanoseconds(1000 * 0.25 * 0.5 * 1.5));
  CHECK(alone.stall(1000, {0.25, 50}) == 0_ns);
}

TEST_CASE("a copy has the bandwidth of where its bytes are", "[memory]") {
  const WorkingSet alone(caches(), memory(), 1);
  CHECK(alone.copy(0) == 10_ns);
  CHECK(alone.copy(400) == 10_ns + 50_ns);
  CHECK(alone.copy(400, 2000) == 10_ns + Duration::nanoseconds(50 + 0.5 * 50));
  CHECK(alone.copy(1'000'000, std::int64_t{1} << 50).in_seconds() == Approx(1e6 / 2e9).epsilon(1e-3));
  CHECK(WorkingSet(caches(), MemoryParameters{}, 1).copy(1000) == 0_ns); // a profile that says nothing
}

TEST_CASE("a switch costs more when the stacks do not fit the caches", "[coroutines]") {
  CoroutineParameters prices;
  prices.light_switch = 100_ns;
  prices.portable_switch = 800_ns;
  prices.os_switch = 7_us;
  prices.stack_lines = 2;
  const WorkingSet alone(caches(), memory(), 1);
  const SwitchCost light(prices, "light", alone);
  CHECK(light.price(2) == 100_ns);
  CHECK(SwitchCost(prices, "portable", alone).price(2) == 800_ns);
  CHECK(SwitchCost(prices, "os", alone).price(2) == 7_us);
  CHECK(light.price(4) == 110_ns); // pages: half of four do not fit the translation buffer
  Duration last{};
  for (std::int64_t coroutines = 2; coroutines < 10'000'000; coroutines *= 3) {
    CHECK(light.price(coroutines) >= last);
    last = light.price(coroutines);
  }
  CHECK(last > Duration::nanoseconds(100 + 2 * 59 + 19));
}

TEST_CASE("a stream's messages leave and come in one after another", "[nic][stream]") {
  const RouteParameters route{10_us, 1e9};
  StreamInterface a(route);
  StreamInterface b(route);
  StreamInterface c(route);
  const TimePoint start = TimePoint::at(5_us);
  CHECK(a.transmit(c, start, 1000) == start + 11_us);
  CHECK(a.transmit(c, start, 1000) == start + 12_us);                        // behind the first one
  CHECK(b.transmit(c, start, 500) == start + Duration::nanoseconds(12'500)); // c's link is busy until then
  CHECK(c.transmit(a, start, 1000) == start + 11_us);                        // both directions at a time
  CHECK(a.sent_bytes() == 2000);
}
