#include "core/coroutine.hpp"

#include <catch2/catch.hpp>

#include <stdexcept>
#include <vector>

using namespace contend;

namespace {

/// What coroutines of these tests live in, and where they write down what they do.
struct Chain {
  FramePool pool;
  Activation activation;
  std::vector<int> seen;
  [[nodiscard]] FramePool& frames() { return pool; }
};

struct Pause {
  [[nodiscard]] bool await_ready() const { return false; }
  void await_suspend(CoTask::Handle handle) const { handle.promise().activation().suspend(); }
  void await_resume() const {}
};

// Tests count frames in the pool. A compiler that sees a coroutine's creation and end together may put its frame elsewhere
// (clang does); it cannot where it must call the function.
[[gnu::noinline]] CoTask leaf(Chain& chain, int number) {
  chain.seen.push_back(number);
  co_await Pause{};
  chain.seen.push_back(-number);
}

[[gnu::noinline]] CoTask branch(Chain& chain) {
  chain.seen.push_back(10);
  co_await leaf(chain, 1);
  co_await leaf(chain, 2);
  chain.seen.push_back(20);
}

[[gnu::noinline]] CoTask countdown(Chain& chain, int depth) {
  if (depth > 0) {
    co_await countdown(chain, depth - 1);
  } else {
    co_await Pause{};
  }
}

CoTask fails(Chain& chain) {
  co_await leaf(chain, 1);
  throw std::runtime_error("broken");
}

CoTask loops(Chain& chain, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await countdown(chain, 3);
  }
}

void pauses(Chain& chain, int times) {
  for (int i = 0; i < times; ++i) {
    REQUIRE_FALSE(chain.activation.run());
  }
}

} // namespace

TEST_CASE("a chain of coroutines suspends as a whole and goes on where it was", "[coroutine]") {
  Chain chain;
  CoTask task = branch(chain);
  task.start(chain.activation);
  CHECK(chain.seen.empty());
  CHECK_FALSE(chain.activation.run());
  CHECK(chain.seen == std::vector{10, 1});
  CHECK_FALSE(chain.activation.run());
  CHECK(chain.seen == std::vector{10, 1, -1, 2});
  CHECK(chain.activation.run());
  CHECK(chain.seen == std::vector{10, 1, -1, 2, -2, 20});
  CHECK(chain.activation.ended());
}

TEST_CASE("depth of calls takes memory of the pool, not of the stack", "[coroutine]") {
  Chain chain;
  constexpr int depth = 200'000;
  {
    CoTask task = countdown(chain, depth);
    task.start(chain.activation);
    CHECK_FALSE(chain.activation.run());
    CHECK(chain.pool.live() == depth + 1);
    CHECK(chain.activation.run());
    CHECK(chain.pool.live() == 1);
  }
  CHECK(chain.pool.live() == 0);
}

TEST_CASE("frames are used again", "[coroutine]") {
  Chain chain;
  CoTask task = loops(chain, 1000);
  task.start(chain.activation);
  pauses(chain, 1);
  const std::size_t reserved = chain.pool.reserved_bytes();
  pauses(chain, 999);
  CHECK(chain.activation.run());
  CHECK(chain.pool.reserved_bytes() == reserved);
}

TEST_CASE("an exception goes to whoever drives the chain", "[coroutine]") {
  Chain chain;
  {
    CoTask task = fails(chain);
    task.start(chain.activation);
    pauses(chain, 1);
    CHECK_THROWS_WITH(chain.activation.run(), "broken");
  }
  CHECK(chain.pool.live() == 0);
}

TEST_CASE("a chain that is given up leaves nothing behind", "[coroutine]") {
  Chain chain;
  {
    CoTask task = branch(chain);
    task.start(chain.activation);
    pauses(chain, 2);
    CHECK(chain.pool.live() == 2);
  }
  CHECK(chain.pool.live() == 0);
}

TEST_CASE("a frame above the largest pooled size is served as well", "[coroutine]") {
  FramePool pool;
  void* const small = pool.allocate(1);
  void* const large = pool.allocate(100'000);
  CHECK(pool.live() == 2);
  CHECK(reinterpret_cast<std::uintptr_t>(small) % 16 == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(large) % 16 == 0);
  FramePool::release(large);
  FramePool::release(small);
  CHECK(pool.allocate(2) == small);
  FramePool::release(small);
  CHECK(pool.live() == 0);
}
