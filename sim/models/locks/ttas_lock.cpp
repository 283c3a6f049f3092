#include "models/locks/ttas_lock.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace contend {

TtasLock::TtasLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name,
                   Duration turn, Spinners::Loop loop, First first)
    : Lock(engine, name), parameters_(parameters), turn_(turn + host.hit(LineAccess::load)), line_(engine, host, name),
      spinners_(line_, turn,
                loop == Spinners::Loop::pauses && Nap::are_taken(parameters) ? Spinners::Loop::in_step : loop),
      backoff_(engine.stream(std::string(name) + "/backoff")), first_(first) {}

void TtasLock::do_lock(SimThread& self, Category category) {
  if (first_ == First::set && do_try_lock(self, category)) {
    return;
  }
  Duration limit = parameters_.backoff_minimum;
  Nap nap(parameters_, turn_);
  Bypasses::Wait wait(bypasses_);
  for (;;) {
    line_.load(self, category); // test
    if (bypasses_.given_to(self)) {
      return;
    }
    if (!held_) {
      if (do_try_lock(self, category)) { // and set
        return;
      }
      wait.missed(self); // lost the race
      if (limit > Duration{}) {
        self.spend_time(
            Duration::picoseconds(static_cast<std::int64_t>(backoff_.below(static_cast<std::uint64_t>(limit.count())))),
            category);
        limit = std::min(limit * 2, parameters_.backoff_maximum);
      }
      continue;
    }
    wait.missed(self);
    nap.rest(spinners_, self, category, *this);
  }
}

bool TtasLock::do_try_lock(SimThread& self, Category category) {
  line_.atomic(self, category);
  return !std::exchange(held_, true);
}

void TtasLock::do_unlock(SimThread& self, Category category) {
  line_.post_release(self, category, [this] {
    held_ = bypasses_.hand_over();
    spinners_.notify();
  });
}

void TtasLock::do_grant(SimThread& /*self*/) { held_ = true; }

} // namespace contend
