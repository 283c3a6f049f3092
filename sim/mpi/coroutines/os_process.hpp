// A process of the operating system that runs MPI processes as coroutines: scheduler, matching, protocol and progress.
#pragma once

#include "core/engine.hpp"
#include "models/coroutines/scheduling_policy.hpp"
#include "models/coroutines/switch_cost.hpp"
#include "models/matching/process_queues.hpp"
#include "models/memory/working_set.hpp"
#include "mpi/coroutines/packet.hpp"
#include "mpi/coroutines/process.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace contend {

class CoWorld;

/// What an OS process counted.
struct CoCounters {
  std::int64_t switches = 0;       ///< to another coroutine
  std::int64_t progress_turns = 0; ///< activations of the progress coroutine
  std::int64_t colocated = 0;      ///< messages inside this OS process
  std::int64_t sent = 0;           ///< messages to others
  std::int64_t received = 0;       ///< messages of any kind that a receive took
  std::int64_t unexpected = 0;     ///< messages, and co-located sends, that found no receive
  std::int64_t announced = 0;      ///< large messages that had to wait for an invitation
  std::int64_t fastboxes = 0;      ///< packets that went through a fastbox
  std::int64_t posted_visited = 0; ///< elements of the queue of receives that searches compared
  std::int64_t unexpected_visited = 0;
};

/// One instance of the library with its thread. Exactly one coroutine runs and gives control up inside calls only: nothing
/// in here is locked. What others touch are the incoming queue and the lines of the node's barrier.
class OsProcess final : public Waitable, private LineReader {
public:
  OsProcess(CoWorld& world, int number);
  ~OsProcess() override = default;
  OsProcess(const OsProcess&) = delete;
  OsProcess& operator=(const OsProcess&) = delete;

  /// Starts the thread.
  void start();

  [[nodiscard]] CoWorld& world() const { return world_; }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] int node() const { return node_; }
  [[nodiscard]] SimThread& thread() const { return *thread_; }
  [[nodiscard]] FramePool& frames() { return frames_; }
  [[nodiscard]] const WorkingSet& memory() const { return memory_; }
  [[nodiscard]] std::int64_t processes() const { return static_cast<std::int64_t>(count_); }
  [[nodiscard]] int first_rank() const { return first_rank_; }
  [[nodiscard]] CoProcess& process(int rank) { return processes_[static_cast<std::size_t>(rank - first_rank_)]; }
  [[nodiscard]] CoCounters counters() const;
  /// Requests and packets that exist, in use or free.
  [[nodiscard]] std::int64_t requests() const { return static_cast<std::int64_t>(requests_.size()); }
  [[nodiscard]] const ProcessQueues& posted() const { return *posted_; }
  [[nodiscard]] const ProcessQueues& unexpected() const { return *unexpected_; }

  // Calls of processes.
  CoRequest* isend(CoProcess& sender, int destination, int tag, std::int64_t bytes, Transfer transfer,
                   std::int32_t context);
  CoRequest* irecv(CoProcess& receiver, int source, int tag, std::int64_t bytes, Transfer transfer,
                   std::int32_t context);
  /// Puts a process that waits for a word back on the run queue.
  void notify(CoProcess& process) { policy_->notify(process); }
  void free(CoRequest* request) { free_requests_.push_back(request); }

  /// The processes meet here, see barrier.hpp.
  struct Meeting {
    std::int64_t arrived = 0;
    std::int64_t released = 0;
  };
  Meeting meeting;

  /// A packet for this OS process; called by senders, and by packets that come off the wire.
  void arrive(CoPacket& packet);
  /// Something has changed that this OS process may wait for; called by others.
  void activity();

  [[nodiscard]] std::string describe() const override;

private:
  friend class CoProcess;

  /// The coroutine that polls when all processes are blocked.
  struct Progress final : Schedulable {};

  // Scheduling.
  void run(SimThread& self);
  void turn(Schedulable& next);
  bool look(Schedulable& next, bool charged);
  void resume(CoProcess& process);
  [[nodiscard]] bool is_ready(CoProcess& process);
  [[nodiscard]] bool polls(const CoProcess& process) const;
  [[nodiscard]] Duration turn_price(const Schedulable& one) const;
  [[nodiscard]] Duration software_price(const Schedulable& one) const;
  void rest();
  void wait_for_activity();
  [[nodiscard]] CacheLine* line_of(const Schedulable& one) const;
  [[nodiscard]] bool watch_lines();
  void forget_lines();
  void copy_lost() override { activity(); }

  // Protocol.
  void send_colocated(CoRequest& send);
  void send_buffered(CoRequest& send);
  void send_packet(CoRequest& send);
  void post(CoPacket& packet, OsProcess& to, std::int64_t payload);
  Fastbox* free_fastbox_of(const OsProcess& from);
  bool progress();
  void handle(CoPacket& packet);
  void take_eager(const CoPacket& packet);
  void invite(OsProcess& sender, CoRequest* send, CoRequest& receive);
  bool push_pieces();
  bool piece_is_out(LargeSend& large);
  void complete(CoRequest& request);
  void take(CoRequest& receive, const ProcessEnvelope& message, std::int64_t bytes);
  void copy_colocated(const CoRequest& send, const CoRequest& receive);
  QueuedOperation* search(ProcessQueues& queues, const ProcessEnvelope& wanted);
  void keep(ProcessQueues& queues, CoRequest& request);
  CoRequest* new_request(CoRequest::Kind kind, const ProcessEnvelope& envelope, std::int64_t bytes);
  void software(Duration time);
  /// What a call of the library begins with.
  void call(Duration price);

  CoWorld& world_;
  int number_;
  int node_;
  int core_;
  int first_rank_;
  std::size_t count_;
  SimThread* thread_ = nullptr;
  WorkingSet memory_;
  std::string name_;

  FramePool frames_; // outlives the processes' coroutines
  std::vector<CoProcess> processes_;
  std::int64_t unfinished_ = 0;

  std::unique_ptr<SchedulingPolicy> policy_;
  Progress progress_;
  bool packets_ = false; ///< something may come in through the queues
  bool progress_runs_ = false;
  Schedulable* last_ = nullptr; ///< who ran last
  Duration switch_;
  std::int64_t fruitless_ = 0; ///< turns in a row in which nobody could go on
  bool attention_ = false;     ///< activity since these turns began
  bool asleep_ = false;

  std::unique_ptr<ProcessQueues> posted_;
  std::unique_ptr<ProcessQueues> unexpected_;
  std::deque<CoRequest> requests_;
  std::vector<CoRequest*> free_requests_;

  CoPacket* incoming_head_ = nullptr;
  CoPacket* incoming_tail_ = nullptr;
  CacheLine queue_line_;                                        ///< tail of the incoming queue
  std::unordered_map<int, std::unique_ptr<Fastbox>> fastboxes_; ///< by sender; never walked
  std::deque<LargeSend> large_sends_;
  std::vector<LargeSend*> open_large_sends_; ///< with pieces left to hand over
  std::vector<LargeSend*> free_large_sends_;
  RandomStream noise_;
  CoCounters counters_;
};

} // namespace contend
