// The threads of the origin: operations, and what completes them.
#pragma once

#include "rma/windows.hpp"
#include "rma/workload.hpp"
#include "support/thread_barrier.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace contend::native {

class Origin {
public:
  Origin(const RmaWorkload& workload, const Windows& windows);

  /// One iteration of one thread.
  void iterate(int thread, std::int64_t iteration);
  /// Correctness mode, after the run: every slot is written or read once more with a known value. Returns errors found here.
  /// `corrupt`: thread 0 works on its first slot in a wrong way, so that tests can see it found.
  [[nodiscard]] std::int64_t verify_thread(int thread, bool corrupt);

private:
  struct alignas(128) Thread {
    std::vector<std::byte> source;
    std::vector<std::byte> result; ///< of get and fetch-and-op, a slot each
  };
  void begin_epoch(int thread);
  void end_epoch(int thread);
  void operate(int thread, int slot);
  void flush(int thread) const;
  [[nodiscard]] bool leads(int thread) const { return workload_.window_per_thread || thread == 0; }

  const RmaWorkload& workload_;
  const Windows& windows_;
  ThreadBarrier barrier_;
  std::vector<Thread> threads_;
};

/// What a slot of the target holds at the end: checked by the target. Returns errors. `operations`: per thread, in all.
[[nodiscard]] std::int64_t verify_target(const RmaWorkload& workload, const Windows& windows, std::int64_t operations);

/// What the target holds before a verified get.
void fill_target(const RmaWorkload& workload, const Windows& windows);

} // namespace contend::native
