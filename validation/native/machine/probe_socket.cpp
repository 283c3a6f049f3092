// A small message through a TCP socket of the loopback device: what the send call and the receive call cost, with the receiver on
// the sender's core, and polling on another one meanwhile.
#include "machine/loopback.hpp"
#include "machine/probe.hpp"
#include "support/affinity.hpp"

#include <atomic>
#include <thread>

namespace contend::native {

namespace {

constexpr std::int64_t burst = 128;

struct Times {
  double send_s = 0;
  double read_s = 0;
};

/// Times for each message. The same thread sends and reads afterwards, or another one polls and reads on `other` meanwhile.
Times exchange(int core, int other, std::int64_t rounds) {
  Loopback connection;
  std::atomic<std::int64_t> received{0};
  std::atomic<bool> ends{false};
  std::int64_t sending = 0;
  std::int64_t reading = 0;
  const auto read_once = [&] {
    const std::int64_t before = now_ns();
    const std::int64_t bytes = connection.receiver().read_some();
    reading += now_ns() - before;
    received += bytes;
  };
  std::jthread reader;
  if (other != core) {
    reader = std::jthread([&] {
      bind_to_core(other);
      while (!ends.load(std::memory_order_relaxed)) {
        if (connection.receiver().readable()) {
          read_once();
        }
      }
    });
  }
  std::jthread([&] {
    bind_to_core(core);
    for (std::int64_t round = 1; round <= rounds; ++round) {
      const std::int64_t before = now_ns();
      for (std::int64_t i = 0; i < burst; ++i) {
        connection.sender().send_one();
      }
      sending += now_ns() - before;
      while (received.load() < round * burst * Loopback::message) {
        if (other == core) {
          read_once();
        }
      }
    }
  }).join();
  ends = true;
  if (reader.joinable()) {
    reader.join();
  }
  const auto messages = static_cast<double>(rounds * burst);
  return {seconds(sending) / messages, seconds(reading) / messages};
}

} // namespace

void probe_socket(ProbeContext& context) {
  const int core = context.cores.front();
  for (const int other : {core, context.cores.back()}) {
    const auto times = [&] { return exchange(core, other, context.at_most(200)); };
    context.add_point("socket", {{"from_core", core}, {"to_core", other}, {"part", "send"}},
                      [&] { return times().send_s; });
    context.add_point("socket", {{"from_core", core}, {"to_core", other}, {"part", "read"}},
                      [&] { return times().read_s; });
    if (other == context.cores.back()) {
      break;
    }
  }
}

} // namespace contend::native
