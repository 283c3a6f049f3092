#include "mpi/window.hpp"

#include "core/trace_scope.hpp"
#include "mpi/process.hpp"

#include <algorithm>

namespace contend {

namespace {

constexpr std::int64_t exclusive_bit = std::int64_t{1} << 62;
// The word at rank 0: holders of lock_all in the upper half, of exclusive locks in the lower.
constexpr std::int64_t one_exclusive = 1;
constexpr std::int64_t one_lock_all = std::int64_t{1} << 32;
constexpr std::int64_t any_exclusive = one_lock_all - 1;
constexpr std::int64_t any_lock_all = exclusive_bit - one_lock_all;

} // namespace

/// An operation that its caller waits for.
struct Window::Blocking final : RdmaListener {
  explicit Blocking(Window& owner) : window(owner) {}
  void completed(SimThread& self, const RdmaRequest& request) override {
    done = true;
    window.completed(self, request);
  }
  Window& window;
  bool done = false;
};

Window::Window(Process& process, int id, int communicator)
    : process_(process), communicator_(communicator),
      counting_(process.settings_.library.one_sided.completion == "counter"),
      name_(process.name() + "/window " + std::to_string(id)),
      words_line_(process.engine_, process.host_, name_ + "/lock words") {}

Window::~Window() = default;

void Window::attach(std::vector<Window*> sides) {
  sides_ = std::move(sides);
  posted_.resize(sides_.size());
  held_.resize(sides_.size(), Held::nothing);
  for (std::size_t target = 0; target < sides_.size(); ++target) {
    counter_lines_.push_back(std::make_unique<CacheLine>(process_.engine_, process_.host_,
                                                         name_ + "/outstanding to " + std::to_string(target)));
  }
}

std::int64_t Window::outstanding(int target) const { return posted_[static_cast<std::size_t>(target)]; }

// Operations.

void Window::put(SimThread& self, int target, std::int64_t bytes, RemoteMemory* memory, std::int64_t offset) {
  const TraceScope scope(self, process_.rank(), "MPI_Put");
  ++process_.counters_.puts;
  RdmaRequest request;
  request.kind = RdmaRequest::Kind::put;
  request.bytes = bytes;
  request.target = target;
  request.memory = memory;
  request.offset = offset;
  start(self, request);
}

void Window::get(SimThread& self, int target, std::int64_t bytes) {
  const TraceScope scope(self, process_.rank(), "MPI_Get");
  ++process_.counters_.gets;
  RdmaRequest request;
  request.kind = RdmaRequest::Kind::get;
  request.bytes = bytes;
  request.target = target;
  start(self, request);
}

void Window::accumulate(SimThread& self, int target, std::int64_t bytes) {
  const TraceScope scope(self, process_.rank(), "MPI_Accumulate");
  ++process_.counters_.accumulates;
  read_modify_write(self, target, bytes);
}

void Window::fetch_and_op(SimThread& self, int target, std::int64_t bytes) {
  const TraceScope scope(self, process_.rank(), "MPI_Fetch_and_op");
  ++process_.counters_.fetch_and_ops;
  read_modify_write(self, target, bytes);
}

bool Window::by_hardware(std::int64_t bytes) const {
  return process_.settings_.library.one_sided.atomics == "hardware" &&
         bytes <= process_.settings_.rdma.atomic_limit_bytes;
}

void Window::read_modify_write(SimThread& self, int target, std::int64_t bytes) {
  RdmaRequest request;
  request.bytes = bytes;
  request.target = target;
  if (by_hardware(bytes)) {
    ++process_.counters_.hardware_atomics;
    request.kind = RdmaRequest::Kind::fetch_add;
    start(self, request);
    return;
  }
  constexpr std::int64_t open = 0;
  constexpr std::int64_t taken = 1;
  while (compare_swap(self, target, &Words::accumulate, open, taken) != open) {
    ++process_.counters_.window_lock_retries;
  }
  request.kind = RdmaRequest::Kind::get;
  start_and_wait(self, request);
  self.owe(process_.copy_time(bytes), Category::copy);
  request.kind = RdmaRequest::Kind::put;
  start_and_wait(self, request);
  fetch_add(self, target, &Words::accumulate, -taken);
}

int Window::pick(SimThread& self, int target) {
  const auto id = static_cast<std::size_t>(self.id());
  if (last_instance_.size() <= id) {
    last_instance_.resize(id + 1, 0);
  }
  return last_instance_[id] = process_.instance_for(self, communicator_, 0, target);
}

/// Posts the operation; what is local is done at once.
void Window::start(SimThread& self, const RdmaRequest& request) {
  process_.software(self, process_.settings_.software.one_sided_call);
  if (request.target == process_.rank()) {
    self.owe(process_.copy_time(request.bytes), Category::copy);
    if (request.memory != nullptr) {
      self.settle();
      request.memory->written(request);
    }
    return;
  }
  RdmaRequest counted = request;
  counted.listener = counted.listener == nullptr ? this : counted.listener;
  counted.report = counted.report || counting(); // a counter needs to hear of each operation
  if (counting()) {
    process_.update_shared(self, *counter_lines_[static_cast<std::size_t>(request.target)], Category::line_transfer);
  }
  ++posted_[static_cast<std::size_t>(request.target)];
  post(self, pick(self, request.target), counted);
}

/// Like btl/uct: when the queue is full the instance is polled until there is room, and it is polled once in any case,
/// because the lock is held.
void Window::post(SimThread& self, int instance, const RdmaRequest& request) {
  Process::Instance& chosen = process_.instances_[static_cast<std::size_t>(instance)];
  RdmaEndpoint& endpoint = *chosen.one_sided[static_cast<std::size_t>(request.target)];
  chosen.lock->lock(self);
  while (!endpoint.post(self, request)) {
    chosen.interface->poll(self, process_);
  }
  chosen.interface->poll(self, process_);
  chosen.lock->unlock(self);
}

void Window::completed(SimThread& self, const RdmaRequest& request) {
  self.owe(process_.settings_.software.one_sided_complete, Category::completion);
  if (counting()) {
    process_.update_shared(self, *counter_lines_[static_cast<std::size_t>(request.target)], Category::completion);
  }
  --posted_[static_cast<std::size_t>(request.target)];
  ++process_.counters_.one_sided_completed;
  process_.engine_.note_operation();
}

/// The caller needs the result: it polls the instance until the operation is complete, if nobody else does.
void Window::start_and_wait(SimThread& self, RdmaRequest request) {
  Blocking blocking(*this);
  request.listener = &blocking;
  request.report = true;
  start(self, request);
  if (request.target == process_.rank()) {
    return;
  }
  Process::Instance& instance =
      process_.instances_[static_cast<std::size_t>(last_instance_[static_cast<std::size_t>(self.id())])];
  for (self.settle(); !blocking.done; self.settle()) {
    if (instance.lock->try_lock(self, Category::poll_idle)) {
      instance.interface->poll(self, process_);
      instance.lock->unlock(self, Category::poll_idle);
    } else {
      self.spend(process_.settings_.locks.pause, Category::poll_idle);
    }
  }
}

// Completion.

void Window::flush(SimThread& self, int target) {
  const TraceScope scope(self, process_.rank(), "MPI_Win_flush");
  flush_targets(self, target);
}

void Window::flush_all(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Win_flush_all");
  flush_targets(self, all_targets);
}

void Window::flush_targets(SimThread& self, int target) {
  ++process_.counters_.flushes;
  process_.software(self, process_.settings_.software.one_sided_synchronize);
  complete_all(self, target);
}

void Window::flush_local(SimThread& self, int target) {
  const TraceScope scope(self, process_.rank(), "MPI_Win_flush_local");
  ++process_.counters_.flushes;
  process_.software(self, process_.settings_.software.one_sided_synchronize);
  if (counting()) {
    progress_until_counted(self, target);
  } else {
    drain_instances(self, target, true);
  }
}

void Window::complete_all(SimThread& self, int target) {
  if (counting()) {
    progress_until_counted(self, target);
  } else {
    drain_instances(self, target, false);
  }
}

/// btl_flush: every instance in turn is polled until the interface has nothing of ours in it. The thread's own instance
/// comes first; operations that other threads complete meanwhile need no wait.
void Window::drain_instances(SimThread& self, int target, bool buffers_only) {
  const std::size_t count = process_.instances_.size();
  const auto id = static_cast<std::size_t>(self.id());
  const std::size_t own = id < last_instance_.size() ? static_cast<std::size_t>(last_instance_[id]) : 0;
  const bool by_turns = process_.settings_.library.one_sided.completion == "instance-turns";
  for (std::size_t i = 0; i < count; ++i) {
    Process::Instance& instance = process_.instances_[(own + i) % count];
    if (!by_turns) {
      instance.lock->lock(self);
    }
    for (std::size_t peer = 0; peer < instance.one_sided.size(); ++peer) {
      RdmaEndpoint* const endpoint = instance.one_sided[peer].get();
      if (endpoint == nullptr || (target != all_targets && static_cast<std::size_t>(target) != peer)) {
        continue;
      }
      const auto busy = [&] { return (buffers_only ? endpoint->buffers_in_use() : endpoint->outstanding()) > 0; };
      const auto poll = [&] {
        static_cast<void>(endpoint->request_report(self)); // if the queue is full something reports anyway
        instance.interface->poll(self, process_);
      };
      if (!by_turns) { // the lock is held until the end
        while (busy()) {
          if (process_.settings_.coalesce_idle_polls && endpoint->request_report(self)) {
            instance.interface->poll_until_report(self, process_);
          } else {
            poll();
          }
        }
        continue;
      }
      for (endpoint->look(self); busy(); endpoint->look(self)) {
        instance.lock->lock(self);
        poll();
        instance.lock->unlock(self);
      }
    }
    if (!by_turns) {
      instance.lock->unlock(self);
    }
  }
}

/// Without btl_flush: progress until the counter says that nothing is outstanding.
void Window::progress_until_counted(SimThread& self, int target) {
  for (int peer = 0; peer < targets(); ++peer) {
    if (target != all_targets && target != peer) {
      continue;
    }
    CacheLine& line = *counter_lines_[static_cast<std::size_t>(peer)];
    for (line.load(self, Category::poll_idle); outstanding(peer) > 0; line.load(self, Category::poll_idle)) {
      process_.progress(self, ProgressSource::Noise::always);
    }
  }
}

// Locks.

/// An atomic on a word of the target: `request` says which, `apply` does it where the word is this process's own.
template <typename Apply>
std::int64_t Window::operate(SimThread& self, int target, std::int64_t Words::*word, RdmaRequest request, Apply apply) {
  std::int64_t old = 0;
  request.bytes = sizeof(std::int64_t);
  request.target = target;
  request.word = &(sides_[static_cast<std::size_t>(target)]->words_.*word);
  request.result = &old;
  if (target == process_.rank()) {
    words_line_.atomic(self, Category::line_transfer);
    old = *request.word;
    *request.word = apply(old);
  } else {
    start_and_wait(self, request);
  }
  return old;
}

std::int64_t Window::fetch_add(SimThread& self, int target, std::int64_t Words::*word, std::int64_t operand) {
  RdmaRequest request;
  request.kind = RdmaRequest::Kind::fetch_add;
  request.operand = operand;
  return operate(self, target, word, request, [=](std::int64_t old) { return old + operand; });
}

std::int64_t Window::compare_swap(SimThread& self, int target, std::int64_t Words::*word, std::int64_t expected,
                                  std::int64_t desired) {
  RdmaRequest request;
  request.kind = RdmaRequest::Kind::compare_swap;
  request.expected = expected;
  request.operand = desired;
  return operate(self, target, word, request, [=](std::int64_t old) { return old == expected ? desired : old; });
}

/// Adds `mine`; takes it back and tries again while somebody's part is in `conflict`.
void Window::acquire_shared(SimThread& self, int target, std::int64_t Words::*word, std::int64_t mine,
                            std::int64_t conflict) {
  while ((fetch_add(self, target, word, mine) & conflict) != 0) {
    fetch_add(self, target, word, -mine);
    ++process_.counters_.window_lock_retries;
    process_.progress(self, ProgressSource::Noise::always);
  }
}

void Window::lock(SimThread& self, int target, WindowLock kind) {
  const TraceScope scope(self, process_.rank(), "MPI_Win_lock");
  Held& held = held_[static_cast<std::size_t>(target)];
  if (held != Held::nothing || holds_all_) {
    throw InvariantViolation(name_ + ": rank " + std::to_string(target) + " is locked twice by the same process");
  }
  held = kind == WindowLock::shared ? Held::shared : Held::exclusive;
  process_.software(self, process_.settings_.software.one_sided_synchronize);
  if (kind == WindowLock::shared) {
    acquire_shared(self, target, &Words::local, 1, exclusive_bit);
    return;
  }
  acquire_shared(self, 0, &Words::global, one_exclusive, any_lock_all);
  while (compare_swap(self, target, &Words::local, 0, exclusive_bit) != 0) {
    ++process_.counters_.window_lock_retries;
    process_.progress(self, ProgressSource::Noise::always);
  }
}

void Window::unlock(SimThread& self, int target) {
  const TraceScope scope(self, process_.rank(), "MPI_Win_unlock");
  Held& held = held_[static_cast<std::size_t>(target)];
  if (held == Held::nothing) {
    throw InvariantViolation(name_ + ": rank " + std::to_string(target) + " is unlocked without a lock");
  }
  process_.software(self, process_.settings_.software.one_sided_synchronize);
  complete_all(self, target);
  if (held == Held::shared) {
    fetch_add(self, target, &Words::local, -1);
  } else {
    fetch_add(self, target, &Words::local, -exclusive_bit);
    fetch_add(self, 0, &Words::global, -one_exclusive);
  }
  held = Held::nothing;
}

void Window::lock_all(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Win_lock_all");
  if (holds_all_ || std::any_of(held_.begin(), held_.end(), [](Held held) { return held != Held::nothing; })) {
    throw InvariantViolation(name_ + ": lock_all by a process that holds a lock");
  }
  holds_all_ = true;
  process_.software(self, process_.settings_.software.one_sided_synchronize);
  acquire_shared(self, 0, &Words::global, one_lock_all, any_exclusive);
}

void Window::unlock_all(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Win_unlock_all");
  if (!holds_all_) {
    throw InvariantViolation(name_ + ": unlock_all without lock_all");
  }
  process_.software(self, process_.settings_.software.one_sided_synchronize);
  complete_all(self, all_targets);
  fetch_add(self, 0, &Words::global, -one_lock_all);
  holds_all_ = false;
}

void Window::fence(SimThread& self) {
  const TraceScope scope(self, process_.rank(), "MPI_Win_fence");
  process_.software(self, process_.settings_.software.one_sided_synchronize);
  complete_all(self, all_targets);
  process_.barrier(self, communicator_);
}

} // namespace contend
