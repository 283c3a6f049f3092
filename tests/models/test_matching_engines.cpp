// What the walks of each matching engine visit and cost, on hand-made cases. (ob1 has a file of its own.)
#include "models/matching/hash_bins_matcher.hpp"
#include "models/matching/offload_matcher.hpp"
#include "models/matching/per_source_matcher.hpp"
#include "support/machine.hpp"
#include "support/matching_case.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <vector>

using namespace contend;
using test::MatchingCase;
using test::prices;

namespace {

MatchingSizes width(int elements) {
  MatchingSizes sizes;
  sizes.vector_width = elements;
  return sizes;
}

MatchingSizes bins(int count) {
  MatchingSizes sizes;
  sizes.bins = count;
  return sizes;
}

MatchingSizes capacity(int receives) {
  MatchingSizes sizes;
  sizes.offload_capacity = receives;
  return sizes;
}

/// Tags whose messages from `source` share a bin with tag 0, or do not.
std::vector<int> tags_of_bin(const HashBinsMatcher& matcher, int source, bool same, std::size_t count) {
  std::vector<int> tags;
  for (int tag = 1; tags.size() < count; ++tag) {
    if ((matcher.bin_of(0, source, tag) == matcher.bin_of(0, source, 0)) == same) {
      tags.push_back(tag);
    }
  }
  return tags;
}

} // namespace

TEST_CASE("list: everybody's receives are visited", "[matching][list]") {
  MatchingCase list("list");
  list.run([&](SimThread& self) {
    list.receive(self, 1, 7);
    list.receive(self, 2, 7);
    list.receive(self, any_source, 8);
    PostedReceive& other_communicator = list.receive(self, 2, 8, 1);
    PostedReceive& last = list.receive(self, 3, any_tag);
    CHECK(list.cost == prices.attempt + prices.enqueue);
    CHECK(list.message(self, 3, 7) == &last);
    CHECK(list.visited == 5);
    CHECK(list.cost == prices.attempt + 5 * prices.element);
    CHECK(list.message(self, 2, 8, 1) == &other_communicator);
    CHECK(list.visited == 4);
    CHECK(list.message(self, 3, 9) == nullptr); // two sevens and an eight
    CHECK(list.visited == 3);
    CHECK(list.cost == prices.attempt + 3 * prices.element + prices.fragment_allocate + prices.enqueue);
  });
}

TEST_CASE("list: a receive visits everybody's messages, the oldest first", "[matching][list]") {
  MatchingCase list("list");
  list.run([&](SimThread& self) {
    for (int source = 0; source < 4; ++source) {
      CHECK(list.message(self, source, source % 2) == nullptr);
      CHECK(list.message(self, source, source % 2, 1) == nullptr);
    }
    list.receive(self, any_source, 1, 1); // from source 1: fourth in the list
    CHECK(list.taken);
    CHECK(list.visited == 4);
    CHECK(list.cost == prices.attempt + 4 * prices.element + prices.fragment_release);
    list.receive(self, 2, any_tag, 1);
    CHECK(list.taken);
    CHECK(list.visited == 5); // 0, 0', 1, 2, 2'
    list.receive(self, 2, 1);
    CHECK_FALSE(list.taken);
    CHECK(list.visited == 6);
    CHECK(list.matcher().unexpected() == 6);
  });
}

TEST_CASE("hash bins: a message visits its own bin only", "[matching][hash-bins]") {
  MatchingCase hashed("hash-bins", 4, bins(8));
  const auto& matcher = dynamic_cast<HashBinsMatcher&>(hashed.matcher());
  const std::vector<int> same = tags_of_bin(matcher, 1, true, 3);
  const std::vector<int> others = tags_of_bin(matcher, 1, false, 20);
  hashed.run([&](SimThread& self) {
    for (const int tag : others) {
      hashed.receive(self, 1, tag);
      CHECK(hashed.visited == 0);
      CHECK(hashed.cost == prices.hash + prices.attempt + prices.enqueue);
    }
    for (const int tag : same) {
      hashed.receive(self, 1, tag);
    }
    PostedReceive& wanted = hashed.receive(self, 1, 0);
    CHECK(hashed.message(self, 1, 0) == &wanted);
    CHECK(hashed.visited == same.size() + 1);
    CHECK(hashed.cost == prices.hash + prices.attempt + 4 * prices.element);
    CHECK(hashed.message(self, 1, 0) == nullptr);
    CHECK(hashed.visited == same.size());
    CHECK(hashed.cost ==
          prices.hash + prices.attempt + 3 * prices.element + prices.fragment_allocate + 2 * prices.enqueue);
    hashed.receive(self, 1, 0); // finds the message, alone in its bin
    CHECK(hashed.taken);
    CHECK(hashed.visited == 1);
    CHECK(hashed.cost == prices.hash + prices.attempt + prices.element + prices.fragment_release);
  });
}

