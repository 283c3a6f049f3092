// Stackful fibers, switched symmetrically: a fiber that stops jumps straight to the next one.
#pragma once

#include "core/predictable_returns.hpp"
#include "core/stack_switch.hpp"

#include <cstddef>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define CONTEND_ASAN_FIBERS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CONTEND_ASAN_FIBERS 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define CONTEND_TSAN_FIBERS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CONTEND_TSAN_FIBERS 1
#endif
#endif

#if defined(CONTEND_TSAN_FIBERS)
#include <sanitizer/tsan_interface.h>
#endif

namespace contend {

/// Memory for fiber stacks: mapped with a guard page below, reused, and staggered so that the hot ends of many stacks do
/// not compete for the same cache sets.
class StackPool {
public:
  explicit StackPool(std::size_t usable_bytes = 65'536);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  struct Stack {
    std::byte* top = nullptr; ///< first address above the stack, 64-byte aligned
    std::size_t size = 0;     ///< usable bytes below top
    std::byte* mapping = nullptr;
  };

  /// Throws std::bad_alloc when the system gives no more mappings.
  [[nodiscard]] Stack acquire();
  void release(const Stack& stack);

private:
  std::size_t page_;
  std::size_t mapping_bytes_;
  std::size_t mapped_ = 0;
  std::vector<Stack> free_;
};

/// A place execution can be switched to: a fiber with its own stack, or (default constructed) the thread's own stack.
class Fiber {
public:
  using Entry = void (*)(void* argument);

  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
#if defined(CONTEND_TSAN_FIBERS)
  ~Fiber();
#else
  ~Fiber() = default;
#endif

  /// Prepares `entry(argument)` to run on `stack` at the first switch. `entry` must never return: it leaves by switch_to.
  void prepare(const StackPool::Stack& stack, Entry entry, void* argument);

  /// Saves the running context in *this and continues `target`. Returns when somebody switches back.
  void switch_to(Fiber& target) {
    saved_.entering = &target;
    start_sanitizer_switch(target);
    switch_stack(saved_.context, target.saved_.context);
    finish_sanitizer_switch();
  }

private:
  /// Where a fiber stands; whoever is entered for the first time finds itself through the one that was left.
  struct Saved {
    StackContext context = nullptr;
    Fiber* entering = nullptr; ///< whom this fiber switched to last
  };
  static void first_entry(StackContext* left);

#if defined(CONTEND_ASAN_FIBERS)
  void start_sanitizer_switch(Fiber& target);
  void finish_sanitizer_switch();
  void* sanitizer_state_ = nullptr;
  const void* stack_bottom_ = nullptr;
  std::size_t stack_size_ = 0;
#elif defined(CONTEND_TSAN_FIBERS)
  /// Inlined: a function that changes the fiber and then returns would leave its entry on the wrong shadow stack.
  __attribute__((always_inline)) void start_sanitizer_switch(Fiber& target) {
    if (sanitizer_state_ == nullptr) {
      sanitizer_state_ = __tsan_get_current_fiber();
    }
    __tsan_switch_to_fiber(target.sanitizer_state_, 0);
  }
  void finish_sanitizer_switch() {}
  void* sanitizer_state_ = nullptr;
#else
  void start_sanitizer_switch(Fiber& /*target*/) {}
  void finish_sanitizer_switch() {}
#endif

  Saved saved_;
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
};

} // namespace contend
