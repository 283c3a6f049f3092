// Credits for posted receive buffers: they are conserved, they come back, and nobody waits for ever.
#include "core/random.hpp"
#include "support/wire.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <string>

using namespace contend;

namespace {

/// Two interfaces with a connection whose ends count credits.
struct BothEnds {
  explicit BothEnds(const CreditParameters& credits, const NicParameters& parameters = test::plain_nic())
      : host(test::small_host()), left_nic(engine, host, parameters, test::plain_route()),
        right_nic(engine, host, parameters, test::plain_route()), activity(engine),
        left_context(left_nic.create_context(activity, "left")),
        right_context(right_nic.create_context(activity, "right")), left(left_context, right_context, credits),
        right(right_context, left_context, credits) {
    Endpoint::pair(left, right);
  }

  Engine engine{1};
  Host host;
  Nic left_nic;
  Nic right_nic;
  test::Activity activity;
  NicContext& left_context;
  NicContext& right_context;
  Endpoint left;
  Endpoint right;
};

void check_bounds(const Endpoint& endpoint, const CreditParameters& credits) {
  REQUIRE(endpoint.credits().available() >= 0);
  REQUIRE(endpoint.credits().available() <= credits.buffers);
  REQUIRE(endpoint.credits().posted_buffers() >= 0);
  REQUIRE(endpoint.credits().posted_buffers() <= credits.buffers);
  REQUIRE(endpoint.credits().control_sent() >= 0);
  REQUIRE(endpoint.credits().control_sent() < credits.reserve);
  REQUIRE(endpoint.credits().tokens() >= 0);
  REQUIRE(endpoint.credits().tokens() <= credits.eager_rdma_buffers);
}

/// Sends `count` messages as soon as they may go, and polls in between.
void stream(SimThread& self, Endpoint& endpoint, NicContext& context, int count, int expected, test::Inbox& inbox,
            const CreditParameters& credits, Duration pause) {
  int sent = 0;
  while (sent < count || inbox.messages.size() < static_cast<std::size_t>(expected)) {
    if (sent < count && endpoint.post(self, test::message(sent), 40)) {
      ++sent;
    }
    check_bounds(endpoint, credits);
    context.poll(self, inbox);
    check_bounds(endpoint, credits);
    self.spend(pause, Category::software);
  }
}

/// Progress for the other side's sake. Messages for credits come to an end: none provokes another one for ever.
void poll_until_silent(SimThread& self, NicContext& context, test::Inbox& inbox) {
  for (int k = 0; k < 19'000; ++k) {
    context.poll(self, inbox);
  }
  for (int k = 0; k < 1'000; ++k) {
    REQUIRE(context.poll(self, inbox) == 0);
  }
}

} // namespace

TEST_CASE("a sender stops when the peer's buffers are used up", "[nic][credits]") {
  for (const CreditParameters credits : {CreditParameters{1, 0, 1, 2}, CreditParameters{4, 3, 2, 4},
                                         CreditParameters{16, 12, 8, 4}, CreditParameters{256, 192, 128, 4}}) {
    CAPTURE(credits.buffers);
    BothEnds connection(credits);
    test::Inbox left_box;
    test::Inbox right_box;
    connection.engine.spawn("left", 0, 0, [&](SimThread& self) {
      for (int k = 0; k < credits.buffers; ++k) {
        REQUIRE(connection.left.post(self, test::message(k), 40));
      }
      REQUIRE_FALSE(connection.left.has_room(40));
      REQUIRE_FALSE(connection.left.post(self, test::message(0), 40));
      self.spend(50_us, Category::software);
      connection.left_context.poll(self, left_box); // completions of sends are no credits
      REQUIRE(connection.left.outstanding() == 0);
      REQUIRE_FALSE(connection.left.post(self, test::message(0), 40));
      self.spend(200_us, Category::software);
      connection.left_context.poll(self, left_box);
      CHECK(connection.left.credits().available() >= credits.window); // back in a message of their own
      CHECK(connection.left.post(self, test::message(0), 40));
      CHECK(left_box.messages.empty()); // of which the library sees nothing
    });
    connection.engine.spawn("right", 0, 2, [&](SimThread& self) {
      self.spend(100_us, Category::software);
      connection.right_context.poll(self, right_box);
      CHECK(right_box.messages.size() == static_cast<std::size_t>(credits.buffers));
    });
    connection.engine.run();
  }
}

