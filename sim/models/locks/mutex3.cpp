#include "models/locks/mutex3.hpp"

#include <limits>
#include <utility>

namespace contend {

Mutex3::Mutex3(Engine& engine, const Host& host, const LockParameters& /*parameters*/, std::string_view name)
    : Lock(engine, name), line_(engine, host, name), futex_(engine, host, name), bypasses_(host.futex()) {}

void Mutex3::do_lock(SimThread& self, Category category) {
  if (do_try_lock(self, category)) {
    return;
  }
  Bypasses::Wait wait(bypasses_);
  int seen = word_; // what the comparison found
  const auto mark = [&] {
    line_.atomic(self, category); // xchg(word, 2)
    return bypasses_.given_to(self) ? 0 : std::exchange(word_, 2);
  };
  if (seen != 2) {
    seen = mark();
  }
  while (seen != 0) {
    wait.missed(self);
    futex_.wait(self, category, line_, [&] { return word_ == 2 && !bypasses_.has(self); });
    seen = mark();
  }
}

bool Mutex3::do_try_lock(SimThread& self, Category category) {
  if (!line_.compare(self, category, [this] { return word_ == 0; })) { // cmpxchg(word, 0, 1)
    return false;
  }
  word_ = 1;
  return true;
}

void Mutex3::do_unlock(SimThread& self, Category category) {
  line_.release_by_atomic(self, category); // fetch_sub(word, 1)
  if (word_-- == 1) {
    give_back(self, category, false);
    return;
  }
  line_.store(self, category);
  give_back(self, category, true);
}

void Mutex3::give_back(SimThread& self, Category category, bool anybody_sleeps) {
  const bool given = bypasses_.hand_over();
  word_ = given ? 2 : 0;
  released();
  if (given) {
    futex_.wake(self, std::numeric_limits<int>::max(), category); // whoever it is
  } else if (anybody_sleeps) {
    futex_.wake(self, 1, category);
  }
}

void Mutex3::do_grant(SimThread& /*self*/) { word_ = 1; }

} // namespace contend
