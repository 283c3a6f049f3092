// One MPI process: its instances, communicators and requests, and the calls its threads can make.
#pragma once

#include "core/engine.hpp"
#include "core/ring_queue.hpp"
#include "models/locks/lock.hpp"
#include "models/nic/nic.hpp"
#include "models/nic/rdma.hpp"
#include "models/nic/transport.hpp"
#include "models/progress/command_queue.hpp"
#include "models/progress/progress_engine.hpp"
#include "models/waiting/idling.hpp"
#include "models/waiting/notification.hpp"
#include "models/waiting/task_pool.hpp"
#include "mpi/assignment.hpp"
#include "mpi/command.hpp"
#include "mpi/communicator.hpp"
#include "mpi/delayed_sends.hpp"
#include "mpi/instance_mapping.hpp"
#include "mpi/instance_use.hpp"
#include "mpi/match_task.hpp"
#include "mpi/parameters.hpp"
#include "mpi/poller.hpp"
#include "mpi/release_gather.hpp"
#include "mpi/rendezvous.hpp"
#include "mpi/request.hpp"
#include "mpi/spc.hpp"
#include "mpi/user_sync.hpp"
#include "mpi/window.hpp"

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
  WaitingParameters waiting{};
  DatatypeParameters datatype{};
};

/// The library as one process runs it. Calls take the calling thread first and block in simulated time, like MPI's.
class Process final : private CompletionHandler, private ProgressSource, private RestObserver {
public:
  /// `peers`: number of ranks. Peers must be connected before the first message.
  Process(Engine& engine, const Host& host, Transport& transport, const ProcessSettings& settings, int rank, int peers);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] const Host& host() const { return host_; }
  [[nodiscard]] Engine& engine() const { return engine_; }
  [[nodiscard]] const ProcessSettings& settings() const { return settings_; }
  [[nodiscard]] const SpcCounters& counters() const { return counters_; }
  /// Instances that exist: those asked for, or as many as the interface has contexts.
  [[nodiscard]] int instances() const { return static_cast<int>(instances_.size()); }
  /// Several threads sent something, and all of it went through one of several instances, because they had one communicator.
  [[nodiscard]] bool threads_met_at_one_instance() const;
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
  /// The body of that thread, which must be started once, before the first call.
  [[nodiscard]] SimThread::Body progress_thread() {
    return [this](SimThread& self) { progress_->run_thread(self); };
  }

  /// MPI_Isend. The request is complete on return when the message went out at once.
  Request* isend(SimThread& self, int communicator, int destination, int tag, std::int64_t bytes);
  /// MPI_Irecv. `source` and `tag` may be any_source and any_tag.
  Request* irecv(SimThread& self, int communicator, int source, int tag, std::int64_t bytes);
  /// MPI_Waitall: returns when all requests are complete, and frees them. `tags`: of the messages received, as in their
  /// statuses; none: MPI_STATUSES_IGNORE.
  void waitall(SimThread& self, std::span<Request* const> requests, std::span<int> tags = {}) {
    wait_for_all(self, requests, tags, Handle::given);
  }
  void wait(SimThread& self, Request* request) { waitall(self, {&request, 1}); }
  // In the calls below the entries of requests that are complete become nullptr, or, if they are persistent, inactive.
  // Entries that are either already do not count.
  /// MPI_Waitany: waits until one is complete, and returns its index; -1 when none counts.
  int waitany(SimThread& self, std::span<Request*> requests);
  /// MPI_Waitsome: waits until at least one is complete, and returns the indices of all that are; none when none counts.
  std::vector<int> waitsome(SimThread& self, std::span<Request*> requests);
  /// MPI_Test: whether it is complete, after a turn of progress if need be.
  bool test(SimThread& self, Request** request);
  /// MPI_Testany: the index of one that is complete, or -1.
  int testany(SimThread& self, std::span<Request*> requests);
  /// MPI_Testsome: the indices of all that are complete.
  std::vector<int> testsome(SimThread& self, std::span<Request*> requests);
  /// MPI_Testall: whether all are complete; if not, none is freed.
  bool testall(SimThread& self, std::span<Request*> requests);

  /// MPI_Send_init, MPI_Recv_init: a request that start() sets going, again and again.
  Request* send_init(SimThread& self, int communicator, int destination, int tag, std::int64_t bytes);
  Request* recv_init(SimThread& self, int communicator, int source, int tag, std::int64_t bytes);
  /// MPI_Start. Requires: the request is persistent and inactive.
  void start(SimThread& self, Request& request);
  /// MPI_Request_free of an inactive persistent request.
  void request_free(SimThread& self, Request* request);

  // MPIX_Sync, see UserSync.
  /// MPIX_Sync_init.
  UserSync& sync_init(SimThread& self);
  /// MPIX_Sync_free. Requires: nothing is attached.
  void sync_free(SimThread& self, UserSync& sync);
  /// MPIX_Sync_attach: the sync object reports `data` when the request is complete, which may be at once.
  void sync_attach(SimThread& self, UserSync& sync, Request& request, std::uint64_t data);
  /// MPIX_Sync_detach: false when the request is complete, and reported sooner or later.
  bool sync_detach(SimThread& self, UserSync& sync, Request& request);
  /// MPIX_Sync_query: the request that completed first among those not reported yet; makes a turn of progress when there is
  /// none, and looks again.
  std::optional<UserSync::Completion> sync_query(SimThread& self, UserSync& sync);
  /// MPIX_Sync_query_bulk: up to `most` of them in one call.
  std::vector<UserSync::Completion> sync_query_bulk(SimThread& self, UserSync& sync, std::size_t most);
  /// MPIX_Sync_waitall: waits until all that is attached is complete, and reports all of it. One thread at a time.
  std::vector<UserSync::Completion> sync_waitall(SimThread& self, UserSync& sync);
  /// MPIX_Sync_size: how many requests are attached and not reported.
  static std::size_t sync_size(SimThread& self, UserSync& sync);
  /// MPIX_Sync_probe: how many of these are complete. No progress.
  static std::size_t sync_probe(SimThread& self, UserSync& sync);

  /// MPI_Pack of a vector datatype of `bytes` in blocks of `block_bytes`. Where the library has tasks, threads that wait
  /// help (see TasksDesign).
  void pack(SimThread& self, std::int64_t bytes, std::int64_t block_bytes);
  /// Tasks of the library that other threads than their makers have done.
  [[nodiscard]] std::uint64_t stolen_tasks() const { return tasks_ ? tasks_->stolen() : 0; }
  /// MPI_Request_get_status: whether the request is complete, after a turn of progress if it was not. It is not freed.
  bool get_status(SimThread& self, Request* request);
  /// A loop of such calls until done() holds, which looks at requests of this process. Turns that find nothing may pass at
  /// once while no other thread loops so.
  void poll_until(SimThread& self, const std::function<bool()>& done);
  /// MPI_Send, MPI_Recv.
  void send(SimThread& self, int communicator, int destination, int tag, std::int64_t bytes) {
    wait_and_keep(self, isend(self, communicator, destination, tag, bytes));
  }
  void recv(SimThread& self, int communicator, int source, int tag, std::int64_t bytes) {
    wait_and_keep(self, irecv(self, communicator, source, tag, bytes));
  }
  /// A message that a handler at the destination takes: no matching, no request, no order (DCMF_Send with a short message).
  void send_active(SimThread& self, int destination, std::int64_t bytes);
  /// Advances the instance that messages of `source` come to until `messages` of them have been handled in all; where threads
  /// choose instances, which may be any, all of them in turn.
  void wait_active(SimThread& self, int source, std::int64_t messages);

  /// From now on barriers go by these flags, and not by messages.
  void use(SharedMemoryBarriers& barriers) { shared_memory_barriers_ = &barriers; }
  /// MPI_Barrier. One thread per process calls it.
  void barrier(SimThread& self, int communicator) { barrier(self, communicator, 0, peers_); }
  /// MPI_Barrier on a communicator of `ranks` processes from `first_rank` on.
  void barrier(SimThread& self, int communicator, int first_rank, int ranks);

