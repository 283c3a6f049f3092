#include "mpi/process.hpp"

#include "core/trace_scope.hpp"
#include "models/locks/no_lock.hpp"

#include <algorithm>
#include <array>

namespace contend {

Process::Process(Engine& engine, const Host& host, Transport& transport, const ProcessSettings& settings, int rank,
                 int peers)
    : engine_(engine), host_(host), transport_(transport), settings_(settings), rank_(rank), peers_(peers),
      single_(settings.library.thread_level == "single"), mapping_(settings.library.instances, rank),
      guarded_by_instance_(settings.library.matching.guard == "instance"),
      calls_hold_instance_(settings.library.critical_section == "instance"),
      handles_unlocked_(settings.library.transport.handler_lock == "none"),
      domain_kind_(settings.library.matching.domain == "global"     ? DomainKind::global
                   : settings.library.matching.domain == "instance" ? DomainKind::instance
                                                                    : DomainKind::communicator),
      wait_at_connection_(settings_.library.protocol.pending_order == "at-connection" ||
                          settings_.library.protocol.pending_order == "behind-others"),
      behind_others_(settings_.library.protocol.pending_order == "behind-others"),
      tries_in_call_(settings_.library.protocol.pending_order == "in-call"),
      copied_by_transport_(transport.copies_payload()),
      next_target_line_(engine, host, name() + "/next instance to poll"),
      steps_line_(engine, host, name() + "/rendezvous steps"), answers_line_(engine, host, name() + "/answers"),
      free_list_(engine, host, name() + "/request free list"), noise_(engine.stream(name() + "/noise")),
      delayed_label_(name() + "/delayed sends", rank), out_of_sequence_label_(name() + "/out of sequence", rank) {
  active_received_.resize(static_cast<std::size_t>(peers));
  if (settings_.library.progress.yield_when_idle || settings_.library.progress.yield_every_turn) {
    settings_.coalesce_idle_polls = false; // there is more to a turn than its period
  }
  idles_.push_back(std::make_unique<IdlePoll>(engine, settings_.coalesce_idle_polls, name(), observer()));
  free_idles_.push_back(idles_.back().get());
  const InstancesDesign& design = settings_.library.instances;
  if (settings_.library.critical_section == "global") {
    global_lock_ = make_lock(design.lock, name() + "/global lock");
    guard_lines(*global_lock_);
  }
  const int count = design.count;
  instances_.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < instances_.size(); ++i) {
    const std::string label = name() + "/instance " + std::to_string(i);
    instances_[i].process = this;
    instances_[i].lock = make_inner_lock(design.lock, label);
    if (!global_lock_) {
      guard_lines(*instances_[i].lock);
    }
    instances_[i].context = &transport.create_context(instances_[i], label, rank);
    instances_[i].interface = dynamic_cast<NicContext*>(instances_[i].context);
    instances_[i].connections.resize(static_cast<std::size_t>(peers));
    for (int peer = 0; peer < peers && settings_.library.transport.send_lock == "connection"; ++peer) {
      instances_[i].connection_locks.push_back(
          make_inner_lock(settings_.library.transport.lock, label + "/connection to " + std::to_string(peer)));
    }
    instances_[i].one_sided.resize(static_cast<std::size_t>(peers));
  }
  assignment_ = assignment_registry().at(design.assignment)(engine, host, count, name());
  own_instance_ = assignment_.get();
  if (!own_instance_->by_thread()) {
    polling_assignment_ = assignment_registry().at("dedicated")(engine, host, count, name() + "/polling");
    own_instance_ = polling_assignment_.get();
  }
  delayed_lock_ = make_inner_lock(design.lock, name() + "/delayed sends");
  if (guarded_by_instance_) {
    for (int i = 0; i < count; ++i) {
      free_lists_.push_back(std::make_unique<CacheLine>(
          engine, host, instances_[static_cast<std::size_t>(i)].lock->name() + "/request free list"));
    }
  }
  const WaitingDesign& waiting = settings_.library.waiting;
  notification_ = notification_registry().at(waiting.notification)({host_, settings_.waiting, exclusive()});
  if (waiting.idle == "steal") {
    tasks_ = std::make_unique<TaskPool>(engine, host, settings_.waiting.task, name() + "/tasks");
  }
  idling_ = idling_registry().at(waiting.idle)({tasks_.get()});
  packing_.resize(static_cast<std::size_t>(host.topology().sockets));
  const ProgressDesign& progress = settings_.library.progress;
  progress_ = progress_registry().at(progress.engine)(
      {engine, host, *this,
       [this, &progress](std::string_view label) { return make_lock(progress.lock, std::string(label)); },
       settings_.locks.pause, name(), progress, idling_.get()});
  if (progress_->has_thread()) {
    commands_ = std::make_unique<CommandQueue<Command>>(engine, host, progress.queue_slots, name() + "/commands");
  }
}

