// Shared memory: queue and fast boxes, order across both, fragments that run out and come back, single copies.
#include "models/nic/shared_memory.hpp"
#include "support/wire.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <stdexcept>
#include <vector>

using namespace contend;

namespace {

SharedMemoryParameters small_memory() {
  SharedMemoryParameters memory;
  memory.box_write = 11'003_ps;
  memory.box_read = 13'007_ps;
  memory.queue_write = 41'011_ps;
  memory.queue_read = 37'003_ps;
  memory.poll_box = 2'003_ps;
  memory.poll_queue = 3'001_ps;
  memory.copy_call = 501'001_ps;
  memory.copy_bytes_per_second = 10e9; // 100 ps per byte
  memory.box_size = 4 * 64 + 32;       // four messages of 40 bytes
  memory.box_bytes = 128;
  memory.box_threshold = 3;
  memory.fragments = 6;
  memory.poll_batch = 2;
  return memory;
}

/// Everything goes through the box once there is one, and fragments come back through the queue of their owner.
constexpr SharedMemoryDesign box_only{.box_only = true, .fragments_returned = true};

/// Takes messages, and tokens of messages that were kept.
class Both final : public CompletionHandler {
public:
  void receive(SimThread& /*self*/, const Envelope& envelope) override { tags.push_back(envelope.tag); }
  void returned(SimThread& /*self*/, void* token) override { tokens.push_back(token); }
  std::vector<int> tags;
  std::vector<void*> tokens;
};

struct Pair {
  explicit Pair(const Host& machine = test::free_host(), const SharedMemoryParameters& parameters = small_memory(),
                const SharedMemoryDesign& design = {})
      : host(machine), memory(engine, host, parameters, design), sender(memory.create_context(outbound, "sender", 0)),
        receiver(memory.create_context(inbound, "receiver", 1)), connection(memory.connect(sender, receiver)) {}

  int poll(SimThread& self) {
    receiver.look(self);
    return receiver.drain(self, inbox);
  }
  bool send(SimThread& self, std::int64_t bytes = 40) {
    const bool sent = connection->post(self, test::message(next), bytes);
    next += sent ? 1 : 0;
    return sent;
  }
  /// Sends what it takes to get a box, and has both sides poll until nothing is on its way.
  void make_box(SimThread& self) {
    for (int i = 0; i < memory.parameters().box_threshold; ++i) {
      CHECK(send(self));
      CHECK(poll(self) == 1);
    }
    while (sender.drain(self, inbox) > 0) {
    }
    self.settle();
  }
  [[nodiscard]] bool has_box() const { return dynamic_cast<const SharedMemoryConnection&>(*connection).has_box(); }

  Engine engine{1};
  Host host;
  test::Activity inbound{engine};
  test::Activity outbound{engine};
  test::Inbox inbox;
  SharedMemoryTransport memory;
  SharedMemoryContext& sender;
  SharedMemoryContext& receiver;
  std::unique_ptr<Connection> connection;
  int next = 0;
};

} // namespace

TEST_CASE("a connection gets a fast box when it is used often", "[shared memory]") {
  Pair pair;
  const SharedMemoryParameters memory = small_memory();
  pair.engine.spawn("both", 0, 0, [&](SimThread& self) {
    for (int i = 0; i < 3; ++i) {
      CHECK_FALSE(pair.has_box());
      CHECK(pair.send(self));
      CHECK(pair.poll(self) == 1);
    }
    CHECK(pair.has_box());
    self.settle();
    const Duration start = test::clock(self);
    CHECK(pair.send(self));
    self.settle();
    CHECK(test::clock(self) - start == memory.box_write + 40 * 100_ps);
    const Duration sent = test::clock(self);
    CHECK(pair.poll(self) == 1);
    self.settle();
    CHECK(test::clock(self) - sent == memory.poll_queue + memory.poll_box + memory.box_read);
  });
  pair.engine.run();
}

