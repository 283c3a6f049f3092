// Queues that fill and empty: send queues, completions, credits.
#include "models/locks/lock.hpp"
#include "support/wire.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace contend;
using test::cache;
using test::plain;

namespace {

const Duration look = cache.hit + plain.empty_poll; ///< at a queue whose line is in the cache

} // namespace

TEST_CASE("polling an empty queue costs a look and is charged to poll_idle", "[nic]") {
  test::Wire wire(plain);
  wire.connect();
  wire.engine.spawn("poller", 0, 0, [&](SimThread& self) {
    test::Inbox inbox;
    NicContext& context = *wire.remotes[0];
    CHECK_FALSE(context.has_completions());
    CHECK(context.poll(self, inbox) == 0);
    const TimePoint start = self.now();
    CHECK(context.poll(self, inbox) == 0);
    CHECK(self.now() - start == look);
    CHECK(test::spent(self, Category::poll_idle) == test::clock(self));
  });
  wire.engine.run();
}

TEST_CASE("a poll handles a batch at most, each entry at its price", "[nic]") {
  NicParameters parameters = plain;
  parameters.poll_batch = 3;
  test::Wire wire(parameters);
  Endpoint& endpoint = wire.connect();
  test::Inbox inbox;
  wire.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    for (int k = 0; k < 7; ++k) {
      REQUIRE(endpoint.post(self, test::message(k), 0));
    }
  });
  wire.engine.spawn("poller", 0, 2, [&](SimThread& self) {
    NicContext& context = *wire.remotes[0];
    context.poll(self, inbox);
    self.spend(20_us, Category::software);
    for (const int expected : {3, 3, 1, 0}) {
      const TimePoint start = self.now();
      CHECK(context.poll(self, inbox) == expected);
      CHECK(self.now() - start == look + parameters.completion * expected);
    }
  });
  wire.engine.run();
  REQUIRE(inbox.messages.size() == 7);
  for (int k = 0; k < 7; ++k) {
    CHECK(inbox.messages[static_cast<std::size_t>(k)].tag == k);
  }
}

