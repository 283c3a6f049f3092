// One-sided operations that the network interface carries out: posted to an instance of the calling thread under the
// instance's lock, and complete through its completion queue; whoever polls that queue completes them. There is no part for
// the target's processor.
//
//   put:   lock(instance); while not post(operation): poll(instance); poll(instance); unlock
//   flush: instances       for each instance, own first: lock; while it has operations: poll; unlock
//          instance-turns  the same, locked for one poll at a time
//          counter         progress until the counter of outstanding operations is zero
#include "mpi/window_path.hpp"

namespace contend {

namespace {

class WindowByInterface final : public WindowPath, private RdmaListener {
public:
  explicit WindowByInterface(const WindowPathParts& parts)
      : WindowPath(parts), counting_(design().completion == "counter") {}

  void start(SimThread& self, const RdmaRequest& request) override;
  void start_and_wait(SimThread& self, const RdmaRequest& request) override;
  void complete(SimThread& self, int target) override;
  void complete_locally(SimThread& self, int target) override;
  [[nodiscard]] bool updates_at_target(std::int64_t bytes) const override {
    return design().atomics == "hardware" && bytes <= settings().rdma.atomic_limit_bytes;
  }

private:
  /// An operation that its caller waits for.
  struct Blocking final : RdmaListener {
    explicit Blocking(WindowByInterface& of) : path(of) {}
    void completed(SimThread& self, const RdmaRequest& request) override {
      done = true;
      path.completed(self, request);
    }
    WindowByInterface& path;
    bool done = false;
  };

  void completed(SimThread& self, const RdmaRequest& request) override;
  int pick(SimThread& self, int target);
  [[nodiscard]] std::size_t last_instance(const SimThread& self) const {
    const auto id = static_cast<std::size_t>(self.id());
    return id < last_instance_.size() ? static_cast<std::size_t>(last_instance_[id]) : 0;
  }
  void post(SimThread& self, int instance, const RdmaRequest& request);
  void drain_instances(SimThread& self, int target, bool buffers_only);

  bool counting_;
  std::vector<int> last_instance_; ///< by thread id: where its last operation went
};

int WindowByInterface::pick(SimThread& self, int target) {
  const auto id = static_cast<std::size_t>(self.id());
  if (last_instance_.size() <= id) {
    last_instance_.resize(id + 1, 0);
  }
  return last_instance_[id] = pick_instance(self, target);
}

void WindowByInterface::start(SimThread& self, const RdmaRequest& request) {
  charge_call(self);
  if (request.kind == RdmaRequest::Kind::fetch_add && request.word == nullptr) {
    ++process().counters().hardware_atomics;
  }
  RdmaRequest counted = request;
  counted.listener = counted.listener == nullptr ? this : counted.listener;
  counted.report = counted.report || counting_; // a counter needs to hear of each operation
  if (counting_) {
    count(self, request.target, Category::line_transfer);
  }
  note_start(request.target);
  post(self, pick(self, request.target), counted);
}

/// Like btl/uct: when the queue is full the instance is polled until there is room, and it is polled once in any case,
/// because the lock is held.
void WindowByInterface::post(SimThread& self, int instance, const RdmaRequest& request) {
  Instance& chosen = instances()[instance];
  RdmaEndpoint& endpoint = *chosen.one_sided[static_cast<std::size_t>(request.target)];
  chosen.lock->lock(self);
  while (!endpoint.post(self, request)) {
    WindowPath::poll(self, chosen);
  }
  WindowPath::poll(self, chosen);
  chosen.lock->unlock(self);
}

void WindowByInterface::completed(SimThread& self, const RdmaRequest& request) {
  self.owe(settings().software.one_sided_complete, Category::completion);
  if (counting_) {
    count(self, request.target, Category::completion);
  }
  note_completion(request.target);
}

/// The caller needs the result: it polls the instance until the operation is complete, if nobody else does.
void WindowByInterface::start_and_wait(SimThread& self, const RdmaRequest& request) {
  Blocking blocking(*this);
  RdmaRequest heard = request;
  heard.listener = &blocking;
  heard.report = true;
  start(self, heard);
  Instance& instance = instances()[static_cast<int>(last_instance(self))];
  for (self.settle(); !blocking.done; self.settle()) {
    if (instance.lock->try_lock(self, Category::poll_idle)) {
      WindowPath::poll(self, instance);
      instance.lock->unlock(self, Category::poll_idle);
    } else {
      self.spend_time(settings().locks.pause, Category::poll_idle);
    }
  }
}

void WindowByInterface::complete(SimThread& self, int target) {
  if (counting_) {
    progress_until_counted(self, target);
  } else {
    drain_instances(self, target, false);
  }
}

void WindowByInterface::complete_locally(SimThread& self, int target) {
  if (counting_) {
    progress_until_counted(self, target);
  } else {
    drain_instances(self, target, true);
  }
}

/// btl_flush: every instance in turn is polled until the interface has nothing of ours in it. The thread's own instance
/// comes first; operations that other threads complete meanwhile need no wait.
void WindowByInterface::drain_instances(SimThread& self, int target, bool buffers_only) {
  const auto count = static_cast<std::size_t>(instances().count());
  const std::size_t own = last_instance(self);
  const bool by_turns = design().completion == "instance-turns";
  for (std::size_t i = 0; i < count; ++i) {
    Instance& instance = instances()[static_cast<int>((own + i) % count)];
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
        WindowPath::poll(self, instance);
      };
      if (!by_turns) { // the lock is held until the end
        while (busy()) {
          if (settings().coalesce_idle_polls && !self.shares_core() && endpoint->request_report(self)) {
            poll_until_report(self, instance);
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

} // namespace

std::unique_ptr<WindowPath> make_window_by_interface(const WindowPathParts& parts) {
  return std::make_unique<WindowByInterface>(parts);
}

} // namespace contend
