// Ends a run that takes too long, from a thread of its own: the others may be stuck inside a library.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace contend::native {

class Deadline {
public:
  /// Ends the process with exit code 5 unless destroyed within `seconds`; 0: never.
  explicit Deadline(double seconds);
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline();

private:
  void watch(double seconds);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_end_ = false;
  std::thread thread_;
};

} // namespace contend::native
