#pragma once

#include "core/time.hpp"

namespace contend {

/// One route between two hosts, as asked once from the platform description.
struct RouteParameters {
  Duration latency{};               ///< first byte in to first byte out, all links of the route
  double bytes_per_second = 12.5e9; ///< bandwidth of the narrowest link
};

} // namespace contend
