// The engine's contract in its simplest form: one priority queue ordered by (time, insertion), nothing else. No ready
// list, no vacancy, no way past the queue; the real engine must take exactly the same steps.
#pragma once

#include "core/engine.hpp"

#include <boost/context/fiber.hpp>

#include <cstdint>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace contend::test {

class ReferenceBackend final : public Backend {
public:
  /// Must be called before anything is spawned: the engine that owns this backend does not exist when it is built.
  void attach(Engine& engine) { engine_ = &engine; }

  [[nodiscard]] TimePoint now() const override { return now_; }

  void start(SimThread& thread) override { insert(now_, {&thread, nullptr}); }
  void sleep_until(SimThread& self, TimePoint time) override {
    insert(time, {&self, nullptr});
    leave();
  }
  void park(SimThread& /*self*/) override { leave(); }
  void wake(SimThread& thread, TimePoint time) override { insert(time, {&thread, nullptr}); }
  void schedule(Event& event, TimePoint time) override { insert(time, {nullptr, &event}); }

  void run() override {
    while (!queue_.empty()) {
      const Entry entry = queue_.top();
      queue_.pop();
      now_ = entry.time;
      if (entry.what.event != nullptr) {
        engine_->backend_step(now_, engine_->slot_of(*entry.what.event));
        entry.what.event->fire();
      } else {
        engine_->backend_step(now_, engine_->slot_of(*entry.what.thread));
        enter(*entry.what.thread);
      }
    }
  }

  /// Only runs that end well are compared, so there is no stack to unwind.
  void abandon() override { contexts_.clear(); }

private:
  using Context = boost::context::fiber;
  struct What {
    SimThread* thread;
    Event* event;
  };
  struct Entry {
    TimePoint time;
    std::uint64_t insertion;
    What what;
    bool operator<(const Entry& other) const { // priority_queue gives the largest first
      return std::tie(other.time, other.insertion) < std::tie(time, insertion);
    }
  };

  void insert(TimePoint time, What what) { queue_.push({time, ++insertions_, what}); }

  void enter(SimThread& thread) {
    auto [position, is_new] = contexts_.try_emplace(&thread);
    Context& context = position->second;
    if (is_new) {
      context = Context([this, &thread](Context&& loop) {
        loop_ = std::move(loop);
        thread.run_body();
        return std::move(loop_);
      });
    }
    Context next = std::move(context);
    next = std::move(next).resume();
    contexts_[&thread] = std::move(next); // looked up again: the table may have grown
  }

  void leave() { loop_ = std::move(loop_).resume(); }

  Engine* engine_ = nullptr;
  TimePoint now_;
  std::uint64_t insertions_ = 0;
  std::priority_queue<Entry> queue_;
  std::unordered_map<SimThread*, Context> contexts_;
  Context loop_;
};

} // namespace contend::test
