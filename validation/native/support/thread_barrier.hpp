// The threads of one process meet, as in the published Multirate: a pthread barrier.
#pragma once

#include <pthread.h>

namespace contend::native {

class ThreadBarrier {
public:
  explicit ThreadBarrier(int threads) { pthread_barrier_init(&barrier_, nullptr, static_cast<unsigned>(threads)); }
  ThreadBarrier(const ThreadBarrier&) = delete;
  ThreadBarrier& operator=(const ThreadBarrier&) = delete;
  ~ThreadBarrier() { pthread_barrier_destroy(&barrier_); }

  void wait() { pthread_barrier_wait(&barrier_); }

private:
  pthread_barrier_t barrier_{};
};

} // namespace contend::native