TEST_CASE("hash bins: wildcards are visited up to the first that is younger than the bin's", "[matching][hash-bins]") {
  MatchingCase hashed("hash-bins", 4, bins(8));
  hashed.run([&](SimThread& self) {
    hashed.receive(self, any_source, 100);
    CHECK(hashed.cost == prices.attempt + prices.enqueue); // nothing to hash
    hashed.receive(self, any_source, 101);
    PostedReceive& specific = hashed.receive(self, 1, 0);
    hashed.receive(self, any_source, 102);
    PostedReceive& any = hashed.receive(self, any_source, 0);
    CHECK(hashed.message(self, 1, 0) == &specific);
    CHECK(hashed.visited == 1 + 3); // the third wildcard is too young
    CHECK(hashed.message(self, 1, 0) == &any);
    CHECK(hashed.visited == 4); // the bin is empty now
    PostedReceive& older = hashed.receive(self, 2, any_tag);
    hashed.receive(self, 2, 0);
    CHECK(hashed.message(self, 2, 0) == &older);
    CHECK(hashed.visited == 1 + 4);
    CHECK(hashed.matcher().posted() == 4);
  });
}

TEST_CASE("hash bins: a receive with a wildcard visits all messages in order of arrival", "[matching][hash-bins]") {
  MatchingCase hashed("hash-bins");
  hashed.run([&](SimThread& self) {
    for (int tag = 0; tag < 10; ++tag) {
      CHECK(hashed.message(self, 3 - tag % 4, tag) == nullptr);
    }
    hashed.receive(self, 0, any_tag); // tags 3 and 7
    CHECK(hashed.taken);
    CHECK(hashed.visited == 4);
    hashed.receive(self, any_source, 9);
    CHECK(hashed.visited == 9);
    hashed.receive(self, any_source, any_tag);
    CHECK(hashed.visited == 1);
    hashed.receive(self, any_source, 0); // the last one had it
    CHECK_FALSE(hashed.taken);
    CHECK(hashed.visited == 7);
  });
}

TEST_CASE("hash bins: the head of a bin and the element travel between cores", "[matching][hash-bins]") {
  Engine engine(1);
  const Host host = test::small_host();
  const auto matcher = matcher_registry().at("hash-bins")({host, prices, bins(1), 2});
  std::array<PostedReceive, 2> receives;
  engine.spawn("poster", 0, 8, [&](SimThread& self) {
    for (PostedReceive& receive : receives) {
      receive.source = 1;
      receive.tag = 0;
      CHECK_FALSE(matcher->post(self, receive));
    }
  });
  engine.spawn("progress", 0, 0, [&](SimThread& self) {
    self.spend(1_us, Category::software);
    const auto cost_of_message = [&] {
      const TimePoint start = self.now();
      static_cast<void>(matcher->arrive(self, {0, 1, 0, 0, 0}));
      return self.now() - start;
    };
    const Duration fetch = test::small_cache().transfer_remote;
    const Duration at_home = prices.hash + prices.attempt + prices.element;
    CHECK(cost_of_message() == at_home + 2 * fetch);
    CHECK(cost_of_message() == at_home + fetch); // the head is here by now
  });
  engine.run();
}

TEST_CASE("vector: a walk takes a step per block", "[matching][vector]") {
  MatchingCase vector("vector", 4, width(4));
  vector.run([&](SimThread& self) {
    std::array<PostedReceive*, 10> receives{}; // blocks 0-3, 4-7, 8-9
    for (int tag = 0; tag < 10; ++tag) {
      receives[static_cast<std::size_t>(tag)] = &vector.receive(self, tag % 4, tag);
      CHECK(vector.visited == 0);
      CHECK(vector.cost == prices.attempt + prices.enqueue);
    }
    CHECK(vector.message(self, 1, 9) == receives[9]);
    CHECK(vector.visited == 3);
    CHECK(vector.cost == prices.attempt + 3 * prices.vector_step);
    CHECK(vector.message(self, 3, 3) == receives[3]);
    CHECK(vector.visited == 1);
    CHECK(vector.message(self, 2, 3) == nullptr); // tag 3 was another's, and is gone
    CHECK(vector.visited == 3);
    CHECK(vector.cost == prices.attempt + 3 * prices.vector_step + prices.fragment_allocate + prices.enqueue);
    for (const int tag : {4, 5, 6, 7}) { // an empty block is not visited any more
      CHECK(vector.message(self, tag % 4, tag) == receives[static_cast<std::size_t>(tag)]);
    }
    CHECK(vector.message(self, 0, 8) == receives[8]);
    CHECK(vector.visited == 2);
    CHECK(vector.matcher().posted() == 3);
  });
}

