// The word of a glibc mutex with what lies beside it: the mutex's kind, which every call asks for first.
#pragma once

#include "models/locks/futex_word.hpp"
#include "models/locks/parameters.hpp"

#include <string_view>

namespace contend {

/// struct __pthread_mutex_s: word, owner and kind are on one line (glibc, sysdeps/nptl/bits/struct_mutex.h on x86).
class PthreadWord {
public:
  PthreadWord(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
      : word_(engine, host, name), reads_kind_(parameters.mutex_reads_kind),
        tests_first_(parameters.mutex_tests_first) {}

  /// pthread_mutex_lock of the default kind.
  void lock(SimThread& self, Category category) {
    read_kind(self, category);
    word_.lock(self, category);
  }
  /// pthread_mutex_trylock.
  [[nodiscard]] bool try_lock(SimThread& self, Category category) {
    read_kind(self, category);
    return (!tests_first_ || word_.look(self, category)) && word_.try_lock(self, category);
  }
  /// pthread_mutex_unlock; as FutexWord::unlock.
  template <typename Released>
  void unlock(SimThread& self, Category category, Released released) {
    read_kind(self, category);
    word_.unlock(self, category, released);
  }
  void unlock(SimThread& self, Category category) {
    unlock(self, category, [] {});
  }
  void grant() { word_.grant(); }

  /// What every call begins with, where the profile says so.
  void read_kind(SimThread& self, Category category) {
    if (reads_kind_) {
      word_.look(self, category);
    }
  }
  /// What calls of other kinds work on.
  [[nodiscard]] FutexWord& word() { return word_; }

private:
  FutexWord word_;
  bool reads_kind_;
  bool tests_first_;
};

} // namespace contend