std::unique_ptr<Lock> Process::make_lock(const std::string& kind, const std::string& name) const {
  if (single_) {
    return std::make_unique<NoLock>(engine_, name);
  }
  return lock_registry().at(kind)(engine_, host_, settings_.locks, name);
}

/// For what the global critical section guards already, if there is one.
std::unique_ptr<Lock> Process::make_inner_lock(const std::string& kind, const std::string& name) const {
  if (global_lock_) {
    return std::make_unique<NoLock>(engine_, name);
  }
  return make_lock(kind, name);
}

void Process::guard_lines(Lock& lock) const {
  if (const int lines = settings_.library.lines.lock; lines > 0 && !single_) {
    lock.guards(host_, lines);
  }
}

/// `lines` cache lines of a request come from the core that has them, and stay there as well.
void Process::fetch_request(SimThread& self, const Request& request, double lines, Category category) const {
  if (lines > 0.0 && request.held_by >= 0 && request.held_by != self.core()) {
    const Duration line = host_.transfer(request.held_by, self.core());
    self.owe(Duration::picoseconds(static_cast<std::int64_t>(lines * static_cast<double>(line.count()))), category);
  }
}

void Process::enter_call(SimThread& self) {
  if (global_lock_) {
    global_lock_->lock(self);
  }
}

void Process::leave_call(SimThread& self) {
  if (global_lock_) {
    global_lock_->unlock(self);
  }
}

/// Changes a word that threads share: atomically, unless only one can be here.
void Process::update_shared(SimThread& self, CacheLine& line, Category category) {
  if (exclusive()) {
    line.store_protected(self, category);
  } else {
    line.atomic(self, category);
  }
}

bool Process::threads_met_at_one_instance() const {
  return instances() > 1 && mapping_.by_communicator() && instance_use_.threads_met_at_one();
}

int Process::instance_for(SimThread& self, int communicator, int tag, int peer) {
  if (!mapping_.decides()) {
    return assignment_->pick(self);
  }
  const int instance = mapping_.of(communicator, tag, peer);
  if (tag >= 0) { // negative tags are the library's own
    instance_use_.note(self, instance);
  }
  return instance;
}

/// The queues that messages of this communicator and tag use; made when the first message or communicator needs them.
MatchingDomain& Process::domain_of(int communicator, int tag) {
  const std::size_t number = domain_kind_ == DomainKind::communicator ? static_cast<std::size_t>(communicator)
                             : domain_kind_ == DomainKind::instance
                                 ? static_cast<std::size_t>(mapping_.of(communicator, tag, rank_))
                                 : 0;
  if (domains_.size() <= number) {
    domains_.resize(number + 1);
  }
  if (!domains_[number]) {
    domains_[number] = make_domain(number);
  }
  return *domains_[number];
}

std::unique_ptr<MatchingDomain> Process::make_domain(std::size_t number) const {
  const MatchingDesign& design = settings_.library.matching;
  const std::string label =
      name() +
      (domain_kind_ == DomainKind::global ? "/all communicators" : "/" + design.domain + " " + std::to_string(number));
  auto domain = std::make_unique<MatchingDomain>();
  if (guarded_by_instance_) {
    domain->lock = std::make_unique<NoLock>(engine_, label + "/matching");
  } else {
    domain->lock = make_inner_lock(design.lock, label + "/matching");
  }
  MatcherSetup setup{host_,
                     spaced(settings_.matching, design.element_spacing_bytes),
                     {design.bins, design.vector_width, design.offload_capacity},
                     peers_};
  if (guarded_by_instance_ && mapping_.by_peer() &&
      targets() > 1) { // several instances feed the queues at the same time
    setup.engine = &engine_;
    setup.make_lock = [this, &design](std::string_view what) {
      return make_inner_lock(design.lock, std::string(what));
    };
    setup.name = label;
  }
  domain->matcher = matcher_registry().at(design.engine)(setup);
  domain->state = std::make_unique<CacheLine>(engine_, host_, label + "/queues");
  domain->posted.name = label + "/posted";
  domain->unexpected.name = label + "/unexpected";
  domain->posted.owner = domain->unexpected.owner = rank_;
  return domain;
}

void Process::lock_queues(SimThread& self, MatchingDomain& domain) const {
  if (!domain.matcher->locks_itself()) {
    domain.lock->lock(self);
    domain.state->store_protected(self, settings_.matching.state_lines, Category::line_transfer);
  }
}

void Process::unlock_queues(SimThread& self, MatchingDomain& domain) {
  if (!domain.matcher->locks_itself()) {
    domain.lock->unlock(self);
  }
}

