// What threads do that share cores: computing until a date, and a bit of everything.
#pragma once

#include "core/cache_line.hpp"
#include "scheduling.hpp"
#include "waiting.hpp"

#include <string>

namespace contend::test {

/// Computes in small pieces until a date.
inline void compute_until(SimThread& self, TimePoint end) {
  while (self.now() < end) {
    compute(self, 10_us);
  }
}

/// A thread of everything: computes, owes, spins, sleeps, touches a line, yields.
inline void live(SharedHost& shared, SimThread& self, CacheLine& line, const Waitable& reason, int steps,
                 RandomStream& random) {
  CallEvent ring(shared.engine, [&self] { self.resume(); });
  for (int step = 0; step < steps; ++step) {
    switch (random.below(7)) {
    case 0:
      self.owe(random.exponential(20_us), Category::copy);
      self.settle();
      break;
    case 1:
      shared.engine.schedule(ring, shared.engine.now() + random.exponential(800_us));
      self.wait(reason, Category::blocked, Waiting::asleep);
      break;
    case 2:
      shared.engine.schedule(ring, shared.engine.now() + random.exponential(100_us));
      self.wait(reason, Category::poll_idle);
      break;
    case 3:
      line.atomic(self, Category::line_transfer);
      break;
    case 4:
      self.yield();
      break;
    default:
      compute(self, random.exponential(500_us));
    }
  }
}

inline void live(SharedHost& shared, SimThread& self, CacheLine& line, const Waitable& reason, int steps) {
  RandomStream random = shared.engine.stream(self.name());
  live(shared, self, line, reason, steps, random);
}

} // namespace contend::test
