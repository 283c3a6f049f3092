#include "rma/windows.hpp"

#include <cstring>

namespace contend::native {

Windows::Windows(const RmaWorkload& workload) : workload_(workload) {
  const MPI_Aint threads_per_window = workload.window_per_thread ? 1 : static_cast<MPI_Aint>(workload.threads);
  const MPI_Aint bytes = threads_per_window * slots * static_cast<MPI_Aint>(workload.message_size);
  for (int window = 0; window < workload.windows(); ++window) {
    void* memory = nullptr;
    MPI_Win handle = MPI_WIN_NULL;
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&memory), &handle);
    std::memset(memory, 0, static_cast<std::size_t>(bytes));
    windows_.push_back(handle);
    memory_.push_back(static_cast<std::byte*>(memory));
  }
  MPI_Barrier(MPI_COMM_WORLD); // the memory is clean before anybody comes
}

Windows::~Windows() {
  for (MPI_Win& window : windows_) {
    MPI_Win_free(&window);
  }
}

MPI_Aint Windows::displacement(int thread, int slot) const {
  const int number = (workload_.window_per_thread ? 0 : thread * slots) + slot;
  return static_cast<MPI_Aint>(number) * static_cast<MPI_Aint>(workload_.message_size);
}

std::byte* Windows::local(int thread, int slot) const { return memory_[index(thread)] + displacement(thread, slot); }

void Windows::lock_all() const {
  for (const MPI_Win window : windows_) {
    MPI_Win_lock_all(0, window);
  }
}

void Windows::unlock_all() const {
  for (const MPI_Win window : windows_) {
    MPI_Win_unlock_all(window);
  }
}

void Windows::fence_all() const {
  for (const MPI_Win window : windows_) {
    MPI_Win_fence(0, window);
  }
}

} // namespace contend::native
