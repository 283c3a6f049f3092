// In which order things due at the same time run.
#include "core/engine.hpp"
#include "core/fifo_mutex.hpp"
#include "support/steps.hpp"
#include "support/waiting.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace contend;
using test::CallEvent;
using test::Reason;

TEST_CASE("threads start in order of creation at time zero", "[engine][order]") {
  Engine engine(1);
  std::string order;
  for (const char* name : {"a", "b", "c", "d"}) {
    engine.spawn(name, 0, 0, [&](SimThread& self) {
      CHECK(self.engine().now() == TimePoint{});
      order += self.name();
    });
  }
  engine.run();
  CHECK(order == "abcd");
  CHECK(engine.steps() == 4);
}

TEST_CASE("equal dates run in the order in which they were asked for", "[engine][order]") {
  Engine engine(1);
  std::string order;
  // c asks first for 10 ns although it arrives there in three steps before which others ask
  engine.spawn("a", 0, 0, [&](SimThread& self) {
    self.spend(4_ns, Category::software);
    self.spend(6_ns, Category::software); // asked for at 4 ns
    order += "a";
  });
  engine.spawn("b", 0, 0, [&](SimThread& self) {
    self.spend(2_ns, Category::software);
    self.spend(8_ns, Category::software); // asked for at 2 ns
    order += "b";
  });
  engine.spawn("c", 0, 0, [&](SimThread& self) {
    self.spend(10_ns, Category::software); // asked for at 0
    order += "c";
  });
  engine.run();
  CHECK(order == "cba");
}

TEST_CASE("a resumed thread goes on after everything already due now", "[engine][order]") {
  Engine engine(1);
  Reason gate("the gate");
  std::string order;
  SimThread& sleeper = engine.spawn("sleeper", 0, 0, [&](SimThread& self) {
    self.wait(gate, Category::blocked);
    order += "s";
  });
  engine.spawn("waker", 0, 0, [&](SimThread& self) {
    self.spend(5_ns, Category::software);
    sleeper.resume();
    order += "w";
  });
  engine.spawn("due", 0, 0, [&](SimThread& self) {
    self.spend(5_ns, Category::software); // in the queue, due when the waker resumes the sleeper
    order += "d";
  });
  engine.run();
  CHECK(order == "wds");
}

TEST_CASE("spend(0) lets everything already due now go first", "[engine][order]") {
  SECTION("entries of the queue") {
    Engine engine(1);
    std::string order;
    engine.spawn("a", 0, 0, [&](SimThread& self) {
      self.spend(5_ns, Category::software);
      self.spend(Duration{}, Category::software);
      order += "a";
    });
    engine.spawn("b", 0, 0, [&](SimThread& self) {
      self.spend(5_ns, Category::software);
      order += "b";
    });
    engine.run();
    CHECK(order == "ba");
  }
  SECTION("threads that were resumed") {
    Engine engine(1);
    Reason gate("the gate");
    std::string order;
    SimThread& sleeper = engine.spawn("sleeper", 0, 0, [&](SimThread& self) {
      self.wait(gate, Category::blocked);
      order += "s";
    });
    engine.spawn("waker", 0, 0, [&](SimThread& self) {
      self.spend(5_ns, Category::software);
      sleeper.resume();
      self.spend(Duration{}, Category::software);
      order += "w";
    });
    engine.run();
    CHECK(order == "sw");
  }
  SECTION("alone, it changes nothing but the number of steps") {
    Engine engine(1);
    engine.spawn("a", 0, 0, [&](SimThread& self) {
      self.spend(3_ns, Category::software);
      self.spend(Duration{}, Category::software);
      CHECK(self.engine().now() == TimePoint::at(3_ns));
      CHECK(self.times()[static_cast<std::size_t>(Category::software)] == 3_ns);
    });
    engine.run();
    CHECK(engine.steps() == 3);
  }
}

TEST_CASE("an event scheduled for now fires after threads that were resumed before", "[engine][order]") {
  Engine engine(1);
  Reason gate("the gate");
  std::string order;
  CallEvent event(engine, [&] { order += "e"; });
  SimThread& sleeper = engine.spawn("sleeper", 0, 0, [&](SimThread& self) {
    self.wait(gate, Category::blocked);
    order += "s";
  });
  engine.spawn("waker", 0, 0, [&](SimThread& self) {
    self.spend(5_ns, Category::software);
    sleeper.resume();
    engine.schedule(event, engine.now());
    self.spend(1_ns, Category::software);
    order += "w";
  });
  engine.run();
  CHECK(order == "sew");
}

