#include "support/hooks.hpp"

#include <atomic>
#include <csignal>
#include <unistd.h>

namespace contend::native {

namespace {

std::atomic<std::int64_t> step_storage{-1};

} // namespace

void Hooks::begin_step(std::int64_t step) const {
  step_storage.store(step, std::memory_order_relaxed);
  if (step == crash) {
    // what a crash is like: no handler of a library tidies up
    (void)std::signal(SIGSEGV, SIG_DFL);
    (void)std::raise(SIGSEGV);
  }
  while (step == deadlock) {
    pause();
  }
}

std::int64_t last_step() { return step_storage.load(std::memory_order_relaxed); }

} // namespace contend::native
