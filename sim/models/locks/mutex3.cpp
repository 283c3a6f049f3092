#include "models/locks/mutex3.hpp"

#include <utility>

namespace contend {

Mutex3::Mutex3(Engine& engine, const Host& host, const LockParameters& /*parameters*/, std::string_view name)
    : Lock(engine, name), line_(engine, host, name), futex_(engine, host, name) {}

void Mutex3::do_lock(SimThread& self, Category category) {
  if (do_try_lock(self, category)) {
    return;
  }
  int seen = word_; // what the comparison found
  const auto mark = [&] {
    line_.atomic(self, category); // xchg(word, 2)
    return std::exchange(word_, 2);
  };
  if (seen != 2) {
    seen = mark();
  }
  while (seen != 0) {
    futex_.wait(self, category, line_, [this] { return word_ == 2; });
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
    released();
    return;
  }
  line_.store(self, category);
  word_ = 0;
  released();
  futex_.wake(self, 1, category);
}

void Mutex3::do_grant(SimThread& /*self*/) { word_ = 1; }

} // namespace contend