TEST_CASE("what does not fit into the box takes the queue, and nothing passes it", "[shared memory]") {
  Pair pair;
  pair.engine.spawn("both", 0, 0, [&](SimThread& self) {
    for (int i = 0; i < 3; ++i) {
      CHECK(pair.send(self));
      CHECK(pair.poll(self) == 1);
    }
    for (int i = 0; i < 6; ++i) { // four in the box, two in the queue
      CHECK(pair.send(self));
    }
    CHECK(pair.send(self, 4000)); // larger than a box takes
    CHECK(pair.poll(self) == 6);  // the box, and a batch of the queue
    CHECK(pair.send(self));       // the box has room, but one waits in the queue
    CHECK(pair.poll(self) == 2);
    CHECK(pair.send(self)); // now the box again
    CHECK(pair.poll(self) == 1);
    CHECK(pair.poll(self) == 0);
  });
  pair.engine.run();
  REQUIRE(pair.inbox.messages.size() == static_cast<std::size_t>(pair.next));
  for (int i = 0; i < pair.next; ++i) {
    CHECK(pair.inbox.messages[static_cast<std::size_t>(i)].tag == i);
  }
}

TEST_CASE("what is sent while the receiver takes messages out passes nothing", "[shared memory]") {
  const Duration between = GENERATE(20_ns, 40_ns, 80_ns); // so that the box fills up while it is emptied
  SharedMemoryParameters memory = small_memory();
  memory.box_read = 1_us;
  memory.fragments = 400;
  Pair pair(test::free_host(), memory);
  constexpr int messages = 400;
  pair.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    for (int sent = 0; sent < messages;) {
      sent += pair.send(self) ? 1 : 0;
      self.spend(between, Category::software);
    }
  });
  pair.engine.spawn("receiver", 0, 1, [&](SimThread& self) {
    while (pair.inbox.messages.size() < messages) {
      pair.poll(self);
      self.spend(1_ns, Category::software);
    }
  });
  pair.engine.run();
  const auto passes = [](const auto& one, const auto& next) { return next.tag != one.tag + 1; };
  CAPTURE(between.in_nanoseconds());
  CHECK(std::adjacent_find(pair.inbox.messages.begin(), pair.inbox.messages.end(), passes) ==
        pair.inbox.messages.end());
}

TEST_CASE("fragments run out and come back", "[shared memory]") {
  SharedMemoryParameters memory = small_memory();
  memory.box_size = 0;
  Pair pair(test::free_host(), memory);
  pair.engine.spawn("both", 0, 0, [&](SimThread& self) {
    int sent = 0;
    while (pair.send(self)) {
      ++sent;
    }
    CHECK(sent == memory.fragments);
    CHECK_FALSE(pair.connection->has_room(40));
    const std::size_t told = pair.outbound.times.size();
    CHECK(pair.poll(self) == memory.poll_batch);
    CHECK(pair.outbound.times.size() == told + 2);
    CHECK(pair.connection->has_room(40));
    CHECK(pair.send(self));
  });
  pair.engine.run();
}

TEST_CASE("a box has room for messages that fit it, without fragments too", "[shared memory]") {
  const SharedMemoryParameters memory = small_memory();
  Pair pair;
  pair.engine.spawn("both", 0, 0, [&](SimThread& self) {
    for (int i = 0; i < memory.box_threshold; ++i) {
      CHECK(pair.send(self));
      CHECK(pair.poll(self) == 1);
    }
    while (pair.connection->post_bulk(self, Bulk::send, test::message(99), 10)) {
    }
    CHECK_FALSE(pair.connection->has_room_for(Bulk::send, 10));
    CHECK(pair.connection->has_room_for(Bulk::read, 10));
    CHECK_FALSE(pair.connection->has_room(40)); // it would pass those that are queued
    while (pair.poll(self) > 0) {
    }
    CHECK(pair.connection->has_room_for(Bulk::send, 10));
    for (int i = 0; i < memory.fragments; ++i) {
      CHECK(pair.send(self, memory.box_bytes + 1));
    }
    CHECK_FALSE(pair.connection->has_room(memory.box_bytes + 1));
  });
  pair.engine.run();
}

