// The network interface of a node as a stream of bytes: what sockets give. Messages leave and come in one after another.
#pragma once

#include "core/engine.hpp"
#include "models/fabric/parameters.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace contend {

/// One node's link: bytes leave it, and enter it, at the bandwidth of the route, in the order in which they were handed
/// over. No processor takes part; what a processor does is priced by whoever calls.
class StreamInterface {
public:
  explicit StreamInterface(RouteParameters route) : route_(std::move(route)) {}

  /// When a message of `bytes` that is handed over at `now` has arrived at `target` completely. Its last byte leaves after
  /// those of all messages before it; where several nodes send to one, their messages queue at the target's link.
  TimePoint transmit(StreamInterface& target, TimePoint now, std::int64_t bytes) {
    const Duration serial = Duration::seconds(static_cast<double>(bytes) / route_.bytes_per_second);
    const TimePoint start = std::max(now, out_free_);
    out_free_ = start + serial;
    // The first byte can enter the target's link when it gets there and the link is free.
    target.in_free_ = std::max(start + route_.latency, target.in_free_) + serial;
    sent_bytes_ += bytes;
    return target.in_free_;
  }

  /// When the other side knows of something that is known here `now`: an acknowledgement takes no room on the link.
  [[nodiscard]] TimePoint acknowledge(TimePoint now) const { return now + route_.latency; }

  [[nodiscard]] std::int64_t sent_bytes() const { return sent_bytes_; }

private:
  RouteParameters route_;
  TimePoint out_free_;
  TimePoint in_free_;
  std::int64_t sent_bytes_ = 0;
};

} // namespace contend
