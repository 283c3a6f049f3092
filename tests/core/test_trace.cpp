#include "core/engine.hpp"
#include "core/fifo_mutex.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <string>

using namespace contend;

namespace {

/// Checks that the spans of each thread follow each other without gap or overlap.
class Contiguous final : public TraceSink {
public:
  void span(const SimThread& thread, Category category, TimePoint begin, TimePoint end) override {
    CHECK(begin == last_[thread.id()]);
    CHECK(begin <= end);
    last_[thread.id()] = end;
    total_[std::string(name_of(category))] += end - begin;
  }

  std::map<int, TimePoint> last_;
  std::map<std::string, Duration> total_;
};

} // namespace

TEST_CASE("a trace sink sees the whole life of every thread, in order") {
  Engine engine(1);
  Contiguous trace;
  engine.set_trace(&trace);
  FifoMutex mutex("mutex");
  for (int i = 0; i < 3; ++i) {
    engine.spawn("thread " + std::to_string(i), 0, i, [&](SimThread& self) {
      for (int step = 0; step < 20; ++step) {
        self.owe(3_ns, Category::software);
        self.spend(5_ns, Category::matching);
        mutex.lock(self);
        self.spend(11_ns, Category::nic_post);
        mutex.unlock(self);
      }
    });
  }
  engine.run();
  Duration matching;
  for (const auto& thread : engine.threads()) {
    matching += thread->times()[static_cast<std::size_t>(Category::matching)];
    CHECK(trace.last_[thread->id()].since_start() > Duration{});
  }
  CHECK(trace.total_["matching"] == matching);
  CHECK(trace.total_["lock_wait"] > Duration{});
}
