// Engines with messages under way: one reaches the interface, and a thread sees it some time later. Whatever is posted in
// between, the outcome is one that MPI's rules allow.
#include "models/matching/matcher.hpp"
#include "support/machine.hpp"

#include <catch2/catch.hpp>

#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <vector>

using namespace contend;

namespace {

constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();

struct BoundedMix {
  const char* name;
  int communicators;
  int peers;
  int tags;
  std::uint64_t wildcard_sources; ///< one receive in so many; 0: none
  std::uint64_t wildcard_tags;
  std::uint64_t posts; ///< of ten operations; the rest are arrivals and deliveries
};

/// Who got whom, by order of sending and of posting.
struct Offloaded {
  std::deque<PostedReceive> receives;
  std::deque<Envelope> messages;
  std::vector<std::size_t> message_of; ///< by receive
  std::vector<std::size_t> receive_of; ///< by message
  int by_interface = 0;

  void pair(std::size_t receive, std::size_t message) {
    REQUIRE(message_of[receive] == nobody);
    REQUIRE(receive_of[message] == nobody);
    message_of[receive] = message;
    receive_of[message] = receive;
  }
  [[nodiscard]] static std::size_t number(const PostedReceive& receive) {
    return static_cast<std::size_t>(receive.order);
  }
};

Offloaded play(const std::string& engine_name, const BoundedMix& mix, std::uint64_t seed) {
  Offloaded outcome;
  Engine engine(seed);
  const Host host = test::small_host();
  MatchingSizes sizes;
  sizes.bins = static_cast<int>(1 + seed % 7);
  sizes.vector_width = static_cast<int>(1 + seed % 5);
  sizes.offload_capacity = static_cast<int>(seed % 23);
  const auto matcher = matcher_registry().at(engine_name)({host, {}, sizes, mix.peers});
  engine.spawn("t", 0, 0, [&](SimThread& self) {
    RandomStream random = engine.stream("operations");
    const auto below = [&random](int limit) {
      return static_cast<int>(random.below(static_cast<std::uint64_t>(limit)));
    };
    const auto one_in = [&random](std::uint64_t n) { return n > 0 && random.below(n) == 0; };
    std::deque<Envelope> under_way; // `bytes` is the message's number
    const auto deliver = [&] {
      const Envelope envelope = under_way.front();
      under_way.pop_front();
      outcome.by_interface += envelope.matched != nullptr ? 1 : 0;
      const PostedReceive* receive = envelope.matched != nullptr ? envelope.matched : matcher->arrive(self, envelope);
      if (receive != nullptr) {
        outcome.pair(outcome.number(*receive), static_cast<std::size_t>(envelope.bytes));
      }
    };
    for (int step = 0; step < 300; ++step) {
      const std::uint64_t die = random.below(10);
      if (die < mix.posts) {
        PostedReceive& receive = outcome.receives.emplace_back();
        outcome.message_of.push_back(nobody);
        receive.communicator = below(mix.communicators);
        receive.source = one_in(mix.wildcard_sources) ? any_source : below(mix.peers);
        receive.tag = one_in(mix.wildcard_tags) ? any_tag : below(mix.tags);
        const std::optional<Envelope> message = matcher->post(self, receive);
        REQUIRE(outcome.number(receive) + 1 == outcome.receives.size());
        if (message) {
          outcome.pair(outcome.number(receive), static_cast<std::size_t>(message->bytes));
        }
      } else if (random.below(2) == 0) {
        Envelope envelope{below(mix.communicators), below(mix.peers), below(mix.tags), 0,
                          static_cast<std::int64_t>(outcome.messages.size())};
        outcome.messages.push_back(envelope);
        outcome.receive_of.push_back(nobody);
        if (HardwareMatcher* const hardware = matcher->hardware(); hardware != nullptr) {
          static_cast<void>(hardware->reach(envelope));
        }
        under_way.push_back(envelope);
      } else if (!under_way.empty()) {
        deliver();
      }
    }
    while (!under_way.empty()) {
      deliver();
    }
    std::int64_t posted = 0;
    std::int64_t unexpected = 0;
    for (const std::size_t message : outcome.message_of) {
      posted += message == nobody ? 1 : 0;
    }
    for (const std::size_t receive : outcome.receive_of) {
      unexpected += receive == nobody ? 1 : 0;
    }
    REQUIRE(matcher->posted() == posted);
    REQUIRE(matcher->unexpected() == unexpected);
  });
  engine.run();
  return outcome;
}

/// MPI's order (MPI 4.0, 3.5): of the receives that a message fits it takes the first, and of the messages of one source
/// that a receive fits it takes the first. So no message and receive that fit each other may both have to do with
/// something later, or with nothing.
void check_order(const Offloaded& outcome) {
  for (std::size_t m = 0; m < outcome.messages.size(); ++m) {
    for (std::size_t r = 0; r < outcome.receives.size(); ++r) {
      const PostedReceive& receive = outcome.receives[r];
      const Envelope& message = outcome.messages[m];
      const bool fits = receive.communicator == message.communicator &&
                        (receive.source == any_source || receive.source == message.source) &&
                        (receive.tag == any_tag || receive.tag == message.tag);
      if (!fits) {
        if (outcome.receive_of[m] == r) {
          FAIL("message " << m << " does not fit its receive " << r);
        }
        continue;
      }
      const std::size_t other = outcome.message_of[r];
      const bool message_wants = outcome.receive_of[m] > r; // nobody is later than all
      const bool receive_wants = other == nobody || (other > m && outcome.messages[other].source == message.source);
      if (message_wants && receive_wants) {
        FAIL("message " << m << " and receive " << r << " fit, but have receive " << outcome.receive_of[m]
                        << " and message " << other);
      }
    }
  }
}

const std::vector<BoundedMix> mixes{
    {"specific receives", 1, 3, 4, 0, 0, 3}, {"any source", 1, 4, 3, 3, 0, 3},
    {"any tag", 1, 3, 4, 0, 3, 3},           {"any of both", 2, 4, 3, 5, 5, 3},
    {"one peer, one tag", 1, 1, 1, 2, 2, 3}, {"mostly posted", 2, 3, 6, 6, 6, 6},
    {"few wildcards", 1, 2, 3, 30, 30, 4},   {"mostly unexpected", 1, 4, 4, 4, 4, 2},
    {"mostly offloaded", 1, 2, 2, 0, 50, 6},
};

} // namespace

TEST_CASE("messages under way are matched in MPI's order", "[matching][property]") {
  for (const std::string& engine_name : matcher_registry().names()) {
    int by_interface = 0;
    for (const BoundedMix& mix : mixes) {
      for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(engine_name, mix.name, seed);
        const Offloaded outcome = play(engine_name, mix, seed);
        check_order(outcome);
        by_interface += outcome.by_interface;
      }
    }
    CAPTURE(engine_name);
    if (matcher_registry().at(engine_name).traits().in_interface) {
      CHECK(by_interface > 1'000); // the property was at stake
    } else {
      CHECK(by_interface == 0);
    }
  }
}

TEST_CASE("without ANY_SOURCE every engine makes the same pairs", "[matching][property]") {
  for (const BoundedMix& mix : mixes) {
    if (mix.wildcard_sources != 0) {
      continue;
    }
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const Offloaded expected = play("list", mix, seed);
      for (const std::string& engine_name : matcher_registry().names()) {
        CAPTURE(engine_name, mix.name, seed);
        REQUIRE(play(engine_name, mix, seed).receive_of == expected.receive_of);
      }
    }
  }
}
