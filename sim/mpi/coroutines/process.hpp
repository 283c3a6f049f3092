// An MPI process that is a coroutine: what its program can call.
#pragma once

#include "core/cache_line.hpp"
#include "core/coroutine.hpp"
#include "core/engine.hpp"
#include "models/coroutines/run_queue.hpp"
#include "models/memory/working_set.hpp"
#include "mpi/coroutines/request.hpp"

#include <cstdint>
#include <span>

namespace contend {

class OsProcess;

/// Context numbers of the predefined communicator: of its messages, and of those inside collective calls.
inline constexpr std::int32_t world_context = 0;
inline constexpr std::int32_t collective_context = 1;

/// One MPI process. Calls happen in simulated time, on the thread of the OS process; a call that has to wait is awaited, and
/// gives control to the other processes of the OS process.
class CoProcess final : public Schedulable {
public:
  CoProcess() = default;

  /// World rank.
  [[nodiscard]] int rank() const { return rank_; }
  /// Processes of the job.
  [[nodiscard]] int size() const;
  [[nodiscard]] OsProcess& os() const { return *os_; }
  [[nodiscard]] SimThread& thread() const;
  [[nodiscard]] TimePoint now() const { return thread().now(); }
  /// Where the coroutines of this process live.
  [[nodiscard]] FramePool& frames() const;

  /// The application computes.
  void compute(Duration time) const;
  /// The caches as this process sees them.
  [[nodiscard]] const WorkingSet& memory() const;

  /// MPI_Isend, MPI_Irecv in the predefined communicator, or another context. Free the request by waiting for it.
  [[nodiscard]] CoRequest* isend(int destination, int tag, std::int64_t bytes, Transfer transfer = Transfer::copy,
                                 std::int32_t context = world_context);
  [[nodiscard]] CoRequest* irecv(int source, int tag, std::int64_t bytes, Transfer transfer = Transfer::copy,
                                 std::int32_t context = world_context);

  /// What a process gives control up for.
  class Wait;
  class WaitAny;
  class Until;
  class Yield;

  /// MPI_Wait, MPI_Waitall: until all are complete. Frees them. The span must outlive the wait.
  [[nodiscard]] Wait wait(CoRequest* request);
  [[nodiscard]] Wait waitall(std::span<CoRequest* const> requests);
  /// MPI_Waitany: until one of the requests that are not nullptr is complete; frees it, sets its place to nullptr and
  /// returns that place. Requires one.
  [[nodiscard]] WaitAny waitany(std::span<CoRequest*> requests);
  /// MPI_Send, MPI_Recv.
  [[nodiscard]] Wait send(int destination, int tag, std::int64_t bytes, Transfer transfer = Transfer::copy,
                          std::int32_t context = world_context);
  [[nodiscard]] Wait recv(int source, int tag, std::int64_t bytes, Transfer transfer = Transfer::copy,
                          std::int32_t context = world_context);
  /// Lets the others run; no effect if there are none that want to (MPIX_Yield).
  [[nodiscard]] Yield yield();
  /// Until a word of this OS process is `value`, or is not. Whoever changes it calls OsProcess::notify for those that wait.
  [[nodiscard]] Until until(const std::int64_t& word, std::int64_t value);
  [[nodiscard]] Until until_not(const std::int64_t& word, std::int64_t value);
  /// Until a word in memory that several OS processes share, in `line`, is `value` or is not. Whoever changes it calls
  /// OsProcess::activity for the OS processes that wait. The process stays on the run queue.
  [[nodiscard]] Until until(CacheLine& line, const std::int64_t& word, std::int64_t value);
  [[nodiscard]] Until until_not(CacheLine& line, const std::int64_t& word, std::int64_t value);

private:
  friend class OsProcess;

  /// What it waits for.
  enum class Waiting : std::uint8_t { nothing, requests, word, shared_word };

