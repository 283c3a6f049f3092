// Every matching engine finds what the plain rules find.
#include "models/matching/matcher.hpp"
#include "support/machine.hpp"
#include "support/reference_matcher.hpp"

#include <catch2/catch.hpp>

#include <deque>
#include <memory>
#include <string>

using namespace contend;

namespace {

struct Mix {
  const char* name;
  int peers;
  int tags;
  std::uint64_t wildcard_sources; ///< one receive in so many; 0: none
  std::uint64_t wildcard_tags;
  std::uint64_t receives; ///< of ten operations
  int communicators = 1;  ///< that share the queues
};

/// Small sizes, so that bins, blocks and the interface's list fill up.
MatchingSizes small_sizes(std::uint64_t seed) {
  MatchingSizes sizes;
  sizes.bins = static_cast<int>(1 + seed % 7);
  sizes.vector_width = static_cast<int>(1 + seed % 5);
  sizes.offload_capacity = static_cast<int>(seed % 11);
  return sizes;
}

void run(const std::string& engine_name, const Mix& mix, std::uint64_t seed) {
  Engine engine(seed);
  const Host host = test::small_host();
  const std::unique_ptr<Matcher> matcher = matcher_registry().at(engine_name)({host, {}, small_sizes(seed), mix.peers});
  engine.spawn("t", 0, 0, [&](SimThread& self) {
    RandomStream random = engine.stream("operations");
    test::ReferenceMatcher reference;
    std::deque<PostedReceive> receives;
    const auto below = [&random](int limit) {
      return static_cast<int>(random.below(static_cast<std::uint64_t>(limit)));
    };
    const auto one_in = [&random](std::uint64_t n) { return n > 0 && random.below(n) == 0; };
    const auto tag = [&] { return one_in(8) ? -100 - below(3) : below(mix.tags); };
    for (int step = 0; step < 400; ++step) {
      CAPTURE(engine_name, mix.name, seed, step);
      const int communicator = 3 + below(mix.communicators);
      if (random.below(10) < mix.receives) {
        PostedReceive& receive = receives.emplace_back();
        receive.communicator = communicator;
        receive.source = one_in(mix.wildcard_sources) ? any_source : below(mix.peers);
        receive.tag = one_in(mix.wildcard_tags) ? any_tag : tag();
        const std::optional<Envelope> message = matcher->post(self, receive);
        if (message) {
          REQUIRE(reference.may_take(receive, *message));
          reference.take(*message);
        } else {
          REQUIRE(reference.may_wait(receive));
          reference.append(receive);
        }
      } else {
        const Envelope envelope{communicator, below(mix.peers), tag(), 0, step};
        const PostedReceive* const match = matcher->arrive(self, envelope);
        REQUIRE(match == reference.arrive(envelope));
      }
      REQUIRE(matcher->posted() == static_cast<std::int64_t>(reference.posted()));
      REQUIRE(matcher->unexpected() == static_cast<std::int64_t>(reference.unexpected()));
    }
  });
  engine.run();
}

} // namespace

TEST_CASE("matching engines agree with the plain rules", "[matching][property]") {
  const Mix mixes[] = {
      {"specific receives", 3, 4, 0, 0, 5}, {"any source", 4, 3, 3, 0, 5},
      {"any tag", 3, 4, 0, 3, 5},           {"any of both", 4, 3, 3, 3, 5},
      {"one peer, one tag", 1, 1, 2, 2, 5}, {"mostly posted", 4, 4, 4, 4, 7},
      {"mostly unexpected", 4, 4, 4, 4, 3}, {"several communicators", 3, 2, 4, 4, 5, 3},
      {"deep queues", 2, 40, 10, 10, 6, 2},
  };
  for (const std::string& engine_name : matcher_registry().names()) {
    for (const Mix& mix : mixes) {
      for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        run(engine_name, mix, seed);
      }
    }
  }
}

TEST_CASE("any tag does not take the library's own messages", "[matching]") {
  for (const std::string& engine_name : matcher_registry().names()) {
    CAPTURE(engine_name);
    Engine engine(1);
    const Host host = test::small_host();
    const auto matcher = matcher_registry().at(engine_name)({host, {}, {}, 2});
    engine.spawn("t", 0, 0, [&](SimThread& self) {
      PostedReceive wildcard;
      CHECK_FALSE(matcher->post(self, wildcard));
      CHECK(matcher->arrive(self, {0, 1, -100, 0, 0}) == nullptr);
      CHECK(matcher->unexpected() == 1);
      PostedReceive late;
      CHECK_FALSE(matcher->post(self, late)); // neither from the unexpected queue
      PostedReceive internal;
      internal.tag = -100;
      internal.source = 1;
      const std::optional<Envelope> message = matcher->post(self, internal);
      REQUIRE(message);
      CHECK(message->tag == -100);
      CHECK(matcher->arrive(self, {0, 1, 0, 0, 0}) == &wildcard);
    });
    engine.run();
  }
}

TEST_CASE("an engine locks itself where it says that every source has queues of its own", "[matching]") {
  for (const std::string& engine_name : matcher_registry().names()) {
    CAPTURE(engine_name);
    Engine engine(1);
    const Host host = test::small_host();
    MatcherSetup setup{host, {}, {}, 2};
    CHECK_FALSE(matcher_registry().at(engine_name)(setup)->locks_itself());
    setup.engine = &engine;
    setup.make_lock = [&](std::string_view name) {
      return lock_registry().at("ticket")(engine, host, LockParameters{}, name);
    };
    CHECK(matcher_registry().at(engine_name)(setup)->locks_itself() ==
          matcher_registry().at(engine_name).traits().queues_by_source);
  }
}

TEST_CASE("a matching engine is found by name only", "[matching]") {
  CHECK_THROWS_AS(matcher_registry().at("no such engine"), std::out_of_range);
  CHECK_THROWS_AS(matcher_registry().add("ob1", matcher_registry().at("ob1")), std::logic_error);
}
