// Stackless coroutines: many sequential activities inside one simulated thread, at a few hundred bytes each.
//
// A simulated thread (SimThread) has a stack of its own, which is what a kernel thread needs. Where a model has hundreds of
// thousands of activities that take turns on one thread (MPI processes as coroutines), each is a chain of C++ coroutines: the
// innermost one runs until it suspends the whole chain, and whoever drives the chain (a scheduler) decides when it goes on.
// Control returns to the driver between any two steps of a chain, never from one coroutine to another: no stack grows with
// the depth or the number of calls, whatever a compiler does about tail calls.
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace contend {

/// Memory for coroutine frames: freed frames are used again, by size; nothing goes back to the system before the end.
class FramePool {
public:
  FramePool() = default;
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;
  ~FramePool() = default;

  /// Throws std::bad_alloc.
  [[nodiscard]] void* allocate(std::size_t bytes);
  /// Gives a frame back to the pool that it came from, which must still exist.
  static void release(void* frame) noexcept;

  /// Frames in use.
  [[nodiscard]] std::size_t live() const { return live_; }
  /// Memory taken from the system. Depends on the compiler, which decides on the size of a frame.
  [[nodiscard]] std::size_t reserved_bytes() const { return reserved_; }

private:
  static constexpr std::size_t granule = 32;
  static constexpr std::size_t classes = 64; ///< frames of up to granule * classes bytes are pooled
  static constexpr std::size_t first_slab = std::size_t{16} * 1024;
  static constexpr std::size_t last_slab = std::size_t{4} * 1024 * 1024;

  /// In front of every frame.
  struct alignas(16) Header {
    FramePool* pool;
    std::size_t size_class; ///< classes: not pooled
  };
  struct Free {
    Free* next;
  };

  std::byte* carve(std::size_t bytes);

  std::array<Free*, classes> free_{};
  // Not zeroed, as a vector would be: pages come when they are used. NOLINTNEXTLINE(modernize-avoid-c-arrays)
  std::vector<std::unique_ptr<std::byte[]>> slabs_;
  std::byte* cursor_ = nullptr;
  std::size_t left_ = 0;
  std::size_t next_slab_ = first_slab;
  std::size_t reserved_ = 0;
  std::size_t live_ = 0;
};

/// One chain of coroutines: which of them is innermost, and whether the chain has suspended.
class Activation {
public:
  /// Continues the chain until it suspends or ends. Returns whether it has ended. Throws what a coroutine throws; the chain
  /// must then not be continued.
  bool run() {
    suspended_ = false;
    while (innermost_ && !suspended_) {
      innermost_.resume();
    }
    if (error_) [[unlikely]] {
      std::rethrow_exception(std::exchange(error_, nullptr));
    }
    return !innermost_;
  }
  /// For awaitables: run() returns once the running coroutine has suspended.
  void suspend() { suspended_ = true; }
  [[nodiscard]] bool ended() const { return !innermost_; }

private:
  friend class CoTask;
  std::coroutine_handle<> innermost_;
  std::exception_ptr error_; ///< what the innermost coroutine has thrown
  bool suspended_ = false;
};

/// A coroutine that can be awaited by another one of the same chain, or started as the outermost of a chain. Its first
/// parameter, or its object, says by frames() which FramePool it lives in.
// The language names what is inside, and calls it through objects.
// NOLINTBEGIN(readability-identifier-naming,readability-convert-member-functions-to-static,misc-new-delete-overloads)
class [[nodiscard]] CoTask {
public:
  class promise_type {
  public:
    template <typename First, typename... Rest>
    static void* operator new(std::size_t bytes, First& first, Rest&... rest) {
      return pool_among(first, rest...).allocate(bytes);
    }
    static void operator delete(void* frame) noexcept { FramePool::release(frame); }

    CoTask get_return_object() { return CoTask(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Return {
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<promise_type> ended) const noexcept {
          Activation& activation = *ended.promise().activation_;
          activation.innermost_ = activation.error_ ? std::coroutine_handle<>() : ended.promise().caller_;
        }
        void await_resume() const noexcept {}
      };
      return Return{};
    }
    void return_void() noexcept {}
    /// Goes to whoever drives the chain. It is not thrown from here: compilers differ in where that leaves a coroutine
    /// (clang 16 destroys again what the last expression had destroyed).
    void unhandled_exception() noexcept { activation_->error_ = std::current_exception(); }

    [[nodiscard]] Activation& activation() const { return *activation_; }

  private:
    friend class CoTask;
    template <typename First, typename... Rest>
    static FramePool& pool_among(First& first, Rest&... rest) {
      if constexpr (requires { first.frames(); }) {
        return first.frames();
      } else {
        return pool_among(rest...);
      }
    }

    Activation* activation_ = nullptr;
    std::coroutine_handle<> caller_;
  };
  using Handle = std::coroutine_handle<promise_type>;

  CoTask() = default;
  CoTask(CoTask&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  CoTask& operator=(CoTask&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  CoTask(const CoTask&) = delete;
  CoTask& operator=(const CoTask&) = delete;
  ~CoTask() {
    if (handle_) {
      handle_.destroy();
    }
  }

  /// Makes this the outermost coroutine of a chain; it runs at the chain's next run(). The task must outlive the chain.
  void start(Activation& activation) {
    handle_.promise().activation_ = &activation;
    activation.innermost_ = handle_;
  }

  /// Runs this coroutine to its end, then the caller goes on.
  auto operator co_await() && noexcept {
    struct Call {
      Handle callee;
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      void await_suspend(Handle caller) const noexcept {
        Activation* const activation = caller.promise().activation_;
        callee.promise().activation_ = activation;
        callee.promise().caller_ = caller;
        activation->innermost_ = callee;
      }
      void await_resume() const noexcept {}
    };
    return Call{handle_};
  }

private:
  explicit CoTask(Handle handle) : handle_(handle) {}

  Handle handle_;
};
// NOLINTEND(readability-identifier-naming,readability-convert-member-functions-to-static,misc-new-delete-overloads)

} // namespace contend
