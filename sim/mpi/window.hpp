// An MPI window: memory of every process that the others read and write (Open MPI's osc/rdma and osc/sm).
#pragma once

#include "core/cache_line.hpp"
#include "models/nic/rdma.hpp"
#include "mpi/one_sided_parts.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace contend {

class Process;
class WindowPath;

/// Kinds of MPI_Win_lock.
enum class WindowLock { shared, exclusive };

/// One process's side of a window. How operations reach the target is the design's (WindowPath); none is matched.
///
/// Calls take the calling thread first and block in simulated time. As in MPI, a process locks a target at most once at a
/// time; breaking such a rule throws InvariantViolation. What is not modelled: registration of memory (it is cached).
class Window final {
public:
  /// `calls`: of the process whose parts these are.
  Window(const OneSidedParts& parts, Process& calls, int id, int communicator);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// MPI_Put, MPI_Get. They return when the operation is posted.
  void put(SimThread& self, int target, std::int64_t bytes) { put(self, target, bytes, nullptr, 0); }
  /// The same for memory that a thread of the target looks at: `memory` is told when the payload is there.
  void put(SimThread& self, int target, std::int64_t bytes, RemoteMemory* memory, std::int64_t offset);
  void get(SimThread& self, int target, std::int64_t bytes);
  /// MPI_Accumulate, MPI_Fetch_and_op. Where the path has an operation for that (WindowPath::updates_at_target), as a put or
  /// a get. Else the target is locked, read, changed and written, and the call blocks.
  void accumulate(SimThread& self, int target, std::int64_t bytes);
  void fetch_and_op(SimThread& self, int target, std::int64_t bytes);

  /// MPI_Win_flush, MPI_Win_flush_all: return when all operations of the process that were posted before, to the target or
  /// to all, are complete at the target, or, of puts by messages that nobody answers, handed to the transport.
  void flush(SimThread& self, int target);
  void flush_all(SimThread& self);
  /// MPI_Win_flush_local: the buffers at the origin may be reused.
  void flush_local(SimThread& self, int target);

  /// MPI_Win_lock, MPI_Win_unlock: a shared or exclusive lock on the target's memory, taken by atomics on words there.
  void lock(SimThread& self, int target, WindowLock kind);
  void unlock(SimThread& self, int target);
  /// MPI_Win_lock_all, MPI_Win_unlock_all: a shared lock on everybody's memory.
  void lock_all(SimThread& self);
  void unlock_all(SimThread& self);
  /// MPI_Win_fence: completes all operations of all processes. One thread of every process calls it.
  void fence(SimThread& self);

  /// Operations to the target that are posted and not known to be complete.
  [[nodiscard]] std::int64_t outstanding(int target) const;

  /// Connects this side with the others; by rank. Called once, before the first operation.
  void attach(std::vector<Window*> sides);

private:
  /// Words at this process that remote atomics act on. Two levels, as in osc/rdma: `local` counts shared holders and has a
  /// bit for an exclusive one; `global` is used at rank 0 only, where lock_all excludes exclusive locks of any target.
  struct Words {
    std::int64_t local = 0;
    std::int64_t global = 0;
    std::int64_t accumulate = 0;
  };
  enum class Held { nothing, shared, exclusive };

  void start(SimThread& self, const RdmaRequest& request);
  void start_and_wait(SimThread& self, const RdmaRequest& request);
  void read_modify_write(SimThread& self, int target, std::int64_t bytes);
  void copy_to_self(SimThread& self, const RdmaRequest& request) const;

  void flush_targets(SimThread& self, int target);

  template <typename Apply>
  std::int64_t operate(SimThread& self, int target, std::int64_t Words::*word, RdmaRequest request, Apply apply);
  std::int64_t fetch_add(SimThread& self, int target, std::int64_t Words::*word, std::int64_t operand);
  std::int64_t compare_swap(SimThread& self, int target, std::int64_t Words::*word, std::int64_t expected,
                            std::int64_t desired);
  void acquire_shared(SimThread& self, int target, std::int64_t Words::*word, std::int64_t mine, std::int64_t conflict);

  ProcessContext& process_;
  ProgressTurns& turns_;
  Process& calls_;
  int communicator_;
  std::string name_;
  Words words_;
  CacheLine words_line_;
  std::unique_ptr<WindowPath> path_;
  std::vector<Window*> sides_; ///< by rank; this one too
  std::vector<Held> held_;     ///< by target: locks of this process
  bool holds_all_ = false;
};

} // namespace contend
