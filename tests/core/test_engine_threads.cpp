// Stacks, numbers of threads, and the accounts of their time.
#include "core/engine.hpp"
#include "core/fifo_mutex.hpp"
#include "support/sanitizers.hpp"
#include "support/times.hpp"
#include "support/waiting.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

using namespace contend;
using test::in;
using test::Reason;
using test::total;

namespace {

std::uintptr_t stack_position() { return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }

/// Calls itself until `bytes` of stack below `start` are used, then spends and, if asked, throws.
__attribute__((noinline)) int descend(SimThread& self, std::uintptr_t start, std::uintptr_t bytes, bool fail) {
  volatile char frame[256] = {};
  if (start - stack_position() > bytes) {
    self.spend(1_ns, Category::software);
    if (fail) {
      throw std::runtime_error("from the deep");
    }
    return 0;
  }
  const int depth = descend(self, start, bytes, fail) + 1;
  self.spend(1_ps, Category::software); // the whole stack must survive many switches
  return depth + frame[17];
}

} // namespace

TEST_CASE("many threads run and end", "[engine][threads]") {
  constexpr int count = test::sanitized ? 2'000 : 20'000;
  Engine engine(1);
  FifoMutex mutex("m");
  std::int64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    engine.spawn("t" + std::to_string(i), 0, i, [&, i](SimThread& self) {
      self.spend(Duration::picoseconds(1 + i % 977), Category::software);
      mutex.lock(self);
      self.spend(1_ps, Category::software);
      sum += i;
      mutex.unlock(self);
    });
  }
  engine.run();
  CHECK(sum == std::int64_t{count} * (count - 1) / 2);
  for (const auto& thread : engine.threads()) {
    REQUIRE(thread->finished());
  }
}

TEST_CASE("many unfinished threads are unwound", "[engine][threads]") {
  constexpr int count = test::sanitized ? 500 : 5'000;
  Engine engine(1);
  Reason never("something that never comes");
  int alive = 0;
  struct Guard {
    int& count;
    explicit Guard(int& c) : count(c) { ++count; }
    ~Guard() { --count; }
  };
  for (int i = 0; i < count; ++i) {
    engine.spawn("t", 0, i, [&](SimThread& self) {
      const Guard guard(alive);
      self.wait(never, Category::blocked);
    });
  }
  CHECK_THROWS_AS(engine.run(), Deadlock);
  CHECK(alive == count);
  engine.abandon();
  CHECK(alive == 0);
}

