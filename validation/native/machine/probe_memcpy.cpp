// Copies by size: between two buffers again and again (warm), and walking through much memory (cold).
#include "machine/probe.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace contend::native {

namespace {

constexpr std::array<std::int64_t, 9> sizes{8, 64, 256, 1024, 4096, 16384, 65536, 1 << 20, 16 << 20};
constexpr std::int64_t walk_bytes = std::int64_t{128} << 20; ///< per side: more than a core's own caches hold

/// Copies between buffers of `span` bytes, each copy behind the one before.
double copy(std::vector<std::byte>& from, std::vector<std::byte>& to, std::int64_t size, std::int64_t count) {
  const auto bytes = static_cast<std::size_t>(size);
  const std::size_t span = from.size() - from.size() % bytes;
  std::size_t at = 0;
  return time_each(count, [&] {
    std::memcpy(to.data() + at, from.data() + at, bytes);
    asm volatile("" : : "r"(to.data() + at) : "memory");
    at = (at + bytes) % span;
  });
}

} // namespace

void probe_memcpy(ProbeContext& context) {
  const auto add = [&context](const char* memory, std::int64_t size, std::vector<std::byte>& from,
                              std::vector<std::byte>& to) {
    const std::int64_t count =
        std::max<std::int64_t>(2, std::min(context.iterations, (std::int64_t{256} << 20) / size));
    context.add_point("memcpy", {{"message_size", size}, {"memory", memory}},
                      [&] { return copy(from, to, size, count); });
  };
  for (const std::int64_t size : sizes) {
    std::vector<std::byte> from(static_cast<std::size_t>(size));
    std::vector<std::byte> to(static_cast<std::size_t>(size));
    add("warm", size, from, to);
  }
  // written once, so that the pages are there
  std::vector<std::byte> from(static_cast<std::size_t>(walk_bytes), std::byte{1});
  std::vector<std::byte> to(static_cast<std::size_t>(walk_bytes), std::byte{2});
  for (const std::int64_t size : sizes) {
    add("cold", size, from, to);
  }
}

} // namespace contend::native
