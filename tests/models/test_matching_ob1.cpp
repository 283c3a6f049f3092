// The lists of ob1: what a walk visits and what it costs.
#include "support/machine.hpp"
#include "support/matching_case.hpp"

#include <catch2/catch.hpp>

#include <array>

using namespace contend;
using test::prices;

namespace {

const Duration attempt = prices.attempt;
const Duration element = prices.element;
const Duration enqueue = prices.enqueue;
const Duration fragment_allocate = prices.fragment_allocate;
const Duration fragment_release = prices.fragment_release;

class Ob1 : public test::MatchingCase {
public:
  Ob1() : MatchingCase("ob1") {}
};

} // namespace

TEST_CASE("ob1: a message visits the receives of its source up to the one that fits", "[matching][ob1]") {
  Ob1 ob1;
  ob1.run([&](SimThread& self) {
    std::array<PostedReceive*, 5> from_two{};
    for (int tag = 0; tag < 5; ++tag) {
      ob1.receive(self, 1, tag); // another source's list: never visited below
      from_two[static_cast<std::size_t>(tag)] = &ob1.receive(self, 2, tag);
      CHECK(ob1.visited == 0);
      CHECK(ob1.cost == attempt + enqueue);
    }
    CHECK(ob1.message(self, 2, 3) == from_two[3]);
    CHECK(ob1.visited == 4);
    CHECK(ob1.cost == attempt + 4 * element);
    CHECK(ob1.message(self, 2, 0) == from_two[0]);
    CHECK(ob1.visited == 1);
    CHECK(ob1.message(self, 2, 4) == from_two[4]); // 1 2 4 are left
    CHECK(ob1.visited == 3);
    CHECK(ob1.message(self, 2, 9) == nullptr); // 1 2
    CHECK(ob1.visited == 2);
    CHECK(ob1.cost == attempt + 2 * element + fragment_allocate + enqueue);
    CHECK(ob1.matcher().posted() == 7);
    CHECK(ob1.matcher().unexpected() == 1);
  });
}

TEST_CASE("ob1: receives from any source are merged by posting order", "[matching][ob1]") {
  Ob1 ob1;
  ob1.run([&](SimThread& self) {
    PostedReceive& first = ob1.receive(self, any_source, 7);
    PostedReceive& second = ob1.receive(self, 1, 7);
    PostedReceive& third = ob1.receive(self, any_source, 7);
    PostedReceive& other = ob1.receive(self, 2, 8);
    PostedReceive& fourth = ob1.receive(self, 1, 8);
    CHECK(ob1.message(self, 1, 8) == &fourth); // past all four that could be for this source
    CHECK(ob1.visited == 4);
    CHECK(ob1.message(self, 1, 7) == &first);
    CHECK(ob1.visited == 1);
    CHECK(ob1.message(self, 2, 7) == &third); // the specific one is another source's
    CHECK(ob1.visited == 1);
    CHECK(ob1.message(self, 1, 7) == &second);
    CHECK(ob1.visited == 1);
    CHECK(ob1.message(self, 2, 8) == &other);
    CHECK(ob1.matcher().posted() == 0);
  });
}

TEST_CASE("ob1: a receive visits the unexpected messages of its source", "[matching][ob1]") {
  Ob1 ob1;
  ob1.run([&](SimThread& self) {
    for (int tag = 0; tag < 4; ++tag) {
      CHECK(ob1.message(self, 1, tag) == nullptr);
      CHECK(ob1.message(self, 2, tag) == nullptr);
    }
    ob1.receive(self, 2, 2);
    CHECK(ob1.taken);
    CHECK(ob1.visited == 3);
    CHECK(ob1.cost == attempt + 3 * element + fragment_release);
    ob1.receive(self, 2, any_tag);
    CHECK(ob1.taken);
    CHECK(ob1.visited == 1);
    ob1.receive(self, 2, 2);
    CHECK_FALSE(ob1.taken);
    CHECK(ob1.visited == 2); // 1 and 3
    CHECK(ob1.cost == attempt + 2 * element + enqueue);
    ob1.receive(self, any_source, 3); // four of source 1, in rank order
    CHECK(ob1.taken);
    CHECK(ob1.visited == 4);
    CHECK(ob1.matcher().unexpected() == 5);
  });
}

TEST_CASE("ob1: an element that another core wrote has to be fetched once", "[matching][ob1]") {
  Engine engine(1);
  const Host host = test::small_host();
  const auto matcher = matcher_registry().at("ob1")({host, prices, {}, 2});
  std::array<PostedReceive, 3> receives;
  engine.spawn("poster", 0, 8, [&](SimThread& self) {
    for (int tag = 0; tag < 3; ++tag) {
      PostedReceive& receive = receives[static_cast<std::size_t>(tag)];
      receive.source = 1;
      receive.tag = tag;
      CHECK_FALSE(matcher->post(self, receive));
    }
  });
  engine.spawn("progress", 0, 0, [&](SimThread& self) {
    self.spend(1_us, Category::software);
    const auto cost_of = [&](int tag) {
      const TimePoint start = self.now();
      static_cast<void>(matcher->arrive(self, {0, 1, tag, 0, 0}));
      return self.now() - start;
    };
    const Duration fetch = test::small_cache().transfer_remote;
    CHECK(cost_of(1) == attempt + 2 * (element + fetch));
    CHECK(cost_of(2) == attempt + 2 * element + fetch); // the first is here by now
    CHECK(cost_of(0) == attempt + element);
  });
  engine.run();
}

TEST_CASE("ob1: what does not fit into the L2 comes from the shared cache", "[matching][ob1]") {
  Engine engine(1);
  const Host host = test::small_host();
  MatchingParameters parameters = prices;
  parameters.element_bytes = test::small_cache().l2_bytes / 2; // eight receives: a quarter of them fits
  const auto matcher = matcher_registry().at("ob1")({host, parameters, {}, 1});
  std::array<PostedReceive, 8> receives;
  engine.spawn("t", 0, 0, [&](SimThread& self) {
    for (std::size_t i = 0; i < receives.size(); ++i) {
      receives[i].source = 0;
      receives[i].tag = static_cast<int>(i);
      CHECK_FALSE(matcher->post(self, receives[i]));
    }
    const TimePoint start = self.now();
    CHECK(matcher->arrive(self, {0, 0, 7, 0, 0}) == &receives[7]);
    const Duration miss = test::small_cache().l3_hit - test::small_cache().l2_hit;
    const Duration expected = attempt + 8 * (element + Duration::picoseconds(miss.count() * 3 / 4));
    CHECK(self.now() - start >= expected - 8_ps); // rounded once per element
    CHECK(self.now() - start <= expected + 8_ps);
  });
  engine.run();
}
