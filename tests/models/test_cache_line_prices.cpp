// What an access costs by who has the line.
#include "core/cache_line.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace contend;
using test::cache;

namespace {

struct Access {
  int core;
  void (CacheLine::*kind)(SimThread&, Category);
};

/// Price of the last of a series of accesses that do not overlap.
Duration price_of_last(const std::vector<Access>& accesses) {
  Engine engine(1);
  const Host host = test::small_host();
  CacheLine line(engine, host, "line");
  Duration last;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    engine.spawn("t" + std::to_string(i), 0, accesses[i].core, [&, i](SimThread& self) {
      self.spend(static_cast<std::int64_t>(i) * 1_us, Category::software);
      const TimePoint start = self.now();
      (line.*accesses[i].kind)(self, Category::line_transfer);
      last = self.now() - start;
      CHECK(test::spent(self, Category::line_transfer) == last);
    });
  }
  engine.run();
  return last;
}

constexpr auto load = &CacheLine::load;
constexpr auto store = &CacheLine::store;
constexpr auto atomic = &CacheLine::atomic;

} // namespace

TEST_CASE("the first access comes from the shared cache", "[cache line]") {
  CHECK(price_of_last({{3, load}}) == cache.l3_hit + cache.hit);
  CHECK(price_of_last({{3, store}}) == cache.l3_hit + cache.hit);
  CHECK(price_of_last({{3, atomic}}) == cache.l3_hit + cache.atomic_hit);
}

TEST_CASE("the owner hits", "[cache line]") {
  for (const auto first : {store, atomic}) {
    CHECK(price_of_last({{3, first}, {3, load}}) == cache.hit);
    CHECK(price_of_last({{3, first}, {3, store}}) == cache.hit);
    CHECK(price_of_last({{3, first}, {3, atomic}}) == cache.atomic_hit);
  }
  CHECK(price_of_last({{3, load}, {3, load}}) == cache.hit);
  CHECK(price_of_last({{3, load}, {3, store}}) == cache.hit); // exclusive and clean: nobody has to be told
}

TEST_CASE("a modified line costs by distance", "[cache line]") {
  const struct {
    int core;
    Duration distance;
  } others[] = {{1, cache.transfer_smt},
                {2, cache.transfer_socket},
                {7, cache.transfer_socket},
                {8, cache.transfer_remote},
                {15, cache.transfer_remote}};
  for (const auto& other : others) {
    CAPTURE(other.core);
    CHECK(price_of_last({{0, store}, {other.core, load}}) == other.distance + cache.hit);
    CHECK(price_of_last({{0, store}, {other.core, store}}) == other.distance + cache.hit);
    CHECK(price_of_last({{0, store}, {other.core, atomic}}) == other.distance + cache.atomic_hit);
  }
}

TEST_CASE("a reader keeps its copy until somebody writes", "[cache line]") {
  CHECK(price_of_last({{0, store}, {2, load}, {2, load}}) == cache.hit);
  CHECK(price_of_last({{0, store}, {2, load}, {0, load}, {2, load}}) == cache.hit);
  CHECK(price_of_last({{0, store}, {2, load}, {0, store}, {2, load}}) == cache.transfer_socket + cache.hit);
}

TEST_CASE("a write waits for the farthest copy to go", "[cache line]") {
  // The owner itself: only the copies cost.
  CHECK(price_of_last({{0, store}, {2, load}, {0, store}}) == cache.transfer_socket + cache.hit);
  CHECK(price_of_last({{0, store}, {2, load}, {9, load}, {0, store}}) == cache.transfer_remote + cache.hit);
  // A sharer: the copy of the other socket is farther than the owner.
  CHECK(price_of_last({{0, store}, {2, load}, {9, load}, {2, store}}) == cache.transfer_remote + cache.hit);
  CHECK(price_of_last({{0, store}, {2, load}, {3, load}, {2, atomic}}) == cache.transfer_socket + cache.atomic_hit);
  // After the write nobody else has a copy.
  CHECK(price_of_last({{0, store}, {9, load}, {2, store}, {2, store}}) == cache.hit);
  CHECK(price_of_last({{0, store}, {9, load}, {2, store}, {9, load}}) == cache.transfer_remote + cache.hit);
}

