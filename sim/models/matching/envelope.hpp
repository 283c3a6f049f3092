// What a message says about itself on the wire.
#pragma once

#include <cstdint>

namespace contend {

struct PostedReceive;

inline constexpr int any_source = -1;
inline constexpr int any_tag = -1;

/// Match header of a message.
struct Envelope {
  int communicator = 0;
  int source = 0;
  int tag = 0;
  std::uint16_t sequence = 0; ///< per (communicator, peer); wraps. Meaningless when overtaking is allowed.
  std::int64_t bytes = 0;     ///< payload

  // Written by a receiving interface that matches messages itself, see HardwareMatcher.
  PostedReceive* matched = nullptr; ///< the receive that it has found
  bool missed = false;              ///< it has looked and found none
  std::uint32_t number = 0;         ///< see MessageNumber; 0 unless the run is traced
};

} // namespace contend
