// Queue locks serve in order of arrival.
#include "models/locks/lock.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace contend;

TEST_CASE("ticket and MCS locks are first come, first served", "[locks][property]") {
  for (const char* const kind : {"ticket", "mcs"}) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      Engine engine(seed);
      const Host host = test::small_host();
      const auto lock = lock_registry().at(kind)(engine, host, test::small_locks(), "lock");
      RandomStream shape = engine.stream("shape");
      // Arrivals are a microsecond apart: farther than a line needs from anywhere to anywhere.
      std::vector<int> slots(24);
      for (std::size_t i = 0; i < slots.size(); ++i) {
        slots[i] = static_cast<int>(i);
      }
      for (std::size_t i = slots.size() - 1; i > 0; --i) {
        std::swap(slots[i], slots[shape.below(i + 1)]);
      }
      std::vector<int> served;
      for (int i = 0; i < 12; ++i) {
        engine.spawn("t" + std::to_string(i), 0, i, [&, i](SimThread& self) {
          RandomStream random = engine.stream(self.name());
          const int slot = slots[static_cast<std::size_t>(i)];
          self.spend(slot * 1_us, Category::software);
          lock->lock(self);
          served.push_back(slot);
          self.spend(Duration::picoseconds(static_cast<std::int64_t>(random.below(6'000'000))), Category::software);
          lock->unlock(self);
        });
      }
      engine.run();
      CAPTURE(kind, seed);
      REQUIRE(served.size() == 12);
      REQUIRE(std::is_sorted(served.begin(), served.end()));
    }
  }
}
