#include "core/store_buffer.hpp"

#include "core/engine.hpp"

#include <algorithm>
#include <utility>

namespace contend {

bool StoreBuffer::follow(const Event& release) {
  if (releases_.front().event == &release && first_is_due()) {
    return false;
  }
  const auto place = std::find_if(releases_.begin(), releases_.end(),
                                  [&](const Release& candidate) { return candidate.event == &release; });
  place->arrived = true;
  return true;
}

void StoreBuffer::leave(Engine& engine) {
  ++visible_;
  go_on(engine);
}

void StoreBuffer::leave_release(Engine& engine) {
  releases_.erase(releases_.begin());
  go_on(engine);
}

void StoreBuffer::go_on(Engine& engine) {
  if (!releases_.empty() && releases_.front().arrived && first_is_due()) {
    releases_.front().arrived = false;
    engine.schedule(*releases_.front().event, engine.now());
  }
  if (empty() && stalled_ != nullptr) {
    std::exchange(stalled_, nullptr)->resume();
  }
}

void StoreBuffer::stall(SimThread& self, Category category) {
  self.settle();
  if (!empty()) {
    stalled_ = &self;
    self.wait(*this, category, Waiting::stalled);
  }
}

} // namespace contend
