// An OS process: whose turn it is among its MPI processes, and what a turn is.
#include "mpi/coroutines/os_process.hpp"

#include "mpi/coroutines/world.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace contend {

namespace {

SchedulingPolicy::Wake wake_of(const CoroutineDesign& design) {
  return design.wake == "head" ? SchedulingPolicy::Wake::head : SchedulingPolicy::Wake::tail;
}

} // namespace

OsProcess::OsProcess(CoWorld& world, int number)
    : world_(world), number_(number), node_(world.layout().node_of(number)), core_(world.core_of(number)),
      first_rank_(number * world.layout().processes_per_os_process),
      count_(static_cast<std::size_t>(world.layout().processes_per_os_process)),
      memory_(world.settings().cache, world.settings().memory, world.sharers()),
      name_("OS process " + std::to_string(number)), processes_(count_),
      policy_(scheduling_policy_registry().at(world.settings().library.coroutines.scheduler)(
          wake_of(world.settings().library.coroutines))),
      posted_(process_queues_registry().at(world.settings().library.coroutines.queues)(first_rank_,
                                                                                       static_cast<int>(count_))),
      unexpected_(process_queues_registry().at(world.settings().library.coroutines.queues)(first_rank_,
                                                                                           static_cast<int>(count_))),
      queue_line_(world.engine(), world.host(), "incoming queue"), noise_(world.engine().stream(name_ + "/noise")) {
  const CoSettings& settings = world_.settings();
  packets_ = world_.layout().os_processes() > 1 || settings.library.coroutines.colocated == "channel";
  // A process alone is its OS process: there is nothing to switch to.
  switch_ = count_ == 1 ? Duration{}
                        : SwitchCost(settings.coroutines, settings.library.coroutines.backend, memory_)
                              .price(static_cast<std::int64_t>(count_));
}

void OsProcess::start() {
  thread_ = &world_.engine().spawn(name_, node_, core_, [this](SimThread& self) { run(self); });
  thread_->set_process(number_);
}

CoCounters OsProcess::counters() const {
  CoCounters counters = counters_;
  counters.posted_visited = posted_->visited();
  counters.unexpected_visited = unexpected_->visited();
  return counters;
}

std::string OsProcess::describe() const {
  return "a message or a flag (" + std::to_string(unfinished_) + " MPI processes from rank " +
         std::to_string(first_rank_) + " on have not ended)";
}

void OsProcess::software(Duration time) { thread_->owe(time, Category::software); }

void OsProcess::call(Duration price) { software(price + noise_.exponential(world_.settings().noise)); }

void OsProcess::run(SimThread& self) {
  world_.core_share(*this).acquire(self);
  unfinished_ = static_cast<std::int64_t>(count_);
  for (std::size_t i = 0; i < count_; ++i) {
    CoProcess& process = processes_[i];
    process.os_ = this;
    process.rank_ = first_rank_ + static_cast<int>(i);
    process.program_ = world_.body_(process);
    process.program_.start(process.activation_);
    policy_->yielded(process);
  }
  constexpr std::uint64_t turns_between_steps = 256;
  for (std::uint64_t turns = 1; unfinished_ > 0; ++turns) {
    if (turns % turns_between_steps == 0) {
      self.settle(); // the engine looks now and then whether it is to stop
    }
    RunQueue& queue = policy_->queue();
    if (queue.empty() || fruitless_ >= queue.size()) {
      rest();
    } else {
      turn(queue.pop());
    }
  }
  world_.core_share(*this).release(self);
}

/// Switches to `next` and lets it do what it can.
void OsProcess::turn(Schedulable& next) {
  if (fruitless_ == 0) {
    attention_ = false; // from here on everybody looks once
  }
  const bool stays = last_ == &next && policy_->queue().empty();
  constexpr std::array idle_if_fruitless{Category::software, Category::barrier};
  std::array<Duration, idle_if_fruitless.size()> before{};
  std::transform(idle_if_fruitless.begin(), idle_if_fruitless.end(), before.begin(),
                 [this](Category category) { return thread_->charged(category); });
  if (!stays) {
    ++counters_.switches;
    thread_->owe(switch_, Category::software);
  }
  last_ = &next;
  if (!look(next, false)) { // a poll that found nothing, with what led there
    for (std::size_t i = 0; i < before.size(); ++i) {
      const Category category = idle_if_fruitless[i];
      thread_->reclassify(thread_->charged(category) - before[i], category, Category::poll_idle, before[i]);
    }
  }
}