TEST_CASE("where everything goes through the box, nothing takes the queue when it is full", "[shared memory]") {
  const SharedMemoryParameters memory = small_memory();
  Pair pair(test::free_host(), memory, box_only);
  pair.engine.spawn("both", 0, 0, [&](SimThread& self) {
    pair.make_box(self);
    CHECK(pair.send(self, 4000)); // a pointer to a fragment, in 32 bytes
    CHECK(pair.send(self));
    CHECK(pair.send(self));
    CHECK(pair.send(self));
    CHECK_FALSE(pair.connection->has_room(40));
    CHECK(pair.connection->has_room(4000));
    CHECK_FALSE(pair.send(self));
    CHECK(pair.send(self, 4000));
    CHECK_FALSE(pair.connection->has_room(4000));
    CHECK_FALSE(pair.send(self, 4000));
    CHECK_FALSE(pair.connection->has_room_for(Bulk::send, 1));
    CHECK_FALSE(pair.connection->post_bulk(self, Bulk::send, test::message(99), 1));
    CHECK(pair.connection->has_room_for(Bulk::read, 1));
    const std::size_t told = pair.outbound.times.size();
    CHECK(pair.poll(self) == 5);
    CHECK(pair.outbound.times.size() > told);
    CHECK(pair.connection->has_room(40));
    CHECK(pair.send(self));
    CHECK(pair.poll(self) == 1);
  });
  pair.engine.run();
  REQUIRE(pair.inbox.messages.size() == static_cast<std::size_t>(pair.next));
  for (int i = 0; i < pair.next; ++i) {
    CHECK(pair.inbox.messages[static_cast<std::size_t>(i)].tag == i);
  }
}

TEST_CASE("a message that waits is kept in a fragment, which comes back", "[shared memory]") {
  SharedMemoryParameters memory = small_memory();
  Pair pair(test::free_host(), memory, box_only);
  Both sides;
  pair.engine.spawn("both", 0, 0, [&](SimThread& self) {
    CHECK_FALSE(pair.connection->keep(self, 40)); // there is no box yet
    pair.make_box(self);
    while (pair.connection->post(self, test::message(0), 40)) {
    }
    self.settle();
    Duration start = test::clock(self);
    CHECK(pair.connection->keep(self, 40));
    self.settle();
    CHECK(test::clock(self) - start == memory.queue_write + 40 * 100_ps);
    for (int i = 1; i < memory.fragments; ++i) {
      CHECK(pair.connection->keep(self, 40));
    }
    CHECK_FALSE(pair.connection->keep(self, 40)); // no fragment is left
    std::vector<int> requests(static_cast<std::size_t>(memory.fragments));
    CHECK_FALSE(pair.connection->has_room_for_kept());
    CHECK_FALSE(pair.connection->post_kept(self, test::message(1), requests.data()));
    CHECK(pair.receiver.drain(self, sides) == 4);
    CHECK(pair.connection->has_room_for_kept());
    for (int& request : requests) {
      CHECK(
          pair.connection->post_kept(self, test::message(1 + static_cast<int>(&request - requests.data())), &request));
    }
    self.settle();
    start = test::clock(self);
    CHECK(pair.receiver.drain(self, sides) == memory.fragments);
    self.settle();
    CHECK(test::clock(self) - start == (memory.box_read + memory.queue_read) * memory.fragments);
    CHECK(sides.tags == std::vector<int>{0, 0, 0, 0, 1, 2, 3, 4, 5, 6});
    CHECK(sides.tokens.empty());
    CHECK_FALSE(pair.connection->keep(self, 40)); // they are back when their owner has found them
    CHECK(pair.sender.has_completions());
    while (pair.sender.drain(self, sides) > 0) {
    }
    REQUIRE(sides.tokens.size() == requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      CHECK(sides.tokens[i] == &requests[i]);
    }
    CHECK(pair.connection->keep(self, 40));
  });
  pair.engine.run();
}

TEST_CASE("one poll takes a batch from a box, and then gives its room back", "[shared memory]") {
  SharedMemoryParameters memory = small_memory();
  memory.box_batch = 3;
  Pair pair(test::free_host(), memory, box_only);
  pair.engine.spawn("both", 0, 0, [&](SimThread& self) {
    pair.make_box(self);
    while (pair.send(self)) {
    }
    CHECK(pair.poll(self) == 3);
    for (int i = 0; i < 3; ++i) {
      CHECK(pair.send(self));
    }
    CHECK_FALSE(pair.send(self));
    CHECK(pair.poll(self) == 3);
    CHECK(pair.poll(self) == 1);
    CHECK(pair.poll(self) == 0);
  });
  pair.engine.run();
}

