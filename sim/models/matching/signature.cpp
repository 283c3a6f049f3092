#include "models/matching/signature.hpp"

namespace contend {

namespace {

// Walks dominate the run time of deep queues: use the processor's wide integer vectors where it has them. Results are
// integers and do not depend on it. (Sanitizers instrument the resolver before they are ready for it.)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&               \
    !defined(__SANITIZE_THREAD__)
#define CONTEND_WIDE_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define CONTEND_WIDE_VECTORS
#endif

/// Elements that are compared at a time, without a branch in between.
constexpr std::size_t block = 32;

} // namespace

CONTEND_WIDE_VECTORS std::size_t find_signature(const std::vector<Signature>& signatures, std::size_t begin,
                                                std::size_t end, Signature exact, Signature any) {
  const Signature* const data = signatures.data();
  std::size_t index = begin;
  for (; index + block <= end; index += block) {
    std::uint32_t hits = 0;
    for (std::size_t i = index; i < index + block; ++i) {
      hits |= static_cast<std::uint32_t>(data[i] == exact) | static_cast<std::uint32_t>(data[i] == any);
    }
    if (hits != 0) {
      break;
    }
  }
  while (index < end && data[index] != exact && data[index] != any) {
    ++index;
  }
  return index;
}

} // namespace contend