TEST_CASE("deep call stacks survive switches and exceptions", "[engine][threads]") {
  constexpr std::uintptr_t bytes = 48 * 1024;
  Engine engine(1);
  std::vector<int> depths;
  std::string caught;
  for (int i = 0; i < 4; ++i) {
    engine.spawn("deep " + std::to_string(i), 0, i,
                 [&](SimThread& self) { depths.push_back(descend(self, stack_position(), bytes, false)); });
  }
  engine.spawn("thrower", 0, 4, [&](SimThread& self) {
    try {
      descend(self, stack_position(), bytes, true);
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    self.spend(1_ns, Category::software);
  });
  engine.run();
  REQUIRE(depths.size() == 4);
  for (const int depth : depths) {
    CHECK(depth > 20);
    CHECK(depth == depths[0]);
  }
  CHECK(caught == "from the deep");
}

TEST_CASE("a deep stack is unwound by abandon()", "[engine][threads]") {
  Engine engine(1);
  Reason never("something that never comes");
  engine.spawn("deep", 0, 0, [&](SimThread& self) { descend(self, stack_position(), 48 * 1024, false); });
  engine.spawn("thrower", 0, 0, [&](SimThread& self) {
    self.spend(1'005_ps, Category::software); // deep is on its way back
    throw std::runtime_error("stop");
  });
  CHECK_THROWS_WITH(engine.run(), "stop");
  engine.abandon();
}

TEST_CASE("floating-point state and callee-saved registers survive switches", "[engine][threads]") {
  Engine engine(1);
  std::vector<double> results(8);
  for (std::size_t i = 0; i < results.size(); ++i) {
    engine.spawn("t", 0, 0, [&, i](SimThread& self) {
      double value = static_cast<double>(i) + 1.0;
      std::uint64_t a = i, b = i + 1, c = i + 2, d = i + 3, e = i + 4, f = i + 5;
      for (int step = 0; step < 100; ++step) {
        value = value * 1.0000001 + 1e-9;
        a += b;
        b ^= c;
        c += d;
        d ^= e;
        e += f;
        f ^= a;
        self.spend(Duration::picoseconds(static_cast<std::int64_t>(1 + (a ^ f) % 5)), Category::software);
      }
      results[i] = value + static_cast<double>((a ^ b ^ c ^ d ^ e ^ f) & 0);
    });
  }
  engine.run();
  for (std::size_t i = 0; i < results.size(); ++i) {
    double value = static_cast<double>(i) + 1.0;
    for (int step = 0; step < 100; ++step) {
      value = value * 1.0000001 + 1e-9;
    }
    CHECK(results[i] == value);
  }
}

TEST_CASE("threads can create threads, which start now", "[engine][threads]") {
  Engine engine(1);
  std::vector<std::int64_t> starts;
  engine.spawn("parent", 0, 0, [&](SimThread& self) {
    for (int i = 0; i < 5; ++i) {
      self.spend(10_ns, Category::software);
      engine.spawn("child", 0, 1, [&](SimThread& child) {
        starts.push_back(child.engine().now().since_start().count());
        child.spend(25_ns, Category::software);
      });
    }
  });
  engine.run();
  CHECK(starts == std::vector<std::int64_t>{10'000, 20'000, 30'000, 40'000, 50'000});
  CHECK(engine.threads().size() == 6);
  CHECK(engine.threads().back()->id() == 5);
}

TEST_CASE("the last end is that of a thread, not of an event or a daemon that comes after", "[engine][threads]") {
  struct Alarm final : Event {
    using Event::Event;
    void fire() override { fired = true; }
    bool fired = false;
  };
  Engine engine(1);
  Alarm alarm(engine);
  const bool with_daemon = GENERATE(false, true);
  engine.spawn("short", 0, 0, [](SimThread& self) { self.spend(1_us, Category::software); });
  engine.spawn("long", 0, 1, [&](SimThread& self) {
    engine.schedule(alarm, TimePoint::at(7_us));
    self.owe(3_us, Category::software);
  });
  if (with_daemon) {
    engine.spawn_daemon("daemon", 0, 2, [](SimThread& self) { self.spend(5_us, Category::software); });
  }
  engine.run();
  CHECK(engine.last_end() == TimePoint::at(3_us));
  CHECK(alarm.fired != with_daemon); // with a daemon the run ends with the threads
  engine.abandon();
}

TEST_CASE("an engine can run again after new threads were added", "[engine][threads]") {
  Engine engine(1);
  engine.spawn("first", 0, 0, [](SimThread& self) { self.spend(3_ns, Category::software); });
  engine.run();
  engine.spawn("second", 0, 0, [](SimThread& self) { self.spend(4_ns, Category::software); });
  engine.run();
  CHECK(engine.now() == TimePoint::at(7_ns));
}

TEST_CASE("engines share nothing and can be interleaved", "[engine][threads]") {
  Engine outer(1);
  outer.spawn("outer", 0, 0, [](SimThread& self) {
    self.spend(5_ns, Category::software);
    Engine inner(2); // a whole simulation on the stack of another one's thread
    inner.spawn("inner", 0, 0, [](SimThread& me) { me.spend(9_ns, Category::software); });
    inner.run();
    CHECK(inner.now() == TimePoint::at(9_ns));
    CHECK(self.engine().now() == TimePoint::at(5_ns));
    self.spend(5_ns, Category::software);
  });
  outer.run();
  CHECK(outer.now() == TimePoint::at(10_ns));
}

TEST_CASE("the accounts of a thread add up to its lifetime", "[engine][accounts]") {
  Engine engine(7);
  FifoMutex mutex("m");
  Reason alarm("an alarm");
  struct Life {
    SimThread* thread;
    TimePoint start;
    TimePoint end;
  };
  std::vector<Life> lives(12);
  for (std::size_t i = 0; i < lives.size(); ++i) {
    lives[i].thread = &engine.spawn("t" + std::to_string(i), 0, 0, [&, i](SimThread& self) {
      self.spend(Duration::nanoseconds(static_cast<double>(i)), Category::barrier);
      self.reset_times();
      lives[i].start = engine.now();
      RandomStream random = engine.stream(self.name());
      for (int step = 0; step < 200; ++step) {
        switch (random.below(4)) {
        case 0:
          mutex.lock(self);
          self.spend(random.exponential(10_ns), Category::matching);
          mutex.unlock(self);
          break;
        case 1:
          self.resume_at(engine.now() + random.exponential(30_ns));
          self.wait(alarm, Category::blocked);
          break;
        case 2:
          self.spend(Duration{}, Category::copy);
          break;
        default:
          self.spend(random.exponential(20_ns), Category::software);
        }
      }
      lives[i].end = engine.now();
    });
  }
  engine.run();
  Duration all;
  Duration holding;
  for (const Life& life : lives) {
    CHECK(total(*life.thread) == life.end - life.start);
    CHECK(in(*life.thread, Category::lock_wait) > Duration{});
    all += total(*life.thread);
    holding += in(*life.thread, Category::matching);
  }
  CHECK(holding <= engine.now() - TimePoint{}); // the lock has one holder at a time
  lives[0].thread->reclassify(5_ns, Category::software, Category::copy, Duration{});
  CHECK(total(*lives[0].thread) == lives[0].end - lives[0].start);
  CHECK(in(*lives[0].thread, Category::copy) == 5_ns);
}

TEST_CASE("time that is moved to another category counts there as far as it counted", "[engine][accounts]") {
  Engine engine(1);
  Reason alarm("an alarm");
  SimThread& waiter = engine.spawn("waiter", 0, 0, [&](SimThread& self) {
    self.spend(1_ns, Category::poll_idle);
    const Duration before = self.charged(Category::poll_idle);
    self.resume_at(engine.now() + 10_ns);
    self.wait(alarm, Category::poll_idle); // the accounts start afresh after six of these
    self.reclassify(self.charged(Category::poll_idle) - before, Category::poll_idle, Category::lock_wait, before);
    self.spend(3_ns, Category::poll_idle);
  });
  engine.spawn("other", 0, 1, [&](SimThread& self) {
    self.spend(7_ns, Category::software);
    waiter.reset_times();
  });
  engine.run();
  CHECK(in(waiter, Category::lock_wait) == 4_ns);
  CHECK(in(waiter, Category::poll_idle) == 3_ns);
  CHECK(total(waiter) == 7_ns);
}

TEST_CASE("categories have distinct names", "[engine][accounts]") {
  for (std::size_t i = 0; i < category_count; ++i) {
    CHECK_FALSE(name_of(static_cast<Category>(i)).empty());
    for (std::size_t j = 0; j < i; ++j) {
      CHECK(name_of(static_cast<Category>(i)) != name_of(static_cast<Category>(j)));
    }
  }
}
