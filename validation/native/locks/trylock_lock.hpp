// Try-lock polling on a pthread mutex, as progress engines do it: never sleeps.
#pragma once

#include "locks/lock_slot.hpp"

#include <pthread.h>

namespace contend::native {

class TrylockLock {
public:
  void lock(LockSlot& slot) {
    while (pthread_mutex_trylock(&mutex_) != 0) {
      ++slot.failed_tries;
      spin_pause();
    }
  }
  void unlock(LockSlot& /*slot*/) { pthread_mutex_unlock(&mutex_); }

private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

} // namespace contend::native
