// An operation that an application thread hands to the progress thread.
#pragma once

#include <cstdint>

namespace contend {

struct Request;

struct Command {
  enum class Kind { send, receive };

  Kind kind = Kind::send;
  int communicator = 0;
  int peer = 0;
  int tag = 0;
  std::int64_t bytes = 0;
  Request* request = nullptr; ///< complete when the operation is
};

} // namespace contend
