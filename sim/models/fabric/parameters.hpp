// What a network between hosts costs.
#pragma once

#include "core/time.hpp"

#include <string>

namespace contend {

/// One route between two hosts, as asked once from the platform description.
struct RouteParameters {
  Duration latency{};               ///< first byte in to first byte out, all links of the route
  double bytes_per_second = 12.5e9; ///< bandwidth of the narrowest link
  /// How large transfers share an interface's wire. bursts: they take turns, a burst of packets at a time, and a one-sided
  /// operation takes all of it; flows: each has a max-min fair share, as in SimGrid's flow model (FlowNetwork).
  std::string sharing = "bursts";
};

} // namespace contend
