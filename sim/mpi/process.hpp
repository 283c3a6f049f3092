// One MPI process: its instances, communicators and requests, and the calls its threads can make.
#pragma once

#include "core/engine.hpp"
#include "models/nic/transport.hpp"
#include "models/progress/command_queue.hpp"
#include "models/progress/progress_engine.hpp"
#include "models/waiting/idling.hpp"
#include "models/waiting/notification.hpp"
#include "models/waiting/task_pool.hpp"
#include "mpi/active_messages.hpp"
#include "mpi/command.hpp"
#include "mpi/communicators.hpp"
#include "mpi/completion_calls.hpp"
#include "mpi/completion_path.hpp"
#include "mpi/connection_queues.hpp"
#include "mpi/instances.hpp"
#include "mpi/packer.hpp"
#include "mpi/pending_sends.hpp"
#include "mpi/postponed_sends.hpp"
#include "mpi/process_context.hpp"
#include "mpi/process_settings.hpp"
#include "mpi/progress_turns.hpp"
#include "mpi/receive_path.hpp"
#include "mpi/release_gather.hpp"
#include "mpi/rendezvous_path.hpp"
#include "mpi/rendezvous_steps.hpp"
#include "mpi/request.hpp"
#include "mpi/request_pool.hpp"
#include "mpi/send_path.hpp"
#include "mpi/spc.hpp"
#include "mpi/sync_calls.hpp"
#include "mpi/task_work.hpp"
#include "mpi/user_sync.hpp"
#include "mpi/window.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// The library as one process runs it: puts its parts together, and has the calls. These take the calling thread first and block
/// in simulated time, like MPI's.
class Process final : private CompletionHandler, private ActivityListener, private CommandHandler {
public:
  /// `peers`: number of ranks. Peers must be connected before the first message.
  Process(Engine& engine, const Host& host, Transport& transport, const ProcessSettings& settings, int rank, int peers);

