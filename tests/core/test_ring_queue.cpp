// A ring against a deque.
#include "core/random.hpp"
#include "core/ring_queue.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <deque>

using namespace contend;

TEST_CASE("a ring is a deque, whatever is done to it", "[ring]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomStream random(seed, "ring");
    RingQueue<int> ring;
    std::deque<int> deque;
    for (int step = 0; step < 2000; ++step) {
      const std::uint64_t what = random.below(seed % 2 == 0 ? 5 : 7); // some grow, some stay short
      if (what < 2) {
        ring.push_back(step);
        deque.push_back(step);
      } else if (what == 2) {
        ring.push_front(step);
        deque.push_front(step);
      } else if (!deque.empty() && what == 3) {
        const auto place = static_cast<std::size_t>(random.below(deque.size()));
        ring.erase(place);
        deque.erase(deque.begin() + static_cast<std::ptrdiff_t>(place));
      } else if (!deque.empty()) {
        REQUIRE(ring.front() == deque.front());
        ring.pop_front();
        deque.pop_front();
      }
      REQUIRE(ring.size() == deque.size());
      REQUIRE(ring.empty() == deque.empty());
    }
    for (std::size_t place = 0; place < deque.size(); ++place) {
      REQUIRE(ring[place] == deque[place]);
      REQUIRE(ring.find(deque[place]) == place);
    }
    CHECK(ring.find(-1) == ring.size());
  }
}