TEST_CASE("vector: holes inside are not filled, holes at the end are", "[matching][vector]") {
  MatchingCase vector("vector", 1, width(2));
  vector.run([&](SimThread& self) {
    for (int tag = 0; tag < 4; ++tag) {
      vector.receive(self, 0, tag); // 01 23
    }
    static_cast<void>(vector.message(self, 0, 0));
    vector.receive(self, 0, 4); // -1 23 4-
    CHECK(vector.message(self, 0, 9) == nullptr);
    CHECK(vector.visited == 3);
    static_cast<void>(vector.message(self, 0, 4)); // the block goes
    static_cast<void>(vector.message(self, 0, 3));
    vector.receive(self, 0, 5); // -1 25
    CHECK(vector.message(self, 0, 8) == nullptr);
    CHECK(vector.visited == 2);
    vector.receive(self, 0, 8); // the second of two messages, which share a block
    CHECK(vector.taken);
    CHECK(vector.visited == 1);
    CHECK(vector.cost == prices.attempt + prices.vector_step + prices.fragment_release);
  });
}

TEST_CASE("vector: wildcards are keys like others", "[matching][vector]") {
  MatchingCase vector("vector", 4, width(2));
  vector.run([&](SimThread& self) {
    PostedReceive& any = vector.receive(self, any_source, any_tag);
    PostedReceive& any_of_two = vector.receive(self, 2, any_tag);
    PostedReceive& five = vector.receive(self, any_source, 5);
    CHECK(vector.message(self, 1, 5) == &any);
    CHECK(vector.message(self, 1, 5) == &five);
    CHECK(vector.visited == 2);
    CHECK(vector.message(self, 2, 5) == &any_of_two);
    CHECK(vector.visited == 1);
  });
}

TEST_CASE("vector: a writer takes the block away", "[matching][vector]") {
  Engine engine(1);
  const Host host = test::small_host();
  const auto matcher = matcher_registry().at("vector")({host, prices, width(4), 1});
  std::array<PostedReceive, 3> receives;
  const Duration fetch = test::small_cache().transfer_remote;
  engine.spawn("poster", 0, 8, [&](SimThread& self) {
    for (std::size_t i = 0; i < 2; ++i) { // 01--
      receives[i].source = 0;
      receives[i].tag = static_cast<int>(i);
      CHECK_FALSE(matcher->post(self, receives[i]));
    }
    self.spend(2_us, Category::software);
    const TimePoint start = self.now();
    receives[2].source = 0;
    receives[2].tag = 2;
    CHECK_FALSE(matcher->post(self, receives[2]));
    CHECK(self.now() - start == prices.attempt + prices.enqueue + fetch);
  });
  engine.spawn("progress", 0, 0, [&](SimThread& self) {
    self.spend(1_us, Category::software);
    const auto cost_of = [&](int tag) {
      const TimePoint start = self.now();
      static_cast<void>(matcher->arrive(self, {0, 0, tag, 0, 0}));
      return self.now() - start;
    };
    CHECK(cost_of(1) == prices.attempt + prices.vector_step + fetch); // both elements come at once
    self.spend(3_us, Category::software);
    CHECK(cost_of(0) == prices.attempt + prices.vector_step + fetch); // the poster has written into it since
  });
  engine.run();
}

TEST_CASE("offload: the interface finds what it holds", "[matching][offload]") {
  MatchingCase offload("offload");
  auto& matcher = dynamic_cast<OffloadMatcher&>(offload.matcher());
  offload.run([&](SimThread& self) {
    offload.receive(self, 1, 0);
    CHECK(offload.cost == prices.attempt + prices.enqueue + prices.offload_command);
    PostedReceive& second = offload.receive(self, 1, 1);
    PostedReceive& any_tag_of_one = offload.receive(self, 1, any_tag);
    CHECK(matcher.offloaded() == 3);
    const TimePoint before = self.now();
    Envelope message{0, 1, 1, 0, 0};
    HardwareMatcher::Time time = matcher.reach(message);
    CHECK(message.matched == &second);
    CHECK_FALSE(message.missed);
    CHECK(time.latency == prices.offload_latency);
    CHECK(time.work == 2 * prices.offload_element);
    Envelope next{0, 1, 1, 0, 0};
    time = matcher.reach(next);
    CHECK(next.matched == &any_tag_of_one);
    CHECK(time.work == 2 * prices.offload_element);
    CHECK(matcher.visited_by_interface() == 4);
    CHECK(matcher.posted() == 1);
    CHECK(self.now() == before); // no processor had to do with it
    CHECK(matcher.visited() == 0);
  });
}

