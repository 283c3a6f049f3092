// The default pthread mutex: one attempt in user space, then sleep in the kernel.
#pragma once

#include "locks/lock_slot.hpp"

#include <pthread.h>

namespace contend::native {

class MutexLock {
public:
  void lock(LockSlot& /*slot*/) { pthread_mutex_lock(&mutex_); }
  void unlock(LockSlot& /*slot*/) { pthread_mutex_unlock(&mutex_); }

private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

} // namespace contend::native
