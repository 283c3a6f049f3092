// A small message into a TCP socket of the loopback device whose peer does not read: what a send costs once the congestion window is
// full, and bytes wait in the sender's socket.
#include "machine/loopback.hpp"
#include "machine/probe.hpp"
#include "support/affinity.hpp"

#include <thread>

namespace contend::native {

namespace {

/// Time of each of the last ones.
double queue(int core) {
  constexpr std::int64_t unread = 4096; // many times the congestion window of a young connection
  constexpr std::int64_t timed = 1024;  // the last of them
  constexpr std::int64_t fillings = 16; // in each the window grows a little
  double time = 0.0;
  std::jthread([&] {
    bind_to_core(core);
    Loopback connection;
    for (std::int64_t filling = 0; filling < fillings; ++filling) {
      for (std::int64_t i = timed; i < unread; ++i) {
        connection.sender().send_one();
      }
      time += time_each(timed, [&] { connection.sender().send_one(); }) / static_cast<double>(fillings);
      for (std::int64_t left = unread * Loopback::message; left > 0;) {
        left -= connection.receiver().read_some();
      }
    }
  }).join();
  return time;
}

} // namespace

void probe_socket_queue(ProbeContext& context) {
  const int core = context.cores.front();
  context.add_point("socket_queue", {{"core", core}, {"part", "send"}}, [&] { return queue(core); });
}

} // namespace contend::native
