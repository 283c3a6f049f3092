#include "models/locks/tas_lock.hpp"

#include "models/locks/spinners.hpp"

#include <utility>

namespace contend {

TasLock::TasLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
    : Lock(engine, name), parameters_(parameters), look_(host.hit(LineAccess::atomic)), line_(engine, host, name) {}

void TasLock::do_lock(SimThread& self, Category category) {
  // Attempts that find the line where the last one left it fail like the last one: only the next loss of the line counts.
  Spinners attempts(line_, parameters_.pause, Spinners::Loop::in_step, look_);
  Nap nap(parameters_, parameters_.pause + look_);
  while (!do_try_lock(self, category)) {
    nap.rest(attempts, self, category, *this);
  }
}

bool TasLock::do_try_lock(SimThread& self, Category category) {
  line_.atomic(self, category);
  return !std::exchange(held_, true);
}

void TasLock::do_unlock(SimThread& self, Category category) {
  line_.post_release(self, category, [this] { held_ = false; });
}

void TasBitLock::do_unlock(SimThread& self, Category category) {
  line_.release_by_atomic(self, category);
  held_ = false;
}

void TasLock::do_grant(SimThread& /*self*/) { held_ = true; }

} // namespace contend
