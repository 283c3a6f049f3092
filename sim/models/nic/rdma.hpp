// One-sided operations of an interface: puts, gets and atomics that the target's processor does not see.
#pragma once

#include "core/engine.hpp"
#include "models/nic/nic.hpp"
#include "models/nic/rdma_parameters.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace contend {

struct RdmaRequest;

/// Told that an operation is complete at the target and that the origin knows.
class RdmaListener {
public:
  virtual ~RdmaListener() = default;
  /// Runs on the thread that polled the completion, under the lock of the context.
  virtual void completed(SimThread& self, const RdmaRequest& request) = 0;
};

/// Told in an event that a put's payload is in the target's memory: what a thread there would see when it looks.
class RemoteMemory {
public:
  virtual ~RemoteMemory() = default;
  virtual void written(const RdmaRequest& request) = 0;
};

/// One operation. Hardware atomics act on a word of the target's memory and bring its old value back.
struct RdmaRequest {
  enum class Kind { put, get, fetch_add, compare_swap };

  Kind kind = Kind::put;
  std::int64_t bytes = 0;
  RdmaListener* listener = nullptr; ///< may be nullptr
  int target = 0;                   ///< for the listener
  bool report = false;              ///< the completion is reported however rarely the interface reports others
  std::int64_t* word = nullptr;     ///< atomics: what they act on; nullptr: memory that nobody looks at
  std::int64_t operand = 0;         ///< fetch_add: is added; compare_swap: the new value
  std::int64_t expected = 0;        ///< compare_swap: the value that is replaced
  std::int64_t* result = nullptr;   ///< atomics: where the old value goes when the completion is polled
  std::int64_t old_value = 0;
  RemoteMemory* memory = nullptr; ///< puts: told at the target; nullptr: memory that nobody looks at
  std::int64_t offset = 0;        ///< where in that memory the put begins, for `memory`

  /// An atomic's effect on its word, whose value before is `old_value` then. Requires: word is not nullptr.
  void change_word();
};

class RdmaTransfer;

/// The way from one context to the memory behind a context of another process. Completions are reported in the order of
/// posting. The caller holds the lock of the local context.
class RdmaEndpoint {
public:
  RdmaEndpoint(NicContext& local, NicContext& remote, const RdmaParameters& parameters);
  ~RdmaEndpoint();
  RdmaEndpoint(const RdmaEndpoint&) = delete;
  RdmaEndpoint& operator=(const RdmaEndpoint&) = delete;

  /// Posts an operation. Returns false, having spent only a look, when the queue is full or too many reads are
  /// outstanding: poll the context and try again.
  bool post(SimThread& self, const RdmaRequest& request);
  /// Makes sure that the completion of everything posted so far will be reported: with moderated completions an empty work
  /// request is posted that asks for it. Returns false as post() does.
  bool request_report(SimThread& self);

  /// Reads how many operations are outstanding, without the lock: the line moves.
  void look(SimThread& self) { local_.send_state().load(self, Category::poll_idle); }
  /// Operations whose completion has not been polled.
  [[nodiscard]] int outstanding() const { return outstanding_; }
  /// Of these, those whose buffer at the origin is still in use: all but puts that the processor has stored.
  [[nodiscard]] int buffers_in_use() const { return buffers_in_use_; }

  /// Called by the context for a polled report of `count` operations.
  void retire(SimThread& self, int count);
  [[nodiscard]] const RdmaParameters& parameters() const { return parameters_; }

private:
  friend class RdmaTransfer;
  struct Operation {
    RdmaRequest request;
    bool done = false;     ///< complete in hardware
    bool reported = false; ///< asks for a completion queue entry
    bool empty = false;    ///< only asks for the report
    bool stored = false;   ///< its payload has left the origin's buffer
    CacheLine* descriptor = nullptr;
    MessageNumber number = 0;
  };

  [[nodiscard]] bool offloaded(const RdmaRequest& request) const {
    return request.bytes > parameters_.store_limit_bytes;
  }
  [[nodiscard]] std::int64_t wire_bytes(std::int64_t payload) const;
  /// Puts the last operation on its way.
  void launch(const SimThread& self, TimePoint called);
  void finished();
  RdmaTransfer& take_transfer();
  Operation& new_operation(SimThread& self);

  NicContext& local_;
  NicContext& remote_;
  const std::size_t fifo_; ///< of the context
  const RdmaParameters parameters_;
  int outstanding_ = 0;
  int buffers_in_use_ = 0;
  int reads_ = 0;                    ///< gets and atomics outstanding
  int unreported_ = 0;               ///< posted since the last operation that asks for a report
  std::deque<Operation> operations_; ///< in order of posting, until they are retired
  std::size_t in_order_ = 0;         ///< of these, how many at the front are done and accounted for
  int unannounced_ = 0;              ///< of those, how many no report has covered yet
  /// What the library remembers of each outstanding operation. The descriptor that was given back last is used first, so
  /// its line moves between the threads that share the context.
  std::vector<std::unique_ptr<CacheLine>> descriptors_;
  std::vector<CacheLine*> free_descriptors_;
  std::vector<std::unique_ptr<RdmaTransfer>> transfers_;
  std::vector<RdmaTransfer*> free_transfers_;
};

} // namespace contend