  OsProcess* os_ = nullptr;
  CoTask program_;
  Activation activation_;
  int rank_ = 0;
  int pending_ = 0; ///< requests that are to complete before it goes on
  const std::int64_t* word_ = nullptr;
  std::int64_t value_ = 0;
  CacheLine* line_ = nullptr;
  Waiting waiting_ = Waiting::nothing;
  bool equal_ = false; ///< word_ is to be value_, else not to be
};

// The language calls what follows through objects. NOLINTBEGIN(readability-convert-member-functions-to-static)
class [[nodiscard]] CoProcess::Wait {
public:
  Wait(CoProcess& process, CoRequest* one) : process_(process), one_(one) {}
  Wait(CoProcess& process, std::span<CoRequest* const> all) : process_(process), all_(all) {}

  [[nodiscard]] bool await_ready();
  void await_suspend(CoTask::Handle handle) const { handle.promise().activation().suspend(); }
  /// Frees the requests. Returns the status of the first.
  Status await_resume();

private:
  [[nodiscard]] std::span<CoRequest* const> requests() const {
    return one_ != nullptr ? std::span<CoRequest* const>(&one_, 1) : all_;
  }

  CoProcess& process_;
  CoRequest* one_ = nullptr;
  std::span<CoRequest* const> all_;
};

class [[nodiscard]] CoProcess::WaitAny {
public:
  WaitAny(CoProcess& process, std::span<CoRequest*> all) : process_(process), all_(all) {}

  [[nodiscard]] bool await_ready();
  void await_suspend(CoTask::Handle handle) const { handle.promise().activation().suspend(); }
  std::size_t await_resume();

private:
  CoProcess& process_;
  std::span<CoRequest*> all_;
};

class [[nodiscard]] CoProcess::Until {
public:
  Until(CoProcess& process, CacheLine* line, const std::int64_t& word, std::int64_t value, bool equal)
      : process_(process), line_(line), word_(word), value_(value), equal_(equal) {}

  [[nodiscard]] bool await_ready();
  void await_suspend(CoTask::Handle handle) const { handle.promise().activation().suspend(); }
  void await_resume() const {}

private:
  CoProcess& process_;
  CacheLine* line_;
  const std::int64_t& word_;
  std::int64_t value_;
  bool equal_;
};

class [[nodiscard]] CoProcess::Yield {
public:
  explicit Yield(CoProcess& process) : process_(process) {}

  [[nodiscard]] bool await_ready() const;
  void await_suspend(CoTask::Handle handle) const { handle.promise().activation().suspend(); }
  void await_resume() const {}

private:
  CoProcess& process_;
};

// NOLINTEND(readability-convert-member-functions-to-static)

inline CoProcess::Wait CoProcess::wait(CoRequest* request) { return {*this, request}; }
inline CoProcess::Wait CoProcess::waitall(std::span<CoRequest* const> requests) { return {*this, requests}; }
inline CoProcess::WaitAny CoProcess::waitany(std::span<CoRequest*> requests) { return {*this, requests}; }
inline CoProcess::Wait CoProcess::send(int destination, int tag, std::int64_t bytes, Transfer transfer,
                                       std::int32_t context) {
  return wait(isend(destination, tag, bytes, transfer, context));
}
inline CoProcess::Wait CoProcess::recv(int source, int tag, std::int64_t bytes, Transfer transfer,
                                       std::int32_t context) {
  return wait(irecv(source, tag, bytes, transfer, context));
}
inline CoProcess::Yield CoProcess::yield() { return Yield(*this); }
inline CoProcess::Until CoProcess::until(const std::int64_t& word, std::int64_t value) {
  return {*this, nullptr, word, value, true};
}
inline CoProcess::Until CoProcess::until_not(const std::int64_t& word, std::int64_t value) {
  return {*this, nullptr, word, value, false};
}
inline CoProcess::Until CoProcess::until(CacheLine& line, const std::int64_t& word, std::int64_t value) {
  return {*this, &line, word, value, true};
}
inline CoProcess::Until CoProcess::until_not(CacheLine& line, const std::int64_t& word, std::int64_t value) {
  return {*this, &line, word, value, false};
}

} // namespace contend
