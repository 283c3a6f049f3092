// A line whose home serves its requests in order, and stores that wait in a buffer.
#include "core/cache_line.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace contend;
using test::cache;
using test::flat_host;
using test::home_ordered;

TEST_CASE("an owner that is read from has to ask for the line again, after the read", "[cache line][home]") {
  const auto time_of_store = [](const CacheParameters& prices) {
    Engine engine(1);
    const Host host = flat_host(prices);
    CacheLine line(engine, host, "line");
    Duration stored;
    engine.spawn("owner", 0, 0, [&](SimThread& self) {
      line.store(self, Category::software);
      self.spend(TimePoint::at(1_us + 10_ns) - self.now(), Category::software);
      const TimePoint start = self.now();
      line.store(self, Category::software); // the read is under way
      stored = self.now() - start;
    });
    engine.spawn("reader", 0, 1, [&](SimThread& self) {
      self.spend(1_us, Category::software);
      line.load(self, Category::software);
      CHECK(test::clock(self) == 1_us + cache.transfer_socket + cache.hit);
    });
    engine.run();
    return stored;
  };
  CHECK(time_of_store(cache) == cache.hit); // the store is over before the reader has its copy
  const Duration rest_of_read = cache.transfer_socket + cache.hit - 10_ns;
  CHECK(time_of_store(home_ordered()) == rest_of_read + cache.transfer_socket + cache.hit);
}

TEST_CASE("in home order reads that wait together are served together", "[cache line][home]") {
  Engine engine(1);
  const Host host = flat_host(home_ordered());
  CacheLine line(engine, host, "line");
  std::vector<TimePoint> done;
  engine.spawn("writer", 0, 0, [&](SimThread& self) { line.store(self, Category::software); });
  engine.spawn("second writer", 0, 1, [&](SimThread& self) {
    self.spend(1_us, Category::software);
    line.store(self, Category::software);
  });
  for (int i = 2; i < 6; ++i) {
    engine.spawn("reader " + std::to_string(i), 0, i, [&](SimThread& self) {
      self.spend(1_us + 1_ns, Category::software);
      line.load(self, Category::software);
      done.push_back(self.now());
    });
  }
  engine.run();
  REQUIRE(done.size() == 4);
  for (const TimePoint time : done) {
    CHECK(time == TimePoint::at(1_us + 2 * (cache.transfer_socket + cache.hit)));
  }
}

TEST_CASE("a store that gives a lock back waits for its line in the store buffer", "[cache line][home][store buffer]") {
  const auto run = [](bool store_buffer) {
    struct Times {
      Duration thread;   ///< until the releasing thread goes on
      Duration visible;  ///< until others can see it
      Duration again;    ///< until its next atomic operation on the line is over
      std::string order; ///< of that and of the other core's next read
    } times;
    CacheParameters prices = home_ordered();
    prices.snoop_share = 0.3;
    prices.store_buffer = store_buffer;
    Engine engine(1);
    const Host host = flat_host(prices);
    CacheLine line(engine, host, "line");
    engine.spawn("holder", 0, 0, [&](SimThread& self) {
      line.atomic(self, Category::software);
      self.spend(TimePoint::at(1_us) - self.now(), Category::software);
      line.post_release(self, Category::software, [&] { times.visible = engine.now() - TimePoint::at(1_us); });
      times.thread = self.now() - TimePoint::at(1_us);
      line.atomic(self, Category::software);
      times.again = self.now() - TimePoint::at(1_us);
      times.order += "a";
    });
    engine.spawn("spinner", 0, 1, [&](SimThread& self) {
      self.spend(500_ns, Category::software);
      line.load(self, Category::software);
      self.spend(TimePoint::at(1_us + 1_ns) - self.now(), Category::software);
      line.load(self, Category::software); // its copy is being taken away
      times.order += "r";
    });
    engine.run();
    return times;
  };
  const Duration stored = cache.transfer_socket + cache.hit;
  const auto waiting = run(false);
  CHECK(waiting.thread == stored);
  CHECK(waiting.visible == stored);
  const auto buffered = run(true);
  CHECK(buffered.thread == cache.hit);
  CHECK(buffered.visible == stored);
  CHECK(buffered.again == stored + cache.atomic_hit); // it has the line before anybody has seen the lock free
  CHECK(buffered.order == "ar");
}

