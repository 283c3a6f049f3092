#include "core/cache_line.hpp"

#include "core/resume_all.hpp"

#include <algorithm>
#include <utility>

namespace contend {

CacheLine::CacheLine(Engine& engine, const Host& host, std::string_view name)
    : host_(host), home_order_(host.cache().home_order), serial_snoops_(home_order_ && host.cache().serial_snoops),
      engine_(engine), arbitration_(engine.stream(name)), name_(name) {
  if (home_order_ && host.topology().sockets > 1) {
    waiting_in_.resize(static_cast<std::size_t>(host.topology().sockets));
  }
}

std::string CacheLine::describe() const { return "cache line '" + name_ + "'"; }

__attribute__((always_inline)) inline Duration CacheLine::transfer_time(int core, Mode mode) const {
  if (owner_ < 0) {
    return host_.cache().l3_hit + host_.after_arrival(mode); // nobody has touched it yet
  }
  // What a sibling wrote is in this core's cache: nothing arrives there.
  const Duration done = host_.siblings(owner_, core) ? host_.hit(mode) : host_.after_arrival(mode);
  Duration time = owner_ == core ? Duration{} : host_.transfer(owner_, core);
  if (mode == Mode::load && in_shared_cache(core)) {
    time = std::min(time, host_.cache().l3_hit);
  }
  if (mode != Mode::load && !exclusive_) {
    // Other copies are invalidated at the same time; the farthest answer counts.
    CoreSet others = copies_;
    others.reset(static_cast<std::size_t>(core));
    if (others.any()) {
      time = std::max(time, host_.invalidation(core, others));
    }
  }
  return time + done;
}

void CacheLine::post_store(SimThread& self, Category category) {
  self.settle();
  const int core = self.core();
  if (hits(core, Mode::store) || moving_ || home_order_ || owner_ < 0) {
    store(self, category);
    return;
  }
  depart(Mode::store, Duration{});
  finish_transfer(core, Mode::store);
  self.count_line_transfer();
  self.owe(price(Mode::store), category);
}

void CacheLine::store_guarded(SimThread& self, Category category) {
  if (goes_to_buffer(self)) {
    post(self, category, nullptr);
  } else {
    access(self, Mode::store, category);
  }
}

void CacheLine::post_release(SimThread& self, Category category, std::function<void()> visible) {
  drain(self, category);
  if (goes_to_buffer(self) || !self.store_buffer().empty()) {
    post(self, category, std::move(visible));
  } else {
    access(self, Mode::store, category);
    visible();
  }
}

/// Whether a store waits in the buffer, not the thread.
bool CacheLine::goes_to_buffer(SimThread& self) {
  if (!buffers_stores()) {
    return false;
  }
  self.settle();
  return owner_ >= 0 && !hits(self.core(), Mode::store) && !still_has(self.core(), self.now());
}

void CacheLine::post(SimThread& self, Category category, std::function<void()> visible) {
  if (!posted_) {
    posted_ = std::make_unique<PostedStore>(engine_, *this);
  }
  while (posted_->thread != nullptr) {
    posted_->draining.push_back(&self);
    self.wait(*this, category, Waiting::stalled);
  }
  const int core = self.core();
  posted_->thread = &self;
  posted_->core = core;
  if (visible) {
    self.store_buffer().enter_release(*posted_);
  } else {
    self.store_buffer().enter();
  }
  posted_->visible = std::move(visible);
  copies_[static_cast<std::size_t>(core)] = false; // what it reads from now on is its own store
  self.count_line_transfer();
  if (must_wait(Mode::store)) {
    queue({nullptr, Mode::store, core});
  } else {
    const Duration time = transfer_time(core, Mode::store);
    depart(Mode::store, time);
    engine_.schedule(*posted_, engine_.now() + time);
  }
  self.owe(price(Mode::store), category);
}

/// An access of the core that has a store in its buffer: a look would see the old value here, and an atomic operation empties
/// the buffer first.
void CacheLine::wait_for_posted_store(SimThread& self, Category category) {
  self.settle();
  if (posted_->thread != nullptr && posted_->core == self.core()) {
    posted_->draining.push_back(&self);
    self.wait(*this, category, Waiting::stalled);
  }
}

void CacheLine::finish_posted_store() {
  StoreBuffer& buffer = posted_->thread->store_buffer();
  const bool gives_back = posted_->visible != nullptr;
  if (gives_back && buffer.follow(*posted_)) {
    return; // stores become visible in order
  }
  posted_->thread = nullptr;
  if (gives_back) {
    std::exchange(posted_->visible, nullptr)();
  }
  finish_transfer(posted_->core, Mode::store);
  if (gives_back) {
    buffer.leave_release(engine_);
  } else {
    buffer.leave(engine_);
  }
  resume_all(posted_->draining);
}

__attribute__((always_inline)) inline void CacheLine::transfer(SimThread& self, Mode mode, Category category) {
  const int core = self.core();
  self.count_line_transfer();
  if (must_wait(mode)) {
    queue({&self, mode, core});
    self.wait(*this, category, Waiting::stalled);
  } else {
    const Duration time = transfer_time(core, mode);
    depart(mode, time);
    self.stall(time, category);
  }
  finish_transfer(core, mode);
}

/// Part of a transfer that passes until its snoop is where the line is; `waited` requests were at the home before it, this one
/// among them.
double CacheLine::share_among_waiting(std::size_t waited) {
  const CacheParameters& prices = host_.cache();
  if (!prices.conflict_retry || !home_order_) {
    return prices.snoop_share;
  }
  return std::min(1.0, 2.0 * prices.snoop_share * arbitration_.least_uniform(waited));
}

/// A transfer starts: some core has what it had no more.
__attribute__((always_inline)) inline void CacheLine::depart(Mode mode, Duration time, std::size_t waited) {
  if (exclusive_) {
    const double share = waited == 0 ? host_.share_until_lost() : share_among_waiting(waited);
    leaves_at_ = engine_.now() + (share == 0.0 ? Duration{} : time.scaled(share));
  }
  moving_ = mode != Mode::load;
  if (moving_ || exclusive_) {
    last_loss_ = engine_.now();
    ++losses_;
  }
  if (moving_) {
    if (!watchers_.empty()) {
      wake_watchers();
    }
  } else if (home_order_) {
    ++reads_;
    snooping_ = serial_snoops_ && exclusive_ && owner_ >= 0;
    if (owner_ >= 0) {
      exclusive_ = false;
    }
  }
}

/// The line has arrived at `core`; the next transfer starts.
__attribute__((always_inline)) inline void CacheLine::finish_transfer(int core, Mode mode) {
  last_mode_ = mode;
  if (mode == Mode::load) {
    copies_[static_cast<std::size_t>(core)] = true;
    exclusive_ = owner_ < 0;
    owner_ = owner_ < 0 ? core : owner_;
    if (home_order_) {
      const bool snooped = std::exchange(snooping_, false);
      if (--reads_ == 0 || snooped) {
        serve();
      }
    }
    return;
  }
  if (exclusive_) {
    copies_[static_cast<std::size_t>(owner_)] = false;
  } else {
    copies_.reset();
  }
  owner_ = core;
  exclusive_ = true;
  copies_[static_cast<std::size_t>(core)] = true;
  ++transfers_;
  moving_ = false;
  if (!waiting_.empty()) {
    serve();
  }
}

/// On a shared core, what access() does at once where it is not.
bool CacheLine::access_alone_on_shared_core(SimThread& self, Mode mode, Category category) {
  if (!hits(self.core(), mode) || !self.spend_alone_on_shared_core(price(mode), category)) {
    return false;
  }
  if (mode != Mode::load && !watchers_.empty()) [[unlikely]] {
    wake_watchers(); // those on this very core
  }
  return true;
}

void CacheLine::access_slowly(SimThread& self, Mode mode, Category category) {
  if (!self.shares_core() || !access_alone_on_shared_core(self, mode, category)) [[likely]] {
    access_among_others(self, mode, category);
  }
}

/// An access that misses, or during which others are due.
void CacheLine::access_among_others(SimThread& self, Mode mode, Category category) {
  if (posted_ && posted_->thread != nullptr && posted_->core == self.core()) {
    wait_for_posted_store(self, category);
  }
  self.settle(); // somebody may take the line away in owed time
  // A locked instruction keeps the line from a moment after its start on.
  const Duration until_kept = locks_line(mode) ? host_.cache().lock_latency : Duration{};
  const bool certain = still_has(self.core(), engine_.now() + until_kept);
  if (certain || hits(self.core(), mode)) {
    const TimePoint start = engine_.now();
    const std::uint64_t losses = losses_;
    self.spend(price(mode), category);
    if (certain) {
      if (mode != Mode::load && !watchers_.empty()) [[unlikely]] {
        wake_watchers(); // who has had the line for a moment and has seen too old a value
      }
      return;
    }
    // Somebody may have taken the line. After this access began, that is no matter; two losses do not fit into its price.
    if (hits(self.core(), mode) || (losses_ == losses + 1 && last_loss_ >= start)) {
      if (mode != Mode::load && !watchers_.empty()) [[unlikely]] {
        wake_watchers(); // those on this very core
      }
      return;
    }
    // The thread's core was taken away meanwhile: this access comes after that.
  }
  self.preemption_point();
  transfer(self, mode, category);
}

void CacheLine::serve() {
  while (!waiting_.empty() && !moving_ && !snooping_) {
    const bool served_sibling = served_sibling_;
    const std::size_t next = draw_next();
    const Request request = waiting_[next];
    const std::size_t waited = waiting_.size();
    if (home_order_ && reads_ > 0 && request.mode != Mode::load) {
      served_sibling_ = served_sibling; // nobody has been served
      return;                           // its turn comes when those that read have the line
    }
    unqueue(next);
    // Before the departure, which changes who has the line.
    const Duration time = transfer_time(request.core, request.mode);
    depart(request.mode, time, waited);
    if (request.thread != nullptr) {
      request.thread->resume_at(engine_.now() + time);
    } else {
      engine_.schedule(*posted_, engine_.now() + time);
    }
  }
}

bool CacheLine::watch(SimThread& self, Duration turn, TimePoint until) {
  self.settle();
  const Watcher watcher{&self, engine_.now(), std::max(turn, Duration::picoseconds(1)), until};
  if (still_has(self.core(), engine_.now())) {
    wake(watcher, leaves_at_);
    return true;
  }
  if (!hits(self.core(), Mode::load)) {
    return false;
  }
  watchers_.push_back(watcher);
  if (until < TimePoint::never()) {
    alarm_by(until);
  }
  return true;
}

/// An event that is scheduled stays so: one that fires too early looks for the next watch that ends.
void CacheLine::alarm_by(TimePoint until) {
  WatchAlarm* idle = nullptr;
  for (const auto& alarm : alarms_) {
    if (alarm->due <= until) {
      return;
    }
    idle = alarm->due == TimePoint::never() ? alarm.get() : idle;
  }
  if (idle == nullptr) {
    idle = alarms_.emplace_back(std::make_unique<WatchAlarm>(engine_, *this)).get();
  }
  idle->due = until;
  engine_.schedule(*idle, until);
}

void CacheLine::end_watches() {
  const auto still_watches = std::stable_partition(
      watchers_.begin(), watchers_.end(), [&](const Watcher& watcher) { return watcher.until <= engine_.now(); });
  std::for_each(watchers_.begin(), still_watches, [](const Watcher& watcher) { watcher.thread->resume(); });
  watchers_.erase(watchers_.begin(), still_watches);
  TimePoint next = TimePoint::never();
  for (const Watcher& watcher : watchers_) {
    next = std::min(next, watcher.until);
  }
  if (next < TimePoint::never()) {
    alarm_by(next);
  }
}

bool CacheLine::tell(LineReader& reader, int core) {
  if (still_has(core, engine_.now()) || !hits(core, Mode::load)) {
    return false;
  }
  watchers_.push_back({nullptr, {}, {}, TimePoint::never(), &reader});
  return true;
}

void CacheLine::forget(const LineReader& reader) {
  std::erase_if(watchers_, [&](const Watcher& watcher) { return watcher.reader == &reader; });
}

/// A look that falls on the very moment of the loss still sees the old value.
void CacheLine::wake(const Watcher& watcher, TimePoint loss) {
  if (watcher.reader != nullptr) {
    watcher.reader->copy_lost();
    return;
  }
  const std::int64_t turns = (loss - watcher.looked) / watcher.turn + 1;
  watcher.thread->resume_at(watcher.looked + watcher.turn * turns);
}

void CacheLine::wake_watchers() {
  for (const Watcher& watcher : watchers_) {
    wake(watcher, engine_.now());
  }
  watchers_.clear();
}

void CacheLine::queue(const Request& request) {
  waiting_.push_back(request);
  if (!waiting_in_.empty() && waiting_in_[static_cast<std::size_t>(host_.socket(request.core))]++ == 0) {
    ++waiting_sockets_;
  }
}

void CacheLine::unqueue(std::size_t index) {
  if (!waiting_in_.empty() && --waiting_in_[static_cast<std::size_t>(host_.socket(waiting_[index].core))] == 0) {
    --waiting_sockets_;
  }
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(index));
}