TEST_CASE("what a poll has taken out is handled when the lock has been given back", "[nic][oracle]") {
  constexpr int messages = 5;
  constexpr Duration each = 1_us;
  struct Handler final : CompletionHandler {
    explicit Handler(const Lock& guard) : lock(guard) {}
    void receive(SimThread& self, const Envelope& envelope) override {
      held += lock.holder() == &self ? 1 : 0;
      tags.push_back(envelope.tag);
      self.spend(each, Category::software);
    }
    const Lock& lock;
    int held = 0;
    std::vector<int> tags;
  };
  for (const bool unlocked : {false, true}) {
    CAPTURE(unlocked);
    test::Wire wire(plain);
    Endpoint& endpoint = wire.connect();
    NicContext& context = *wire.remotes[0];
    const auto lock = lock_registry().at("ticket")(wire.engine, wire.host, test::small_locks(), "lock");
    Handler handler(*lock);
    wire.engine.spawn("sender", 0, 0, [&](SimThread& self) {
      for (int k = 0; k < messages; ++k) {
        REQUIRE(endpoint.post(self, test::message(k), 0));
      }
    });
    Duration handling{};
    wire.engine.spawn("poller", 0, 2, [&](SimThread& self) {
      self.spend(20_us, Category::software);
      lock->lock(self);
      const TimePoint found = self.now();
      if (unlocked) {
        CHECK(context.drain_unlocked(self, handler, *lock) == messages);
      } else {
        CHECK(context.drain(self, handler) == messages);
        lock->unlock(self);
      }
      handling = self.now() - found;
    });
    Duration waited{};
    wire.engine.spawn("other", 0, 4, [&](SimThread& self) {
      self.spend(20'100_ns, Category::software);
      const TimePoint asked = self.now();
      lock->lock(self);
      waited = self.now() - asked;
      lock->unlock(self);
    });
    wire.engine.run();
    CHECK(handler.tags == std::vector<int>{0, 1, 2, 3, 4});
    CHECK(handler.held == (unlocked ? 0 : messages));
    CHECK(handling >= messages * (each + plain.completion)); // the same work
    CHECK((waited > messages * each) == !unlocked);
  }
}

TEST_CASE("lines of a send queue and of a completion queue move one after the other", "[nic]") {
  // The first core fetches them, then it finds them, and another core takes them from it.
  struct Took {
    std::vector<Duration> posting;
    std::vector<Duration> polling;
  };
  const auto times = [](int post_lines, int completion_lines) {
    NicParameters parameters = plain;
    parameters.post_lines = post_lines;
    parameters.completion_lines = completion_lines;
    test::Wire wire(parameters);
    Endpoint& endpoint = wire.connect();
    Took took;
    const auto post_at = [&](SimThread& self, Duration begin) {
      self.spend(begin - (self.now() - TimePoint{}), Category::software);
      const TimePoint called = self.now();
      REQUIRE(endpoint.post(self, test::message(0), 0));
      self.settle();
      took.posting.push_back(self.now() - called);
    };
    const auto poll_at = [&](SimThread& self, Duration begin) {
      self.spend(begin - (self.now() - TimePoint{}), Category::software);
      const TimePoint called = self.now();
      test::Inbox inbox;
      REQUIRE(wire.remotes[0]->poll(self, inbox) == 1);
      took.polling.push_back(self.now() - called);
    };
    wire.engine.spawn("sender", 0, 0, [&](SimThread& self) {
      post_at(self, 1_us);
      post_at(self, 11_us);
    });
    wire.engine.spawn("other sender", 0, 2, [&](SimThread& self) { post_at(self, 21_us); });
    wire.engine.spawn("poller", 0, 4, [&](SimThread& self) {
      poll_at(self, 10_us);
      poll_at(self, 20_us);
    });
    wire.engine.spawn("other poller", 0, 6, [&](SimThread& self) { poll_at(self, 30_us); });
    wire.engine.run();
    return took;
  };
  const Duration post = plain.post + plain.doorbell;
  const Duration poll = plain.empty_poll + plain.completion;
  const std::vector<Duration> of_a_line = {cache.l3_hit + cache.hit, cache.hit, cache.transfer_socket + cache.hit};
  const Took single = times(1, 0);
  const Took several = times(4, 3);
  REQUIRE(single.posting.size() == 3);
  REQUIRE(single.polling.size() == 3);
  for (std::size_t turn = 0; turn < 3; ++turn) {
    CAPTURE(turn);
    CHECK(single.posting[turn] == post + of_a_line[turn]);
    CHECK(several.posting[turn] == post + 4 * of_a_line[turn]);
    CHECK(single.polling[turn] == poll + of_a_line[turn]); // the line that a look writes
    CHECK(several.polling[turn] == poll + 4 * of_a_line[turn]);
  }
}

TEST_CASE("a full send queue refuses at the price of a look, and takes again after a poll", "[nic]") {
  NicParameters parameters = plain;
  parameters.send_queue_depth = 4;
  test::Wire wire(parameters);
  Endpoint& endpoint = wire.connect();
  test::Inbox inbox;
  wire.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    for (int k = 0; k < 4; ++k) {
      CHECK(endpoint.outstanding() == k);
      REQUIRE(endpoint.post(self, test::message(k), 0));
    }
    const TimePoint start = self.now();
    CHECK_FALSE(endpoint.post(self, test::message(99), 0));
    CHECK(self.now() - start == cache.hit);
    self.spend(20_us, Category::software);
    CHECK_FALSE(endpoint.post(self, test::message(99), 0)); // done on the wire, but not yet seen
    CHECK(endpoint.outstanding() == 4);
    CHECK(wire.locals[0]->poll(self, inbox) == 4);
    CHECK(endpoint.outstanding() == 0);
    CHECK(endpoint.post(self, test::message(4), 0));
  });
  wire.engine.run();
  CHECK(inbox.messages.empty()); // send completions deliver nothing
  CHECK(wire.interfaces[0]->messages_sent() == 5);
  CHECK(wire.receiver.messages_received() == 5);
}