TEST_CASE("credits ride on messages that go the other way", "[nic][credits]") {
  const CreditParameters credits{8, 7, 8, 2}; // every buffer is posted again at once; a message for 8 credits only
  BothEnds connection(credits);
  test::Inbox left_box;
  test::Inbox right_box;
  connection.engine.spawn("left", 0, 0, [&](SimThread& self) {
    for (int k = 0; k < 3; ++k) {
      REQUIRE(connection.left.post(self, test::message(k), 40));
    }
    self.spend(100_us, Category::software);
    connection.left_context.poll(self, left_box);
    CHECK(left_box.messages.size() == 1);
    CHECK(connection.left.credits().available() == 8);
  });
  connection.engine.spawn("right", 0, 2, [&](SimThread& self) {
    self.spend(20_us, Category::software);
    connection.right_context.poll(self, right_box);
    CHECK(connection.right.credits().control_sent() == 0);
    REQUIRE(connection.right.post(self, test::message(0), 40));
  });
  connection.engine.run();
}

TEST_CASE("messages go into buffers that are looked at while there are some, and are found before those of the queue",
          "[nic][credits]") {
  CreditParameters credits{8, 6, 4, 2};
  credits.eager_rdma_buffers = 3;
  credits.eager_rdma_window = 1;
  NicParameters parameters = test::plain_nic();
  parameters.poll_batch = 2;
  BothEnds connection(credits, parameters);
  test::Inbox left_box;
  test::Inbox right_box;
  connection.engine.spawn("left", 0, 0, [&](SimThread& self) {
    for (int k = 0; k < 8; ++k) {
      REQUIRE(connection.left.post(self, test::message(k), 40));
      CHECK(connection.left.credits().tokens() == std::max(0, 2 - k));
      CHECK(connection.left.credits().available() == (k < 3 ? 8 : 10 - k));
    }
    REQUIRE_FALSE(connection.left.has_room(40)); // the send queue is as long as the receive queue
    self.spend(200_us, Category::software);
    while (left_box.messages.empty() && connection.left.credits().tokens() == 0) {
      connection.left_context.poll(self, left_box);
    }
    CHECK(connection.left.credits().tokens() == 2); // more than one was free
    CHECK(connection.left.credits().available() == 3);
  });
  connection.engine.spawn("right", 0, 2, [&](SimThread& self) {
    self.spend(100_us, Category::software);
    for (const std::size_t found :
         {std::size_t{1}, std::size_t{2}}) { // a poll takes one of each connection, and leaves the queue alone
      connection.right_context.poll(self, right_box);
      CHECK(right_box.messages.size() == found);
      CHECK(connection.right.credits().posted_buffers() == 8);
    }
  });
  connection.engine.run();
}