bool CacheLine::at_sibling(const Request& request) const {
  return request.core == owner_ || host_.siblings(owner_, request.core);
}

/// A locked instruction keeps the line until it is over: a snoop that comes meanwhile is turned back. If the core's other
/// hardware thread has one waiting by then, either may come first.
bool CacheLine::turns_snoop_back(const Request& request) {
  return locks_line(last_mode_) && locks_line(request.mode) && arbitration_.below(2) == 0;
}

/// Hardware threads of one core share its first-level cache: where the line arrives, a request of the other one is served
/// before the line can be taken away again, once and for as long as they turn back the snoop.
std::size_t CacheLine::draw_next() {
  if (home_order_ && owner_ >= 0 && host_.topology().threads_per_core > 1) {
    const auto sibling =
        std::find_if(waiting_.begin(), waiting_.end(), [&](const Request& request) { return at_sibling(request); });
    if (sibling != waiting_.end() && (!served_sibling_ || turns_snoop_back(*sibling))) {
      served_sibling_ = true;
      return static_cast<std::size_t>(sibling - waiting_.begin());
    }
    const std::size_t drawn = draw_any();
    served_sibling_ = at_sibling(waiting_[drawn]);
    return drawn;
  }
  return draw_any();
}

/// A socket has one request for a line under way; the others queue at its caching agent, because requests for one address are
/// not allowed to pass each other there (Intel's uncore events of Haswell and Broadwell servers, RxR_IRQ_RETRY.ADDR_CONFLICT).
/// So those of the socket that has the line compete with one of each other socket.
std::size_t CacheLine::draw_by_socket() {
  const int here = host_.socket(owner_);
  const auto near = static_cast<std::size_t>(waiting_in_[static_cast<std::size_t>(here)]);
  const std::size_t others = waiting_sockets_ - (near > 0 ? 1 : 0);
  const std::size_t drawn = arbitration_.below(near + others);
  const bool stays = drawn < near;
  const auto is_near = [&](const Request& request) { return host_.socket(request.core) == here; };
  std::size_t left = stays ? drawn : arbitration_.below(waiting_.size() - near);
  if (near == 0) {
    return left; // all of them are elsewhere
  }
  for (std::size_t i = 0;; ++i) {
    if (is_near(waiting_[i]) == stays && left-- == 0) {
      return i;
    }
  }
}

std::size_t CacheLine::draw_any() {
  const double bias = host_.cache().proximity_bias;
  if (waiting_.size() == 1) {
    return 0;
  }
  if (bias == 0.0) {
    const bool by_socket = !waiting_in_.empty() && owner_ >= 0;
    return by_socket ? draw_by_socket() : arbitration_.below(waiting_.size());
  }
  const auto nearest = static_cast<double>(host_.cache().transfer_smt.count());
  const auto weight = [&](const Request& request) {
    const auto time =
        static_cast<double>(std::max(host_.transfer(owner_, request.core), Duration::picoseconds(1)).count());
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
