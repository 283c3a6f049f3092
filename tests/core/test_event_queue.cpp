#include "core/event_queue.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <queue>
#include <random>
#include <tuple>
#include <vector>

using namespace contend;

namespace {

/// What the queue must do, by the standard library.
struct Expected {
  std::int64_t time;
  std::uint64_t insertion;
  TargetSlot slot;
  bool operator>(const Expected& other) const {
    return std::tie(time, insertion) > std::tie(other.time, other.insertion);
  }
};
using ReferenceQueue = std::priority_queue<Expected, std::vector<Expected>, std::greater<>>;

TimePoint at(std::int64_t picoseconds) { return TimePoint::at(Duration::picoseconds(picoseconds)); }

EventKey key_of(const Expected& entry) { return {at(entry.time), entry.insertion, entry.slot}; }

bool same(const EventKey& key, const Expected& entry) {
  return key.time() == at(entry.time) && key.slot() == entry.slot;
}

/// One random run of pushes and takes. `push_share` (percent) decides whether the queue grows or shrinks; a small
/// `time_range` gives many ties.
void compare_with_reference(std::uint32_t seed, unsigned push_share, std::int64_t time_range, int operations) {
  std::mt19937 random(seed);
  EventQueue queue;
  ReferenceQueue reference;
  std::uint64_t insertion = 0;
  std::int64_t now = 0;
  for (int i = 0; i < operations; ++i) {
    const bool push = reference.empty() || random() % 100 < push_share;
    if (push) {
      const Expected entry{now + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(time_range)),
                           ++insertion, static_cast<TargetSlot>(random() % (EventKey::max_slot + 1))};
      queue.push(key_of(entry));
      reference.push(entry);
    } else {
      REQUIRE(queue.next_time().since_start().count() == reference.top().time);
      const EventKey taken = queue.take();
      REQUIRE(same(taken, reference.top()));
      now = reference.top().time;
      reference.pop();
    }
    REQUIRE(queue.size() == reference.size());
    REQUIRE(queue.empty() == reference.empty());
    if (!reference.empty()) {
      REQUIRE(queue.next_time().since_start().count() == reference.top().time);
    }
  }
  while (!reference.empty()) {
    REQUIRE(same(queue.take(), reference.top()));
    reference.pop();
  }
  REQUIRE(queue.empty());
}

} // namespace

TEST_CASE("keys keep time and slot and order by time, then insertion, never by slot", "[queue]") {
  const EventKey early(at(5), 9, EventKey::max_slot);
  CHECK(early.time() == at(5));
  CHECK(early.slot() == EventKey::max_slot);
  CHECK(early < EventKey(at(6), 1, 0));
  CHECK(early < EventKey(at(5), 10, 0));
  CHECK_FALSE(early < EventKey(at(5), 8, EventKey::max_slot));
  CHECK_FALSE(early < early);
  const EventKey large(TimePoint::never(), (std::uint64_t{1} << 40) - 1, 12345);
  CHECK(large.time() == TimePoint::never());
  CHECK(large.slot() == 12345);
  CHECK(EventKey(TimePoint::never(), (std::uint64_t{1} << 40) - 2, 0) < large);
  STATIC_REQUIRE(sizeof(EventKey) == 16);
}

TEST_CASE("an empty queue stays usable", "[queue]") {
  EventQueue queue;
  CHECK(queue.empty());
  CHECK(queue.next_time() == TimePoint::never());
  queue.push(EventKey(at(1), 1, 1));
  CHECK_FALSE(queue.empty());
  CHECK(queue.take().slot() == 1);
  CHECK(queue.empty());
  CHECK(queue.size() == 0);
  queue.push(EventKey(at(9), 2, 2));
  CHECK(queue.size() == 1);
  CHECK(queue.next_time() == at(9));
  queue.push(EventKey(at(3), 3, 3));
  CHECK(queue.next_time() == at(3));
  CHECK(queue.take().slot() == 3);
  CHECK(queue.take().slot() == 2);
  CHECK(queue.empty());
}

TEST_CASE("equal times come out in order of insertion", "[queue]") {
  EventQueue queue;
  constexpr TargetSlot entries = 1'000; // through several reservations
  for (TargetSlot i = 0; i < entries; ++i) {
    queue.push(EventKey(at(42), i + 1, entries - i));
  }
  for (TargetSlot i = 0; i < entries; ++i) {
    REQUIRE(queue.take().slot() == entries - i);
  }
}

TEST_CASE("the queue agrees with std::priority_queue on random sequences", "[queue][property]") {
  std::uint32_t seed = 1;
  for (const unsigned push_share : {35U, 50U, 51U, 60U, 90U}) {
    for (const std::int64_t time_range : {1, 2, 7, 100, 1'000'000}) {
      for (int repetition = 0; repetition < 12; ++repetition, ++seed) {
        CAPTURE(seed, push_share, time_range);
        compare_with_reference(seed, push_share, time_range, 400);
      }
    }
  }
}

TEST_CASE("every number of entries from 0 to 200 drains in order", "[queue][property]") {
  for (std::size_t entries = 0; entries <= 200; ++entries) {
    std::mt19937 random(static_cast<std::uint32_t>(entries));
    EventQueue queue;
    std::vector<std::int64_t> times(entries);
    for (std::size_t i = 0; i < entries; ++i) {
      times[i] = static_cast<std::int64_t>(random() % 64);
      queue.push(EventKey(at(times[i]), i + 1, static_cast<TargetSlot>(i)));
    }
    std::vector<TargetSlot> order(entries);
    std::generate(order.begin(), order.end(), [n = TargetSlot{0}]() mutable { return n++; });
    std::stable_sort(order.begin(), order.end(), [&](TargetSlot a, TargetSlot b) { return times[a] < times[b]; });
    for (const TargetSlot expected : order) {
      REQUIRE(queue.take().slot() == expected);
    }
    REQUIRE(queue.empty());
  }
}

TEST_CASE("hold: taking and pushing in turn, as the engine does, keeps the order", "[queue][property]") {
  for (std::size_t entries : {1U, 2U, 3U, 4U, 5U, 6U, 20U, 21U, 22U, 85U, 86U, 1'000U}) {
    std::mt19937 random(static_cast<std::uint32_t>(entries));
    EventQueue queue;
    ReferenceQueue reference;
    std::uint64_t insertion = 0;
    const auto push = [&](std::int64_t time, TargetSlot slot) {
      const Expected entry{time, ++insertion, slot};
      queue.push(key_of(entry));
      reference.push(entry);
    };
    for (TargetSlot i = 0; i < entries; ++i) {
      push(static_cast<std::int64_t>(random() % 50), i);
    }
    for (int i = 0; i < 5'000; ++i) {
      const Expected expected = reference.top();
      REQUIRE(same(queue.take(), expected));
      reference.pop();
      push(expected.time + static_cast<std::int64_t>(random() % 50), expected.slot);
    }
  }
}
