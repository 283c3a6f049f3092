// One MPI process: its instances, communicators and requests, and the calls its threads can make.
#pragma once

#include "core/engine.hpp"
#include "models/locks/lock.hpp"
#include "models/nic/nic.hpp"
#include "models/progress/idle_poll.hpp"
#include "models/progress/progress_engine.hpp"
#include "mpi/assignment.hpp"
#include "mpi/communicator.hpp"
#include "mpi/parameters.hpp"
#include "mpi/request.hpp"
#include "mpi/spc.hpp"

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// Prices and policies that all processes of a simulation share.
struct ProcessSettings {
  LibraryDesign library;
  SoftwareParameters software;
  LockParameters locks;
  MatchingParameters matching;
  Duration noise{};                ///< mean of an exponential jitter per call
  bool coalesce_idle_polls = true; ///< see IdlePoll
};

/// The library as one process runs it. Calls take the calling thread first and block in simulated time, like MPI's.
class Process final : private CompletionHandler, private ActivityListener, private ProgressSource {
public:
  /// `peers`: number of ranks. Peers must be connected before the first message.
  Process(Engine& engine, const Host& host, Nic& nic, const ProcessSettings& settings, int rank, int peers);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] const Host& host() const { return host_; }
  [[nodiscard]] const SpcCounters& counters() const { return counters_; }
  [[nodiscard]] std::string name() const { return "rank " + std::to_string(rank_); }

  /// Collective over all processes, in the same order everywhere. Returns the communicator's number.
  int create_communicator(bool allow_overtaking);
  /// Makes endpoints from every instance of this process to the instances of `peer`.
  void connect(Process& peer);

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
  void barrier(SimThread& self, int communicator);

private:
  /// A communication resource instance: a lock and what it protects.
  struct Instance {
    std::unique_ptr<Lock> lock;
    NicContext* context = nullptr;
    std::vector<std::unique_ptr<Endpoint>> endpoints; ///< by peer rank
  };
  struct DelayedSend {
    int instance = 0;
    int destination = 0;
    Envelope envelope;
    Request* request = nullptr;
  };
  /// What a failed attempt to send did and cost.
  struct Attempt {
    PollTurn turn;
    SimThread::Times until_look{}; ///< by category
    SimThread::Times whole{};
  };

  // Send path.
  void send_or_delay(SimThread& self, int instance, int destination, const Envelope& envelope, Request* request);
  bool try_send(SimThread& self, const DelayedSend& send, Attempt* attempt);
  int retry_delayed_sends(SimThread& self);
  std::size_t skip_failing_attempts(SimThread& self, std::size_t remaining, int& handled);
  [[nodiscard]] Instance& instance_of(const Lock& lock);

  // Receive path.
  void receive(SimThread& self, const Envelope& envelope) override;
  void match(SimThread& self, Communicator& communicator, const Envelope& envelope);
  void take_message(SimThread& self, Request& request, const Envelope& envelope);
  void keep_for_later(SimThread& self, PeerState& peer, const Envelope& envelope);
  void complete(SimThread& self, Request& request);

  MatchingDomain& domain_of(int communicator);
  HardwareMatcher::Time arrived(Envelope& envelope) override;

  // Requests.
  Request* new_request(SimThread& self);
  void free_request(SimThread& self, Request* request);
  SyncObject& sync_of(SimThread& self);

  // Progress.
  void activity(NicContext& context) override;
  int progress(SimThread& self) override;
  int progress_after_idle(SimThread& self) override;
  int finish_turn(SimThread& self, std::size_t next_instance, int found);
  int poll_instance(SimThread& self, Instance& instance);
  [[nodiscard]] bool nothing_in_sight() const;

  void software(SimThread& self, Duration cost) {
    self.owe(cost + noise_.exponential(settings_.noise), Category::software);
  }
  [[nodiscard]] Duration copy_time(std::int64_t bytes) const;

  // For traces.
  void show_matching(const MatchingDomain& domain) const;
  void show_length(const TraceLabel& queue, std::int64_t length) const {
    if (TraceSink* const trace = engine_.trace(); trace != nullptr) [[unlikely]] {
      trace->length(queue, engine_.now(), length);
    }
  }
  static void show_match(const SimThread& self, const Envelope& envelope);
  [[nodiscard]] std::unique_ptr<Lock> make_lock(const std::string& kind, const std::string& name) const;

  Engine& engine_;
  const Host& host_;
  ProcessSettings settings_;
  int rank_;
  int peers_;
  SpcCounters counters_;

  std::vector<Instance> instances_;
  std::unique_ptr<Assignment> assignment_;
  std::vector<DelayedSend> delayed_;
  std::unique_ptr<Lock> delayed_lock_;

  std::vector<std::unique_ptr<MatchingDomain>> domains_; ///< by number
  std::vector<Communicator> communicators_;

  std::unique_ptr<ProgressEngine> progress_;
  PollTurn turn_; ///< the current or last turn of progress
  TimePoint turn_start_;
  Attempt attempt_; ///< the last attempt to send a delayed message; belongs to the holder of delayed_lock_
  IdlePoll idle_;

  CacheLine free_list_;
  std::deque<Request> requests_;
  std::vector<Request*> free_requests_;
  std::vector<std::unique_ptr<SyncObject>> syncs_; ///< by thread id
  RandomStream noise_;
  TraceLabel delayed_label_;
  TraceLabel out_of_sequence_label_;
};

} // namespace contend