TEST_CASE("a refused message is not sent, and depth counts per endpoint", "[nic]") {
  NicParameters parameters = plain;
  parameters.send_queue_depth = 2;
  test::Wire wire(parameters);
  Endpoint& first = wire.connect();
  Endpoint second(*wire.locals[0], *wire.remotes[0]); // same context, other queue pair
  wire.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    REQUIRE(first.post(self, test::message(0), 0));
    REQUIRE(first.post(self, test::message(1), 0));
    REQUIRE_FALSE(first.post(self, test::message(2), 0));
    REQUIRE(second.post(self, test::message(3), 0));
    test::Inbox inbox;
    self.spend(20_us, Category::software);
    CHECK(wire.locals[0]->poll(self, inbox) == 3);
    CHECK(first.outstanding() == 0);
    CHECK(second.outstanding() == 0);
    CHECK(wire.remotes[0]->poll(self, inbox) == 3);
    REQUIRE(inbox.messages.size() == 3);
    CHECK(inbox.messages[2].tag == 3);
  });
  wire.engine.run();
}

TEST_CASE("moderated completions come once per batch", "[nic]") {
  NicParameters parameters = plain;
  parameters.send_completion_batch = 4;
  test::Wire wire(parameters);
  Endpoint& endpoint = wire.connect();
  wire.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    test::Inbox inbox;
    int posted = 0;
    const auto post = [&](int count) {
      for (int k = 0; k < count; ++k) {
        REQUIRE(endpoint.post(self, test::message(posted++), 0));
      }
      self.spend(20_us, Category::software);
    };
    post(3);
    CHECK(wire.locals[0]->poll(self, inbox) == 0);
    CHECK(endpoint.outstanding() == 3);
    post(1);
    CHECK(wire.locals[0]->poll(self, inbox) == 1);
    CHECK(endpoint.outstanding() == 0);
    post(9);
    CHECK(wire.locals[0]->poll(self, inbox) == 2);
    CHECK(endpoint.outstanding() == 1);
  });
  wire.engine.run();
  CHECK(wire.receiver.messages_received() == 13);
}

TEST_CASE("an exhausted window stalls until the peer polls and grants", "[nic][flow control]") {
  for (const int window : {1, 2, 3, 4, 8, 64}) {
    CAPTURE(window);
    NicParameters parameters = plain;
    parameters.flow_control_window = window;
    test::Wire wire(parameters);
    Endpoint& endpoint = wire.connect();
    bool receiver_may_poll = false;
    wire.engine.spawn("sender", 0, 0, [&](SimThread& self) {
      test::Inbox inbox;
      for (int k = 0; k < window; ++k) {
        REQUIRE(endpoint.post(self, test::message(k), 0));
      }
      REQUIRE_FALSE(endpoint.post(self, test::message(window), 0));
      self.spend(50_us, Category::software);
      wire.locals[0]->poll(self, inbox); // completions of sends are no credits
      REQUIRE(endpoint.outstanding() == 0);
      REQUIRE_FALSE(endpoint.post(self, test::message(window), 0));
      receiver_may_poll = true;
      self.spend(100_us, Category::software);
      REQUIRE_FALSE(endpoint.post(self, test::message(window), 0)); // the grant is there but has not been polled
      CHECK(wire.locals[0]->poll(self, inbox) == 1);
      for (int k = 0; k < window; ++k) {
        REQUIRE(endpoint.post(self, test::message(window + k), 0));
      }
      REQUIRE_FALSE(endpoint.post(self, test::message(0), 0));
    });
    wire.engine.spawn("receiver", 0, 2, [&](SimThread& self) {
      test::Inbox inbox;
      self.spend(60_us, Category::software);
      REQUIRE(receiver_may_poll);
      CHECK(wire.remotes[0]->poll(self, inbox) == window);
      CHECK(inbox.messages.size() == static_cast<std::size_t>(window));
    });
    wire.engine.run();
    CHECK(wire.receiver.messages_received() == static_cast<std::uint64_t>(2 * window));
  }
}

