// A socket that two threads use in turn: what a send and a receive cost more when the other thread sent or received last, because
// the socket's state has to come from that thread's core.
#include "machine/loopback.hpp"
#include "machine/probe.hpp"
#include "support/affinity.hpp"
#include "support/statistics.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace contend::native {

namespace {

/// In both cases the receiving end was used by the other thread last, as a receiver on another core uses it.
class Turns {
public:
  Turns(int core, int other, std::string part, bool moved)
      : core_(core), other_(other), sends_(part == "send"), moved_(moved) {}

  /// Median time of the call of the thread on `core`.
  double measure(std::int64_t rounds) {
    std::jthread partner([&] {
      bind_to_core(other_);
      for (std::int64_t round = 0; round < rounds; ++round) {
        await(2 * round);
        sends_ ? between_sends(round) : between_receives();
        turn_.store(2 * round + 1, std::memory_order_release);
      }
    });
    std::jthread measured([&] {
      bind_to_core(core_);
      for (std::int64_t round = 0; round < rounds; ++round) {
        await(2 * round + 1);
        const std::int64_t before = now_ns();
        if (sends_) {
          connection_.sender().send_one();
        } else {
          connection_.receiver().read_one();
        }
        times_.push_back(seconds(now_ns() - before));
        turn_.store(2 * round + 2, std::memory_order_release);
      }
    });
    measured.join();
    partner.join();
    return median(std::move(times_));
  }

private:
  void await(std::int64_t turn) const {
    while (turn_.load(std::memory_order_acquire) != turn) {
    }
  }
  /// Reads what has been sent, and sends a message of its own where the socket is to move.
  void between_sends(std::int64_t round) {
    if (round > 0) {
      connection_.receiver().read_some();
    }
    if (moved_) {
      connection_.sender().send_one();
    }
  }
  /// Sends a message, and one more that it receives itself where the socket is to move.
  void between_receives() {
    connection_.sender().send_one();
    if (moved_) {
      connection_.sender().send_one();
      connection_.receiver().read_one();
    }
  }

  int core_;
  int other_;
  bool sends_;
  bool moved_;
  Loopback connection_;
  std::atomic<std::int64_t> turn_{0};
  std::vector<double> times_;
};

} // namespace

void probe_socket_turns(ProbeContext& context) {
  const int core = context.cores.front();
  const int other = context.cores.back();
  if (core == other) {
    return; // nothing moves
  }
  for (const char* part : {"send", "read"}) {
    for (const bool moved : {false, true}) {
      context.add_point("socket_turns", {{"from_core", core}, {"to_core", other}, {"part", part}, {"moved", moved}},
                        [&] { return Turns(core, other, part, moved).measure(context.at_most(5000)); });
    }
  }
}

} // namespace contend::native
