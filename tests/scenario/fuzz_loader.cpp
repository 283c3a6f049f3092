// libFuzzer target: contend_scenario_fuzz tests/scenario/corpus tests/scenario/bad
#include "fuzz_entry.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)contend::test::exercise_loader({reinterpret_cast<const char*>(data), size});
  return 0;
}
