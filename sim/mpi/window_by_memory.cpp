// One-sided operations on memory that the processes of a host share: the calling thread copies, and what it has called is
// done. Open MPI's osc/sm, and the shared windows of MPICH's ch4 (posix_rma.h), which hold the lock of a virtual interface,
// but not where they hold the target's.
//
//   put, get:                  [lock(instance);] copy; [unlock]
//   flush:                     [lock(instance);] wait until the core's stores are visible; [unlock]
//   accumulate, fetch-and-op:  lock(the target's); change; unlock
#include "mpi/window_path.hpp"

namespace contend {

namespace {

class WindowByMemory final : public WindowPath {
public:
  explicit WindowByMemory(const WindowPathParts& parts)
      : WindowPath(parts), guarded_(design().copy_guard == "instance"), update_lock_(make_update_lock()) {}

  void start(SimThread& self, const RdmaRequest& request) override {
    note_start(request.target);
    if (request.word == nullptr && request.kind == RdmaRequest::Kind::fetch_add) {
      update(self, request);
    } else {
      inside(self, request.target, [&] { move(self, request); });
    }
    note_completion(request.target);
  }
  void start_and_wait(SimThread& self, const RdmaRequest& request) override { start(self, request); }
  void complete(SimThread& self, int target) override {
    inside(self, target == all_targets ? 0 : target, [&] { self.store_buffer().drain(self, Category::line_transfer); });
  }
  [[nodiscard]] bool updates_at_target(std::int64_t /*bytes*/) const override { return true; }

private:
  /// An accumulate or a fetch-and-op: others that change the target's memory wait.
  void update(SimThread& self, const RdmaRequest& request) {
    process().enter_call(self);
    charge_call(self);
    Lock& lock = *static_cast<WindowByMemory&>(side(request.target)).update_lock_;
    lock.lock(self);
    process().copy(self, request.bytes);
    lock.unlock(self);
    process().leave_call(self);
  }
  /// A put, a get, or an atomic of the core.
  void move(SimThread& self, const RdmaRequest& request) {
    charge_call(self);
    if (request.word != nullptr) {
      change_word(self, request);
    } else {
      process().copy(self, request.bytes);
    }
    if (request.memory != nullptr) {
      self.settle();
      request.memory->written(request);
    }
  }
  void change_word(SimThread& self, const RdmaRequest& request) const {
    words_line_of(request.target).atomic(self, Category::line_transfer);
    RdmaRequest changed = request;
    changed.change_word();
    if (request.result != nullptr) {
      *request.result = changed.old_value;
    }
  }

  template <typename Action>
  void inside(SimThread& self, int target, Action action) {
    process().enter_call(self);
    Lock* const lock = guarded_ ? instances()[pick_instance(self, target)].lock.get() : nullptr;
    if (lock != nullptr) {
      lock->lock(self);
    }
    action();
    if (lock != nullptr) {
      lock->unlock(self);
    }
    process().leave_call(self);
  }

  bool guarded_;
  std::unique_ptr<Lock> update_lock_; ///< of this side's memory
};

} // namespace

std::unique_ptr<WindowPath> make_window_by_memory(const WindowPathParts& parts) {
  return std::make_unique<WindowByMemory>(parts);
}

} // namespace contend
