// A counter without atomics: what one thread draws, and what threads draw that read it at once.
#include "core/engine.hpp"
#include "mpi/plain_counter.hpp"
#include "support/point.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

using namespace contend;

namespace {

constexpr int draws = 200;

struct Drawing {
  std::vector<std::vector<unsigned>> by_thread;

  [[nodiscard]] std::size_t distinct() const {
    std::set<unsigned> all;
    for (const std::vector<unsigned>& own : by_thread) {
      all.insert(own.begin(), own.end());
    }
    return all.size();
  }
};

/// Each thread draws again and again: at once, or every so often while no other does.
Drawing draw(int threads, bool at_once) {
  const PointConfig point = test::small_point();
  Engine engine(3);
  const Host host(point.machine.topology, point.machine.cache, point.machine.futex);
  PlainCounter counter(engine, host, "counter");
  Drawing drawing;
  drawing.by_thread.resize(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    engine.spawn("t" + std::to_string(i), 0, i, [&, i](SimThread& self) {
      for (int round = 0; round < draws; ++round) {
        if (!at_once) {
          self.spend(TimePoint::at((round * threads + i) * 1_us) - self.now(), Category::software);
        }
        drawing.by_thread[static_cast<std::size_t>(i)].push_back(counter.draw(self, Category::line_transfer));
      }
    });
  }
  engine.run();
  return drawing;
}

} // namespace

TEST_CASE("a thread alone draws number after number", "[mpi][counter]") {
  const Drawing drawing = draw(1, true);
  for (unsigned i = 0; i < draws; ++i) {
    CHECK(drawing.by_thread[0][i] == i);
  }
}

TEST_CASE("threads that draw at different times never draw the same number", "[mpi][counter]") {
  const Drawing drawing = draw(4, false);
  CHECK(drawing.distinct() == 4 * draws);
}

TEST_CASE("threads that read the counter before another's store draw the same number", "[mpi][counter]") {
  const Drawing drawing = draw(4, true);
  CHECK(drawing.distinct() < 4 * draws);  // each draw of an old number is an increment lost
  CHECK(drawing.distinct() >= draws / 2); // it goes on all the same
}