TEST_CASE("resume and resume_at(now) are the same", "[engine][order]") {
  const auto run = [](bool at_now) {
    Engine engine(1);
    Reason gate("the gate");
    std::string order;
    std::vector<SimThread*> sleepers;
    for (const char* name : {"a", "b", "c"}) {
      sleepers.push_back(&engine.spawn(name, 0, 0, [&](SimThread& self) {
        self.wait(gate, Category::blocked);
        order += self.name();
      }));
    }
    engine.spawn("waker", 0, 0, [&](SimThread& self) {
      self.spend(5_ns, Category::software);
      sleepers[2]->resume();
      if (at_now) {
        sleepers[0]->resume_at(engine.now());
      } else {
        sleepers[0]->resume();
      }
      sleepers[1]->resume();
    });
    engine.run();
    return order;
  };
  CHECK(run(false) == "cab");
  CHECK(run(true) == "cab");
}

TEST_CASE("resume_at continues a waiting thread at that date", "[engine]") {
  Engine engine(1);
  Reason gate("the gate");
  TimePoint woken;
  SimThread& sleeper = engine.spawn("sleeper", 0, 0, [&](SimThread& self) {
    self.wait(gate, Category::poll_idle);
    woken = self.engine().now();
  });
  engine.spawn("waker", 0, 0, [&](SimThread& self) {
    self.spend(2_ns, Category::software);
    sleeper.resume_at(self.engine().now() + 40_ns);
    self.spend(1_ns, Category::software);
  });
  engine.run();
  CHECK(woken == TimePoint::at(42_ns));
  CHECK(sleeper.times()[static_cast<std::size_t>(Category::poll_idle)] == 42_ns);
}

TEST_CASE("a thread can set its own alarm before it waits", "[engine]") {
  Engine engine(1);
  Reason alarm("an alarm");
  engine.spawn("sleeper", 0, 0, [&](SimThread& self) {
    self.resume_at(self.engine().now() + 7_ns);
    self.wait(alarm, Category::blocked);
    CHECK(self.engine().now() == TimePoint::at(7_ns));
    self.resume_at(self.engine().now());
    self.wait(alarm, Category::blocked);
    CHECK(self.engine().now() == TimePoint::at(7_ns));
  });
  engine.run();
}

TEST_CASE("an event can schedule itself again and resume threads", "[engine]") {
  Engine engine(1);
  Reason ticks("ticks");
  int fired = 0;
  SimThread* waiting = nullptr;
  class Ticker final : public Event {
  public:
    Ticker(Engine& engine, int& fired, SimThread*& waiting) : Event(engine), fired_(fired), waiting_(waiting) {}
    void fire() override {
      if (++fired_ < 10) {
        engine_.schedule(*this, engine_.now() + 3_ns);
      } else {
        waiting_->resume();
      }
    }

  private:
    int& fired_;
    SimThread*& waiting_;
  } ticker(engine, fired, waiting);
  waiting = &engine.spawn("waiting", 0, 0, [&](SimThread& self) {
    self.wait(ticks, Category::blocked);
    CHECK(self.engine().now() == TimePoint::at(30_ns));
  });
  engine.schedule(ticker, TimePoint::at(3_ns));
  engine.run();
  CHECK(fired == 10);
}

TEST_CASE("an event that is asked for now twice fires twice, and nobody behind it is lost", "[engine]") {
  Engine engine(1);
  Reason reason("the first one");
  std::string order;
  CallEvent event(engine, [&] { order += 'e'; });
  SimThread& first = engine.spawn("first", 0, 0, [&](SimThread& self) {
    self.wait(reason, Category::blocked);
    order += 'f';
  });
  SimThread& last = engine.spawn("last", 0, 1, [&](SimThread& self) {
    self.wait(reason, Category::blocked);
    order += 'l';
  });
  engine.spawn("caller", 0, 2, [&](SimThread& self) {
    self.spend(5_ns, Category::software);
    first.resume(); // so that what is due now is a list
    engine.schedule(event, engine.now());
    engine.schedule(event, engine.now());
    last.resume();
    engine.schedule(event, engine.now());
  });
  engine.run();
  CHECK(std::count(order.begin(), order.end(), 'e') == 3);
  CHECK(order.find('f') < order.find('l'));
  CHECK(engine.now() == TimePoint::at(5_ns));
}

TEST_CASE("events left over after the last thread still fire", "[engine]") {
  Engine engine(1);
  bool fired = false;
  CallEvent event(engine, [&] { fired = true; });
  engine.spawn("short", 0, 0, [&](SimThread& self) { engine.schedule(event, self.engine().now() + 1_us); });
  engine.run();
  CHECK(fired);
  CHECK(engine.now() == TimePoint::at(1_us));
}

TEST_CASE("a mutex is handed over in order of arrival", "[engine][mutex]") {
  Engine engine(1);
  FifoMutex mutex("m");
  std::string order;
  for (int i = 0; i < 6; ++i) {
    engine.spawn(std::string(1, static_cast<char>('a' + i)), 0, i, [&, i](SimThread& self) {
      self.spend((6 - i) * 1_ns, Category::software); // f comes first
      mutex.lock(self);
      order += self.name();
      self.spend(100_ns, Category::software);
      mutex.unlock(self);
    });
  }
  engine.run();
  CHECK(order == "fedcba");
  CHECK(engine.now() == TimePoint::at(601_ns));
  CHECK(mutex.holder() == nullptr);
}
