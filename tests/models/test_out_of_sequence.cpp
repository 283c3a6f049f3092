// Messages that arrive before their turn: kept in order, in ranges, across the wrap of their 16-bit numbers.
#include "core/random.hpp"
#include "models/matching/out_of_sequence_list.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

using namespace contend;

namespace {

Envelope message(std::uint16_t sequence, std::int64_t id = 0) { return {0, 0, 0, sequence, id}; }

/// Messages by their number before wrapping.
class Reference {
public:
  /// Ranges that a walk from the front visits until it knows the place of `number`.
  [[nodiscard]] std::int64_t visits(std::int64_t number) const {
    std::int64_t visited = 0;
    for (auto entry = messages_.begin(); entry != messages_.end(); ++entry) {
      if (!starts_range(entry)) {
        continue;
      }
      ++visited;
      if (entry->first > number) {
        break;
      }
    }
    return visited;
  }
  [[nodiscard]] std::size_t ranges() const {
    std::size_t count = 0;
    for (auto entry = messages_.begin(); entry != messages_.end(); ++entry) {
      count += starts_range(entry) ? 1U : 0U;
    }
    return count;
  }
  void insert(std::int64_t number) { messages_.emplace(number, number); }
  bool take(std::int64_t number) { return messages_.erase(number) == 1; }
  [[nodiscard]] std::size_t size() const { return messages_.size(); }

private:
  using Messages = std::map<std::int64_t, std::int64_t>;
  [[nodiscard]] bool starts_range(Messages::const_iterator entry) const {
    return entry == messages_.begin() || std::prev(entry)->first + 1 != entry->first;
  }

  Messages messages_;
};

/// Sends `count` messages, each up to `window` places before or behind its turn, and checks every step.
void permute(std::uint64_t seed, std::int64_t count, std::int64_t window, std::int64_t first,
             std::int64_t check_every) {
  RandomStream random(seed, "permutation");
  OutOfSequenceList list;
  Reference reference;
  std::int64_t expected = first;
  std::int64_t next_new = first;
  std::vector<std::int64_t> in_flight;
  std::int64_t steps = 0;
  CAPTURE(seed, window, first);
  while (expected < first + count) {
    while (next_new < first + count && next_new < expected + window) {
      in_flight.push_back(next_new++);
    }
    const std::size_t choice = random.below(in_flight.size());
    const std::int64_t number = in_flight[choice];
    in_flight[choice] = in_flight.back();
    in_flight.pop_back();
    const bool check = ++steps % check_every == 0;
    if (number != expected) {
      const std::int64_t visits = check ? reference.visits(number) : 0;
      const std::int64_t visited =
          list.insert(message(static_cast<std::uint16_t>(number), number), static_cast<std::uint16_t>(expected));
      if (check) {
        REQUIRE(visited == visits);
      }
      reference.insert(number);
    } else {
      ++expected;
      for (;;) {
        const std::optional<Envelope> taken = list.take(static_cast<std::uint16_t>(expected));
        const bool found = reference.take(expected);
        REQUIRE(taken.has_value() == found);
        if (!taken) {
          break;
        }
        REQUIRE(taken->bytes == expected);
        REQUIRE(taken->sequence == static_cast<std::uint16_t>(expected));
        ++expected;
      }
    }
    if (check) {
      REQUIRE(list.size() == static_cast<std::int64_t>(reference.size()));
      REQUIRE(list.ranges() == reference.ranges());
    }
  }
  REQUIRE(list.empty());
  REQUIRE(list.size() == 0);
}

} // namespace

TEST_CASE("out of sequence: an empty list gives nothing", "[out of sequence]") {
  OutOfSequenceList list;
  CHECK(list.empty());
  CHECK_FALSE(list.take(0));
  CHECK(list.ranges() == 0);
}

TEST_CASE("out of sequence: neighbours join into ranges", "[out of sequence]") {
  OutOfSequenceList list;
  CHECK(list.insert(message(5), 0) == 0);
  CHECK(list.insert(message(6), 0) == 1); // extends 5 at its end
  CHECK(list.ranges() == 1);
  CHECK(list.insert(message(9), 0) == 1);
  CHECK(list.ranges() == 2);
  CHECK(list.insert(message(8), 0) == 2); // past 5-6, before 9: extends it at its front
  CHECK(list.ranges() == 2);
  CHECK(list.insert(message(7), 0) == 2); // closes the gap
  CHECK(list.ranges() == 1);
  CHECK(list.size() == 5);
  CHECK(list.insert(message(3), 0) == 1); // before all others: one look
  CHECK(list.ranges() == 2);
  for (const int wrong : {1, 2, 4, 5, 9}) {
    CHECK_FALSE(list.take(static_cast<std::uint16_t>(wrong))); // only the first one can be next
  }
  CHECK(list.take(3)->sequence == 3);
  for (std::uint16_t next = 5; next <= 9; ++next) {
    CHECK(list.take(next)->sequence == next);
  }
  CHECK(list.empty());
}

TEST_CASE("out of sequence: a message beyond all others is found from the front", "[out of sequence]") {
  OutOfSequenceList list;
  for (std::uint16_t i = 0; i < 10; ++i) {
    CHECK(list.insert(message(static_cast<std::uint16_t>(2 + 2 * i)), 0) == i);
  }
  CHECK(list.ranges() == 10);
  CHECK(list.insert(message(1), 0) == 1);  // in front
  CHECK(list.insert(message(11), 0) == 6); // ranges 1-2, 4, 6, 8, 10 lie before; the look at 12 tells
}

TEST_CASE("out of sequence: order and ranges hold across the wrap", "[out of sequence]") {
  OutOfSequenceList list;
  const std::uint16_t expected = 65'530;
  CHECK(list.insert(message(2), expected) == 0);
  CHECK(list.insert(message(65'535), expected) == 1); // before 2
  CHECK(list.insert(message(0), expected) == 2);      // joins 65535
  CHECK(list.ranges() == 2);
  CHECK(list.insert(message(1), expected) == 2); // joins all
  CHECK(list.ranges() == 1);
  for (const int next : {65'535, 0, 1, 2}) {
    const std::optional<Envelope> taken = list.take(static_cast<std::uint16_t>(next));
    REQUIRE(taken);
    CHECK(taken->sequence == next);
  }
  CHECK(list.empty());
}

TEST_CASE("out of sequence: agrees with an ordered map, small windows", "[out of sequence][property]") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    permute(seed, 3'000, 2 + static_cast<std::int64_t>(seed) * 4, 64'000, 1);
  }
}

TEST_CASE("out of sequence: agrees with an ordered map over several wraps", "[out of sequence][property]") {
  permute(1, 300'000, 50, 0, 100);
  permute(2, 300'000, 1'000, 12'345, 1'000);
}

TEST_CASE("out of sequence: half the number space may be in flight", "[out of sequence][property]") {
  permute(3, 100'000, 32'000, 60'000, 20'000);
}

TEST_CASE("out of sequence: fragments are used again", "[out of sequence]") {
  OutOfSequenceList list;
  std::uint16_t expected = 0;
  for (int round = 0; round < 1'000; ++round) { // several wraps with a full list each time
    for (std::uint16_t i = 100; i >= 1; --i) {
      list.insert(message(static_cast<std::uint16_t>(expected + i), i), expected);
    }
    ++expected;
    for (std::int64_t i = 1; i <= 100; ++i) {
      const std::optional<Envelope> taken = list.take(expected++);
      REQUIRE(taken);
      REQUIRE(taken->bytes == i);
    }
    REQUIRE(list.empty());
  }
}
