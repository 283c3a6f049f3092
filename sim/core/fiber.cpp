#include "core/fiber.hpp"

#include <sys/mman.h>

#include <new>
#include <unistd.h>

#if defined(CONTEND_ASAN_FIBERS)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

#include <pthread.h>
#endif

namespace contend {

namespace {

constexpr std::size_t color_step = 320; // odd number of cache lines: consecutive stacks start in different sets
constexpr std::size_t color_span = 4096;

/// A fiber ends without returning through its frames, so their poison must not greet the next user of the memory.
void forget_old_frames([[maybe_unused]] std::byte* mapping, [[maybe_unused]] std::size_t bytes) {
#if defined(CONTEND_ASAN_FIBERS)
  ASAN_UNPOISON_MEMORY_REGION(mapping, bytes);
#endif
}

} // namespace

StackPool::StackPool(std::size_t usable_bytes) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
  const std::size_t pages = (usable_bytes + color_span + page_ - 1) / page_;
  mapping_bytes_ = (pages + 1) * page_;
}

StackPool::~StackPool() {
  for (const Stack& stack : free_) {
    munmap(stack.mapping, mapping_bytes_);
  }
}

StackPool::Stack StackPool::acquire() {
  if (!free_.empty()) {
    const Stack stack = free_.back();
    free_.pop_back();
    forget_old_frames(stack.mapping, mapping_bytes_);
    return stack;
  }
  void* memory =
      mmap(nullptr, mapping_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc();
  }
  auto* mapping = static_cast<std::byte*>(memory);
  if (mprotect(mapping, page_, PROT_NONE) != 0) {
    munmap(mapping, mapping_bytes_);
    throw std::bad_alloc();
  }
  forget_old_frames(mapping, mapping_bytes_);
  const std::size_t color = mapped_++ * color_step % color_span;
  return {mapping + mapping_bytes_ - color, mapping_bytes_ - page_ - color, mapping};
}

void StackPool::release(const Stack& stack) { free_.push_back(stack); }

#if defined(CONTEND_TSAN_FIBERS)
Fiber::~Fiber() {
  if (entry_ != nullptr && sanitizer_state_ != nullptr) {
    __tsan_destroy_fiber(sanitizer_state_);
  }
}
#endif

void Fiber::prepare(const StackPool::Stack& stack, Entry entry, void* argument) {
  entry_ = entry;
  argument_ = argument;
  saved_.context = make_stack_context<&Fiber::first_entry>(stack.top, stack.size);
#if defined(CONTEND_ASAN_FIBERS)
  stack_bottom_ = stack.top - stack.size;
  stack_size_ = stack.size;
#elif defined(CONTEND_TSAN_FIBERS)
  sanitizer_state_ = __tsan_create_fiber(0);
#endif
}

void Fiber::first_entry(StackContext* left) {
  Fiber* self = reinterpret_cast<Saved*>(left)->entering; // context is the first member of Saved
  self->finish_sanitizer_switch();
  self->entry_(self->argument_);
}

#if defined(CONTEND_ASAN_FIBERS)

void Fiber::start_sanitizer_switch(Fiber& target) {
  if (stack_bottom_ == nullptr) { // the thread's own stack
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    void* bottom = nullptr;
    pthread_attr_getstack(&attributes, &bottom, &stack_size_);
    pthread_attr_destroy(&attributes);
    stack_bottom_ = bottom;
  }
  __sanitizer_start_switch_fiber(&sanitizer_state_, target.stack_bottom_, target.stack_size_);
}

void Fiber::finish_sanitizer_switch() { __sanitizer_finish_switch_fiber(sanitizer_state_, nullptr, nullptr); }

#endif

} // namespace contend
