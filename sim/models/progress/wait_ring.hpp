// Waiting threads of which a limited number makes progress while the others sleep (Open MPI 5, ompi_sync_wait_mt and
// opal_max_thread_in_progress):
//
//   wait(sync):
//     if pending <= 0: return
//     append sync to the ring
//     while I am not the ring's head and threads_in_progress >= limit: sleep; leave if pending <= 0
//     threads_in_progress++; while pending > 0: one turn of progress; threads_in_progress--
//     unlink sync; if I was the head: wake the new head
//
// As there, a place that becomes free wakes nobody but the new head. Who has the place of a head that has left until the new one
// runs? Open MPI counts threads that poll, so whoever comes by in that time polls as well, and still does when the head runs:
// the limit is lenient. Where cores are shared that time is long, and polling threads soon are many. A strict limit counts the
// new head from when it is promoted; with a limit of one that is Open MPI 4, where nobody polls but the head.
#pragma once

#include "core/ring_queue.hpp"
#include "core/wait_scope.hpp"
#include "models/progress/progress_engine.hpp"
#include "models/waiting/sleep_idling.hpp"

#include <limits>

namespace contend {

class WaitRing {
public:
  static constexpr int no_limit = std::numeric_limits<int>::max();

  /// `limit`: threads that may make progress at a time, at least 1; parts.design says how strictly.
  WaitRing(const ProgressParts& parts, int limit);

  /// Returns when sync.pending is 0 or less; calls turns(self, sync) when this thread may make progress, which returns then.
  template <typename Turns>
  void wait(SimThread& self, SyncObject& sync, Turns turns) {
    if (sync.pending > 0) {
      wait_in_ring(self, sync, turns);
    }
    idling_.leave(self, sync);
  }
  /// sync.pending has become 0: its thread need not idle any more.
  void completed(SimThread& self, SyncObject& sync);

  [[nodiscard]] int in_progress() const { return in_progress_; }

private:
  template <typename Turns>
  void wait_in_ring(SimThread& self, SyncObject& sync, Turns turns) {
    enter(self, sync);
    if (sync.pending > 0) {
      const ServiceScope service(self, label_);
      count_in(self);
      turns();
      source_.stop(self);
      count_out(self);
    }
    leave(self, sync);
  }
  void enter(SimThread& self, SyncObject& sync);
  void leave(SimThread& self, SyncObject& sync);
  void idle(SimThread& self, SyncObject& sync);
  void promote(SyncObject& sync);
  void join();
  void count_in(SimThread& self);
  void count_out(SimThread& self);

  ProgressSource& source_;
  SleepIdling sleep_;
  Idling& idling_;
  int limit_;
  bool lenient_;
  int in_progress_ = 0;
  std::unique_ptr<Lock> lock_;
  TraceLabel label_;            ///< of where those wait that may not make progress
  RingQueue<SyncObject*> ring_; ///< waiting threads, the head first
};

} // namespace contend
