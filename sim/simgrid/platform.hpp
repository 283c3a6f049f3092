// Hosts and routes from a SimGrid platform file.
#pragma once

#include "models/fabric/parameters.hpp"

#include <filesystem>
#include <stdexcept>
#include <string>

namespace contend {

/// A platform file that cannot be used. `what()` is one line: what is wrong, and what would be right; who asked knows the file.
class PlatformError : public std::runtime_error {
public:
  enum class Fault { file, from, to }; ///< what is to blame: the file, or the name of one of the hosts

  explicit PlatformError(const std::string& what, Fault fault = Fault::file)
      : std::runtime_error(what), fault_(fault) {}

  [[nodiscard]] Fault fault() const { return fault_; }

private:
  Fault fault_;
};

struct PlatformHost {
  std::string name;
  int cores = 0;
  double flops_per_second = 0; ///< of one core
};

/// What models ask a platform, once, for a pair of hosts.
struct PlatformRoute {
  PlatformHost from;
  PlatformHost to;
  RouteParameters route; ///< nominal: the latencies of the links added up, the bandwidth of the narrowest link
};

/// Reads a SimGrid platform file (XML, version 4 or 4.1) and looks up the route between two of its hosts.
///
/// The latency is that of the links in the file, to the picosecond; the correction factors of SimGrid's network models
/// (LV08: 13.01 x latency, 0.97 x bandwidth) act on SimGrid's own communications and are not in it.
///
/// A host's route to itself is its loopback link, or SimGrid's idea of one (10 GB/s, no latency) when the file has none.
///
/// SimGrid ends the process on many errors and can hold one platform in a process. So a child process does the reading,
/// and its complaint becomes the PlatformError. Files named .so or .dylib are refused: SimGrid would execute them.
///
/// Errors: PlatformError. Requires: no S4U backend has been made in this process, and the process has one thread.
[[nodiscard]] PlatformRoute read_platform(const std::filesystem::path& file, const std::string& from,
                                          const std::string& to);

} // namespace contend
