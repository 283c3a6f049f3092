// Sockets, clusters and hardware threads of a core that want one line.
#include "core/cache_line.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <vector>

using namespace contend;
using test::cache;
using test::home_ordered;

TEST_CASE("a socket that has a line serves its own queue and one request of the other", "[cache line][home]") {
  const auto crossings = [](const CacheParameters& prices) {
    Engine engine(5);
    const Host host(TopologyParameters{2, 8, 1}, prices, test::small_futex());
    CacheLine line(engine, host, "line");
    std::vector<int> sockets;
    for (int core = 0; core < 16; ++core) {
      engine.spawn("t" + std::to_string(core), 0, core, [&, core](SimThread& self) {
        for (int i = 0; i < 400; ++i) {
          line.atomic(self, Category::software);
          sockets.push_back(host.socket(core));
        }
      });
    }
    engine.run();
    constexpr std::size_t all_at_work = 3000;
    double crossed = 0;
    for (std::size_t i = 1; i < all_at_work; ++i) {
      crossed += sockets[i] != sockets[i - 1] ? 1 : 0;
    }
    return crossed / all_at_work;
  };
  // Whoever has just had the line is not in the queue: 7 near ones and one of 8 far ones, or any of 15.
  CHECK(crossings(home_ordered()) == Approx(1.0 / 8).margin(0.02));
  CHECK(crossings(cache) == Approx(8.0 / 15).margin(0.04));
}

TEST_CASE("what a sibling wrote has not arrived: it is in the same first-level cache", "[cache line][home]") {
  CacheParameters prices = cache;
  prices.atomic_arrival = 2'003_ps;
  Engine engine(1);
  const Host host(TopologyParameters{1, 2, 2}, prices, test::small_futex());
  CacheLine line(engine, host, "line");
  engine.spawn("first", 0, 0, [&](SimThread& self) { line.store(self, Category::software); });
  engine.spawn("its sibling", 0, 1, [&](SimThread& self) {
    self.spend(1_us, Category::software);
    line.atomic(self, Category::software);
    CHECK(test::clock(self) == 1_us + cache.transfer_smt + cache.atomic_hit);
  });
  engine.run();
}

TEST_CASE("clusters are nearer than the rest of the socket", "[cache line][cluster]") {
  CacheParameters prices = cache;
  prices.transfer_cluster = 31'013_ps;
  const Host host{TopologyParameters{2, 8, 1, 4}, prices, test::small_futex()};
  CHECK(host.transfer(0, 3) == prices.transfer_cluster);
  CHECK(host.transfer(0, 4) == prices.transfer_socket);
  CHECK(host.transfer(0, 8) == prices.transfer_remote);
  CHECK(host.transfer(13, 14) == prices.transfer_cluster);
  CHECK(host.invalidation(0, CoreSet().set(1)) == prices.transfer_cluster);
  CHECK(host.invalidation(0, CoreSet().set(1).set(5)) == prices.transfer_socket);
  CHECK(host.invalidation(0, CoreSet().set(1).set(15)) == prices.transfer_remote);
  CHECK(host.invalidation(9, CoreSet().set(8)) == prices.transfer_cluster);
}

TEST_CASE("a hardware thread of the same core answers as fast as it gets lines", "[cache line]") {
  CacheParameters prices;
  prices.transfer_smt = 5_ns;
  prices.transfer_socket = 40_ns;
  prices.transfer_remote = 90_ns;
  const Host host({2, 2, 2}, prices, {});
  CHECK(host.invalidation(0, CoreSet().set(1)) == prices.transfer_smt);
  CHECK(host.invalidation(1, CoreSet().set(0)) == prices.transfer_smt);
  CHECK(host.invalidation(0, CoreSet().set(1).set(2)) == prices.transfer_socket);
  CHECK(host.invalidation(0, CoreSet().set(1).set(4)) == prices.transfer_remote);
}

namespace {

/// Share of accesses after which the line goes to another core. All hardware threads of four cores always want it.
double moves_of_a_wanted_line(bool load_linked, const std::function<void(CacheLine&, SimThread&)>& use) {
  CacheParameters prices = home_ordered();
  prices.load_linked = load_linked;
  Engine engine(1);
  const Host host(TopologyParameters{1, 4, 2}, prices, test::small_futex());
  CacheLine line(engine, host, "line");
  std::vector<int> cores;
  for (int thread = 0; thread < 8; ++thread) {
    engine.spawn("t" + std::to_string(thread), 0, thread, [&, thread](SimThread& self) {
      for (int round = 0; round < 1000; ++round) {
        use(line, self);
        if (round < 500) { // nobody has finished by then
          cores.push_back(thread / 2);
        }
      }
    });
  }
  engine.run();
  REQUIRE(cores.size() == 4000);
  int moves = 0;
  for (std::size_t i = 1; i < cores.size(); ++i) {
    moves += cores[i] != cores[i - 1] ? 1 : 0;
  }
  return moves / 4000.0;
}

} // namespace

TEST_CASE("hardware threads of a core have a line one after the other", "[cache line][home]") {
  const auto store = [](CacheLine& line, SimThread& self) { line.store(self, Category::line_transfer); };
  const auto atomic = [](CacheLine& line, SimThread& self) { line.atomic(self, Category::line_transfer); };
  const auto compare = [](CacheLine& line, SimThread& self) {
    CHECK(line.compare(self, Category::line_transfer, [] { return true; }));
  };
  // By twos, and a core may be drawn once more.
  const double by_twos = moves_of_a_wanted_line(false, store);
  CHECK(by_twos > 0.35);
  CHECK(by_twos < 0.5);
  // Locked instructions turn the snoop back every other time: one access more on average.
  for (const auto& locked : {std::function<void(CacheLine&, SimThread&)>(atomic), {compare}}) {
    const double moves = moves_of_a_wanted_line(false, locked);
    CHECK(moves > 0.23);
    CHECK(moves < 0.34);
  }
  CHECK(moves_of_a_wanted_line(true, atomic) == by_twos); // no instruction is locked there
}

TEST_CASE("a store that waits for a read under way has not had its turn", "[cache line][home]") {
  Engine engine(1);
  const Host host(TopologyParameters{1, 3, 2}, home_ordered(), test::small_futex());
  CacheLine line(engine, host, "line");
  std::vector<int> cores;
  const auto always = [&](int thread, const std::function<void(SimThread&)>& use) {
    engine.spawn("t" + std::to_string(thread), 0, thread, [&cores, thread, use](SimThread& self) {
      for (int round = 0; round < 1000; ++round) {
        use(self);
        cores.push_back(thread / 2);
      }
    });
  };
  for (const int writer : {0, 1, 4}) {
    always(writer, [&](SimThread& self) { line.store(self, Category::line_transfer); });
  }
  always(2, [&](SimThread& self) { line.load(self, Category::line_transfer); });
  engine.run();
  // The line stays where it was when it is read: a store of that core comes next. As one that was drawn during the read, and
  // had to wait, it was passed over afterwards for having had its turn.
  int reads = 0;
  int stayed = 0;
  for (std::size_t i = 1; i < 2000; ++i) { // nobody has finished by then
    if (cores[i] == 1 && cores[i - 1] == 0) {
      ++reads;
      stayed += cores[i + 1] == 0 ? 1 : 0;
    }
  }
  REQUIRE(reads > 100);
  CHECK(stayed > reads * 9 / 10);
}