/// The locks of instances that guard queues: one, or all in a fixed order.
void Process::lock_guards(SimThread& self, int instance) {
  if (guarded_by_instance_) {
    for (std::size_t i = 0; i < instances_.size(); ++i) {
      if (instance == every_instance || static_cast<std::size_t>(instance) == i) {
        instances_[i].lock->lock(self);
      }
    }
  }
}

void Process::unlock_guards(SimThread& self, int instance) {
  if (guarded_by_instance_) {
    for (std::size_t i = instances_.size(); i-- > 0;) {
      if (instance == every_instance || static_cast<std::size_t>(instance) == i) {
        instances_[i].lock->unlock(self);
      }
    }
  }
}

int Process::create_communicator(bool allow_overtaking) {
  const int id = static_cast<int>(communicators_.size());
  const std::string label = name() + "/communicator " + std::to_string(id);
  Communicator communicator;
  communicator.id = id;
  communicator.sequenced = !allow_overtaking && !settings_.library.matching.ordered_by_transport();
  communicator.domain = &domain_of(id, 0);
  communicator.peers.resize(static_cast<std::size_t>(peers_));
  communicator.references = std::make_unique<CacheLine>(engine_, host_, label + "/references");
  for (std::size_t peer = 0; peer < communicator.peers.size(); ++peer) {
    communicator.peers[peer].send_line =
        std::make_unique<CacheLine>(engine_, host_, label + "/sequence to " + std::to_string(peer));
  }
  communicators_.push_back(std::move(communicator));
  return id;
}

Window& Process::create_window(int communicator) {
  windows_.push_back(std::make_unique<Window>(*this, static_cast<int>(windows_.size()), communicator));
  return *windows_.back();
}

void Process::connect(Process& peer) {
  for (std::size_t i = 0; i < instances_.size(); ++i) {
    Instance& mine = instances_[i];
    Instance& theirs = peer.instances_[i]; // all processes have as many instances
    std::unique_ptr<Connection>& connection = mine.connections[static_cast<std::size_t>(peer.rank_)];
    connection = transport_.connect(*mine.context, *theirs.context);
    if (mine.interface == nullptr || theirs.interface == nullptr) {
      continue;
    }
    if (const auto& other = theirs.connections[static_cast<std::size_t>(rank_)]; other) {
      Endpoint::pair(dynamic_cast<Endpoint&>(*connection), dynamic_cast<Endpoint&>(*other));
    }
    mine.one_sided[static_cast<std::size_t>(peer.rank_)] =
        std::make_unique<RdmaEndpoint>(*mine.interface, *theirs.interface, settings_.rdma);
  }
}

Request* Process::submit(SimThread& self, Command command) {
  const Direction direction = command.kind == Command::Kind::send ? Direction::send : Direction::receive;
  Request* const request =
      new_request(self, mapping_.of_request(direction, command.communicator, command.tag, command.peer));
  request->owner = self.id();
  request->communicator = command.communicator;
  command.request = request;
  commands_->push(self, command, Category::line_transfer, [this] { end_rests(); });
  return request;
}

HardwareMatcher::Time Process::Instance::arrived(Envelope& envelope) { return process->arrived(envelope); }

Process::Instance& Process::instance_of(const Lock& lock) {
  return *std::find_if(instances_.begin(), instances_.end(),
                       [&](const Instance& instance) { return instance.lock.get() == &lock; });
}

Duration Process::copy_time(std::int64_t bytes) const {
  return Duration::seconds(static_cast<double>(bytes) / settings_.software.copy_bytes_per_second);
}

/// A long copy can lose a core that it shares.
void Process::copy(SimThread& self, std::int64_t bytes) const {
  constexpr auto uninterrupted = Duration::microseconds(10); // slices are a hundred times as long
  const Duration time = copy_time(bytes);
  if (self.shares_core() && time > uninterrupted) {
    self.spend(time, Category::copy);
  } else {
    self.owe(time, Category::copy);
  }
}

CacheLine& Process::free_list_of(int instance) {
  return instance < 0 || free_lists_.empty() ? free_list_ : *free_lists_[static_cast<std::size_t>(instance)];
}

Request* Process::new_request(SimThread& self, int instance) {
  update_shared(self, free_list_of(instance), Category::line_transfer);
  self.owe(settings_.software.request_allocate, Category::software);
  if (free_requests_.empty()) {
    free_requests_.push_back(&requests_.emplace_back());
  }
  Request* request = free_requests_.back();
  free_requests_.pop_back();
  fetch_request(self, *request, settings_.library.lines.request, Category::line_transfer);
  *request = Request();
  request->held_by = self.core();
  request->complete = false;
  request->instance = instance;
  return request;
}

