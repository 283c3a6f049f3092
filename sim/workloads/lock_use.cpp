#include "workloads/lock_use.hpp"

#include "core/sleep.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace contend {

namespace {

/// The hardware threads that may be used, in the order in which a placement takes them.
std::vector<int> placed(const TopologyParameters& topology, int usable, std::string_view placement,
                        RandomStream& random) {
  std::vector<int> order(static_cast<std::size_t>(usable));
  std::iota(order.begin(), order.end(), 0);
  const int siblings = topology.threads_per_core;
  if (placement == "cores-first") {
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return a % siblings < b % siblings; });
  } else if (placement == "spread") {
    const int per_socket = topology.cores_per_socket * siblings;
    const auto rank = [&](int core) {
      const int within = core % per_socket;
      return std::array{within % siblings, within / siblings, core / per_socket};
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank(a) < rank(b); });
  } else if (placement == "random") {
    for (std::size_t left = order.size(); left > 1; --left) {
      std::swap(order[left - 1], order[random.below(left)]);
    }
  }
  return order;
}

} // namespace

std::uint64_t LockUse::planned_operations() const {
  std::int64_t each = parameters_.acquisitions;
  if (parameters_.stop == "trial") { // batches until the time is over: as many as there is time for, or more
    constexpr Duration quick = Duration::picoseconds(100'000);
    each = std::max(each, static_cast<std::int64_t>(parameters_.trial / quick));
  }
  return static_cast<std::uint64_t>(parameters_.threads) *
         static_cast<std::uint64_t>(each + parameters_.warmup_acquisitions);
}

std::int64_t LockUse::warm_up() const { return std::int64_t{parameters_.threads} * parameters_.warmup_acquisitions; }

std::int64_t LockUse::goal() const { return warm_up() + std::int64_t{parameters_.threads} * parameters_.acquisitions; }

void LockUse::start(World& world) {
  constexpr std::array names{std::pair{"lock", Operation::lock},
                             std::pair{"try-lock", Operation::try_lock},
                             std::pair{"execute", Operation::execute},
                             std::pair{"fetch-and-add", Operation::fetch_and_add},
                             std::pair{"compare-and-swap", Operation::compare_and_swap},
                             std::pair{"fetch-and-xor", Operation::fetch_and_xor},
                             std::pair{"take-turns", Operation::take_turns},
                             std::pair{"swap", Operation::swap},
                             std::pair{"store", Operation::store}};
  operation_ = std::find_if(names.begin(), names.end(), [&](const auto& entry) {
                 return parameters_.operation == entry.first;
               })->second;
  jitter_ = world.settings().noise;
  hit_ = world.host(0).cache().hit;
  Engine& engine = world.engine();
  const Host& host = world.host(0);
  shared_.resize(static_cast<std::size_t>(parameters_.locks));
  for (std::size_t number = 0; number < shared_.size(); ++number) {
    Shared& shared = shared_[number];
    const std::string name = "lock " + std::to_string(number);
    if (locks()) {
      shared.lock = lock_registry().at(parameters_.lock)(engine, host, world.settings().locks, name);
    }
    const int lines = one_for_all() ? std::min(parameters_.lines, 1) : parameters_.lines;
    for (int line = 0; line < lines; ++line) {
      shared.lines.push_back(std::make_unique<CacheLine>(engine, host, name + "/line " + std::to_string(line)));
    }
    shared.values.resize(static_cast<std::size_t>(parameters_.lines));
  }
  for (int number = 0; parameters_.own_line && number < parameters_.threads; ++number) {
    own_lines_.push_back(std::make_unique<CacheLine>(engine, host, "line of thread " + std::to_string(number)));
  }
  RandomStream placement = engine.stream("placement");
  const std::vector<int> cores = placed(host.topology(), world.usable_cores(0), parameters_.placement, placement);
  if (operation_ == Operation::execute) {
    spawn_own_threads(world, cores);
  }
  accounts_.resize(static_cast<std::size_t>(parameters_.threads));
  if (parameters_.begin == "released") {
    gate_ = std::make_unique<ConditionBarrier>(engine, host, parameters_.threads + 1, "gate");
    finish_ = std::make_unique<ConditionBarrier>(engine, host, parameters_.threads + 1, "finish");
    world.spawn_on(0, cores.front(), "main thread",
                   [this, &world, cores](SimThread& self) { release(self, world, cores); });
    return;
  }
  for (int number = 0; number < parameters_.threads; ++number) {
    spawn(world, number, cores[static_cast<std::size_t>(number) % cores.size()]);
  }
}

void LockUse::spawn(World& world, int number, int core) {
  Account& account = accounts_[static_cast<std::size_t>(number)];
  account.thread = &world.spawn_on(0, core, "thread " + std::to_string(number),
                                   [this, &account, number](SimThread& self) { run(self, account, number); });
}

/// Those of locks that run sections in a thread of their own. Where threads have a core each, these have the next ones.
void LockUse::spawn_own_threads(World& world, const std::vector<int>& cores) {
  auto next = static_cast<std::size_t>(parameters_.threads);
  for (const Shared& shared : shared_) {
    SimThread::Body body = shared.lock->own_thread();
    if (!body) {
      continue;
    }
    if (world.scheduler(0) == nullptr && next >= cores.size()) {
      throw std::invalid_argument("no core is left for the thread that " + shared.lock->name() +
                                  " brings along: all threads need one of " + std::to_string(cores.size()) +
                                  ", unless they share them (placement.threads)");
    }
    own_threads_.push_back(
        &world.spawn_daemon_on(0, cores[next++ % cores.size()], shared.lock->name() + " thread", std::move(body)));
  }
}

void LockUse::release(SimThread& self, World& world, const std::vector<int>& cores) {
  for (int number = 0; number < parameters_.threads; ++number) {
    self.spend(parameters_.create, Category::software);
    self.settle();
    spawn(world, number, cores[static_cast<std::size_t>(number) % cores.size()]);
  }
  sleep(self, parameters_.rest, Category::barrier, *gate_);
  gate_->wait(self);
  released_ = self.now();
  finish_->wait(self);
  all_finished_ = self.now();
}

bool LockUse::done(const Account& account) const {
  if (parameters_.stop == "trial") {
    return account.all > 0 && account.all % parameters_.acquisitions == 0 &&
           account.end >= released_ + parameters_.trial;
  }
  return parameters_.stop == "each" ? account.all >= parameters_.warmup_acquisitions + parameters_.acquisitions
                                    : all_ >= goal();
}

bool LockUse::counts(const Account& account) const {
  return alone() ? account.all >= parameters_.warmup_acquisitions : timed_ && all_ < goal();
}

void LockUse::add(const Outcome& outcome, Account& account) {
  const double waited = outcome.waited.in_nanoseconds();
  ++account.acquisitions;
  account.hand_overs += outcome.handed_over ? 1 : 0;
  account.refused += outcome.refused;
  account.delegated += outcome.delegated ? 1 : 0;
  account.wait_max = std::max(account.wait_max, outcome.waited);
  account.wait_sum_ns += waited;
  account.wait_squares += waited * waited;
}

/// With a common goal all threads begin their timed part together; else each by itself.
void LockUse::begin_if_warm(SimThread& self, Account& account) {
  const auto begin = [](Account& begun, TimePoint now) {
    begun.thread->reset_times();
    begun.start = now;
  };
  if (alone()) {
    if (account.all == parameters_.warmup_acquisitions) {
      begin(account, self.now());
      begin_of_own_threads();
    }
  } else if (!timed_ && all_ >= warm_up()) {
    timed_ = true;
    for (Account& other : accounts_) {
      begin(other, self.now());
    }
    begin_of_own_threads();
  }
}

/// What locks' own threads have done so far was for warm-ups. Where threads begin by themselves, the last one decides.
void LockUse::begin_of_own_threads() const {
  for (SimThread* thread : own_threads_) {
    thread->reset_times();
  }
}

void LockUse::run(SimThread& self, Account& account, int number) {
  if (gate_) {
    gate_->wait(self);
  }
  RandomStream random = self.engine().stream(self.name());
  // Threads that start in step would stay so in a machine without noise.
  self.spend(random.exponential(parameters_.delay + parameters_.section + Duration::picoseconds(100'000)),
             Category::software);
  const bool any = parameters_.choice == "random" && parameters_.locks > 1;
  std::size_t which = static_cast<std::size_t>(number) % shared_.size();
  for (;;) {
    begin_if_warm(self, account);
    if (done(account)) {
      break;
    }
    if (any) {
      which = random.below(shared_.size());
    }
    Shared& shared = shared_[which];
    Outcome outcome = operate(self, shared, number, random);
    outcome.handed_over = shared.last >= 0 && shared.last != number;
    shared.last = number;
    if (operation_ == Operation::lock || operation_ == Operation::try_lock) {
      section(self, shared, number, random);
      shared.lock->unlock(self);
    }
    if (counts(account)) {
      add(outcome, account);
    }
    ++account.all;
    ++all_;
    if (!alone()) {
      begin_if_warm(self, account); // at the end of the last warm-up, as the end is that of the last operation
    }
    self.engine().note_operation();
    account.end = self.now();
    if (all_ == goal()) {
      end_ = self.now();
    }
    work(self, parameters_.delay, random);
  }
  if (finish_) {
    finish_->wait(self);
  }
}

void LockUse::work(SimThread& self, Duration span, RandomStream& random) const {
  if (span > Duration{} || jitter_ > Duration{}) {
    self.spend(span + random.exponential(jitter_), Category::software);
  }
}

void LockUse::section(SimThread& self, Shared& shared, int number, RandomStream& random) const {
  work(self, parameters_.section, random);
  work_on_lines(self, shared, number);
  if (!own_lines_.empty()) {
    change_own_line(self, number);
  }
}

void LockUse::change_own_line(SimThread& self, int number) const {
  CacheLine& line = *own_lines_[static_cast<std::size_t>(number)];
  line.load(self, Category::line_transfer);
  line.store_guarded(self, Category::line_transfer);
}

/// What comes before the critical section, or the whole operation where there is none that `self` has to run.
LockUse::Outcome LockUse::operate(SimThread& self, Shared& shared, int number, RandomStream& random) {
  const TimePoint asked = self.now();
  TimePoint begun = TimePoint::never();
  Outcome outcome;
  if (operation_ == Operation::execute) {
    shared.lock->execute(self, [&](SimThread& runner) {
      begun = runner.now();
      outcome.delegated = &runner != &self;
      section(runner, shared, number, random);
    });
  } else if (locks()) {
    outcome.refused = acquire(self, *shared.lock);
  } else {
    outcome.refused = work_on_lines(self, shared, number);
  }
  ++shared.operations;
  outcome.waited = std::min(begun, self.now()) - asked;
  return outcome;
}

std::int64_t LockUse::acquire(SimThread& self, Lock& lock) const {
  std::int64_t refused = 0;
  if (operation_ == Operation::lock) {
    lock.lock(self);
    return refused;
  }
  while (!lock.try_lock(self)) {
    ++refused;
    self.spend(parameters_.retry, Category::lock_wait);
  }
  return refused;
}

/// A holder's accesses to its lines depend on nothing of each other, and the lines always move together: they are fetched at
/// the same time, so that the first stands for all. Atomic operations wait for each other.
std::int64_t LockUse::work_on_lines(SimThread& self, Shared& shared, int number) const {
  if (one_for_all()) {
    change_lines(self, shared);
    return 0;
  }
  std::int64_t failures = 0;
  for (std::size_t i = 0; i < shared.lines.size(); ++i) {
    CacheLine& line = *shared.lines[i];
    if (makes_comparisons()) {
      failures += operation_ == Operation::take_turns ? take_turn(self, line, shared.values[i], number)
                                                      : change_by_comparison(self, line, shared.values[i]);
    } else {
      line.atomic(self, Category::line_transfer);
      ++shared.values[i];
    }
  }
  return failures;
}

void LockUse::change_lines(SimThread& self, Shared& shared) const {
  if (shared.lines.empty()) {
    return;
  }
  CacheLine& line = *shared.lines.front();
  const auto others = static_cast<std::int64_t>(shared.values.size()) - 1;
  line.load(self, Category::line_transfer);
  const std::uint64_t seen = shared.values.front();
  if (locks()) {
    line.store_guarded(self, Category::line_transfer);
  } else {
    line.store(self, Category::line_transfer);
  }
  self.owe(hit_ * (2 * others), Category::line_transfer);
  std::fill(shared.values.begin(), shared.values.end(), seen + 1); // one that gets lost if two threads are here
}

std::int64_t LockUse::change_by_comparison(SimThread& self, CacheLine& line, std::uint64_t& value) const {
  std::int64_t failures = 0;
  line.load(self, Category::line_transfer);
  std::uint64_t expected = value;
  for (;;) {
    if (line.compare(self, Category::line_transfer, [&] { return value == expected; })) {
      value = operation_ == Operation::fetch_and_xor ? ~value : value + 1;
      return failures;
    }
    expected = value;
    ++failures;
    if (parameters_.retry > Duration{}) {
      self.spend(parameters_.retry, Category::line_transfer);
    }
  }
}

std::int64_t LockUse::take_turn(SimThread& self, CacheLine& line, std::uint64_t& value, int number) const {
  // Threads number, number + locks, number + 2 locks... share the line.
  const auto locks = static_cast<std::uint64_t>(parameters_.locks);
  const std::uint64_t place = static_cast<std::uint64_t>(number) / locks;
  const std::uint64_t taking_part =
      (static_cast<std::uint64_t>(parameters_.threads) - 1 - static_cast<std::uint64_t>(number) % locks) / locks + 1;
  std::int64_t failures = 0;
  while (!line.compare(self, Category::line_transfer, [&] { return value % taking_part == place; })) {
    ++failures;
    if (parameters_.retry > Duration{}) {
      self.spend(parameters_.retry, Category::line_transfer);
    }
  }
  ++value;
  return failures;
}

/// What a lock guards, and what atomic operations change, has counted them all.
void LockUse::check_values() const {
  if (operation_ == Operation::store) {
    return; // without a lock, increments may be lost
  }
  for (const Shared& shared : shared_) {
    const auto done = static_cast<std::uint64_t>(shared.operations);
    const std::uint64_t expected = operation_ == Operation::fetch_and_xor ? -(done % 2) : done;
    for (const std::uint64_t value : shared.values) {
      if (value != expected) {
        throw InvariantViolation("a line counted " + std::to_string(value) + " after " + std::to_string(done) +
                                 " operations");
      }
    }
  }
}

WorkloadResult LockUse::result(const World& /*world*/) const {
  check_values();
  WorkloadResult result;
  LockUseStatistics use;
  use.acquisitions_least = accounts_.front().acquisitions;
  TimePoint first = TimePoint::never();
  TimePoint last;
  Duration own_times;
  double wait_sum = 0;
  double wait_squares = 0;
  double squares = 0;
  for (const Account& account : accounts_) {
    const auto acquisitions = static_cast<double>(account.acquisitions);
    use.acquisitions_mean += acquisitions;
    squares += acquisitions * acquisitions;
    use.acquisitions_least = std::min(use.acquisitions_least, account.acquisitions);
    use.acquisitions_most = std::max(use.acquisitions_most, account.acquisitions);
    wait_sum += account.wait_sum_ns;
    wait_squares += account.wait_squares;
    use.wait_max_ns = std::max(use.wait_max_ns, account.wait_max.in_nanoseconds());
    use.hand_overs += account.hand_overs;
    use.refused += account.refused;
    use.delegated += account.delegated;
    own_times += account.end - account.start;
    first = std::min(first, account.start);
    last = std::max(last, account.end);
    result.add(role_of(*account.thread), *account.thread);
  }
  for (const SimThread* thread : own_threads_) {
    result.add(role_of(*thread), *thread);
  }
  const auto threads = static_cast<double>(accounts_.size());
  const auto deviation = [](double sum, double sum_of_squares, double count) {
    return count > 1 ? std::sqrt(std::max(0.0, (sum_of_squares - sum * sum / count) / (count - 1))) : 0.0;
  };
  const double waits = std::max(use.acquisitions_mean, 1.0);
  use.acquisitions_sd = deviation(use.acquisitions_mean, squares, threads);
  const bool trial = parameters_.stop == "trial";
  result.operations =
      trial ? std::llround(use.acquisitions_mean) : std::int64_t{parameters_.threads} * parameters_.acquisitions;
  use.acquisitions_mean /= threads;
  use.wait_mean_ns = wait_sum / waits;
  use.wait_sd_ns = deviation(wait_sum, wait_squares, waits);
  if (trial) {
    result.elapsed = Duration::picoseconds(own_times.count() / parameters_.threads);
  } else {
    result.elapsed = gate_ ? all_finished_ - released_ : (alone() ? last : end_) - first;
  }
  result.locks = use;
  return result;
}

} // namespace contend
