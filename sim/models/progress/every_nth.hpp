// A waiting thread advances the instances of its own requests, and at every n-th turn tries the others too, so that all make
// progress when some threads are idle (multichannel MPICH2):
//
//   wait(sync):
//     while pending > 0:
//       for each own instance k: lock(k); made += poll(k); unlock
//       if ++turns mod n == 0: for each other instance k: if trylock(k): made += poll(k); unlock
//
// Turns count by thread.
#pragma once

#include "models/progress/progress_engine.hpp"

#include <cstdint>
#include <vector>

namespace contend {

class EveryNthProgress final : public ProgressEngine {
public:
  explicit EveryNthProgress(const ProgressParts& parts)
      : source_(parts.source), others_every_(parts.design.global_every) {}

  void wait(SimThread& self, SyncObject& sync) override;
  void completed(SimThread& /*self*/, SyncObject& sync) override { source_.end_rest_of(sync); }

private:
  int progress(SimThread& self, SyncObject& sync, bool others);
  std::int64_t& turns_of(const SimThread& self);

  ProgressSource& source_;
  std::int64_t others_every_;
  int polling_ = 0;                 ///< threads that wait
  std::vector<std::int64_t> turns_; ///< by thread id
};

} // namespace contend
