// What engines share in which a waiting thread looks at the instances of its own requests, and at every n-th turn further:
//
//   wait(sync):
//     while pending > 0:
//       begin a turn
//       poll_targets(further: ++turns mod n == 0)
//       end it
//
// Turns count by thread. While one thread alone waits, turns that find nothing may be slept through up to the next far one.
#pragma once

#include "models/progress/progress_engine.hpp"

#include <cstdint>
#include <vector>

namespace contend {

class PeriodicProgress : public ProgressEngine {
public:
  static constexpr ProgressTraits traits{.polls_own_targets = true};

  void wait(SimThread& self, SyncObject& sync) override;
  void completed(SimThread& /*self*/, SyncObject& sync) override { source_.end_rest_of(sync); }

protected:
  explicit PeriodicProgress(const ProgressParts& parts) : source_(parts.source), every_(parts.design.global_every) {}

  /// One turn. Returns what it found.
  int turn(SimThread& self, SyncObject& sync);
  [[nodiscard]] ProgressSource& source() const { return source_; }

private:
  /// The polls of a turn; `further`: it is an n-th one. Returns what they found.
  virtual int poll_targets(SimThread& self, SyncObject& sync, bool further) = 0;
  std::int64_t& turns_of(const SimThread& self);

  ProgressSource& source_;
  std::int64_t every_;
  int polling_ = 0;                 ///< threads that wait
  std::vector<std::int64_t> turns_; ///< by thread id
};

} // namespace contend