TEST_CASE("copies for reading are handed out in parallel", "[cache line]") {
  Engine engine(1);
  const Host host = test::small_host();
  CacheLine line(engine, host, "line");
  for (int core = 0; core < 8; ++core) {
    engine.spawn("t" + std::to_string(core), 0, core, [&, core](SimThread& self) {
      if (core == 0) {
        line.store(self, Category::software);
        return;
      }
      self.spend(1_us, Category::software);
      line.load(self, Category::line_transfer);
      CHECK(self.now() == TimePoint::at(1_us + host.transfer(0, core) + cache.hit));
    });
  }
  engine.run();
  CHECK(line.owner() == 0);
  CHECK(line.transfers() == 1);
}

TEST_CASE("an access waits for the transfer under way, a hit included", "[cache line]") {
  Engine engine(1);
  const Host host = test::small_host();
  CacheLine line(engine, host, "line");
  const Duration transfer = cache.transfer_socket + cache.hit;
  engine.spawn("owner", 0, 0, [&](SimThread& self) {
    line.store(self, Category::software);
    self.spend(1_us - (cache.l3_hit + cache.hit) + 1_ns, Category::software);
    line.load(self, Category::line_transfer); // its copy is being taken away
    CHECK(self.now() == TimePoint::at(1_us + transfer + transfer));
  });
  engine.spawn("thief", 0, 2, [&](SimThread& self) {
    self.spend(1_us, Category::software);
    line.store(self, Category::line_transfer);
    CHECK(self.now() == TimePoint::at(1_us + transfer));
    CHECK(line.owner() == 2);
  });
  engine.run();
}

TEST_CASE("the effect of a write falls at the end of the call", "[cache line]") {
  Engine engine(1);
  const Host host = test::small_host();
  CacheLine line(engine, host, "line");
  int value = 0;
  int seen_early = -1;
  int seen_late = -1;
  engine.spawn("writer", 0, 0, [&](SimThread& self) {
    self.spend(1_us, Category::software);
    line.store(self, Category::software);
    value = 1;
  });
  engine.spawn("early reader", 0, 2, [&](SimThread& self) {
    line.load(self, Category::software);
    self.spend(1_us - (cache.l3_hit + cache.hit), Category::software);
    self.spend(cache.hit, Category::software);
    seen_early = value; // while the write is under way
  });
  engine.spawn("late reader", 0, 3, [&](SimThread& self) {
    self.spend(1_us + 1_ns, Category::software);
    line.load(self, Category::software); // queues behind the write
    seen_late = value;
  });
  engine.run();
  CHECK(seen_early == 0);
  CHECK(seen_late == 1);
}

TEST_CASE("a comparison of a value just read and a release have prices of their own", "[cache line]") {
  CacheParameters prices = cache;
  const auto clocks = [&](int core) {
    Engine engine(1);
    const Host host(test::small_topology, prices, test::small_futex());
    CacheLine line(engine, host, "line");
    std::vector<Duration> times;
    engine.spawn("owner", 0, 0, [&](SimThread& self) { line.store(self, Category::line_transfer); });
    engine.spawn("t", 0, core, [&](SimThread& self) {
      self.spend(1_us, Category::software);
      const auto timed = [&](auto access) {
        const TimePoint start = self.now();
        access();
        times.push_back(self.now() - start);
      };
      timed([&] { CHECK(line.compare(self, Category::line_transfer, [] { return true; })); });
      timed([&] { line.release(self, Category::line_transfer); });
      timed([&] { line.release_by_atomic(self, Category::line_transfer); });
    });
    engine.run();
    return times;
  };
  CHECK(clocks(0) == std::vector<Duration>{cache.atomic_hit, cache.hit, cache.atomic_hit});
  prices.compare_hit = 30_ns;
  prices.release = 7_ns;
  CHECK(clocks(0) == std::vector<Duration>{30_ns, cache.hit + 7_ns, cache.atomic_hit + 7_ns});
  prices.atomic_arrival = 3_ns; // the line comes from elsewhere: the comparison has waited for it, not for an atomic
  CHECK(clocks(2).front() == cache.transfer_socket + 3_ns);
}