  ~Process() override;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] int rank() const { return context_.rank(); }
  [[nodiscard]] const Host& host() const { return context_.host(); }
  [[nodiscard]] Engine& engine() const { return context_.engine(); }
  [[nodiscard]] const ProcessSettings& settings() const { return context_.settings(); }
  [[nodiscard]] const SpcCounters& counters() const { return context_.counters(); }
  /// Instances that exist: those asked for, or as many as the interface has contexts.
  [[nodiscard]] int instances() const { return instances_.count(); }
  /// Several threads sent something, and all of it went through one of several instances, because they had one communicator.
  [[nodiscard]] bool threads_met_at_one_instance() const { return instances_.threads_met_at_one(); }
  [[nodiscard]] std::string name() const { return context_.name(); }

  /// Collective over all processes, in the same order everywhere. Returns the communicator's number.
  int create_communicator(bool allow_overtaking) { return communicators_.create(allow_overtaking); }
  /// As create_communicator: a window that this process and the others of the communicator give each other access to.
  Window& create_window(int communicator);
  [[nodiscard]] Window& window(int number) { return *windows_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] const Window& window(int number) const { return *windows_[static_cast<std::size_t>(number)]; }
  /// Makes endpoints from every instance of this process to the instances of `peer`.
  void connect(Process& peer) { instances_.connect(peer.instances_); }
  /// The design has a thread of its own for progress, which needs a core.
  [[nodiscard]] bool has_progress_thread() const { return commands_ != nullptr; }
  /// The body of that thread, which must be started once, before the first call.
  [[nodiscard]] SimThread::Body progress_thread() {
    return [this](SimThread& self) { progress_->run_thread(self); };
  }

  /// MPI_Isend. The request is complete on return when the message went out at once.
  Request* isend(SimThread& self, int communicator, int destination, int tag, std::int64_t bytes);
  /// MPI_Irecv. `source` and `tag` may be any_source and any_tag.
  Request* irecv(SimThread& self, int communicator, int source, int tag, std::int64_t bytes);
  /// MPI_Waitall: returns when all requests are complete, and frees them. `statuses`: one for each request, or none
  /// (MPI_STATUSES_IGNORE).
  void waitall(SimThread& self, std::span<Request* const> requests, std::span<Status> statuses = {}) {
    calls_.waitall(self, requests, statuses, CompletionPath::Handle::given);
  }
  void wait(SimThread& self, Request* request) { waitall(self, {&request, 1}); }
  // In the calls below the entries of requests that are complete become nullptr, or, if they are persistent, inactive.
  // Entries that are either already do not count.
  /// MPI_Waitany: waits until one is complete, and returns its index; -1 when none counts.
  int waitany(SimThread& self, std::span<Request*> requests) { return calls_.waitany(self, requests); }
  /// MPI_Waitsome: waits until at least one is complete, and returns the indices of all that are; none when none counts.
  std::vector<int> waitsome(SimThread& self, std::span<Request*> requests) { return calls_.waitsome(self, requests); }
  /// MPI_Test: whether it is complete, after a turn of progress if need be.
  bool test(SimThread& self, Request** request) { return calls_.test(self, request); }
  /// MPI_Testany: the index of one that is complete, or -1.
  int testany(SimThread& self, std::span<Request*> requests) { return calls_.testany(self, requests); }
  /// MPI_Testsome: the indices of all that are complete.
  std::vector<int> testsome(SimThread& self, std::span<Request*> requests) { return calls_.testsome(self, requests); }
  /// MPI_Testall: whether all are complete; if not, none is freed.
  bool testall(SimThread& self, std::span<Request*> requests) { return calls_.testall(self, requests); }

  /// MPI_Send_init, MPI_Recv_init: a request that start() sets going, again and again.
  Request* send_init(SimThread& self, int communicator, int destination, int tag, std::int64_t bytes);
  Request* recv_init(SimThread& self, int communicator, int source, int tag, std::int64_t bytes);
  /// MPI_Start. Requires: the request is persistent and inactive.
  void start(SimThread& self, Request& request);
  /// MPI_Request_free of an inactive persistent request.
  void request_free(SimThread& self, Request* request);

  // MPIX_Sync, see UserSync.
  /// MPIX_Sync_init.
  UserSync& sync_init(SimThread& self) { return syncs_.init(self); }
  /// MPIX_Sync_free. Requires: nothing is attached.
  void sync_free(SimThread& self, UserSync& sync) { syncs_.free(self, sync); }
  /// MPIX_Sync_attach: the sync object reports `data` when the request is complete, which may be at once.
  void sync_attach(SimThread& self, UserSync& sync, Request& request, std::uint64_t data) {
    syncs_.attach(self, sync, request, data);
  }
  /// MPIX_Sync_detach: false when the request is complete, and reported sooner or later.
  bool sync_detach(SimThread& self, UserSync& sync, Request& request) { return syncs_.detach(self, sync, request); }
  /// MPIX_Sync_query: the request that completed first among those not reported yet; makes a turn of progress when there is
  /// none, and looks again.
  std::optional<UserSync::Completion> sync_query(SimThread& self, UserSync& sync) {
    const std::vector<UserSync::Completion> first = sync_query_bulk(self, sync, 1);
    return first.empty() ? std::nullopt : std::optional(first.front());
  }
  /// MPIX_Sync_query_bulk: up to `most` of them in one call.
  std::vector<UserSync::Completion> sync_query_bulk(SimThread& self, UserSync& sync, std::size_t most) {
    return syncs_.query_bulk(self, sync, most);
  }
  /// MPIX_Sync_waitall: waits until all that is attached is complete, and reports all of it. One thread at a time.
  std::vector<UserSync::Completion> sync_waitall(SimThread& self, UserSync& sync) { return syncs_.waitall(self, sync); }
  /// MPIX_Sync_size: how many requests are attached and not reported.
  static std::size_t sync_size(SimThread& self, UserSync& sync) { return SyncCalls::size(self, sync); }
  /// MPIX_Sync_probe: how many of these are complete. No progress.
  static std::size_t sync_probe(SimThread& self, UserSync& sync) { return SyncCalls::probe(self, sync); }

  /// MPI_Pack of a vector datatype of `bytes` in blocks of `block_bytes`. Where the library has tasks, threads that wait
  /// help (see TasksDesign).
  void pack(SimThread& self, std::int64_t bytes, std::int64_t block_bytes) { packer_.pack(self, bytes, block_bytes); }
  /// Tasks of the library that other threads than their makers have done.
  [[nodiscard]] std::uint64_t stolen_tasks() const { return tasks_ ? tasks_->stolen() : 0; }
  /// MPI_Request_get_status: whether the request is complete, after a turn of progress if it was not. It is not freed.
  bool get_status(SimThread& self, Request* request) { return calls_.get_status(self, request); }
  /// A loop of such calls until done() holds, which looks at requests of this process. Turns that find nothing may pass at
  /// once while no other thread loops so.
  void poll_until(SimThread& self, const std::function<bool()>& done) { calls_.poll_until(self, done); }
  /// MPI_Send, MPI_Recv.
  void send(SimThread& self, int communicator, int destination, int tag, std::int64_t bytes) {
    wait_and_keep(self, isend(self, communicator, destination, tag, bytes));
  }
  void recv(SimThread& self, int communicator, int source, int tag, std::int64_t bytes) {
    wait_and_keep(self, irecv(self, communicator, source, tag, bytes));
  }
  /// A message that a handler at the destination takes: no matching, no request, no order (DCMF_Send with a short message).
  void send_active(SimThread& self, int destination, std::int64_t bytes) {
    active_.send_counted(self, destination, bytes);
  }
  /// Advances the instance that messages of `source` come to until `messages` of them have been handled in all; where threads
  /// choose instances, which may be any, all of them in turn.
  void wait_active(SimThread& self, int source, std::int64_t messages) { active_.wait_counted(self, source, messages); }

  /// From now on barriers go by these flags, and not by messages.
  void use(SharedMemoryBarriers& barriers) { shared_memory_barriers_ = &barriers; }
  /// MPI_Barrier. One thread per process calls it.
  void barrier(SimThread& self, int communicator) { barrier(self, communicator, 0, context_.peers()); }
  /// MPI_Barrier on a communicator of `ranks` processes from `first_rank` on.
  void barrier(SimThread& self, int communicator, int first_rank, int ranks);