TEST_CASE("a snoop takes the line from a locked instruction that has not locked it yet", "[cache line][home]") {
  // The owner starts an access one nanosecond before the snoop of another core's operation arrives.
  const auto time_of = [](Duration lock_latency, bool locked) {
    CacheParameters prices = home_ordered();
    prices.snoop_share = 0.5;
    prices.lock_latency = lock_latency;
    Engine engine(1);
    const Host host = flat_host(prices);
    CacheLine line(engine, host, "line");
    const Duration snoop = (cache.transfer_socket + cache.atomic_hit).scaled(prices.snoop_share);
    Duration taken;
    engine.spawn("owner", 0, 0, [&](SimThread& self) {
      line.atomic(self, Category::software);
      self.spend(TimePoint::at(1_us) + snoop - 1_ns - self.now(), Category::software);
      const TimePoint start = self.now();
      if (locked) {
        line.atomic(self, Category::software);
      } else {
        line.store(self, Category::software);
      }
      taken = self.now() - start;
    });
    engine.spawn("other", 0, 1, [&](SimThread& self) {
      self.spend(1_us, Category::software);
      line.atomic(self, Category::software);
    });
    engine.run();
    return taken;
  };
  CHECK(time_of(0_ns, true) == cache.atomic_hit);
  CHECK(time_of(999_ps, true) == cache.atomic_hit); // locked just in time: the snoop is turned back
  CHECK(time_of(1_ns, true) > cache.transfer_socket + cache.atomic_hit);
  CHECK(time_of(1_ns, false) == cache.hit); // a store locks nothing
}

TEST_CASE("what a lock guards is visible before the store that gives it back", "[cache line][home][store buffer]") {
  CacheParameters prices = home_ordered();
  prices.store_buffer = true;
  Engine engine(1);
  const Host host(TopologyParameters{2, 8, 1}, prices, test::small_futex());
  CacheLine far(engine, host, "guarded");
  CacheLine near(engine, host, "lock");
  TimePoint visible;
  engine.spawn("far owner", 0, 8, [&](SimThread& self) { far.store(self, Category::software); });
  engine.spawn("near owner", 0, 1, [&](SimThread& self) { near.store(self, Category::software); });
  SECTION("a plain store queues behind") {
    engine.spawn("holder", 0, 0, [&](SimThread& self) {
      self.spend(1_us, Category::software);
      far.store_guarded(self, Category::software);
      near.post_release(self, Category::software, [&] { visible = engine.now(); });
      CHECK(self.now() == TimePoint::at(1_us + 2 * cache.hit));
    });
    engine.run();
    CHECK(visible == TimePoint::at(1_us + cache.transfer_remote + cache.hit));
  }
  SECTION("an atomic operation waits") {
    engine.spawn("holder", 0, 0, [&](SimThread& self) {
      self.spend(1_us, Category::software);
      far.store_guarded(self, Category::software);
      near.release_by_atomic(self, Category::software);
      CHECK(test::clock(self) == 1_us + cache.transfer_remote + cache.hit + cache.transfer_socket + cache.atomic_hit);
    });
    engine.run();
  }
}

TEST_CASE("a request that finds nobody at the home has further to go than one that waited there",
          "[cache line][home]") {
  CacheParameters prices = home_ordered();
  prices.snoop_share = 0.2;
  prices.request_share = 0.7;
  const auto hits = [&](bool others) { // stores of the owner that hit since somebody asked for its line
    Engine engine(1);
    const Host host = flat_host(prices);
    CacheLine line(engine, host, "line");
    int count = 0;
    const TimePoint asked = TimePoint::at(1_us + (others ? cache.transfer_socket + cache.hit : Duration{}));
    engine.spawn("owner", 0, 0, [&](SimThread& self) {
      if (others) {
        self.spend(1_us, Category::software);
      }
      line.store(self, Category::software);
      self.spend(asked - self.now(), Category::software);
      for (; self.now() < asked + cache.transfer_socket.scaled(0.9); ++count) {
        line.store(self, Category::software);
      }
    });
    engine.spawn("first owner", 0, 1, [&](SimThread& self) {
      if (others) {
        line.store(self, Category::software);
      }
    });
    engine.spawn("next", 0, 2, [&](SimThread& self) {
      self.spend(others ? 1_us + 1_ns : 1_us, Category::software);
      line.store(self, Category::software);
    });
    engine.run();
    return count * cache.hit;
  };
  const Duration transfer = cache.transfer_socket + cache.hit;
  CHECK(hits(false) >= transfer.scaled(0.7));
  CHECK(hits(false) <= transfer.scaled(0.7) + 2 * cache.hit);
  CHECK(hits(true) >= transfer.scaled(0.2));
  CHECK(hits(true) <= transfer.scaled(0.2) + 2 * cache.hit);
}

