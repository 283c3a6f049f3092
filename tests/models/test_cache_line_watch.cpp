// Threads that watch a line, and others that are told when a copy is lost.
#include "core/cache_line.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

using namespace contend;
using test::cache;
using test::flat_host;
using test::home_ordered;

TEST_CASE("who watches a line looks again at the end of the turn in which it lost its copy", "[cache line][watch]") {
  constexpr Duration turn = 100_ns;
  for (const bool home_order : {false, true}) {
    for (const Duration write : {1'000_ns, 1'031_ns, 1'099_ns}) {
      CAPTURE(home_order, write);
      CacheParameters prices = cache;
      prices.home_order = home_order;
      Engine engine(1);
      const Host host = flat_host(prices);
      CacheLine line(engine, host, "line");
      engine.spawn("watcher", 0, 0, [&](SimThread& self) {
        line.load(self, Category::software);
        const TimePoint looked = self.now();
        REQUIRE(line.watch(self, turn));
        self.wait(line, Category::software);
        const Duration rested = self.now() - looked;
        CHECK(rested % turn == 0_ps);
        CHECK(self.now() > TimePoint::at(write));
        CHECK(self.now() <= TimePoint::at(write) + turn);
      });
      engine.spawn("writer", 0, 1, [&](SimThread& self) {
        self.spend(write, Category::software);
        line.store(self, Category::software);
      });
      engine.run();
    }
  }
}

TEST_CASE("a watch ends in time, or with the line, but only once", "[cache line][watch]") {
  Engine engine(1);
  const Host host = flat_host(home_ordered());
  CacheLine line(engine, host, "line");
  const auto watch = [&](SimThread& self, Duration span) {
    line.load(self, Category::software);
    const TimePoint looked = self.now();
    REQUIRE(line.watch(self, 10_ns, looked + span));
    self.wait(line, Category::software);
    return self.now() - looked;
  };
  engine.spawn("short", 0, 0, [&](SimThread& self) {
    CHECK(watch(self, 300_ns) == 300_ns);
    CHECK(watch(self, 250_ns) == 250_ns);
    const Duration until_write = watch(self, 5_us);
    CHECK(self.now() > TimePoint::at(2_us));
    CHECK(until_write < 5_us);
    self.spend(10_us, Category::software); // its alarm finds nobody
  });
  engine.spawn("long", 0, 1, [&](SimThread& self) {
    self.spend(200_ns, Category::software);
    CHECK(watch(self, 1_us) == 1_us);
  });
  engine.spawn("writer", 0, 2, [&](SimThread& self) {
    self.spend(2_us, Category::software);
    line.store(self, Category::software);
  });
  engine.run();
}

TEST_CASE("a line that is being taken cannot be watched", "[cache line][watch]") {
  Engine engine(1);
  const Host host = flat_host(cache);
  CacheLine line(engine, host, "line");
  engine.spawn("reader", 0, 0, [&](SimThread& self) {
    line.load(self, Category::software);
    self.spend(TimePoint::at(1_us + 1_ns) - self.now(), Category::software);
    CHECK_FALSE(line.watch(self, 10_ns));
    line.load(self, Category::software);
    CHECK(line.watch(self, 10_ns));
    self.wait(line, Category::software);
  });
  engine.spawn("writer", 0, 1, [&](SimThread& self) {
    self.spend(1_us, Category::software);
    line.store(self, Category::software);
    self.spend(1_us, Category::software);
    line.store(self, Category::software);
  });
  engine.run();
}

TEST_CASE("a line tells once, when the copy is taken away", "[cache line][watch]") {
  struct Reader final : LineReader {
    void copy_lost() override { ++losses; }
    int losses = 0;
  };
  const bool home_order = GENERATE(false, true);
  CacheParameters prices = cache;
  prices.home_order = home_order;
  Engine engine(1);
  const Host host = flat_host(prices);
  CacheLine line(engine, host, "line");
  Reader reader;
  Reader gone;
  engine.spawn("reader", 0, 0, [&](SimThread& self) {
    line.load(self, Category::software);
    CHECK(line.tell(reader, 0));
    CHECK(line.tell(gone, 0));
    line.forget(gone);
    self.spend(TimePoint::at(1_us + 1_ns) - self.now(), Category::software);
    CHECK(reader.losses == 1); // while the line is on its way
    CHECK_FALSE(line.tell(reader, 0));
    self.spend(2_us, Category::software);
    CHECK(reader.losses == 1);
    CHECK_FALSE(line.tell(reader, 0));
    line.load(self, Category::software);
    CHECK(line.tell(reader, 0));
    line.forget(reader);
  });
  engine.spawn("writer", 0, 1, [&](SimThread& self) {
    self.spend(1_us, Category::software);
    line.store(self, Category::software);
    self.spend(1_us, Category::software);
    line.store(self, Category::software);
  });
  engine.run();
  CHECK(gone.losses == 0);
}

TEST_CASE("a write by another thread of the same core wakes who watches", "[cache line][watch]") {
  Engine engine(1);
  const Host host = flat_host(cache);
  CacheLine line(engine, host, "line");
  bool woken = false;
  engine.spawn("watcher", 0, 3, [&](SimThread& self) {
    line.store(self, Category::software);
    REQUIRE(line.watch(self, 10_ns));
    self.wait(line, Category::software);
    woken = true;
  });
  engine.spawn("writer", 0, 3, [&](SimThread& self) {
    self.spend(1_us, Category::software);
    line.store(self, Category::software);
  });
  engine.run();
  CHECK(woken);
}

TEST_CASE("a near reader that looked before a store wakes up for it while a far one is still on its way",
          "[cache line][home]") {
  CacheParameters prices = home_ordered();
  prices.request_share = 0.9;
  Engine engine(1);
  const Host host(test::small_topology, prices, test::small_futex());
  CacheLine line(engine, host, "line");
  int value = 0;
  engine.spawn("writer", 0, 0, [&](SimThread& self) {
    line.store(self, Category::software);
    self.spend(1'070_ns - self.now().since_start(), Category::software);
    line.store(self, Category::software); // the line leaves at 1118 ns
    value = 1;
  });
  engine.spawn("far", 0, 8, [&](SimThread& self) {
    self.spend(1'000_ns, Category::software);
    line.load(self, Category::software);
  });
  engine.spawn("near", 0, 2, [&](SimThread& self) {
    self.spend(1'001_ns, Category::software);
    line.load(self, Category::software);
    CHECK(value == 0);
    REQUIRE(line.watch(self, 5_ns));
    self.wait(line, Category::software);
    line.load(self, Category::software);
    CHECK(value == 1);
  });
  engine.run();
  CHECK(value == 1);
}