private:
  // What polls find.
  void receive(SimThread& self, const Envelope& envelope) override { receives_.receive(self, envelope); }
  void transferred(SimThread& self, const Envelope& envelope) override { rendezvous_.transferred(self, envelope); }
  void returned(SimThread& self, void* token) override { completion_.complete(self, *static_cast<Request*>(token)); }
  // What happens at an instance before a poll.
  void activity(TransportContext& /*context*/) override { turns_.end_rests(); }
  HardwareMatcher::Time arrived(Envelope& envelope) override { return receives_.arrived(envelope); }

  // The progress thread.
  Request* submit(SimThread& self, Command command);
  void push(SimThread& self, const Command& command);
  void carry_out(SimThread& self, const Command& command) override;

  Request* new_request(SimThread& self, InstanceMapping::Direction direction, int communicator, int tag, int peer);
  Request* new_persistent(SimThread& self, Request::Persistent kind, int communicator, int peer, int tag,
                          std::int64_t bytes);
  void check_tag(int tag) const;
  void wait_and_keep(SimThread& self, Request* request) {
    calls_.waitall(self, {&request, 1}, {}, CompletionPath::Handle::kept);
  }

  ProcessContext context_;
  Instances instances_;
  Communicators communicators_;
  RequestPool requests_;
  ProgressTurns turns_;
  std::unique_ptr<Notification> notification_;
  std::unique_ptr<TaskPool> tasks_; ///< none: nobody would take them
  std::unique_ptr<Idling> idling_;
  std::unique_ptr<ProgressEngine> progress_;
  std::unique_ptr<CommandQueue<Command>> commands_; ///< only for a progress thread
  CompletionPath completion_;
  RendezvousSteps steps_;
  ConnectionQueues queues_;
  RendezvousPath rendezvous_;
  PendingSends pending_;
  PostponedSends postponed_;
  ActiveMessages active_;
  std::optional<TaskWork> task_work_; ///< of tasks_
  SendPath sends_;
  ReceivePath receives_;
  CompletionCalls calls_;
  SyncCalls syncs_;
  Packer packer_;
  std::vector<std::unique_ptr<Window>> windows_;
  SharedMemoryBarriers* shared_memory_barriers_ = nullptr; ///< none: barriers are messages
};

} // namespace contend
