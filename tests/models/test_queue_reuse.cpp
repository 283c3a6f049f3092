// Which queue a walk finds in its core's caches: what has been walked since counts, not what is there.
#include "models/matching/queue_reuse.hpp"
#include "support/matching_case.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace contend;
using test::MatchingCase;

TEST_CASE("a walk comes back to its queue after all of it, and what was walked of the other one", "[matching][walk]") {
  QueueReuse reuse(100, 10);
  CHECK(reuse.walk_receives(5, 8, 1000) == 800); // nobody has walked the messages
  CHECK(reuse.walk_messages(20, 1000, 8) == 10'000 + 500);
  CHECK(reuse.walk_messages(7, 1000, 8) == 10'000);
  CHECK(reuse.walk_receives(1, 8, 1000) == 800 + 270); // both walks
  CHECK(reuse.walk_receives(3, 8, 1000) == 800);
  CHECK(reuse.walk_messages(0, 1000, 2) == 10'000 + 200); // what has left the queue since is no part of it
  CHECK(reuse.walk_messages(1, 1000, 8) == 10'000 + 400); // a walk that visits nothing brings nothing back
  CHECK(reuse.walk_messages(1, 1000, 8) == 10'000);
}

TEST_CASE("messages that only wait do not evict the receives that others are compared with", "[matching][walk]") {
  const std::string engine = GENERATE("hash-bins", "list", "ob1", "offload", "per-source", "vector");
  constexpr int waiting = 100'000; // far more than the cache holds, at 16 bytes each
  CAPTURE(engine);
  MatchingCase one(engine);
  one.run([&](SimThread& self) {
    for (int tag = 1; tag <= 100; ++tag) {
      one.receive(self, 0, tag);
    }
    one.message(self, 0, 0);
    const Duration first = one.cost;
    bool is_alike = true;
    for (int count = 1; count < waiting; ++count) {
      one.message(self, 0, 0);
      is_alike = is_alike && one.cost == first;
    }
    CHECK(is_alike);
    CHECK(one.matcher().unexpected() == waiting);

    one.receive(self, any_source, 1000); // walks all messages
    REQUIRE_FALSE(one.taken);
    one.message(self, 0, 0);
    const Duration after_walk = one.cost;
    one.message(self, 0, 0);
    CHECK(after_walk > one.cost);
  });
}
