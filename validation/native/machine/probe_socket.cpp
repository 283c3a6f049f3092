// A small message through a TCP socket of the loopback device: what the send call and the receive call cost, with the receiver on
// the sender's core, and polling on another one meanwhile.
#include "machine/probe.hpp"
#include "support/affinity.hpp"
#include "support/failure.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <unistd.h>

namespace contend::native {

namespace {

constexpr std::int64_t message = 38; // a message of 0 bytes with the headers of Open MPI
constexpr std::int64_t burst = 128;

int checked(int result, const char* call) {
  if (result < 0) {
    throw Failure(ExitCode::system_error, std::string(call) + ": " + std::strerror(errno));
  }
  return result;
}

/// A connection to ourselves, and what polls its receiving end.
class Loopback {
public:
  Loopback() {
    const int listener = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const generic = reinterpret_cast<sockaddr*>(&address); // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
    socklen_t size = sizeof address;
    checked(bind(listener, generic, size), "bind");
    checked(listen(listener, 1), "listen");
    checked(getsockname(listener, generic, &size), "getsockname");
    out_ = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
    checked(connect(out_, generic, size), "connect");
    in_ = checked(accept(listener, nullptr, nullptr), "accept");
    close(listener);
    const int on = 1;
    checked(setsockopt(out_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt");
    poll_ = checked(epoll_create1(0), "epoll_create1");
    epoll_event event{};
    event.events = EPOLLIN;
    checked(epoll_ctl(poll_, EPOLL_CTL_ADD, in_, &event), "epoll_ctl");
  }
  Loopback(const Loopback&) = delete;
  Loopback& operator=(const Loopback&) = delete;
  ~Loopback() {
    close(poll_);
    close(in_);
    close(out_);
  }

  void send_one() {
    const std::array<char, message> bytes{};
    checked(static_cast<int>(send(out_, bytes.data(), bytes.size(), 0)), "send");
  }
  [[nodiscard]] bool readable() const {
    epoll_event event{};
    return checked(epoll_wait(poll_, &event, 1, 0), "epoll_wait") > 0;
  }
  std::int64_t read_some() { return checked(static_cast<int>(recv(in_, buffer_.data(), buffer_.size(), 0)), "recv"); }

private:
  int out_ = -1;
  int in_ = -1;
  int poll_ = -1;
  std::array<char, 32768> buffer_{};
};

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
    const std::int64_t bytes = connection.read_some();
    reading += now_ns() - before;
    received += bytes;
  };
  std::jthread reader;
  if (other != core) {
    reader = std::jthread([&] {
      bind_to_core(other);
      while (!ends.load(std::memory_order_relaxed)) {
        if (connection.readable()) {
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
        connection.send_one();
      }
      sending += now_ns() - before;
      while (received.load() < round * burst * message) {
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
