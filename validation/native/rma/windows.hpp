// The memory of the target and the windows onto it.
#pragma once

#include "mpi/mpi.hpp"
#include "rma/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend::native {

/// Each thread has slots of its own at the target, and uses them in turn. Construction and destruction are collective.
class Windows {
public:
  static constexpr int target = 1; ///< rank
  /// Slots of a thread.
  static constexpr int slots = 16;

  explicit Windows(const RmaWorkload& workload);
  Windows(const Windows&) = delete;
  Windows& operator=(const Windows&) = delete;
  ~Windows();

  [[nodiscard]] MPI_Win of_thread(int thread) const { return windows_[index(thread)]; }
  /// Displacement of a thread's slot in its window, in bytes.
  [[nodiscard]] MPI_Aint displacement(int thread, int slot) const;
  /// The same place in this process's memory.
  [[nodiscard]] std::byte* local(int thread, int slot) const;

  /// Passive epochs around everything, for flushes. By the origin.
  void lock_all() const;
  void unlock_all() const;
  void fence_all() const;

private:
  [[nodiscard]] std::size_t index(int thread) const {
    return workload_.window_per_thread ? static_cast<std::size_t>(thread) : 0;
  }

  const RmaWorkload& workload_;
  std::vector<MPI_Win> windows_;
  std::vector<std::byte*> memory_; ///< by window
};

} // namespace contend::native
