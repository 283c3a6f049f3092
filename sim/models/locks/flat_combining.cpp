#include "models/locks/flat_combining.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace contend {

namespace {

/// How long a thread looks with PAUSE before it does something else (folly, WaitOptions.h: spin_max).
constexpr Duration patience = Duration::picoseconds(2'000'000);

/// A turn asks the library what time it is: clock_gettime in the vDSO, which lets all loads end before its RDTSC and makes
/// nanoseconds of the ticks. 25 ns, as scenarios of set L03 have it.
constexpr Duration clock_look = Duration::picoseconds(25'000);

Duration turn_of(const LockParameters& parameters) {
  return std::max(parameters.pause, Duration::picoseconds(1)) + clock_look;
}

} // namespace

FlatCombining::Record::Record(Engine& engine, const Host& host, Duration turn, Duration yield_call,
                              const std::string& name)
    : flags(engine, host, name), function(engine, host, name + "/function"), frame(engine, host, name + "/frame"),
      pausing(flags, turn, Spinners::Loop::in_step), yielding(flags, yield_call, Spinners::Loop::yields) {}

FlatCombining::FlatCombining(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
    : Lock(engine, name), host_(host), turn_(turn_of(parameters)), yield_call_(yield_turn(host, parameters)),
      word_(engine, host, parameters, name), pending_line_(engine, host, std::string(name) + "/pending"),
      pending_spinner_(pending_line_, turn_, Spinners::Loop::in_step),
      pending_futex_(engine, host, std::string(name) + "/pending"),
      head_line_(engine, host, std::string(name) + "/records"),
      counts_line_(engine, host, std::string(name) + "/counts") {}

SimThread::Body FlatCombining::own_thread() {
  has_combiner_ = true;
  return [this](SimThread& self) { combine(self); };
}

bool FlatCombining::do_lock_or_delegate(SimThread& self, Category category, const Section& section) {
  if (!has_combiner_) {
    do_lock(self, category);
    return true;
  }
  take_record(self, category);
  if (word_.try_lock(self, category)) {
    holder_has_record_ = true;
    count(self, category);
    head_line_.load(self, category); // is there a combiner?
    return true;
  }
  Record& mine = records_.of(self, [&] {
    return std::make_unique<Record>(engine(), host_, turn_, yield_call_, name() + "/record/" + self.name());
  });
  request(self, category, mine, section);
  await_done(self, category, mine);
  mine.frame.load(self, category); // the result
  give_record_back(self, category);
  return false;
}

/// Whoever has the mutex, or is about to take it.
void FlatCombining::count(SimThread& self, Category category) {
  counts_line_.load(self, category);
  counts_line_.store_guarded(self, category);
}

void FlatCombining::request(SimThread& self, Category category, Record& mine, const Section& section) {
  head_line_.load(self, category); // is there a combiner?
  mine.flags.load(self, category);
  mine.done = false;
  mine.function.store_guarded(self, category);
  mine.section = &section;
  mine.frame.store_guarded(self, category);
  mine.flags.post_release(self, category, [&mine] { mine.valid = true; });
  post_pending(self, category);
  fence(self, category);
  mine.flags.load(self, category);
  if (mine.disconnected) {
    connect(self, category, mine);
    post_pending(self, category);
  }
}

/// All stores become visible before it is over.
void FlatCombining::fence(SimThread& self, Category category) const {
  self.store_buffer().drain(self, category);
  self.spend(host_.hit(LineAccess::atomic), category);
}

void FlatCombining::post_pending(SimThread& self, Category category) {
  for (Pending before = Pending::no;;) {
    if (before == Pending::yes) {
      fence(self, category);
      pending_line_.load(self, category);
    } else if (pending_line_.compare(self, category, [&] { return pending_ == before; })) {
      pending_ = Pending::yes;
      if (before == Pending::combiner_sleeps) {
        pending_futex_.wake(self, 1, category);
      }
      return;
    }
    const Pending seen = pending_;
    if (before == Pending::yes && seen == Pending::yes) {
      return;
    }
    before = seen;
  }
}

void FlatCombining::connect(SimThread& self, Category category, Record& mine) {
  mine.flags.store(self, category);
  mine.disconnected = false;
  head_line_.load(self, category);
  for (;;) {
    Record* const seen = head_;
    mine.flags.store(self, category);
    mine.next = seen;
    if (head_line_.compare(self, category, [&] { return head_ == seen; })) {
      head_ = &mine;
      return;
    }
  }
}

void FlatCombining::await_done(SimThread& self, Category category, Record& mine) const {
  const TimePoint end = self.now() + patience;
  for (bool patient = true;;) {
    mine.flags.load(self, category);
    if (mine.done) {
      return;
    }
    patient = patient && self.now() < end;
    if (patient) {
      mine.pausing.rest(self, category, *this, end);
    } else {
      mine.yielding.rest(self, category, *this);
    }
  }
}

void FlatCombining::combine(SimThread& self) {
  constexpr std::uint64_t most = 100; ///< sections in a session, about
  for (;;) {
    await_pending(self);
    pending_line_.store(self, Category::poll_idle);
    pending_ = Pending::no;
    for (std::uint64_t served = most; served >= most;) {
      count(self, Category::line_transfer); // sessions
      lock(self);
      served = 0;
      for (std::uint64_t found = 1; found > 0 && served < most; served += found) {
        found = pass(self);
        if (found > 0) {
          ++passes_;
          count(self, Category::line_transfer);
        }
      }
      count(self, Category::line_transfer); // sections
      unlock(self);
    }
  }
}

void FlatCombining::await_pending(SimThread& self) {
  const TimePoint end = self.now() + patience;
  for (;;) {
    pending_line_.load(self, Category::poll_idle);
    if (pending_ == Pending::yes) {
      return;
    }
    if (self.now() >= end) {
      break;
    }
    pending_spinner_.rest(self, Category::poll_idle, *this, end);
  }
  if (!pending_line_.compare(self, Category::poll_idle, [this] { return pending_ == Pending::no; })) {
    return;
  }
  pending_ = Pending::combiner_sleeps;
  do {
    pending_futex_.wait(self, Category::poll_idle, pending_line_,
                        [this] { return pending_ == Pending::combiner_sleeps; });
    pending_line_.load(self, Category::poll_idle);
  } while (pending_ != Pending::yes);
}

std::uint64_t FlatCombining::pass(SimThread& self) {
  constexpr std::uint64_t idle_passes = 10;
  std::uint64_t count = 0;
  head_line_.load(self, Category::line_transfer);
  Record* previous = nullptr;
  for (Record* record = head_; record != nullptr;) {
    record->flags.load(self, Category::line_transfer);
    Record* const next = record->next;
    bool valid = record->valid;
    if (!valid && previous != nullptr && passes_ - record->last > idle_passes) {
      previous->flags.store(self, Category::line_transfer);
      previous->next = next;
      record->flags.store(self, Category::line_transfer);
      record->disconnected = true;
      fence(self, Category::line_transfer);
      record->flags.load(self, Category::line_transfer);
      valid = record->valid;
    } else {
      previous = record;
    }
    if (valid) {
      serve(self, *record);
      ++count;
    }
    record = next;
  }
  return count;
}

/// The function leads to what it refers to, so that these lines come one after the other.
void FlatCombining::serve(SimThread& self, Record& record) const {
  record.function.load(self, Category::line_transfer);
  record.frame.load(self, Category::line_transfer);
  (*record.section)(self);
  record.frame.store_guarded(self, Category::line_transfer);
  record.last = passes_;
  record.valid = false;
  record.flags.post_release(self, Category::line_transfer, [&record] { record.done = true; });
}

PooledFlatCombining::PooledFlatCombining(Engine& engine, const Host& host, const LockParameters& parameters,
                                         std::string_view name)
    : FlatCombining(engine, host, parameters, name) {
  const int cores = host.topology().hardware_threads() / host.topology().threads_per_core;
  for (int core = 0; core < cores; ++core) {
    const std::string list = std::string(name) + "/pool/" + std::to_string(core);
    lists_.push_back({std::make_unique<CacheLine>(engine, host, list)});
  }
}

/// The list is that of the processor which the thread finds itself on, by getcpu in the vDSO.
void PooledFlatCombining::change_list(SimThread& self, Category category) {
  constexpr Duration finding =
      Duration::picoseconds(12'000); // folly, CacheLocality.h: AccessSpreader::current takes 12 ns
  self.spend(finding, category);
  List& list = lists_[static_cast<std::size_t>(self.core() / host().topology().threads_per_core)];
  list.line->load(self, category);
  for (;;) {
    const std::uint64_t seen = list.version;
    if (list.line->compare(self, category, [&] { return list.version == seen; })) {
      ++list.version;
      return;
    }
  }
}

} // namespace contend