TEST_CASE("a grant goes out before the message that asked for it is delivered", "[nic][flow control]") {
  class SlowInbox final : public CompletionHandler {
  public:
    void receive(SimThread& self, const Envelope& /*envelope*/) override { self.spend(1_ms, Category::software); }
  };
  NicParameters parameters = plain;
  parameters.flow_control_window = 1; // each message asks
  test::Wire wire(parameters);
  Endpoint& endpoint = wire.connect();
  TimePoint granted;
  TimePoint delivered;
  wire.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    test::Inbox inbox;
    REQUIRE(endpoint.post(self, test::message(0), 0));
    while (!endpoint.has_room(0)) {
      wire.locals[0]->poll(self, inbox);
    }
    granted = self.now();
  });
  wire.engine.spawn("receiver", 0, 2, [&](SimThread& self) {
    SlowInbox inbox;
    while (wire.remotes[0]->poll(self, inbox) == 0) {
    }
    delivered = self.now();
  });
  wire.engine.run();
  CHECK(granted + 900_us < delivered);
}

TEST_CASE("a grant asked for in time keeps the stream going", "[nic][flow control]") {
  NicParameters parameters = plain;
  parameters.flow_control_window = 16;
  parameters.poll_batch = 4;
  test::Wire wire(parameters);
  Endpoint& endpoint = wire.connect();
  constexpr int count = 1'000;
  int refused = 0;
  test::Inbox inbox;
  wire.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    test::Inbox own;
    for (int k = 0; k < count;) {
      if (endpoint.post(self, test::message(k), 0)) {
        ++k;
        self.spend(2_us, Category::software); // slower than the way there and back for a quarter of the window
      } else {
        ++refused;
      }
      wire.locals[0]->poll(self, own);
    }
  });
  wire.engine.spawn("receiver", 0, 2, [&](SimThread& self) {
    while (inbox.messages.size() < count) {
      wire.remotes[0]->poll(self, inbox);
    }
  });
  wire.engine.run();
  CHECK(refused == 0);
}

