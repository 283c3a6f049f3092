// One MPI process: its instances, communicators and requests, and the calls its threads can make.
#pragma once

#include "core/engine.hpp"
#include "models/locks/lock.hpp"
#include "models/nic/nic.hpp"
#include "models/nic/rdma.hpp"
#include "models/progress/command_queue.hpp"
#include "models/progress/progress_engine.hpp"
#include "mpi/assignment.hpp"
#include "mpi/command.hpp"
#include "mpi/communicator.hpp"
#include "mpi/delayed_sends.hpp"
#include "mpi/parameters.hpp"
#include "mpi/poller.hpp"
#include "mpi/rendezvous.hpp"
#include "mpi/request.hpp"
#include "mpi/spc.hpp"
#include "mpi/window.hpp"

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// Prices and policies that all processes of a simulation share.
struct ProcessSettings {
  LibraryDesign library;
  SoftwareParameters software;
  LockParameters locks;
  MatchingParameters matching;
  RdmaParameters rdma;
  Duration noise{};                ///< mean of an exponential jitter per call
  bool coalesce_idle_polls = true; ///< see IdlePoll
};

/// The library as one process runs it. Calls take the calling thread first and block in simulated time, like MPI's.
class Process final : private CompletionHandler, private ProgressSource {
public:
  /// `peers`: number of ranks. Peers must be connected before the first message.
  Process(Engine& engine, const Host& host, Nic& nic, const ProcessSettings& settings, int rank, int peers);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] const Host& host() const { return host_; }
  [[nodiscard]] const SpcCounters& counters() const { return counters_; }
  /// Instances that exist: those asked for, or as many as the interface has contexts.
  [[nodiscard]] int instances() const { return static_cast<int>(instances_.size()); }
  [[nodiscard]] std::string name() const { return "rank " + std::to_string(rank_); }

  /// Collective over all processes, in the same order everywhere. Returns the communicator's number.
  int create_communicator(bool allow_overtaking);
  /// As create_communicator: a window that this process and the others of the communicator give each other access to.
  Window& create_window(int communicator);
  [[nodiscard]] Window& window(int number) { return *windows_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] const Window& window(int number) const { return *windows_[static_cast<std::size_t>(number)]; }
  /// Makes endpoints from every instance of this process to the instances of `peer`.
  void connect(Process& peer);
  /// The design has a thread of its own for progress, which needs a core.
  [[nodiscard]] bool has_progress_thread() const { return progress_->has_thread(); }
  /// Starts that thread; once, before the first call.
  void start_progress_thread(int host, int core);

  /// MPI_Isend. The request is complete on return when the message went out at once.
  Request* isend(SimThread& self, int communicator, int destination, int tag, std::int64_t bytes);
  /// MPI_Irecv. `source` and `tag` may be any_source and any_tag.
  Request* irecv(SimThread& self, int communicator, int source, int tag, std::int64_t bytes);
  /// MPI_Waitall: returns when all requests are complete, and frees them.
  void waitall(SimThread& self, std::span<Request* const> requests);
  void wait(SimThread& self, Request* request) { waitall(self, {&request, 1}); }
  /// MPI_Send, MPI_Recv.
  void send(SimThread& self, int communicator, int destination, int tag, std::int64_t bytes) {
    wait(self, isend(self, communicator, destination, tag, bytes));
  }
  void recv(SimThread& self, int communicator, int source, int tag, std::int64_t bytes) {
    wait(self, irecv(self, communicator, source, tag, bytes));
  }
  /// MPI_Barrier (dissemination). One thread per process calls it.
  void barrier(SimThread& self, int communicator) { barrier(self, communicator, 0, peers_); }
  /// MPI_Barrier on a communicator of `ranks` processes from `first_rank` on.
  void barrier(SimThread& self, int communicator, int first_rank, int ranks);

