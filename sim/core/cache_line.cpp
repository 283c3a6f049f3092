#include "core/cache_line.hpp"

#include <algorithm>

namespace contend {

CacheLine::CacheLine(Engine& engine, const Host& host, std::string_view name)
    : host_(host), engine_(engine), arbitration_(engine.stream(name)), name_(name) {}

std::string CacheLine::describe() const { return "cache line '" + name_ + "'"; }

Duration CacheLine::transfer_time(int core, Mode mode) const {
  if (owner_ < 0) {
    return host_.cache().l3_hit; // nobody has touched it yet
  }
  Duration time = owner_ == core ? Duration{} : host_.transfer(owner_, core);
  if (mode != Mode::load && !exclusive_) {
    // Other copies are invalidated at the same time; the farthest answer counts.
    CoreSet others = copies_;
    others.reset(static_cast<std::size_t>(core));
    if (others.any()) {
      const bool remote = (others & ~host_.cores_of_socket(host_.socket(core))).any();
      time = std::max(time, remote ? host_.cache().transfer_remote : host_.cache().transfer_socket);
    }
  }
  return time;
}

void CacheLine::access(SimThread& self, Mode mode, Category category) {
  if (hits(self.core(), mode)) {
    const TimePoint start = self.now();
    const std::uint64_t losses = losses_;
    self.spend(price(mode), category);
    if (hits(self.core(), mode)) {
      return;
    }
    // Somebody took the line. After this access began, that is no matter; two losses do not fit into its price.
    if (losses_ == losses + 1 && last_loss_ >= start) {
      return;
    }
    // Owed time passed first, and somebody took the line away in it: this access comes after that.
  }
  self.settle();
  self.preemption_point();
  transfer(self, mode, category);
}

void CacheLine::transfer(SimThread& self, Mode mode, Category category) {
  const int core = self.core();
  self.count_line_transfer();
  if (moving_) {
    waiting_.push_back({&self, mode});
    self.wait(*this, category, Waiting::stalled);
  } else {
    const Duration time = transfer_time(core, mode) + price(mode);
    depart(mode);
    self.stall(time, category);
  }
  finish_transfer(core, mode);
}

/// A transfer starts: some core has what it had no more.
void CacheLine::depart(Mode mode) {
  moving_ = mode != Mode::load;
  if (moving_ || exclusive_) {
    last_loss_ = engine_.now();
    ++losses_;
  }
}

/// The line has arrived at `core`; the next transfer starts.
void CacheLine::finish_transfer(int core, Mode mode) {
  if (mode == Mode::load) {
    copies_.set(static_cast<std::size_t>(core));
    exclusive_ = owner_ < 0;
    owner_ = owner_ < 0 ? core : owner_;
    return;
  }
  if (exclusive_) {
    copies_.reset(static_cast<std::size_t>(owner_));
  } else {
    copies_.reset();
  }
  owner_ = core;
  exclusive_ = true;
  copies_.set(static_cast<std::size_t>(core));
  ++transfers_;
  moving_ = false;
  while (!waiting_.empty() && !moving_) {
    const std::size_t next = draw_next();
    const Request request = waiting_[next];
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(next));
    depart(request.mode);
    request.thread->resume_at(engine_.now() + transfer_time(request.thread->core(), request.mode) +
                              price(request.mode));
  }
}

std::size_t CacheLine::draw_next() {
  const double bias = host_.cache().proximity_bias;
  if (waiting_.size() == 1) {
    return 0;
  }
  if (bias == 0.0) {
    return arbitration_.below(waiting_.size());
  }
  const auto nearest = static_cast<double>(host_.cache().transfer_smt.count());
  const auto weight = [&](const Request& request) {
    const auto time =
        static_cast<double>(std::max(host_.transfer(owner_, request.thread->core()), Duration::picoseconds(1)).count());
    return (1.0 - bias) + bias * std::min(1.0, nearest / time);
  };
  double total = 0.0;
  for (const Request& request : waiting_) {
    total += weight(request);
  }
  double draw = arbitration_.uniform() * total;
  for (std::size_t i = 0; i + 1 < waiting_.size(); ++i) {
    draw -= weight(waiting_[i]);
    if (draw < 0.0) {
      return i;
    }
  }
  return waiting_.size() - 1;
}

} // namespace contend
