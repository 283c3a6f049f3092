#include "models/locks/parking_lot_mutex.hpp"

#include "models/locks/spinners.hpp"

#include <algorithm>
#include <string>

namespace contend {

ParkingLotMutex::ParkingLotMutex(Engine& engine, const Host& host, const LockParameters& parameters,
                                 std::string_view name)
    : Lock(engine, name), host_(host), parameters_(parameters), line_(engine, host, name),
      bucket_(engine, host, std::string(name) + "/bucket"), fairness_(engine.stream(std::string(name) + "/fairness")) {}

ParkingLotMutex::Sleeper& ParkingLotMutex::sleeper_of(const SimThread& self) {
  return sleepers_.of(self,
                      [&] { return std::make_unique<Sleeper>(engine(), host_, name() + "/parked/" + self.name()); });
}

bool ParkingLotMutex::change(SimThread& self, Category category, bool held, bool parked) {
  const bool seen_held = held_;
  const bool seen_parked = parked_;
  if (!line_.compare(self, category, [&] { return held_ == seen_held && parked_ == seen_parked; })) {
    return false;
  }
  held_ = held;
  parked_ = parked;
  return true;
}

bool ParkingLotMutex::spin(SimThread& self, Category category, int& turns) const {
  constexpr int pausing = 3;
  constexpr int all = 10;
  if (turns >= all) {
    return false;
  }
  if (++turns <= pausing) {
    self.spend_time(parameters_.pause * (1 << turns), category);
  } else {
    self.spend(yield_turn(host_, parameters_), category);
    if (self.shares_core()) {
      self.yield();
    }
  }
  return true;
}

void ParkingLotMutex::do_lock(SimThread& self, Category category) {
  if (line_.compare(self, category, [this] { return !held_ && !parked_; })) {
    held_ = true;
    return;
  }
  line_.load(self, category);
  while (!compete(self, category)) {
    if (park(self, category)) {
      return;
    }
    line_.load(self, category);
  }
}

bool ParkingLotMutex::compete(SimThread& self, Category category) {
  // A holder that is back within the time of one comparison shows each of them the other state: neither the one that
  // takes the lock nor the one that sets the bit comes through.
  Bypasses::Wait wait(bypasses_);
  for (int turns = 0;;) {
    if (bypasses_.given_to(self)) {
      return true;
    }
    if (!held_) { // even if others sleep
      if (change(self, category, true, parked_)) {
        return true;
      }
      continue; // the comparison has shown the new byte
    }
    wait.missed(self);
    if (bypasses_.chosen(self)) {
      self.spend_time(std::max(parameters_.pause, Duration::picoseconds(1)), category);
      line_.load(self, category);
    } else if (!parked_ && spin(self, category, turns)) {
      line_.load(self, category);
    } else if (parked_ || change(self, category, true, true)) {
      return false;
    }
  }
}

bool ParkingLotMutex::park(SimThread& self, Category category) {
  bucket_.lock(self, category);
  line_.load(self, category);
  if (!held_ || !parked_) {
    bucket_.unlock(self, category);
    return false;
  }
  Sleeper& mine = sleeper_of(self);
  mine.parked = true;
  mine.owner = false;
  queue_.push_back(&mine);
  bucket_.unlock(self, category);
  while (mine.parked) {
    mine.futex.wait(self, category, [&] { return mine.parked; });
  }
  return mine.owner;
}

bool ParkingLotMutex::do_try_lock(SimThread& self, Category category) {
  line_.load(self, category);
  while (!held_) {
    if (change(self, category, true, parked_)) {
      return true;
    }
  }
  return false;
}

/// An unlocking thread that finds sleepers looks at the clock; after 0 to 1 ms, drawn each time, one gets the lock itself.
bool ParkingLotMutex::fair_turn() {
  const TimePoint now = engine().now();
  if (now <= fair_after_) {
    return false;
  }
  constexpr std::uint64_t longest_ns = 1'000'000;
  fair_after_ = now + Duration::nanoseconds(static_cast<double>(fairness_.below(longest_ns)));
  return true;
}

void ParkingLotMutex::do_unlock(SimThread& self, Category category) {
  if (line_.compare(self, category, [this] { return !parked_; })) { // cmpxchg(byte, held, free)
    held_ = bypasses_.hand_over();
    released();
    return;
  }
  bucket_.lock(self, category);
  Sleeper* const first = queue_.empty() ? nullptr : queue_.front();
  if (first != nullptr) {
    queue_.pop_front();
    first->owner = fair_turn();
  }
  line_.store(self, category);
  parked_ = !queue_.empty();
  held_ = bypasses_.hand_over();
  if (first != nullptr) {
    first->owner = first->owner && !held_;
    held_ = held_ || first->owner;
  }
  released();
  bucket_.unlock(self, category);
  if (first != nullptr) {
    first->parked = false;
    first->futex.wake(self, 1, category);
  }
}

void ParkingLotMutex::do_grant(SimThread& /*self*/) { held_ = true; }

} // namespace contend