private:
  friend class Window; // the one-sided part of this class, per window
  friend class WindowPath;
  friend class MatchTask;
  class PackTask;

  /// A communication resource instance: a lock and what it protects.
  struct Instance final : ActivityListener {
    void activity(TransportContext& /*context*/) override { process->activity(); }
    HardwareMatcher::Time arrived(Envelope& envelope) override;

    Process* process = nullptr;
    std::unique_ptr<Lock> lock;
    TransportContext* context = nullptr;
    NicContext* interface = nullptr;                      ///< the same, if the transport is a network interface
    std::vector<std::unique_ptr<Connection>> connections; ///< by peer rank
    std::vector<std::unique_ptr<Lock>> connection_locks;  ///< by peer rank, if the design has them
    std::vector<std::unique_ptr<RdmaEndpoint>> one_sided; ///< by peer rank; nullptr: none
    int waiting_without_memory = 0; ///< what waits at its connections and is not in memory of the transport
  };
  /// An active message that goes back.
  struct WaitingAnswer {
    int instance = 0;
    int destination = 0;
    Envelope envelope;
  };
  /// What a failed attempt to send did and cost.
  struct Attempt {
    PollTurn turn;
    PollTurn last_turn; ///< that could have been followed by equal ones
    // The thread's account when it began, had the lock and looked: most attempts are not repeated, and need no
    // differences.
    SimThread::Times at_start{};
    SimThread::Times at_lock{};
    SimThread::Times at_look{};
    /// The instance's lock is held: the next attempt begins with its post.
    bool locked = false;
    // Places in `turn`: once the lock is held the post begins, which sees what there is a moment later where its look for
    // room takes time, and is followed by a look at the instance.
    static constexpr std::size_t at_post = 0;
    static constexpr std::size_t at_room = 1;
    static constexpr std::size_t at_poll = 2;
    /// What had been charged to a category when the attempt came to one of these places.
    [[nodiscard]] Duration until(std::size_t place, Category category) const {
      const auto i = static_cast<std::size_t>(category);
      const Duration looking_for_room = turn.visits[at_room].look_at - turn.visits[at_room].try_at;
      return (place == at_poll ? at_look : at_lock)[i] - at_start[i] +
             (place == at_room && category == Category::nic_post ? looking_for_room : Duration{});
    }
  };

  /// Leaves an operation to the progress thread.
  Request* submit(SimThread& self, Command command);

  // What the design says about locks.
  /// Only one thread at a time is inside the library: plain stores do where atomics would be needed.
  [[nodiscard]] bool exclusive() const { return single_ || global_lock_ != nullptr; }
  void enter_call(SimThread& self);
  void leave_call(SimThread& self);
  void update_shared(SimThread& self, CacheLine& line, Category category);
  // Active messages. An instance of the destination's with the same number gets them.
  void send_active(SimThread& self, int instance, int destination, std::int64_t bytes, ActiveMessage& message);
  void answer_active(SimThread& self, int instance, int destination, std::int64_t bytes, ActiveMessage& message);
  bool post_active(SimThread& self, Instance& instance, int destination, const Envelope& envelope);
  [[nodiscard]] bool answers_may_go() const { return !answers_.empty() && first_answer_may_go(); }
  [[nodiscard]] bool first_answer_may_go() const;
  int send_answers(SimThread& self);
  void advance_active(SimThread& self, Instance& instance);
  void advance_others(SimThread& self, const Instance& instance);
  int instance_for(SimThread& self, int communicator, int tag, int peer);
  [[nodiscard]] static Lock& send_lock_of(Instance& instance, int destination) {
    return instance.connection_locks.empty() ? *instance.lock
                                             : *instance.connection_locks[static_cast<std::size_t>(destination)];
  }
  [[nodiscard]] static Connection& connection_to(const Instance& instance, int destination) {
    return *instance.connections[static_cast<std::size_t>(destination)];
  }
  [[nodiscard]] Lock& lock_of(Instance& instance) { return global_lock_ ? *global_lock_ : *instance.lock; }

  // Send path. `handle`: the request that the caller has been given already, if any.
  Request* start_send(SimThread& self, int communicator, int destination, int tag, std::int64_t bytes, Request* handle);
  /// The payload goes into a buffer of the library or its interface.
  [[nodiscard]] bool is_packed(const Envelope& envelope) const {
    return envelope.header == Header::eager && !copied_by_transport_;
  }
  [[nodiscard]] bool post_at_once(SimThread& self, int instance, int destination, const Envelope& envelope);
  [[nodiscard]] Request* finish_eager(SimThread& self, const Envelope& envelope, int instance, Request* handle,
                                      bool sent);
  Request* announce(SimThread& self, Envelope& envelope, int destination, Request* handle);
  Request* deliver_to_self(SimThread& self, const Envelope& envelope, Request* handle);
  [[nodiscard]] bool behind_others(int instance, int destination) const;
  [[nodiscard]] bool others_wait_at(int instance, int destination) const;
  void wait_at_connection(int instance, int destination, const WaitingAtConnection& waiting);
  void send_or_delay(SimThread& self, int instance, int destination, const Envelope& envelope, Request* request);
  void send_in_call(SimThread& self, const DelayedSend& send);
  bool try_send(SimThread& self, const DelayedSend& send, Attempt* attempt);
  int retry_delayed_sends(SimThread& self);
  [[nodiscard]] bool finds_room(std::size_t begin, std::size_t end) const;
  std::size_t skip_failing_attempts(SimThread& self, std::size_t begin, std::size_t end, int& handled);
  [[nodiscard]] Instance& instance_of(const Lock& lock);

  [[nodiscard]] bool delayed_sends_may_go() const;
  [[nodiscard]] bool may_go(const Instance& instance, int destination, const WaitingAtConnection& waiting) const;
  bool try_to_go(SimThread& self, Instance& instance, int destination, const WaitingAtConnection& waiting);
  void gone(SimThread& self, const Instance& instance, const WaitingAtConnection& waiting);
  int send_where_there_is_room(SimThread& self);

  // Messages above the eager limit.
  void begin_rendezvous(SimThread& self, Request& receive, const Envelope& envelope);
  void continue_rendezvous(SimThread& self, const Envelope& envelope);
  void transferred(SimThread& self, const Envelope& envelope) override;
  void returned(SimThread& self, void* token) override;
  void take_step(SimThread& self, const RendezvousStep& step);
  void wait_for_room(SimThread& self, const RendezvousStep& step);
  [[nodiscard]] bool has_room_for(const Instance& instance, const RendezvousStep& step) const;
  [[nodiscard]] bool waits_in_turn(const Instance& instance, const RendezvousStep& step) const;
  bool post_step(SimThread& self, Instance& instance, const RendezvousStep& step);
  bool try_step(SimThread& self, Instance& instance, const RendezvousStep& step);
  [[nodiscard]] bool steps_may_go() const;
  [[nodiscard]] bool first_may_go(int instance, const RingQueue<RendezvousStep>& waiting) const;
  int retry_steps(SimThread& self);
  int retry_steps(SimThread& self, int instance, RingQueue<RendezvousStep>& waiting);
  [[nodiscard]] bool over_on_return(const Instance& instance, const RendezvousStep& step) const;
  void after_step(SimThread& self, const Instance& instance, const RendezvousStep& step);
  bool send_pieces(SimThread& self, Instance& instance, Rendezvous& rendezvous);
  void finish_send(SimThread& self, Rendezvous& rendezvous);
  void finish_receive(SimThread& self, Rendezvous& rendezvous);
  void register_buffer(SimThread& self, const Request& request);
  Rendezvous* new_rendezvous();
  [[nodiscard]] Instance& instance_for_reply(SimThread& self, const Rendezvous& rendezvous);
  [[nodiscard]] int number_of_instance(const Rendezvous& rendezvous) const;
  [[nodiscard]] Instance& instance_of(SimThread& self, const Rendezvous& rendezvous);
  [[nodiscard]] std::int64_t wire_bytes(const Envelope& envelope) const;

  // Receive path.
  /// `has_lock`: the caller holds the locks of the instances that the receive concerns, which this gives back.
  void start_receive(SimThread& self, Request& request, int communicator, int source, int tag, std::int64_t bytes,
                     bool has_lock = false);
  void receive(SimThread& self, const Envelope& envelope) override;
  void receive_now(SimThread& self, const Envelope& envelope);
  void receive_later(SimThread& self, const Envelope& envelope);
  void match(SimThread& self, Communicator& communicator, const Envelope& envelope);
  void take_message(SimThread& self, Request& request, const Envelope& envelope);
  void keep_payload(SimThread& self, const Envelope& envelope);
  void keep_for_later(SimThread& self, PeerState& peer, const Envelope& envelope);
  void complete(SimThread& self, Request& request);

  MatchingDomain& domain_of(int communicator, int tag);
  MatchingDomain& domain_of(const Communicator& communicator, int tag) {
    return domain_kind_ == DomainKind::instance ? domain_of(communicator.id, tag) : *communicator.domain;
  }
  [[nodiscard]] std::unique_ptr<MatchingDomain> make_domain(std::size_t number) const;
  void lock_queues(SimThread& self, MatchingDomain& domain) const;
  static void unlock_queues(SimThread& self, MatchingDomain& domain);
  void lock_guards(SimThread& self, int instance);
  void unlock_guards(SimThread& self, int instance);
  HardwareMatcher::Time arrived(Envelope& envelope);

  // Requests.
  Request* new_request(SimThread& self, int instance);
  CacheLine& free_list_of(int instance);
  void count_reference(SimThread& self, int communicator);
  void free_request(SimThread& self, Request* request);
  SyncObject& sync_of(SimThread& self);
  /// Who has the handle of a request: the application, or nobody outside of a blocking call.
  enum class Handle { given, kept };
  void wait_for_all(SimThread& self, std::span<Request* const> requests, std::span<int> tags, Handle handle);
  void wait_and_keep(SimThread& self, Request* request) { wait_for_all(self, {&request, 1}, {}, Handle::kept); }
  void release(SimThread& self, Request* request, Handle handle = Handle::given);
  void attach(SimThread& self, SyncObject& sync, Request& request, Duration price) const;
  void add_targets(SyncObject& sync, const Request& request) const;

  // Waiting for some of several requests, and testing.
  [[nodiscard]] static bool counts(const Request* request) { return request != nullptr && request->active; }
  enum class LookUntil { end, complete, incomplete };
  void check_handles(SimThread& self, std::size_t handles);
  int look_at_all(SimThread& self, std::span<Request* const> requests, LookUntil until) {
    return look_at_all(self, requests, until, settings_.waiting.check);
  }
  int look_at_all(SimThread& self, std::span<Request* const> requests, LookUntil until, Duration check);
  /// Price of the look at each request after a wait: where all were swapped the swaps have told.
  [[nodiscard]] Duration look_after_wait() const {
    return settings_.library.waiting.attach == "every" ? Duration{} : settings_.waiting.check;
  }
  void look_before(SimThread& self, std::span<Request* const> requests);
  bool are_complete(SimThread& self, std::span<Request* const> requests);
  bool wait_for_one(SimThread& self, std::span<Request* const> requests, bool stop_at_first);
  std::vector<int> take_complete(SimThread& self, std::span<Request*> requests, std::size_t most);
  SyncObject& sync_for_test(SimThread& self, std::span<Request* const> requests);
  void make_progress(SimThread& self, SyncObject& sync);
  void make_progress_between(SimThread& self, std::span<Request* const> requests);
  void test_once(SimThread& self, SyncObject& sync);
  void take_completions(SimThread& self, UserSync& sync, std::size_t most, std::vector<UserSync::Completion>& out);
  Request* new_persistent(SimThread& self, Request::Persistent kind, int communicator, int peer, int tag,
                          std::int64_t bytes);

  // Progress.
  void activity();
  [[nodiscard]] RestObserver* observer() {
    return transport_.counts_looks() || settings_.library.instances.count > 1 ? this : nullptr;
  }
  void skipped_look(const SimThread& poller, const PollTurn::Visit& visit, TimePoint begin) override;
  void interrupted(const PollTurn& turn, std::size_t visit) override;
  void begin_turn(SimThread& self, Noise noise) override;
  int poll(SimThread& self, int target, IfHeld if_held) override;
  int handle_and_unlock(SimThread& self, Instance& instance);
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
  void yield(SimThread& self) const;
  [[nodiscard]] bool nothing_in_sight(const PollTurn& turn);
  /// A turn of progress has something to do at its end.
  [[nodiscard]] bool end_of_turn_has_work() const {
    return steps_may_go() || delayed_sends_may_go() || answers_may_go() || (tasks_ && !tasks_->empty());
  }

  void software(SimThread& self, Duration cost) {
    self.owe(cost + noise_.exponential(settings_.noise), Category::software);
  }
  [[nodiscard]] Duration copy_time(std::int64_t bytes) const;
  void copy(SimThread& self, std::int64_t bytes) const;

  // For traces.
  void show_matching(const MatchingDomain& domain) const;
  void show_delayed_sends() const;
  void show_length(const TraceLabel& queue, std::int64_t length) const {
    if (TraceSink* const trace = engine_.trace(); trace != nullptr) [[unlikely]] {
      trace->length(queue, engine_.now(), length);
    }
  }
  static void show_found(const SimThread& self, MessageNumber message);
  static void show_match(const SimThread& self, const Envelope& envelope);
  [[nodiscard]] std::unique_ptr<Lock> make_lock(const std::string& kind, const std::string& name) const;
  [[nodiscard]] std::unique_ptr<Lock> make_inner_lock(const std::string& kind, const std::string& name) const;
  void guard_lines(Lock& lock) const;
  void fetch_request(SimThread& self, const Request& request, double lines, Category category) const;

  Engine& engine_;
  const Host& host_;
  Transport& transport_;
  ProcessSettings settings_;
  int rank_;
  int peers_;
  enum class DomainKind { communicator, instance, global };
  using Direction = InstanceMapping::Direction;
  static constexpr int every_instance = InstanceMapping::every_instance;
  bool single_; ///< MPI_THREAD_SINGLE
  InstanceMapping mapping_;
  InstanceUse instance_use_;
  bool guarded_by_instance_; ///< queues have no lock of their own
  bool calls_hold_instance_; ///< LibraryDesign::critical_section
  bool handles_unlocked_;    ///< what a poll has found
  DomainKind domain_kind_;
  bool wait_at_connection_;  ///< delayed sends
  bool behind_others_;       ///< at their connection, those that come later
  bool tries_in_call_;       ///< until there is room
  bool copied_by_transport_; ///< payload, out of the user's memory
  SpcCounters counters_;

  std::unique_ptr<Lock> global_lock_; ///< around every call, if the design has it
  std::vector<Instance> instances_;
  std::unique_ptr<Assignment> assignment_;
  std::unique_ptr<Assignment> polling_assignment_; ///< none: assignment_ gives each thread its own
  Assignment* own_instance_ = nullptr;             ///< the one that a thread polls first
  int polling_requests_ = 0;                       ///< threads in poll_until
  std::vector<std::int64_t> active_received_;      ///< by source: messages that handlers have taken
  unsigned next_target_ = 0;
  CacheLine next_target_line_;
  DelayedSends delayed_;
  std::map<std::pair<int, int>, RingQueue<WaitingAtConnection>> at_connection_; ///< by (instance, destination)
  std::unique_ptr<Lock> delayed_lock_;
  /// Steps that found no room, by RendezvousStep::Kind, in whose order ob1 tries its lists again; no lock, as in a
  /// lock-free queue.
  std::array<WaitingSteps, 3> steps_;
  std::size_t waiting_steps_ = 0; ///< in all of them
  CacheLine steps_line_;
  RingQueue<WaitingAnswer> answers_; ///< of active messages, that found no room; no lock, as in a lock-free queue
  CacheLine answers_line_;
  std::deque<Rendezvous> rendezvous_;
  RingQueue<Rendezvous*> open_rendezvous_; ///< oldest first
  std::vector<Rendezvous*> free_rendezvous_;
  std::vector<std::int64_t> registered_bytes_; ///< of each thread's buffer, by thread id

  std::vector<std::unique_ptr<MatchingDomain>> domains_; ///< by number
  std::vector<Communicator> communicators_;
  SharedMemoryBarriers* shared_memory_barriers_ = nullptr; ///< none: barriers are messages
  std::vector<std::unique_ptr<Window>> windows_;

  std::unique_ptr<Notification> notification_;
  std::unique_ptr<TaskPool> tasks_; ///< none: nobody would take them
  std::unique_ptr<Idling> idling_;
  std::vector<std::unique_ptr<MatchTask>> match_tasks_;
  std::vector<MatchTask*> free_match_tasks_;
  std::vector<int> packing_; ///< threads that copy data of a pack, by socket
  std::vector<std::unique_ptr<UserSync>> user_syncs_;
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
