// The run queue of one OS process: a circle of those that want the processor.
#pragma once

#include <cstdint>

namespace contend {

/// Something that is run in turns: an MPI process, or the progress coroutine.
class Schedulable {
public:
  Schedulable() = default;
  Schedulable(const Schedulable&) = delete;
  Schedulable& operator=(const Schedulable&) = delete;

  /// Whether it is blocked: neither on the run queue nor running.
  [[nodiscard]] bool blocked() const { return blocked_; }

protected:
  ~Schedulable() = default;

private:
  friend class RunQueue;
  friend class SchedulingPolicy;
  Schedulable* next_ = nullptr;
  bool blocked_ = false;
};

/// First in, first out, with a second entrance at the head. Owns nothing.
class RunQueue {
public:
  [[nodiscard]] bool empty() const { return head_ == nullptr; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] Schedulable* front() const { return head_; }
  /// Who comes after `one` in the queue, or nullptr.
  [[nodiscard]] static Schedulable* after(const Schedulable& one) { return one.next_; }

  void push_tail(Schedulable& one) {
    one.next_ = nullptr;
    (head_ == nullptr ? head_ : tail_->next_) = &one;
    tail_ = &one;
    ++size_;
  }
  void push_head(Schedulable& one) {
    one.next_ = head_;
    tail_ = head_ == nullptr ? &one : tail_;
    head_ = &one;
    ++size_;
  }
  /// Requires: !empty().
  Schedulable& pop() {
    Schedulable& one = *head_;
    head_ = one.next_;
    one.next_ = nullptr;
    --size_;
    return one;
  }
  /// The first becomes the last. Requires: !empty().
  void rotate() { push_tail(pop()); }

private:
  Schedulable* head_ = nullptr;
  Schedulable* tail_ = nullptr;
  std::int64_t size_ = 0;
};

} // namespace contend