TEST_CASE("the more requests are turned back, the sooner one of them takes a line away", "[cache line][home]") {
  const auto kept = [](int cores) { // stores that hit where the line has come to, before it goes on
    CacheParameters prices = home_ordered();
    prices.snoop_share = 0.4;
    prices.conflict_retry = true;
    Engine engine(3);
    const Host host = flat_host(prices);
    CacheLine line(engine, host, "line");
    int hits = 0;
    int misses = 0;
    for (int core = 0; core < cores; ++core) {
      engine.spawn("t" + std::to_string(core), 0, core, [&](SimThread& self) {
        for (int i = 0; i < 2000; ++i) {
          const TimePoint start = self.now();
          line.store(self, Category::software);
          ++(self.now() - start == cache.hit ? hits : misses);
        }
      });
    }
    engine.run();
    return static_cast<double>(hits) / misses;
  };
  CHECK(kept(3) > 1.3 * kept(6));
  CHECK(kept(6) > 1.3 * kept(12));
}

TEST_CASE("the first read of a written line is alone, and those after it find it in the shared cache",
          "[cache line][home]") {
  const auto read_at =
      [](bool serial) { // when each of three cores has read what core 0 wrote, and a fourth one written
        CacheParameters prices = home_ordered();
        prices.serial_snoops = serial;
        Engine engine(1);
        const Host host = flat_host(prices);
        CacheLine line(engine, host, "line");
        std::vector<Duration> done;
        engine.spawn("writer", 0, 0, [&](SimThread& self) { line.store(self, Category::software); });
        for (int core = 1; core <= 3; ++core) {
          engine.spawn("reader", 0, core, [&](SimThread& self) {
            self.spend(1_us, Category::software);
            line.load(self, Category::software);
            done.push_back(test::clock(self) - 1_us);
          });
        }
        engine.spawn("next writer", 0, 4, [&](SimThread& self) {
          self.spend(1_us + 1_ns, Category::software);
          line.store(self, Category::software);
          done.push_back(test::clock(self) - 1_us);
        });
        engine.run();
        return done;
      };
  const Duration asked = cache.transfer_socket + cache.hit;
  const Duration shared = std::min(cache.transfer_socket, cache.l3_hit) + cache.hit;
  REQUIRE(shared < asked);
  CHECK(read_at(false) == std::vector<Duration>{asked, asked, asked, 2 * asked});
  const std::vector<Duration> in_turn = read_at(true);
  CHECK(in_turn.front() == asked);
  // Who of the three that wait comes next is chance: the store may be before, between or behind the reads.
  CHECK(in_turn.back() >= 2 * asked);
  CHECK(std::all_of(in_turn.begin() + 1, in_turn.end(), [&](Duration one) { return one >= asked + shared; }));
}

TEST_CASE("a price of an atomic operation on a line that has just arrived", "[cache line][home]") {
  CacheParameters prices = cache;
  prices.atomic_arrival = 2'003_ps;
  Engine engine(1);
  const Host host = flat_host(prices);
  CacheLine line(engine, host, "line");
  engine.spawn("first", 0, 0, [&](SimThread& self) { line.store(self, Category::software); });
  engine.spawn("second", 0, 1, [&](SimThread& self) {
    self.spend(1_us, Category::software);
    line.atomic(self, Category::software);
    CHECK(test::clock(self) == 1_us + cache.transfer_socket + prices.atomic_arrival);
    line.atomic(self, Category::software); // it is here now
    CHECK(test::clock(self) == 1_us + cache.transfer_socket + prices.atomic_arrival + cache.atomic_hit);
  });
  engine.run();
}

TEST_CASE("stores that give locks back become visible in order", "[cache line][home][store buffer]") {
  CacheParameters prices = home_ordered();
  prices.store_buffer = true;
  Engine engine(1);
  const Host host(TopologyParameters{2, 8, 1}, prices, test::small_futex());
  CacheLine guarded(engine, host, "guarded");
  CacheLine far(engine, host, "far lock");
  CacheLine near(engine, host, "near lock");
  CacheLine own(engine, host, "own lock");
  std::vector<std::string> order;
  engine.spawn("far owner", 0, 8, [&](SimThread& self) {
    far.store(self, Category::software);
    guarded.store(self, Category::software);
  });
  engine.spawn("near owner", 0, 1, [&](SimThread& self) { near.store(self, Category::software); });
  const bool guards = GENERATE(false, true); // then the near line comes before what has to be visible first
  engine.spawn("holder", 0, 0, [&](SimThread& self) {
    own.store(self, Category::software);
    self.spend(TimePoint::at(1_us) - self.now(), Category::software);
    if (guards) {
      guarded.store_guarded(self, Category::software);
    }
    const auto release = [&](CacheLine& line, const char* name) {
      line.post_release(self, Category::software, [&order, name] { order.emplace_back(name); });
    };
    release(far, "far");
    release(near, "near");
    release(own, "own");
    CHECK(order.empty());
    CHECK(self.now() < TimePoint::at(1_us) + cache.transfer_socket);
    near.atomic(self, Category::software); // empties the buffer first
    CHECK(order == std::vector<std::string>{"far", "near", "own"});
  });
  engine.run();
  CHECK(order.size() == 3);
}
