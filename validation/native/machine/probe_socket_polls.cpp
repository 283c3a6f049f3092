// Polling a TCP socket of the loopback device (epoll_wait): one that has nothing, one that has a message, and the first time after that
// has been read, when the kernel looks once more whether it still has something.
#include "machine/loopback.hpp"
#include "machine/probe.hpp"
#include "support/affinity.hpp"
#include "support/statistics.hpp"

#include <map>
#include <string>
#include <thread>
#include <vector>

namespace contend::native {

namespace {

/// Median times of single calls, with one reading of the clock.
std::map<std::string, double> polls(int core, std::int64_t rounds) {
  std::map<std::string, std::vector<double>> times;
  std::jthread([&] {
    bind_to_core(core);
    Loopback connection;
    const auto poll = [&](const char* state) {
      const std::int64_t begin = now_ns();
      static_cast<void>(connection.receiver().readable());
      times[state].push_back(seconds(now_ns() - begin));
    };
    for (std::int64_t round = 0; round < rounds; ++round) {
      connection.sender().send_one();
      poll("ready");
      connection.receiver().read_one();
      poll("read");
      poll("empty");
    }
  }).join();
  return medians(times);
}

} // namespace

void probe_socket_polls(ProbeContext& context) {
  const int core = context.cores.front();
  for (const char* state : {"empty", "ready", "read"}) {
    context.add_point("socket_polls", {{"core", core}, {"state", state}},
                      [&] { return polls(core, context.at_most(5000)).at(state); });
  }
}

} // namespace contend::native