TEST_CASE("a piece of payload needs a receive buffer, whatever buffers there are for eager RDMA", "[nic][credits]") {
  CreditParameters credits{2, 1, 2, 2};
  credits.eager_rdma_buffers = 4;
  credits.eager_rdma_window = 1;
  BothEnds connection(credits);
  test::Inbox left_box;
  connection.engine.spawn("left", 0, 0, [&](SimThread& self) {
    for (int k = 0; k < 2; ++k) {
      REQUIRE(connection.left.post_bulk(self, Bulk::send, test::message(k), 1'000));
    }
    self.spend(100_us, Category::software);
    connection.left_context.poll(self, left_box); // the work requests are done, but nobody has read the buffers
    CHECK(connection.left.outstanding() == 0);
    CHECK(connection.left.credits().available() == 0);
    CHECK(connection.left.has_room(40)); // by eager RDMA
    CHECK_FALSE(connection.left.has_room_for(Bulk::send, 1'000));
    CHECK_FALSE(connection.left.post_bulk(self, Bulk::send, test::message(2), 1'000));
    CHECK(connection.left.credits().available() == 0);
  });
  connection.engine.run();
}

TEST_CASE("a message and credits that another thread sends do not take the same buffer", "[nic][credits]") {
  CreditParameters credits{2, 1, 1, 2};
  credits.eager_rdma_buffers = 2;
  credits.eager_rdma_window = 1;
  bool together = false;
  for (Duration offset; offset < 200_ns; offset += 10_ns) {
    CAPTURE(offset.count());
    BothEnds connection(credits);
    Endpoint& left = connection.left;
    test::Inbox left_box;
    connection.engine.spawn("left sender", 0, 0, [&](SimThread& self) {
      for (int k = 0; k < 2; ++k) {
        REQUIRE(left.post_bulk(self, Bulk::send, test::message(k), 1'000));
      }
      self.spend(20_us, Category::software);
      connection.left_context.poll(self, left_box);
      REQUIRE(left.post(self, test::message(2), 40));
      self.spend(20_us, Category::software);
      connection.left_context.poll(self, left_box);
      REQUIRE(left.credits().available() == 0); // the peer has not looked
      REQUIRE(left.credits().tokens() == 1);
      self.spend(TimePoint::at(100_us) - self.now(), Category::software);
      const bool sent = left.post(self, test::message(3), 40);
      CHECK(left.credits().available() >= 0);
      CHECK(left.credits().tokens() >= 0);
      together = together || (sent && left.credits().control_sent() == 1);
    });
    connection.engine.spawn("left poller", 0, 1, [&](SimThread& self) {
      self.spend(TimePoint::at(100_us) - 100_ns + offset - self.now(), Category::software);
      connection.left_context.poll(self, left_box); // its buffer is posted again, and the peer told
      CHECK(left_box.messages.size() == 1);
    });
    connection.engine.spawn("right", 0, 2, [&](SimThread& self) {
      self.spend(50_us, Category::software);
      REQUIRE(connection.right.post_bulk(self, Bulk::send, test::message(0), 1'000));
    });
    connection.engine.run();
  }
  CHECK(together);
}

TEST_CASE("credits and buffers stay within their numbers when other threads send than poll", "[nic][credits]") {
  constexpr std::size_t count = 60;
  RandomStream random(11, "credits");
  for (int round = 0; round < 200; ++round) {
    CreditParameters credits{static_cast<int>(2 + random.below(3)), 1, 1, 2};
    credits.eager_rdma_buffers = static_cast<int>(2 + random.below(2));
    credits.eager_rdma_window = 1;
    CAPTURE(round, credits.buffers, credits.eager_rdma_buffers);
    BothEnds connection(credits);
    connection.engine.set_step_limit(10'000'000);
    test::Inbox left_box;
    test::Inbox right_box;
    const auto pause = [&random](SimThread& self) { self.spend(random.exponential(300_ns), Category::software); };
    const auto side = [&](const std::string& name, int core, Endpoint& endpoint, NicContext& context,
                          test::Inbox& inbox) {
      connection.engine.spawn(name + " sender", 0, core, [&](SimThread& self) {
        for (std::size_t sent = 0; sent < count; pause(self)) {
          sent += endpoint.post(self, test::message(0), 40) ? 1 : 0;
          check_bounds(endpoint, credits);
        }
      });
      connection.engine.spawn(name + " poller", 0, core + 2, [&](SimThread& self) {
        for (; left_box.messages.size() < count || right_box.messages.size() < count; pause(self)) {
          context.poll(self, inbox);
          check_bounds(endpoint, credits);
        }
      });
    };
    side("left", 0, connection.left, connection.left_context, left_box);
    side("right", 8, connection.right, connection.right_context, right_box);
    connection.engine.run();
  }
}

TEST_CASE("both sides out of credits go on, whatever the numbers", "[nic][credits]") {
  RandomStream random(7, "credits");
  for (int round = 0; round < 120; ++round) {
    CreditParameters credits;
    credits.buffers = 1 + static_cast<int>(random.below(20));
    credits.low_watermark = static_cast<int>(random.below(static_cast<std::uint64_t>(credits.buffers)));
    // More than this may never come together: fewer used buffers are not posted again.
    credits.window = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(credits.low_watermark) + 1));
    credits.reserve = 2 + static_cast<int>(random.below(12));
    if (round % 2 == 1) {
      credits.eager_rdma_buffers = 2 + static_cast<int>(random.below(19));
      credits.eager_rdma_window =
          1 + static_cast<int>(random.below(static_cast<std::uint64_t>(credits.eager_rdma_buffers) - 1));
    }
    NicParameters parameters = test::plain_nic();
    parameters.poll_batch = 1 + static_cast<int>(random.below(8));
    parameters.send_completion_batch = 1 + static_cast<int>(random.below(8));
    const int left_count = static_cast<int>(random.below(200));
    const int right_count = static_cast<int>(random.below(200));
    CAPTURE(round, credits.buffers, credits.low_watermark, credits.window, credits.reserve, left_count, right_count,
            credits.eager_rdma_buffers, credits.eager_rdma_window);
    BothEnds connection(credits, parameters);
    connection.engine.set_step_limit(5'000'000);
    test::Inbox left_box;
    test::Inbox right_box;
    const Duration pause = 1_ns * static_cast<std::int64_t>(1 + random.below(2'000));
    connection.engine.spawn("left", 0, 0, [&](SimThread& self) {
      stream(self, connection.left, connection.left_context, left_count, right_count, left_box, credits, 100_ns);
      poll_until_silent(self, connection.left_context, left_box);
    });
    connection.engine.spawn("right", 0, 2, [&](SimThread& self) {
      stream(self, connection.right, connection.right_context, right_count, left_count, right_box, credits, pause);
      poll_until_silent(self, connection.right_context, right_box);
    });
    connection.engine.run();
    REQUIRE(left_box.messages.size() == static_cast<std::size_t>(right_count));
    REQUIRE(right_box.messages.size() == static_cast<std::size_t>(left_count));
  }
}

TEST_CASE("a mailbox takes as many messages as it has slots, and tells of free ones without the sender's help",
          "[nic][credits]") {
  const CreditParameters mailbox{4, 0, 2, 0, true};
  NicParameters parameters = test::plain_nic();
  parameters.poll_batch = 1;
  BothEnds connection(mailbox, parameters);
  test::Inbox box;
  connection.engine.spawn("left", 0, 0, [&](SimThread& self) {
    for (int k = 0; k < 4; ++k) {
      REQUIRE(connection.left.post(self, test::message(k), 40));
    }
    REQUIRE_FALSE(connection.left.has_room(40));
    REQUIRE_FALSE(connection.left.post(self, test::message(4), 40));
    self.spend(100_us, Category::software); // the receiver has read one: that is not told yet
    REQUIRE(box.messages.size() == 1);
    CHECK(connection.left.credits().available() == 0);
    self.spend(100_us, Category::software); // and two more, of which the first makes a pair; nothing was polled here
    REQUIRE(box.messages.size() == 3);
    CHECK(connection.left.credits().available() == 2);
    CHECK(connection.left.post(self, test::message(4), 40));
    CHECK(connection.left.credits().available() == 1);
  });
  connection.engine.spawn("right", 0, 2, [&](SimThread& self) {
    for (const int more : {1, 2, 2}) {
      self.spend(80_us, Category::software);
      for (int k = 0; k < more; ++k) {
        connection.right_context.poll(self, box);
      }
    }
  });
  connection.engine.run();
  CHECK(box.messages.size() == 5);
  CHECK(connection.left.credits().available() == 3); // four messages were told of, one is left over
}

TEST_CASE("slots of mailboxes are neither lost nor found", "[nic][credits]") {
  RandomStream random(11, "mailboxes");
  for (int round = 0; round < 60; ++round) {
    const int slots = 1 + static_cast<int>(random.below(20));
    const int together = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(slots)));
    const CreditParameters mailbox{slots, 0, together, 0, true};
    NicParameters parameters = test::plain_nic();
    parameters.poll_batch = 1 + static_cast<int>(random.below(8));
    const int left_count = static_cast<int>(random.below(200));
    const int right_count = static_cast<int>(random.below(200));
    CAPTURE(round, slots, together, left_count, right_count);
    BothEnds connection(mailbox, parameters);
    connection.engine.set_step_limit(5'000'000);
    const auto exchange = [](SimThread& self, Endpoint& end, NicContext& context, int count, int expected,
                             test::Inbox& inbox, Duration pause) {
      int sent = 0;
      while (sent < count || inbox.messages.size() < static_cast<std::size_t>(expected)) {
        sent += sent < count && end.post(self, test::message(sent), 40) ? 1 : 0;
        REQUIRE(end.credits().available() >= 0);
        context.poll(self, inbox);
        self.spend(pause, Category::software);
      }
    };
    test::Inbox left_box;
    test::Inbox right_box;
    const Duration pause = 1_ns * static_cast<std::int64_t>(1 + random.below(2'000));
    connection.engine.spawn("left", 0, 0, [&](SimThread& self) {
      exchange(self, connection.left, connection.left_context, left_count, right_count, left_box, 100_ns);
    });
    connection.engine.spawn("right", 0, 2, [&](SimThread& self) {
      exchange(self, connection.right, connection.right_context, right_count, left_count, right_box, pause);
    });
    connection.engine.run();
    REQUIRE(left_box.messages.size() == static_cast<std::size_t>(right_count));
    REQUIRE(right_box.messages.size() == static_cast<std::size_t>(left_count));
    REQUIRE(connection.left.credits().available() == slots - left_count % together);
    REQUIRE(connection.right.credits().available() == slots - right_count % together);
  }
}