TEST_CASE("entries of a box have a header and are aligned", "[shared memory]") {
  SharedMemoryParameters memory;
  memory.box_size = 4096; // btl/sm: the match header of ob1 has 14 bytes
  CHECK(memory.box_entry(14) == 32);
  CHECK(memory.box_entry(24) == 32);
  CHECK(memory.box_entry(25) == 64);
  CHECK(memory.box_room() / memory.box_entry(14) == 127);
}

TEST_CASE("a box is polled once what was queued before it has been taken", "[shared memory]") {
  Pair pair(test::free_host(), small_memory(), box_only);
  pair.engine.spawn("both", 0, 0, [&](SimThread& self) {
    for (int i = 0; i < 5; ++i) { // three make the box, through the queue; two are in it
      CHECK(pair.send(self));
    }
    CHECK(pair.poll(self) == 2); // a batch of the queue
    CHECK(pair.poll(self) == 1);
    CHECK(pair.poll(self) == 2);
  });
  pair.engine.run();
  REQUIRE(pair.inbox.messages.size() == 5);
  for (int i = 0; i < 5; ++i) {
    CHECK(pair.inbox.messages[static_cast<std::size_t>(i)].tag == i);
  }
}

TEST_CASE("the box's line moves from core to core with every message", "[shared memory]") {
  SharedMemoryParameters memory = small_memory();
  memory.box_threshold = 1;
  Pair pair(test::small_host(), memory);
  int received = 0;
  pair.engine.spawn("receiver", 0, 2, [&](SimThread& self) {
    while (received < 100) {
      received += pair.poll(self);
      self.settle();
    }
    CHECK(self.line_transfers() >= 90); // but for those that came while others were read
  });
  pair.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    for (int i = 0; i < 100; ++i) {
      while (!pair.send(self)) {
        self.spend(100_ns, Category::software);
      }
      self.spend(2_us, Category::software);
    }
  });
  pair.engine.run();
}

TEST_CASE("messages that lie one behind the other in a box come with the first one", "[shared memory]") {
  SharedMemoryParameters memory = small_memory();
  memory.box_threshold = 1;
  memory.box_size = 64 * 64 + 32;
  memory.streamed_boxes = GENERATE(false, true);
  Pair pair(test::small_host(), memory);
  constexpr int messages = 40;
  Duration sending;
  Duration receiving;
  pair.engine.spawn("receiver", 0, 2, [&](SimThread& self) {
    self.spend(10_us, Category::software); // the first message made the box; it took the queue
    CHECK(pair.poll(self) == 1);
    self.settle();
    self.spend(30_us, Category::software);
    const TimePoint start = self.now();
    CHECK(pair.poll(self) == messages);
    self.settle();
    receiving = self.now() - start;
  });
  pair.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    CHECK(pair.send(self));
    self.settle();
    self.spend(20_us, Category::software);
    const TimePoint start = self.now();
    for (int i = 0; i < messages; ++i) {
      CHECK(pair.send(self));
    }
    self.settle();
    sending = self.now() - start;
  });
  pair.engine.run();
  const CacheParameters cache = test::small_cache();
  const Duration hits = cache.hit * messages;
  CHECK(sending <= (memory.box_write + 40 * 100_ps) * messages + hits + cache.l3_hit + cache.hit);
  const Duration least = memory.poll_queue + memory.poll_box + memory.box_read * messages + cache.transfer_socket;
  CHECK(receiving >= least);
  CHECK(receiving <= least + hits + cache.hit + cache.l3_hit); // it says how far it has read
}

