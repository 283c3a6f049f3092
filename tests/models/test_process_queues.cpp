#include "core/random.hpp"
#include "models/matching/envelope.hpp"
#include "models/matching/process_queues.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <string>
#include <vector>

using namespace contend;

namespace {

constexpr int first = 40;
constexpr int receivers = 5;

} // namespace

TEST_CASE("every kind of queue finds what a list in order of arrival would", "[matching][process-queues]") {
  for (const std::string& name : process_queues_registry().names()) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(name, seed);
      const auto queues = process_queues_registry().at(name)(first, receivers);
      RandomStream random(seed, "queues");
      std::deque<QueuedOperation> operations;
      std::list<QueuedOperation*> reference;
      const auto draw = [&](std::uint64_t n) { return static_cast<int>(random.below(n)); };
      for (int step = 0; step < 400; ++step) {
        const ProcessEnvelope exact{draw(2), draw(3), draw(3), first + draw(receivers)};
        if (draw(2) == 0) {
          operations.push_back({exact, nullptr});
          queues->append(operations.back());
          reference.push_back(&operations.back());
        } else {
          ProcessEnvelope wanted = exact;
          wanted.source = draw(3) == 0 ? any_source : wanted.source;
          wanted.tag = draw(3) == 0 ? any_tag : wanted.tag;
          const auto expected = std::find_if(reference.begin(), reference.end(),
                                             [&](const QueuedOperation* one) { return one->envelope.fits(wanted); });
          QueuedOperation* const found = queues->take(wanted).operation;
          CHECK(found == (expected == reference.end() ? nullptr : *expected));
          if (expected != reference.end()) {
            reference.erase(expected);
          }
        }
        CHECK(queues->size() == static_cast<std::int64_t>(reference.size()));
      }
    }
  }
}

TEST_CASE("the price of a search: one's own operations, or everybody's", "[matching][process-queues]") {
  const std::map<std::string, std::int64_t> visits{{"array-by-receiver", 1},
                                                   {"single-list", 1 + 100 * (receivers - 1)}};
  for (const std::string& name : process_queues_registry().names()) {
    CAPTURE(name);
    const auto queues = process_queues_registry().at(name)(first, receivers);
    std::deque<QueuedOperation> operations;
    const auto add = [&](int receiver, int tag) {
      operations.push_back({{0, 0, tag, receiver}, nullptr});
      queues->append(operations.back());
    };
    for (int i = 0; i < 100; ++i) {
      for (int receiver = first + 1; receiver < first + receivers; ++receiver) {
        add(receiver, i);
      }
    }
    add(first, 7);
    const ProcessQueues::Found found = queues->take({0, any_source, 7, first}); // a wildcard costs the same
    CHECK(found.operation == &operations.back());
    CHECK(found.visited == visits.at(name));
    CHECK(queues->visited() == found.visited);
  }
  CHECK(process_queues_registry().at("array-by-receiver")(0, 1000)->bytes() == 16'000);
  CHECK(process_queues_registry().at("single-list")(0, 1000)->bytes() == 16);
}

TEST_CASE("an element can be taken from the front, the middle and the end", "[matching][process-queues]") {
  OperationList list;
  std::deque<QueuedOperation> operations;
  for (int tag = 0; tag < 4; ++tag) {
    operations.push_back({{0, 0, tag, 0}, nullptr});
    list.append(operations.back());
  }
  std::int64_t visited = 0;
  const auto take = [&](int tag) { return list.take({0, 0, tag, 0}, visited); };
  CHECK(take(3) == &operations[3]);
  CHECK(take(1) == &operations[1]);
  CHECK(take(0) == &operations[0]);
  CHECK(take(0) == nullptr);
  operations.push_back({{0, 0, 9, 0}, nullptr});
  list.append(operations.back());
  CHECK(take(9) == &operations.back());
  CHECK(take(2) == &operations[2]);
  CHECK(visited == 4 + 2 + 1 + 1 + 2 + 1);
  list.append(operations[0]);
  CHECK(take(0) == &operations[0]);
}
