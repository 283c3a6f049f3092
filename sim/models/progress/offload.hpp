// A progress thread on a core of its own does all the work. Application threads queue their operations as commands, without
// a lock, and spin on the cache line of their sync object until their requests are complete:
//
//   progress thread:                          application thread:
//     forever:                                  isend, irecv: r = new request; push(command, r)
//       while pop(command): execute it          wait(sync): while sync.pending > 0: read sync (spins)
//       for each target: lock; poll; unlock
//
// Only the progress thread enters the critical sections of the library.
#pragma once

#include "core/wait_scope.hpp"
#include "models/progress/progress_engine.hpp"

namespace contend {

class OffloadProgress final : public ProgressEngine, private Waitable {
public:
  static constexpr ProgressTraits traits{.own_thread = true};

  explicit OffloadProgress(const ProgressParts& parts)
      : source_(parts.source), name_(parts.name), label_(name_ + "/others' progress") {}

  void wait(SimThread& self, SyncObject& sync) override;
  /// The progress thread makes all the progress there is: another look is all that remains.
  int test(SimThread& self, SyncObject& sync, ProgressSource& /*source*/) override {
    sync.line.load(self, Category::poll_idle);
    return 0;
  }
  void advanced(SimThread& /*self*/, SyncObject& sync) override { written(sync); }
  void completed(SimThread& self, SyncObject& sync) override {
    WaitScope::answer(label_, sync.waiter, self, requests_completed, self.now());
    written(sync);
  }

  void run_thread(SimThread& self) override;

private:
  static void written(SyncObject& sync);
  [[nodiscard]] std::string describe() const override { return "the progress thread of " + name_; }

  ProgressSource& source_;
  std::string name_;
  TraceLabel label_; ///< of where threads wait for the progress thread
};

} // namespace contend
