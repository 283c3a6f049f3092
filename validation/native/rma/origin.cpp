#include "rma/origin.hpp"

#include "support/failure.hpp"

#include <algorithm>
#include <cstring>

namespace contend::native {

namespace {

constexpr std::size_t word = sizeof(std::int64_t);

/// The byte that correctness mode puts everywhere in a slot: differs between neighbours.
std::byte mark(int thread, int slot) { return static_cast<std::byte>(1 + (thread * 7 + slot) % 251); }

std::int64_t check_bytes(const std::byte* data, std::int64_t size, std::byte expected, const std::string& where) {
  for (std::int64_t at = 0; at < size; ++at) {
    if (data[at] != expected) {
      print_error(ExitCode::incorrect, where + " is wrong from byte " + std::to_string(at));
      return 1;
    }
  }
  return 0;
}

std::string place(int thread, int slot) {
  return "slot " + std::to_string(slot) + " of thread " + std::to_string(thread);
}

} // namespace

Origin::Origin(const RmaWorkload& workload, const Windows& windows)
    : workload_(workload), windows_(windows), barrier_(static_cast<int>(workload.threads)),
      threads_(static_cast<std::size_t>(workload.threads)) {
  const auto bytes = static_cast<std::size_t>(workload.message_size);
  for (Thread& thread : threads_) {
    thread.source.resize(bytes);
    thread.result.resize(bytes * Windows::slots);
    if (workload.adds()) {
      for (std::size_t at = 0; at + word <= bytes; at += word) {
        thread.source[at] = std::byte{1}; // the number 1 on little-endian machines, a constant on others
      }
    }
  }
}

void Origin::iterate(int thread, std::int64_t /*iteration*/) {
  begin_epoch(thread);
  for (std::int64_t operation = 0; operation < workload_.operations; ++operation) {
    operate(thread, static_cast<int>(operation % Windows::slots));
  }
  end_epoch(thread);
}

void Origin::begin_epoch(int thread) {
  if (workload_.flushes()) {
    return;
  }
  const MPI_Win window = windows_.of_thread(thread);
  if (leads(thread)) {
    if (workload_.fences()) {
      MPI_Win_fence(0, window);
    } else if (workload_.synchronisation == "lock") {
      MPI_Win_lock(MPI_LOCK_SHARED, Windows::target, 0, window);
    } else {
      MPI_Win_lock_all(0, window);
    }
  }
  if (!workload_.window_per_thread) {
    barrier_.wait(); // the epoch is open for all
  }
}

void Origin::end_epoch(int thread) {
  const MPI_Win window = windows_.of_thread(thread);
  if (workload_.flushes()) {
    if (workload_.synchronised_by == "every-thread") {
      flush(thread);
      return;
    }
    barrier_.wait(); // all operations are issued
    if (workload_.window_per_thread && thread == 0) {
      for (int other = 0; other < workload_.threads; ++other) {
        flush(other);
      }
    } else if (thread == 0) {
      flush(thread);
    }
    barrier_.wait();
    return;
  }
  if (!workload_.window_per_thread) {
    barrier_.wait();
  }
  if (leads(thread)) {
    if (workload_.fences()) {
      MPI_Win_fence(0, window);
    } else if (workload_.synchronisation == "lock") {
      MPI_Win_unlock(Windows::target, window);
    } else {
      MPI_Win_unlock_all(window);
    }
  }
  if (!workload_.window_per_thread) {
    barrier_.wait(); // complete for all
  }
}

void Origin::flush(int thread) const {
  const MPI_Win window = windows_.of_thread(thread);
  if (workload_.synchronisation == "flush") {
    MPI_Win_flush(Windows::target, window);
  } else if (workload_.synchronisation == "flush-all") {
    MPI_Win_flush_all(window);
  } else {
    MPI_Win_flush_local(Windows::target, window);
  }
}

void Origin::operate(int thread, int slot) {
  Thread& self = threads_[static_cast<std::size_t>(thread)];
  const MPI_Win window = windows_.of_thread(thread);
  const MPI_Aint at = windows_.displacement(thread, slot);
  const int bytes = static_cast<int>(workload_.message_size);
  std::byte* result = self.result.data() + static_cast<std::ptrdiff_t>(slot) * bytes;
  if (workload_.operation == "put") {
    MPI_Put(self.source.data(), bytes, MPI_BYTE, Windows::target, at, bytes, MPI_BYTE, window);
  } else if (workload_.operation == "get") {
    MPI_Get(result, bytes, MPI_BYTE, Windows::target, at, bytes, MPI_BYTE, window);
  } else if (workload_.operation == "accumulate") {
    const int words = bytes / static_cast<int>(word);
    MPI_Accumulate(self.source.data(), words, MPI_INT64_T, Windows::target, at, words, MPI_INT64_T, MPI_SUM, window);
  } else {
    MPI_Fetch_and_op(self.source.data(), result, MPI_INT64_T, Windows::target, at, MPI_SUM, window);
  }
}

std::int64_t Origin::verify_thread(int thread, bool corrupt) {
  const bool wrong = corrupt && thread == 0;
  if (workload_.adds()) { // the target's sums tell
    if (wrong) {
      operate(thread, 0);
      MPI_Win_flush(Windows::target, windows_.of_thread(thread));
    }
    return 0;
  }
  Thread& self = threads_[static_cast<std::size_t>(thread)];
  const MPI_Win window = windows_.of_thread(thread);
  std::int64_t errors = 0;
  for (int slot = 0; slot < Windows::slots; ++slot) {
    std::fill(self.source.begin(), self.source.end(), mark(thread, wrong && slot == 0 ? 1 : slot));
    operate(thread, slot);
    MPI_Win_flush(Windows::target, window);
    if (workload_.operation == "get") {
      self.result[0] ^= wrong && slot == 0 ? std::byte{1} : std::byte{0};
      errors += check_bytes(self.result.data() + slot * workload_.message_size, workload_.message_size,
                            mark(thread, slot), "what was got from " + place(thread, slot));
    }
  }
  return errors;
}

void fill_target(const RmaWorkload& workload, const Windows& windows) {
  for (int thread = 0; thread < workload.threads; ++thread) {
    for (int slot = 0; slot < Windows::slots; ++slot) {
      std::memset(windows.local(thread, slot), static_cast<int>(mark(thread, slot)),
                  static_cast<std::size_t>(workload.message_size));
    }
  }
}

std::int64_t verify_target(const RmaWorkload& workload, const Windows& windows, std::int64_t operations) {
  std::int64_t errors = 0;
  for (int thread = 0; thread < workload.threads; ++thread) {
    std::int64_t added = 0;
    for (int slot = 0; slot < Windows::slots; ++slot) {
      const std::byte* data = windows.local(thread, slot);
      if (!workload.adds()) {
        errors += check_bytes(data, workload.message_size, mark(thread, slot), place(thread, slot));
        continue;
      }
      std::int64_t sum = 0;
      std::memcpy(&sum, data, sizeof sum);
      added += sum;
    }
    if (workload.adds() && added != operations) {
      print_error(ExitCode::incorrect, "thread " + std::to_string(thread) + " has added " + std::to_string(added) +
                                           " in " + std::to_string(operations) + " operations");
      ++errors;
    }
  }
  return errors;
}

} // namespace contend::native
