// A TCP connection to ourselves over the loopback device.
#pragma once

#include "support/failure.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <unistd.h>

namespace contend::native {

inline int checked(int result, const char* call) {
  if (result < 0) {
    throw Failure(ExitCode::system_error, std::string(call) + ": " + std::strerror(errno));
  }
  return result;
}

/// A connection to ourselves, and what polls its receiving end.
class Loopback {
public:
  static constexpr std::int64_t message = 38; ///< bytes: a message of 0 bytes with the headers of Open MPI

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
  /// A message, of which there is one at least.
  void read_one() { checked(static_cast<int>(recv(in_, buffer_.data(), message, 0)), "recv"); }
  std::int64_t read_some() { return checked(static_cast<int>(recv(in_, buffer_.data(), buffer_.size(), 0)), "recv"); }

private:
  int out_ = -1;
  int in_ = -1;
  int poll_ = -1;
  std::array<char, 32768> buffer_{};
};

} // namespace contend::native
