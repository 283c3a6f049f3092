// The word of a glibc mutex with what lies beside it: the mutex's kind, which every call asks for first.
#pragma once

#include "models/locks/futex_word.hpp"
#include "models/locks/parameters.hpp"

#include <string_view>

namespace contend {

/// struct __pthread_mutex_s: word, owner and kind are on one line (glibc, sysdeps/nptl/bits/struct_mutex.h on x86).
class PthreadWord final : public FutexWord {
public:
  PthreadWord(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
      : FutexWord(engine, host, name), reads_kind_(parameters.mutex_reads_kind),
        tests_first_(parameters.mutex_tests_first) {}

  /// What every call begins with, where the profile says so.
  void read_kind(SimThread& self, Category category) {
    if (reads_kind_) {
      look(self, category);
    }
  }
  /// pthread_mutex_trylock.
  [[nodiscard]] bool try_lock_call(SimThread& self, Category category) {
    read_kind(self, category);
    return (!tests_first_ || look(self, category)) && try_lock(self, category);
  }

private:
  bool reads_kind_;
  bool tests_first_;
};

} // namespace contend
