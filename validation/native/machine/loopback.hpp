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
#include <optional>
#include <string>
#include <unistd.h>

namespace contend::native {

inline int checked(int result, const char* call) {
  if (result < 0) {
    throw Failure(ExitCode::system_error, std::string(call) + ": " + std::strerror(errno));
  }
  return result;
}

/// One end of a connection, and what polls it.
class SocketEnd {
public:
  static constexpr std::int64_t message = 38; ///< bytes: a message of 0 bytes with the headers of Open MPI

  explicit SocketEnd(int socket) : socket_(socket), poll_(checked(epoll_create1(0), "epoll_create1")) {
    const int on = 1;
    checked(setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt");
    epoll_event event{};
    event.events = EPOLLIN;
    checked(epoll_ctl(poll_, EPOLL_CTL_ADD, socket_, &event), "epoll_ctl");
  }
  SocketEnd(const SocketEnd&) = delete;
  SocketEnd& operator=(const SocketEnd&) = delete;
  ~SocketEnd() {
    close(poll_);
    close(socket_);
  }

  void send_one() {
    const std::array<char, message> bytes{};
    checked(static_cast<int>(send(socket_, bytes.data(), bytes.size(), 0)), "send");
  }
  [[nodiscard]] bool readable() const {
    epoll_event event{};
    return checked(epoll_wait(poll_, &event, 1, 0), "epoll_wait") > 0;
  }
  /// A message, of which there is one at least.
  void read_one() { checked(static_cast<int>(recv(socket_, buffer_.data(), message, 0)), "recv"); }
  /// What is there, up to the size of the buffer. Returns the number of bytes.
  std::int64_t read_some() {
    return checked(static_cast<int>(recv(socket_, buffer_.data(), buffer_.size(), 0)), "recv");
  }

private:
  int socket_;
  int poll_;
  std::array<char, 32768> buffer_{};
};

/// A connection to ourselves.
class Loopback {
public:
  static constexpr std::int64_t message = SocketEnd::message;

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
    const int out = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
    checked(connect(out, generic, size), "connect");
    sender_.emplace(out);
    receiver_.emplace(checked(accept(listener, nullptr, nullptr), "accept"));
    close(listener);
  }

  /// The end that most probes send from.
  [[nodiscard]] SocketEnd& sender() { return *sender_; }
  /// The one that they receive at.
  [[nodiscard]] SocketEnd& receiver() { return *receiver_; }

private:
  std::optional<SocketEnd> sender_;
  std::optional<SocketEnd> receiver_;
};

} // namespace contend::native
