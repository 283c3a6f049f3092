#include "core/store_buffer.hpp"

#include "core/engine.hpp"

#include <utility>

namespace contend {

bool StoreBuffer::follow(Event& release) {
  follower_ = guarded_ > 0 ? &release : nullptr;
  return guarded_ > 0;
}

void StoreBuffer::leave(Engine& engine) {
  --guarded_;
  if (guarded_ == 0 && follower_ != nullptr) {
    engine.schedule(*std::exchange(follower_, nullptr), engine.now());
  }
  resume_if_empty();
}

void StoreBuffer::leave_release() {
  --releases_;
  resume_if_empty();
}

void StoreBuffer::resume_if_empty() {
  if (guarded_ + releases_ == 0 && stalled_ != nullptr) {
    std::exchange(stalled_, nullptr)->resume();
  }
}

void StoreBuffer::stall(SimThread& self, Category category) {
  self.settle();
  if (guarded_ + releases_ > 0) {
    stalled_ = &self;
    self.wait(*this, category, Waiting::stalled);
  }
}

} // namespace contend
