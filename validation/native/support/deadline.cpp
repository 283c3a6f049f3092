#include "support/deadline.hpp"

#include "support/failure.hpp"
#include "support/hooks.hpp"

#include <chrono>
#include <cstdlib>
#include <string>

namespace contend::native {

Deadline::Deadline(double seconds) {
  if (seconds > 0) {
    thread_ = std::thread([this, seconds] { watch(seconds); });
  }
}

Deadline::~Deadline() {
  {
    const std::lock_guard guard(mutex_);
    reached_end_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Deadline::watch(double seconds) {
  // the system clock: ThreadSanitizer does not know the call that waits on the monotonic one
  const auto end = std::chrono::system_clock::now() + std::chrono::duration_cast<std::chrono::system_clock::duration>(
                                                          std::chrono::duration<double>(seconds));
  std::unique_lock lock(mutex_);
  if (!changed_.wait_until(lock, end, [this] { return reached_end_; })) {
    print_error(ExitCode::timed_out, "not done after " + std::to_string(seconds) +
                                         " s; last step begun here: " + std::to_string(last_step()));
    std::_Exit(static_cast<int>(ExitCode::timed_out));
  }
}

} // namespace contend::native