void Process::free_request(SimThread& self, Request* request) {
  const bool guarded = settings_.library.instances.frees_requests && request->instance >= 0 && !single_;
  if (guarded) {
    instances_[static_cast<std::size_t>(request->instance)].lock->lock(self);
  }
  update_shared(self, free_list_of(request->instance), Category::line_transfer);
  free_requests_.push_back(request);
  if (guarded) {
    instances_[static_cast<std::size_t>(request->instance)].lock->unlock(self);
  }
}

SyncObject& Process::sync_of(SimThread& self) {
  const auto id = static_cast<std::size_t>(self.id());
  if (syncs_.size() <= id) {
    syncs_.resize(id + 1);
  }
  if (!syncs_[id]) {
    syncs_[id] = std::make_unique<SyncObject>(engine_, host_, name() + "/sync of " + self.name(), self.id());
    syncs_[id]->notification = notification_.get();
  }
  return *syncs_[id];
}

void Process::show_matching(const MatchingDomain& domain) const {
  if (engine_.trace() != nullptr) [[unlikely]] {
    show_length(domain.posted, domain.matcher->posted());
    show_length(domain.unexpected, domain.matcher->unexpected());
  }
}

void Process::show_found(const SimThread& self, MessageNumber message) {
  if (TraceSink* const trace = self.engine().trace(); trace != nullptr) [[unlikely]] {
    trace->message_found(self, message, self.now());
  }
}

void Process::show_match(const SimThread& self, const Envelope& envelope) {
  if (TraceSink* const trace = self.engine().trace(); trace != nullptr) [[unlikely]] {
    trace->message_matched(self, envelope.number, self.now());
  }
}

void Process::wait_for_all(SimThread& self, std::span<Request* const> requests, std::span<int> tags, Handle handle) {
  const TraceScope scope(self, rank_, "MPI_Waitall");
  enter_call(self);
  software(self, settings_.software.wait_call);
  check_handles(self, requests.size());
  SyncObject& sync = sync_of(self);
  sync.pending = 0;
  sync.targets.clear();
  notification_->begin(self, sync, static_cast<int>(requests.size()));
  for (Request* request : requests) {
    if (counts(request) && !request->complete) {
      attach(self, sync, *request, settings_.software.wait_request);
      ++sync.pending;
    }
  }
  self.settle();
  leave_call(self);
  progress_->wait(self, sync);
  stop(self);
  enter_call(self);
  for (std::size_t i = 0; i < tags.size(); ++i) { // a request that is free may be another thread's at once
    tags[i] = requests[i]->received_tag;
  }
  for (Request* request : requests) {
    if (counts(request)) {
      release(self, request, handle);
    }
  }
  leave_call(self);
}

/// A request that is made or freed takes or drops a reference on its communicator.
void Process::count_reference(SimThread& self, int communicator) {
  if (settings_.library.reference_counts) {
    update_shared(self, *communicators_[static_cast<std::size_t>(communicator)].references, Category::line_transfer);
  }
}

bool Process::get_status(SimThread& self, Request* request) {
  const TraceScope scope(self, rank_, "MPI_Request_get_status");
  enter_call(self);
  software(self, settings_.software.wait_call);
  self.settle();
  if (request != nullptr && !request->complete) {
    make_progress(self, sync_for_test(self, {&request, 1}));
    self.settle();
  }
  const bool complete = request == nullptr || request->complete;
  leave_call(self);
  return complete;
}

void Process::poll_until(SimThread& self, const std::function<bool()>& done) {
  const TraceScope scope(self, rank_, "MPI_Test");
  if (++polling_requests_ == 2) {
    end_rests(); // the thread that was alone has company
  }
  software(self, settings_.software.wait_call);
  Poller& poller = poller_of(self);
  poller.testing = true;
  bool idle = false;
  for (self.settle(); !done(); self.settle()) {
    const bool alone = polling_requests_ == 1;
    if (idle && alone && rest(self, no_limit).look_again()) {
      idle = false;
      continue;
    }
    idle = progress(self, alone ? Noise::never : Noise::always) == 0;
  }
  poller.testing = false;
  stop(self);
  --polling_requests_;
}

void Process::barrier(SimThread& self, int communicator, int first_rank, int ranks) {
  const TraceScope scope(self, rank_, "MPI_Barrier");
  if (shared_memory_barriers_ != nullptr) {
    shared_memory_barriers_->among(first_rank, ranks).barrier(self, rank_ - first_rank);
    return;
  }
  constexpr int first_internal_tag = -100; // negative tags are the library's own
  int round = 0;
  const int place = rank_ - first_rank;
  for (int distance = 1; distance < ranks; distance *= 2, ++round) {
    const int tag = first_internal_tag - round;
    Request* const from = irecv(self, communicator, first_rank + (place + ranks - distance) % ranks, tag, 0);
    Request* const to = isend(self, communicator, first_rank + (place + distance) % ranks, tag, 0);
    const std::array<Request*, 2> both{from, to};
    waitall(self, both);
  }
}

} // namespace contend
