#include "models/locks/adaptive_mutex.hpp"

#include <algorithm>

namespace contend {

void AdaptiveMutex::do_lock(SimThread& self, Category category) {
  word_.read_kind(self, category);
  FutexWord& word = word_.word();
  if (word.try_lock(self, category)) {
    return;
  }
  const int most = std::min(parameters_.adaptive_spins, spins_ * 2 + 10);
  int attempts = 0;
  do {
    if (attempts++ >= most) {
      word.lock(self, category);
      break;
    }
    self.spend_time(parameters_.pause, category);
  } while (!word.try_lock(self, category));
  spins_ += (attempts - spins_) / 8;
}

} // namespace contend