/// What a turn costs after which nobody can go on.
Duration OsProcess::turn_price(const Schedulable& one) const {
  const CoSettings& settings = world_.settings();
  const Duration change = policy_->queue().size() > 1 ? switch_ : Duration{};
  if (&one == &progress_) {
    return change + settings.channels.poll + settings.channels.socket_poll * (world_.layout().nodes > 1 ? 1 : 0);
  }
  const auto& process = static_cast<const CoProcess&>(one);
  Duration price = change + settings.coroutines.check;
  if (process.waiting_ == CoProcess::Waiting::shared_word) {
    price += settings.cache.hit;
  }
  if (polls(process)) {
    price += settings.channels.poll + settings.channels.socket_poll * (world_.layout().nodes > 1 ? 1 : 0);
  }
  return price;
}

/// The part of it that is charged to the library's code if somebody can go on.
Duration OsProcess::software_price(const Schedulable& one) const {
  const Duration change = !policy_->queue().empty() ? switch_ : Duration{};
  return change + (&one == &progress_ ? Duration{} : world_.settings().coroutines.check);
}

/// Whether a process that waits makes progress itself when it is switched to.
bool OsProcess::polls(const CoProcess& process) const {
  return process.waiting_ == CoProcess::Waiting::requests && !policy_->blocks() && packets_;
}

bool OsProcess::is_ready(CoProcess& process) {
  switch (process.waiting_) {
  case CoProcess::Waiting::nothing:
    return true;
  case CoProcess::Waiting::requests:
    return process.pending_ <= 0;
  case CoProcess::Waiting::shared_word:
    process.line_->load(*thread_, Category::barrier);
    [[fallthrough]];
  case CoProcess::Waiting::word:
    break;
  }
  return (*process.word_ == process.value_) == process.equal_;
}

/// `next` has the processor: it looks whether it can go on, and does. `charged`: the time of looking has passed already. Returns
/// whether it went on, or found something to do for others.
bool OsProcess::look(Schedulable& next, bool charged) {
  const ChannelParameters& channels = world_.settings().channels;
  const Duration poll = channels.poll + channels.socket_poll * (world_.layout().nodes > 1 ? 1 : 0);
  if (&next == &progress_) {
    ++counters_.progress_turns;
    thread_->owe(charged ? Duration{} : poll, Category::poll_idle);
    const bool found = progress();
    fruitless_ = found ? 0 : fruitless_ + 1;
    policy_->yielded(progress_);
    return found;
  }
  auto& process = static_cast<CoProcess&>(next);
  if (process.waiting_ != CoProcess::Waiting::nothing) {
    thread_->owe(charged ? Duration{} : world_.settings().coroutines.check, Category::software);
    bool ready = is_ready(process);
    bool found = false;
    if (!ready && polls(process)) {
      thread_->owe(charged ? Duration{} : poll, Category::poll_idle);
      found = progress();
      fruitless_ = found ? 0 : fruitless_;
      ready = is_ready(process);
    }
    if (!ready) {
      bool stays = true;
      if (process.waiting_ == CoProcess::Waiting::shared_word) {
        policy_->yielded(process);
      } else {
        stays = policy_->waits(process);
      }
      fruitless_ += stays ? 1 : 0; // who is blocked does not count: it has left the queue
      return found;
    }
  }
  fruitless_ = 0;
  resume(process);
  return true;
}

void OsProcess::resume(CoProcess& process) {
  process.waiting_ = CoProcess::Waiting::nothing;
  if (process.activation_.run()) {
    process.program_ = CoTask();
    --unfinished_;
    return;
  }
  switch (process.waiting_) {
  case CoProcess::Waiting::nothing:
  case CoProcess::Waiting::shared_word:
    policy_->yielded(process);
    return;
  case CoProcess::Waiting::requests:
    if (!policy_->waits(process) && !progress_runs_ && packets_) {
      progress_runs_ = true; // the first to be blocked in a receive or send: from now on somebody has to poll
      policy_->yielded(progress_);
    }
    return;
  case CoProcess::Waiting::word:
    policy_->waits(process);
    return;
  }
}

