// Small simulations that run on either engine and use everything the engines offer.
#pragma once

#include "core/engine.hpp"
#include "core/fifo_mutex.hpp"

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace contend::workloads {

/// Threads that only let time pass. Few different delays, zero among them, so that most dates are shared.
inline void hold(Engine& engine, int threads, int rounds) {
  for (int i = 0; i < threads; ++i) {
    const std::string name = "hold" + std::to_string(i);
    engine.spawn(name, 0, i, [&engine, name, rounds](SimThread& self) {
      static constexpr std::array<std::int64_t, 6> delays{0, 1'000, 1'000, 2'000, 3'000, 7'000};
      RandomStream random = engine.stream(name);
      for (int round = 0; round < rounds; ++round) {
        self.spend(Duration::picoseconds(delays[random.below(delays.size())]), Category::software);
      }
    });
  }
}

/// Threads with delays of any length: ties are rare, dates are not multiples of anything.
inline void spread(Engine& engine, int threads, int rounds) {
  for (int i = 0; i < threads; ++i) {
    const std::string name = "spread" + std::to_string(i);
    engine.spawn(name, 0, i, [&engine, name, rounds](SimThread& self) {
      RandomStream random = engine.stream(name);
      for (int round = 0; round < rounds; ++round) {
        self.spend(random.exponential(50_ns), Category::software);
      }
    });
  }
}

/// Threads around one mutex; the hand-over goes through wait() and resume().
inline void hand_over(Engine& engine, FifoMutex& mutex, int threads, int rounds, Duration held, Duration away) {
  for (int i = 0; i < threads; ++i) {
    engine.spawn("lock" + std::to_string(i), 0, i, [&mutex, rounds, held, away](SimThread& self) {
      for (int round = 0; round < rounds; ++round) {
        mutex.lock(self);
        self.spend(held, Category::software);
        mutex.unlock(self);
        self.spend(away, Category::software);
      }
    });
  }
}

/// A bit of everything: sleepers, sleepers woken at a date, events that wake, start events and start threads.
class Mixture {
public:
  Mixture(Engine& engine, int threads, int rounds) : engine_(engine), mutex_("m"), rounds_(rounds) {
    for (int i = 0; i < threads; ++i) {
      add_thread();
    }
  }

private:
  class Nap final : public Waitable {
  public:
    [[nodiscard]] std::string describe() const override { return "its alarm"; }
  };
  class Alarm final : public Event {
  public:
    Alarm(Engine& engine, Mixture& mixture) : Event(engine), mixture_(mixture) {}
    void fire() override { mixture_.fired(*this); }
    SimThread* sleeper = nullptr;
    int repeats = 0;

  private:
    Mixture& mixture_;
  };

  Duration delay(RandomStream& random) {
    return Duration::picoseconds(static_cast<std::int64_t>(random.below(4) * 500));
  }

  void add_thread() {
    const std::string name = "mixed" + std::to_string(++spawned_);
    engine_.spawn(name, 0, spawned_, [this, name](SimThread& self) { live(self, engine_.stream(name)); });
  }

  void live(SimThread& self, RandomStream random) {
    Alarm alarm(engine_, *this);
    for (int round = 0; round < rounds_; ++round) {
      switch (random.below(6)) {
      case 0:
        self.spend(delay(random), Category::software);
        break;
      case 1:
        self.spend(Duration{}, Category::software);
        break;
      case 2:
        mutex_.lock(self);
        self.spend(delay(random), Category::software);
        mutex_.unlock(self);
        break;
      case 3: // woken by an event, which takes a few steps to come
        alarm.sleeper = &self;
        alarm.repeats = static_cast<int>(random.below(3));
        engine_.schedule(alarm, engine_.now() + delay(random));
        self.wait(nap_, Category::software);
        break;
      case 4: // woken by its own order, now or later
        self.resume_at(engine_.now() + delay(random));
        self.wait(nap_, Category::software);
        break;
      default: // wakes whoever naps here, or naps until the next one comes
        if (napping_.size() < 3 && unfinished_naps_ > 0) {
          --unfinished_naps_;
          napping_.push_back(&self);
          self.wait(nap_, Category::software);
        } else {
          wake_all();
        }
      }
    }
    wake_all();
    unfinished_naps_ = 0; // nobody may nap for good
  }

  void wake_all() {
    for (SimThread* thread : napping_) {
      thread->resume();
    }
    napping_.clear();
  }

  void fired(Alarm& alarm) {
    if (alarm.repeats-- > 0) {
      if (spawned_ < 60) {
        add_thread();
      }
      engine_.schedule(alarm, engine_.now() + Duration::picoseconds(alarm.repeats * 500));
    } else {
      alarm.sleeper->resume();
    }
  }

  Engine& engine_;
  FifoMutex mutex_;
  Nap nap_;
  std::deque<SimThread*> napping_;
  int rounds_;
  int spawned_ = 0;
  int unfinished_naps_ = 1000;
};

} // namespace contend::workloads
