// A message through a TCP socket of the loopback device that is answered over the same connection, by a thread that polls on another
// core: what the send call and the receive call cost where the answer acknowledges, and when in the send call the message is there.
#include "machine/loopback.hpp"
#include "machine/probe.hpp"
#include "support/affinity.hpp"
#include "support/statistics.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace contend::native {

namespace {

/// What one side does in each round, at these times (ns).
struct Round {
  std::int64_t sends = 0;
  std::int64_t has_sent = 0;
  std::int64_t sees = 0; ///< what the other side has sent
  std::int64_t has_read = 0;
  std::int64_t poll = 0; ///< how long a poll that found nothing took while it waited
};

/// Polls an end until it has a message, and reads that.
void await_message(SocketEnd& end, Round& round) {
  const std::int64_t begin = now_ns();
  std::int64_t polls = 1;
  while (!end.readable()) {
    ++polls;
  }
  round.sees = now_ns();
  end.read_one();
  round.has_read = now_ns();
  round.poll = (round.sees - begin) / polls;
}

void send_message(SocketEnd& end, Round& round) {
  round.sends = now_ns();
  end.send_one();
  round.has_sent = now_ns();
}

/// Median times of the calls of the thread on `core`, and of what it sends until the other thread's socket has it.
std::map<std::string, double> ask_and_answer(int core, int other, std::int64_t rounds) {
  Loopback connection;
  const auto count = static_cast<std::size_t>(rounds);
  std::vector<Round> asking(count);
  std::vector<Round> answering(count);
  {
    std::jthread partner([&] {
      bind_to_core(other);
      for (Round& round : answering) {
        await_message(connection.receiver(), round);
        send_message(connection.receiver(), round);
      }
    });
    std::jthread measured([&] {
      bind_to_core(core);
      for (Round& round : asking) {
        send_message(connection.sender(), round);
        await_message(connection.sender(), round);
      }
    });
  }
  std::map<std::string, std::vector<double>> times;
  for (std::size_t i = 0; i < count; ++i) {
    times["send"].push_back(seconds(asking[i].has_sent - asking[i].sends));
    times["read"].push_back(seconds(asking[i].has_read - asking[i].sees));
    // On average it is seen half a poll after it has come.
    times["arrival"].push_back(seconds(answering[i].sees - answering[i].poll / 2 - asking[i].sends));
  }
  return medians(times);
}

} // namespace

void probe_socket_answers(ProbeContext& context) {
  const int core = context.cores.front();
  const int other = context.cores.back();
  if (core == other) {
    return; // nobody answers while the other one sends
  }
  for (const char* part : {"send", "arrival", "read"}) {
    context.add_point("socket_answers", {{"from_core", core}, {"to_core", other}, {"part", part}},
                      [&] { return ask_and_answer(core, other, context.at_most(5000)).at(part); });
  }
}

} // namespace contend::native