TEST_CASE("each context keeps its order, whatever sizes and limits do", "[nic][property]") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    RandomStream shape(seed, "shape");
    NicParameters parameters = plain;
    parameters.context_gap = Duration::picoseconds(static_cast<std::int64_t>(shape.below(300'000)));
    parameters.nic_gap = Duration::picoseconds(static_cast<std::int64_t>(shape.below(100'000)));
    parameters.send_queue_depth = static_cast<int>(4 + shape.below(20));
    parameters.send_completion_batch = static_cast<int>(1 + shape.below(4));
    parameters.flow_control_window = shape.below(2) == 0 ? 0 : static_cast<int>(1 + shape.below(20));
    parameters.poll_batch = static_cast<int>(1 + shape.below(10));
    const int contexts = static_cast<int>(1 + shape.below(6));
    parameters.inline_bytes = static_cast<std::int64_t>(shape.below(3'000));
    parameters.payload_fetch = Duration::picoseconds(static_cast<std::int64_t>(shape.below(1'000'000)));
    parameters.bus_bytes_per_second = shape.below(2) == 0 ? 0.0 : 1e9 + static_cast<double>(shape.below(20)) * 1e9;
    constexpr int count = 60;
    test::Wire wire(parameters, test::plain_route(), 2);
    std::vector<test::Inbox> inboxes(static_cast<std::size_t>(contexts));
    for (int i = 0; i < contexts; ++i) {
      Endpoint& endpoint = wire.connect(i % 2);
      NicContext& local = *wire.locals.back();
      NicContext& remote = *wire.remotes.back();
      test::Inbox& inbox = inboxes[static_cast<std::size_t>(i)];
      wire.engine.spawn("sender " + std::to_string(i), 0, i, [&](SimThread& self) {
        RandomStream random = wire.engine.stream(self.name());
        test::Inbox own;
        for (int k = 0; k < count;) {
          k += endpoint.post(self, test::message(k), static_cast<std::int64_t>(random.below(3'000))) ? 1 : 0;
          if (random.below(3) == 0) {
            local.poll(self, own);
          }
        }
      });
      wire.engine.spawn("receiver " + std::to_string(i), 0, 8 + i, [&](SimThread& self) {
        while (inbox.messages.size() < count) {
          remote.poll(self, inbox);
        }
      });
    }
    wire.engine.set_step_limit(2'000'000);
    CAPTURE(seed, contexts);
    REQUIRE_NOTHROW(wire.engine.run());
    for (const test::Inbox& inbox : inboxes) {
      REQUIRE(inbox.messages.size() == count);
      for (int k = 0; k < count; ++k) {
        REQUIRE(inbox.messages[static_cast<std::size_t>(k)].tag == k);
      }
    }
  }
}

TEST_CASE("a unit that matches messages reports them in order, however long it takes for each", "[nic]") {
  struct Unit final : ActivityListener {
    void activity(TransportContext& /*context*/) override {}
    HardwareMatcher::Time arrived(Envelope& envelope) override {
      envelope.missed = true;
      return {{}, 5_us * (2 - envelope.tag)}; // it looks through fewer receives each time, at last none
    }
  };
  Unit unit;
  test::Wire wire(plain);
  NicContext& local = wire.interfaces[0]->create_context(wire.outbound, "local");
  NicContext& remote = wire.receiver.create_context(unit, "remote");
  Endpoint endpoint(local, remote);
  test::Inbox inbox;
  wire.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    for (int k = 0; k < 3; ++k) {
      REQUIRE(endpoint.post(self, test::message(k), 0));
    }
  });
  wire.engine.spawn("poller", 0, 2, [&](SimThread& self) {
    while (inbox.messages.size() < 3) {
      remote.poll(self, inbox);
    }
    CHECK(self.now().since_start() > 15_us);
  });
  wire.engine.run();
  for (int k = 0; k < 3; ++k) {
    CHECK(inbox.messages[static_cast<std::size_t>(k)].tag == k);
  }
}

TEST_CASE("connections of one context have FIFOs of their own as long as there are any", "[nic]") {
  for (const auto& [fifos, gaps] : std::map<int, int>{{1, 3}, {2, 1}, {4, 0}, {32, 0}}) {
    CAPTURE(fifos);
    NicParameters parameters = plain;
    parameters.context_gap = 10_us; // of one FIFO
    parameters.injection_fifos = fifos;
    test::Wire wire(parameters);
    wire.connect();
    NicContext& context = wire.interfaces[0]->create_context(wire.outbound, "shared");
    std::vector<std::unique_ptr<Endpoint>> shared;
    for (int peer = 0; peer < 4; ++peer) {
      shared.push_back(std::make_unique<Endpoint>(context, *wire.remotes[0]));
    }
    wire.engine.spawn("sender", 0, 0, [&](SimThread& self) {
      for (const auto& endpoint : shared) {
        REQUIRE(endpoint->post(self, test::message(0), 0));
      }
    });
    wire.engine.run();
    REQUIRE(wire.inbound.times.size() == 4);
    const Duration spread = wire.inbound.times.back().time - wire.inbound.times.front().time;
    CHECK(spread >= gaps * parameters.context_gap);
    CHECK(spread < gaps * parameters.context_gap + 1_us);
  }
}