TEST_CASE("a sender waits for the line of a box unless its slots stream", "[shared memory]") {
  SharedMemoryParameters memory = small_memory();
  memory.box_threshold = 1;
  memory.box_size = 64 * 64 + 32; // it need not ask for room
  memory.streamed_boxes = GENERATE(false, true);
  Pair pair(test::small_host(), memory);
  Duration last;
  pair.engine.spawn("receiver", 0, 2, [&](SimThread& self) {
    for (int i = 0; i < 10; ++i) {
      self.spend(10_us, Category::software);
      CHECK(pair.poll(self) == 1);
      self.settle();
    }
    // Streamed or not, what came alone had to be fetched.
    CHECK(self.line_transfers() >= 9);
  });
  pair.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    self.spend(5_us, Category::software);
    for (int i = 0; i < 10; ++i) {
      const TimePoint start = self.now();
      CHECK(pair.send(self));
      self.settle();
      last = self.now() - start;
      self.spend(10_us - last, Category::software);
    }
  });
  pair.engine.run();
  const CacheParameters cache = test::small_cache();
  const Duration transfer = memory.streamed_boxes ? Duration{} : cache.transfer_socket;
  CHECK(last == memory.box_write + 40 * 100_ps + cache.hit + transfer);
}

TEST_CASE("a sender that knows of no room asks the receiver's side for it", "[shared memory]") {
  SharedMemoryParameters memory = small_memory();
  memory.box_threshold = 1;
  memory.streamed_boxes = true;
  Pair pair(test::small_host(), memory, box_only);
  std::vector<Duration> sends;
  pair.engine.spawn("receiver", 0, 2, [&](SimThread& self) {
    for (int i = 0; i < 9; ++i) {
      self.spend(10_us, Category::software);
      CHECK(pair.poll(self) == 1);
      self.settle();
    }
  });
  pair.engine.spawn("sender", 0, 0, [&](SimThread& self) {
    self.spend(5_us, Category::software);
    for (int i = 0; i < 9; ++i) {
      const TimePoint start = self.now();
      CHECK(pair.send(self));
      self.settle();
      sends.push_back(self.now() - start);
      self.spend(10_us - sends.back(), Category::software);
    }
  });
  pair.engine.run();
  const Duration usual = memory.box_write + 40 * 100_ps + test::small_cache().hit;
  CHECK(sends[2] == usual);
  CHECK(sends[4] == usual);
  CHECK(sends[5] == usual + test::small_cache().hit +
                        test::small_cache().transfer_socket); // four are in the ring, as far as it knows
  CHECK(sends[6] == usual);
}

TEST_CASE("one copy through the kernel", "[shared memory]") {
  class Transferred final : public CompletionHandler {
  public:
    void receive(SimThread& /*self*/, const Envelope& /*envelope*/) override { ++received; }
    void transferred(SimThread& /*self*/, const Envelope& /*envelope*/) override { ++over; }
    int received = 0;
    int over = 0;
  };
  Pair pair;
  Transferred handler;
  const SharedMemoryParameters memory = small_memory();
  pair.engine.spawn("both", 0, 0, [&](SimThread& self) {
    CHECK(pair.connection->post_bulk(self, Bulk::read, test::message(0), 10'000));
    self.settle();
    CHECK(test::clock(self) == memory.copy_call + 10'000 * 100_ps);
    CHECK(pair.connection->over_on_return(Bulk::read));
    CHECK(pair.sender.drain(self, handler) == 0); // nobody has to be told
    CHECK_FALSE(pair.connection->over_on_return(Bulk::send));
    CHECK(pair.connection->post_bulk(self, Bulk::send, test::message(0), 1000));
    CHECK(pair.sender.drain(self, handler) == 1);
    CHECK(handler.over == 1);
    CHECK(handler.received == 0);
    CHECK(pair.receiver.drain(self, handler) == 1);
    CHECK(handler.received == 1);
  });
  pair.engine.run();
}

TEST_CASE("shared memory ends at the host", "[shared memory]") {
  Engine engine(1);
  const Host host = test::free_host();
  test::Activity activity(engine);
  SharedMemoryTransport here(engine, host, small_memory(), {});
  SharedMemoryTransport there(engine, host, small_memory(), {});
  auto& mine = here.create_context(activity, "mine", 0);
  auto& theirs = there.create_context(activity, "theirs", 1);
  CHECK_THROWS_AS(here.connect(mine, theirs), std::invalid_argument);
}