TEST_CASE("offload: receives posted behind a missed message wait for software to see it", "[matching][offload]") {
  MatchingCase offload("offload");
  auto& matcher = dynamic_cast<OffloadMatcher&>(offload.matcher());
  offload.run([&](SimThread& self) {
    PostedReceive& four = offload.receive(self, 1, 4);
    PostedReceive& another_four = offload.receive(self, 1, 4);
    Envelope first{0, 1, 5, 0, 0};
    HardwareMatcher::Time time = matcher.reach(first);
    CHECK(first.missed);
    CHECK(time.work == 2 * prices.offload_element);
    // Posted before software has seen the message: the interface holds it now, and must not give it to the second one.
    PostedReceive& five = offload.receive(self, 1, 5);
    CHECK(matcher.offloaded() == 3);
    Envelope second{0, 1, 5, 0, 0};
    time = matcher.reach(second);
    CHECK(second.missed);
    CHECK(time.work == 2 * prices.offload_element); // it did not look at the third
    Envelope older{0, 1, 4, 0, 0};                  // what the interface held before is in order
    time = matcher.reach(older);
    CHECK(older.matched == &four);
    CHECK(time.work == prices.offload_element);
    CHECK(offload.message(self, first) == &five); // withdrawn from the interface
    CHECK(offload.cost == prices.attempt + 2 * prices.element + prices.offload_command);
    CHECK(matcher.offloaded() == 1);
    PostedReceive& six = offload.receive(self, 1, 6);
    Envelope third{0, 1, 6, 0, 0};
    static_cast<void>(matcher.reach(third));
    CHECK(third.missed); // the second is still on its way
    CHECK(offload.message(self, second) == nullptr);
    CHECK(offload.message(self, third) == &six);
    offload.receive(self, 1, 5);
    CHECK(offload.taken);
    PostedReceive& seven = offload.receive(self, 1, 7);
    Envelope fourth{0, 1, 7, 0, 0};
    time = matcher.reach(fourth);
    CHECK(fourth.matched == &seven); // software has caught up
    CHECK(time.work == 2 * prices.offload_element);
    CHECK(matcher.posted() == 1);
    Envelope last{0, 1, 4, 0, 0};
    static_cast<void>(matcher.reach(last));
    CHECK(last.matched == &another_four);
  });
}

TEST_CASE("offload: receives become active when software has caught up", "[matching][offload]") {
  MatchingCase offload("offload");
  auto& matcher = dynamic_cast<OffloadMatcher&>(offload.matcher());
  offload.run([&](SimThread& self) {
    Envelope stray{0, 2, 0, 0, 0};
    static_cast<void>(matcher.reach(stray));
    PostedReceive& receive = offload.receive(self, 1, 5);
    CHECK(offload.message(self, stray) == nullptr);
    Envelope message{0, 1, 5, 0, 0};
    static_cast<void>(matcher.reach(message));
    CHECK(message.matched == &receive);
  });
}

TEST_CASE("offload: a full list leaves receives to software", "[matching][offload]") {
  MatchingCase offload("offload", 4, capacity(2));
  auto& matcher = dynamic_cast<OffloadMatcher&>(offload.matcher());
  offload.run([&](SimThread& self) {
    PostedReceive& first = offload.receive(self, 1, 0);
    offload.receive(self, 1, 1);
    PostedReceive& third = offload.receive(self, 1, 0);
    CHECK(offload.cost == prices.attempt + prices.enqueue); // no command
    CHECK(matcher.offloaded() == 2);
    CHECK(matcher.posted() == 3);
    Envelope message{0, 1, 0, 0, 0};
    static_cast<void>(matcher.reach(message));
    CHECK(message.matched == &first);
    // There is room again, but the same kind waits in software: it must go first.
    PostedReceive& fourth = offload.receive(self, 1, 0);
    CHECK(matcher.offloaded() == 1);
    offload.receive(self, 2, 0); // another hash bucket
    CHECK(matcher.offloaded() == 2);
    Envelope next{0, 1, 0, 0, 0};
    static_cast<void>(matcher.reach(next));
    CHECK(next.missed);
    CHECK(offload.message(self, next) == &third);
    CHECK(offload.visited == 2);
    CHECK(offload.cost == prices.attempt + 2 * prices.element); // it was nowhere else
    Envelope last{0, 1, 0, 0, 0};
    static_cast<void>(matcher.reach(last));
    CHECK(offload.message(self, last) == &fourth);
    // Software holds nothing of the kind any more.
    Envelope one{0, 1, 1, 0, 0};
    static_cast<void>(matcher.reach(one));
    CHECK(one.matched != nullptr);
    offload.receive(self, 1, 0);
    CHECK(matcher.offloaded() == 2);
  });
}

