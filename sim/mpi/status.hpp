// What a wait tells of an operation that is complete.
#pragma once

#include "models/matching/envelope.hpp"

#include <cstdint>

namespace contend {

/// What a receive got, and from whom (MPI_Status). Of a send, or of no request, it is empty: as it is made.
struct Status {
  int source = any_source;
  int tag = any_tag;
  std::int64_t bytes = 0; ///< payload
  bool operator==(const Status&) const = default;
};

} // namespace contend