void OsProcess::wait_for_activity() {
  asleep_ = true;
  CoreShare& core = world_.core_share(*this);
  core.release(*thread_);
  thread_->wait(*this, Category::poll_idle); // no time has passed since the caller looked
  core.acquire(*thread_);
}

/// What `one` looks at in each of its turns, if that is a line.
CacheLine* OsProcess::line_of(const Schedulable& one) const {
  if (&one == &progress_) {
    return nullptr;
  }
  const auto& process = static_cast<const CoProcess&>(one);
  return process.waiting_ == CoProcess::Waiting::shared_word ? process.line_ : nullptr;
}

/// Whoever writes to a line that processes look at ends the rest, by taking the line away: a look waits for it while it
/// moves. False: one is gone since the last look.
bool OsProcess::watch_lines() {
  for (const Schedulable* one = policy_->queue().front(); one != nullptr; one = RunQueue::after(*one)) {
    CacheLine* const line = line_of(*one);
    if (line != nullptr && !line->tell(*this, thread_->core())) {
      forget_lines();
      return false;
    }
  }
  return true;
}

void OsProcess::forget_lines() {
  for (const Schedulable* one = policy_->queue().front(); one != nullptr; one = RunQueue::after(*one)) {
    if (CacheLine* const line = line_of(*one); line != nullptr) {
      line->forget(*this);
    }
  }
}

/// Nobody can go on. The turns until something happens are all alike: they pass at once, and the OS process goes on in the
/// turn in which it would have been then.
void OsProcess::rest() {
  thread_->settle();
  fruitless_ = 0;
  if (std::exchange(attention_, false)) {
    return; // since the first of these turns
  }
  RunQueue& queue = policy_->queue();
  const bool every_turn = !world_.settings().coalesce_idle_polls && packets_;
  const bool shared = world_.core_share(*this).shared(); // then the core is left to others meanwhile, and nobody looks
  if (!shared && ((!queue.empty() && every_turn) || !watch_lines())) {
    return;
  }
  Duration round{};
  for (const Schedulable* one = queue.front(); one != nullptr; one = RunQueue::after(*one)) {
    round += turn_price(*one);
  }
  const TimePoint begin = thread_->now();
  const Duration before = thread_->charged(Category::poll_idle);
  wait_for_activity();
  forget_lines();
  if (round == Duration{}) {
    static_cast<void>(progress()); // everybody is blocked
    return;
  }
  const Duration passed = thread_->now() - begin;
  const auto size = queue.size();
  counters_.switches += size > 1 ? passed / round * size : 0;
  counters_.progress_turns += progress_runs_ ? passed / round : 0;
  Duration over = passed % round;
  while (over >= turn_price(*queue.front())) {
    over -= turn_price(*queue.front());
    counters_.switches += size > 1 ? 1 : 0;
    counters_.progress_turns += queue.front() == &progress_ ? 1 : 0;
    queue.rotate();
  }
  Duration left = turn_price(*queue.front()) - over;
  Schedulable& next = queue.pop();
  counters_.switches += size > 1 ? 1 : 0;
  last_ = &next;
  if (const Duration hit = world_.settings().cache.hit; line_of(next) != nullptr) {
    if (left < hit && !shared) { // it is looking at its copy, and sees what was there
      thread_->spend(left, Category::poll_idle);
      policy_->yielded(next);
      return;
    }
    left = std::max(left - hit, Duration{}); // the look at the line passes in look()
  }
  thread_->spend(left, Category::poll_idle);
  attention_ = false;
  const Duration price = software_price(next);
  const Duration idle = thread_->charged(Category::poll_idle);
  if (look(next, true)) { // its last turn was none that found nothing
    thread_->reclassify(std::min(price, idle - before), Category::poll_idle, Category::software, before);
  }
}

void OsProcess::activity() {
  attention_ = true;
  if (std::exchange(asleep_, false)) {
    thread_->resume();
  }
}

} // namespace contend