TEST_CASE("offload: ANY_SOURCE stays in software and keeps others there", "[matching][offload]") {
  MatchingCase offload("offload");
  auto& matcher = dynamic_cast<OffloadMatcher&>(offload.matcher());
  offload.run([&](SimThread& self) {
    PostedReceive& older = offload.receive(self, 1, 3);
    PostedReceive& any = offload.receive(self, any_source, 3);
    PostedReceive& younger = offload.receive(self, 1, 3);
    offload.receive(self, 1, 4); // any receive, as the wildcard might fit its message
    offload.receive(self, 2, any_tag);
    CHECK(matcher.offloaded() == 1);
    const auto reach_and_deliver = [&]() -> PostedReceive* {
      Envelope message{0, 1, 3, 0, 0};
      static_cast<void>(matcher.reach(message));
      return message.matched != nullptr ? message.matched : offload.message(self, message);
    };
    CHECK(reach_and_deliver() == &older);
    CHECK(reach_and_deliver() == &any);
    CHECK(reach_and_deliver() == &younger);
    offload.receive(self, 3, 0); // two are left in software: a wildcard (of another source), and tag 4
    CHECK(matcher.offloaded() == 0);
    CHECK(offload.message(self, 2, 0) != nullptr);
    offload.receive(self, 3, 0); // same bucket as one in software
    CHECK(matcher.offloaded() == 0);
    offload.receive(self, 3, 1);
    CHECK(matcher.offloaded() == 1);
    offload.receive(self, 3, any_tag); // software is not empty
    CHECK(matcher.offloaded() == 1);
  });
}

TEST_CASE("per source: a message visits the receives of its own source only", "[matching][per-source]") {
  MatchingCase sources("per-source");
  sources.run([&](SimThread& self) {
    for (int source = 0; source < 4; ++source) {
      for (int tag = 0; tag < 3; ++tag) {
        sources.receive(self, source, tag);
        CHECK(sources.cost == prices.attempt + prices.enqueue);
      }
    }
    CHECK(sources.message(self, 2, 2) != nullptr);
    CHECK(sources.visited == 3);
    CHECK(sources.cost == prices.attempt + 3 * prices.element);
    CHECK(sources.message(self, 2, 9) == nullptr);
    CHECK(sources.visited == 2);
    CHECK(sources.cost == prices.attempt + 2 * prices.element + prices.fragment_allocate + prices.enqueue);
    sources.receive(self, any_source, 9);
    CHECK(sources.taken);
    CHECK(sources.cost == prices.attempt + prices.element + prices.fragment_release);
  });
}

TEST_CASE("per source: what is younger than a wildcard is parked behind it and moves on with it",
          "[matching][per-source]") {
  MatchingCase sources("per-source");
  const auto& matcher = dynamic_cast<PerSourceMatcher&>(sources.matcher());
  sources.run([&](SimThread& self) {
    PostedReceive& older = sources.receive(self, 1, 7);
    CHECK(matcher.wildcards() == 0);
    PostedReceive& wildcard = sources.receive(self, any_source, 7);
    PostedReceive& parked = sources.receive(self, 1, 7);
    CHECK(sources.cost == prices.attempt + prices.enqueue + prices.element); // it looked at the wildcard
    PostedReceive& other_tag = sources.receive(self, 1, 8);                  // no message fits both
    CHECK(matcher.wildcards() == 2);
    PostedReceive& any_tag_behind = sources.receive(self, 1, any_tag);
    PostedReceive& behind_that = sources.receive(self, 1, 9); // fits no wildcard, but the receive before it does
    CHECK(matcher.wildcards() == 4);
    CHECK(sources.matcher().posted() == 6);

    CHECK(sources.message(self, 1, 8) == &other_tag);
    CHECK(sources.message(self, 1, 9) == &any_tag_behind); // older than behind_that
    CHECK(sources.message(self, 1, 7) == &older);
    CHECK(sources.message(self, 2, 7) == &wildcard);
    CHECK(matcher.wildcards() == 0); // all have moved
    CHECK(sources.message(self, 1, 9) == &behind_that);
    CHECK(sources.message(self, 1, 7) == &parked);
    CHECK(sources.matcher().posted() == 0);
    CHECK(sources.matcher().unexpected() == 0);
  });
}