private:
  friend class Window; // the one-sided part of this class, per window

  /// A communication resource instance: a lock and what it protects.
  struct Instance final : ActivityListener {
    void activity(NicContext& /*context*/) override { process->activity(); }
    HardwareMatcher::Time arrived(Envelope& envelope) override;

    Process* process = nullptr;
    std::unique_ptr<Lock> lock;
    NicContext* context = nullptr;
    std::vector<std::unique_ptr<Endpoint>> endpoints;     ///< by peer rank
    std::vector<std::unique_ptr<RdmaEndpoint>> one_sided; ///< by peer rank; nullptr: this process itself
  };
  /// What a failed attempt to send did and cost.
  struct Attempt {
    PollTurn turn;
    SimThread::Times until_look{}; ///< by category
    SimThread::Times whole{};
  };

  /// Leaves an operation to the progress thread.
  Request* submit(SimThread& self, Command command);

  // What the design says about locks.
  /// Only one thread at a time is inside the library: plain stores do where atomics would be needed.
  [[nodiscard]] bool exclusive() const { return single_ || global_lock_ != nullptr; }
  void enter_call(SimThread& self);
  void leave_call(SimThread& self);
  void update_shared(SimThread& self, CacheLine& line, Category category);
  [[nodiscard]] int mapped_instance(int communicator, int tag) const;
  int instance_for(SimThread& self, int communicator, int tag);
  [[nodiscard]] Lock& lock_of(Instance& instance) { return global_lock_ ? *global_lock_ : *instance.lock; }

  // Send path. `handle`: the request that the caller has been given already, if any.
  Request* start_send(SimThread& self, int communicator, int destination, int tag, std::int64_t bytes, Request* handle);
  Request* announce(SimThread& self, Envelope& envelope, int destination, Request* handle);
  Request* deliver_to_self(SimThread& self, const Envelope& envelope, Request* handle);
  void send_or_delay(SimThread& self, int instance, int destination, const Envelope& envelope, Request* request);
  bool try_send(SimThread& self, const DelayedSend& send, Attempt* attempt);
  int retry_delayed_sends(SimThread& self);
  std::size_t skip_failing_attempts(SimThread& self, std::size_t remaining, int& handled);
  [[nodiscard]] Instance& instance_of(const Lock& lock);

  [[nodiscard]] bool delayed_sends_may_go() const;
  int send_where_there_is_room(SimThread& self);

  // Messages above the eager limit.
  void begin_rendezvous(SimThread& self, Request& receive, const Envelope& envelope);
  void continue_rendezvous(SimThread& self, const Envelope& envelope);
  void transferred(SimThread& self, const Envelope& envelope) override;
  void take_step(SimThread& self, const RendezvousStep& step);
  bool try_step(SimThread& self, Instance& instance, const RendezvousStep& step);
  int retry_steps(SimThread& self);
  void after_step(SimThread& self, const RendezvousStep& step);
  void send_pieces(SimThread& self, Rendezvous& rendezvous);
  void finish_send(SimThread& self, Rendezvous& rendezvous);
  void finish_receive(SimThread& self, Rendezvous& rendezvous);
  void register_buffer(SimThread& self, const Request& request);
  Rendezvous* new_rendezvous();
  [[nodiscard]] Instance& instance_for_reply(SimThread& self, const Rendezvous& rendezvous);
  [[nodiscard]] Instance& instance_of(SimThread& self, const Rendezvous& rendezvous);
  [[nodiscard]] std::int64_t wire_bytes(const Envelope& envelope) const;

  // Receive path.
  void start_receive(SimThread& self, Request& request, int communicator, int source, int tag, std::int64_t bytes);
  void receive(SimThread& self, const Envelope& envelope) override;
  void match(SimThread& self, Communicator& communicator, const Envelope& envelope);
  void take_message(SimThread& self, Request& request, const Envelope& envelope);
  void keep_for_later(SimThread& self, PeerState& peer, const Envelope& envelope);
  void complete(SimThread& self, Request& request);

  MatchingDomain& domain_of(int communicator, int tag);
  MatchingDomain& domain_of(const Communicator& communicator, int tag) {
    return domain_kind_ == DomainKind::instance ? domain_of(communicator.id, tag) : *communicator.domain;
  }
  [[nodiscard]] std::unique_ptr<MatchingDomain> make_domain(std::size_t number) const;
  HardwareMatcher::Time arrived(Envelope& envelope);

  // Requests.
  Request* new_request(SimThread& self, int instance);
  CacheLine& free_list_of(int instance);
  void free_request(SimThread& self, Request* request);
  SyncObject& sync_of(SimThread& self);

  // Progress.
  void activity();
  void begin_turn(SimThread& self, Noise noise) override;
  int poll(SimThread& self, int target, IfHeld if_held) override;
  int take_commands(SimThread& self) override;
  int end_turn(SimThread& self) override;
  [[nodiscard]] int targets() const override { return static_cast<int>(instances_.size()); }
  [[nodiscard]] std::span<const int> own_targets(SimThread& self, SyncObject& sync) override;
  int next_target(SimThread& self) override;
  Rest rest(SimThread& self, std::int64_t limit) override;
  void end_rests() override;
  void end_rest_of(const SyncObject& sync) override;
  void stop(SimThread& self) override;
  Poller& poller_of(const SimThread& self) {
    const auto id = static_cast<std::size_t>(self.id());
    if (id < pollers_.size() && pollers_[id]) [[likely]] {
      return *pollers_[id];
    }
    return add_poller(id);
  }
  Poller& add_poller(std::size_t thread);
  IdlePoll& idle_of(Poller& poller);
  [[nodiscard]] bool nothing_in_sight(const PollTurn& turn);

  void software(SimThread& self, Duration cost) {
    self.owe(cost + noise_.exponential(settings_.noise), Category::software);
  }
  [[nodiscard]] Duration copy_time(std::int64_t bytes) const;

  // For traces.
  void show_matching(const MatchingDomain& domain) const;
  void show_delayed_sends() const;
  void show_length(const TraceLabel& queue, std::int64_t length) const {
    if (TraceSink* const trace = engine_.trace(); trace != nullptr) [[unlikely]] {
      trace->length(queue, engine_.now(), length);
    }
  }
  static void show_match(const SimThread& self, const Envelope& envelope);
  [[nodiscard]] std::unique_ptr<Lock> make_lock(const std::string& kind, const std::string& name) const;
  [[nodiscard]] std::unique_ptr<Lock> make_inner_lock(const std::string& kind, const std::string& name) const;

  Engine& engine_;
  const Host& host_;
  ProcessSettings settings_;
  int rank_;
  int peers_;
  enum class DomainKind { communicator, instance, global };
  bool single_;              ///< MPI_THREAD_SINGLE
  bool mapped_;              ///< communicator or tag decide on the instance, not the thread
  bool mapped_by_tag_;       ///< communicator and tag
  bool guarded_by_instance_; ///< queues have no lock of their own
  DomainKind domain_kind_;
  SpcCounters counters_;

  std::unique_ptr<Lock> global_lock_; ///< around every call, if the design has it
  std::vector<Instance> instances_;
  std::unique_ptr<Assignment> assignment_;
  std::unique_ptr<Assignment> polling_assignment_; ///< none: assignment_ gives each thread its own
  Assignment* own_instance_ = nullptr;             ///< the one that a thread polls first
  unsigned next_target_ = 0;
  CacheLine next_target_line_;
  DelayedSends delayed_;
  std::map<std::pair<int, int>, std::deque<DelayedSend>> at_connection_; ///< delayed sends by (instance, destination)
  std::unique_ptr<Lock> delayed_lock_;
  std::deque<RendezvousStep> steps_; ///< that found the interface full; no lock, as in a lock-free queue
  CacheLine steps_line_;
  std::deque<Rendezvous> rendezvous_;
  std::deque<Rendezvous*> open_rendezvous_; ///< oldest first
  std::vector<Rendezvous*> free_rendezvous_;
  std::vector<std::int64_t> registered_bytes_; ///< of each thread's buffer, by thread id

  std::vector<std::unique_ptr<MatchingDomain>> domains_; ///< by number
  std::vector<Communicator> communicators_;
  std::vector<std::unique_ptr<Window>> windows_;

  std::unique_ptr<ProgressEngine> progress_;
  std::unique_ptr<CommandQueue<Command>> commands_; ///< only for a progress thread
  Attempt attempt_; ///< the last attempt to send a delayed message; belongs to the holder of delayed_lock_
  std::vector<std::unique_ptr<Poller>> pollers_; ///< by thread id
  std::vector<std::unique_ptr<IdlePoll>> idles_;
  std::vector<IdlePoll*> free_idles_; ///< not lent to a poller

  CacheLine free_list_;
  std::vector<std::unique_ptr<CacheLine>> free_lists_; ///< by instance, when each has requests of its own
  std::deque<Request> requests_;
  std::vector<Request*> free_requests_;
  std::vector<std::unique_ptr<SyncObject>> syncs_; ///< by thread id
  RandomStream noise_;
  TraceLabel delayed_label_;
  TraceLabel out_of_sequence_label_;
};

} // namespace contend
