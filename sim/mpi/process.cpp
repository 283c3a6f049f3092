#include "mpi/process.hpp"

#include <algorithm>
#include <array>

namespace contend {

Process::Process(Engine& engine, const Host& host, Nic& nic, const ProcessSettings& settings, int rank, int peers)
    : engine_(engine), host_(host), settings_(settings), rank_(rank), peers_(peers),
      idle_(engine, settings.coalesce_idle_polls, name()), free_list_(engine, host, name() + "/request free list"),
      noise_(engine.stream(name() + "/noise")), delayed_label_(name() + "/delayed sends", rank),
      out_of_sequence_label_(name() + "/out of sequence", rank) {
  const InstancesDesign& design = settings_.library.instances;
  instances_.resize(static_cast<std::size_t>(design.count));
  for (std::size_t i = 0; i < instances_.size(); ++i) {
    const std::string label = name() + "/instance " + std::to_string(i);
    instances_[i].lock = make_lock(design.lock, label);
    instances_[i].context = &nic.create_context(*this, label, rank);
    instances_[i].endpoints.resize(static_cast<std::size_t>(peers));
  }
  assignment_ = assignment_registry().at(design.assignment)(engine, host, design.count, name());
  delayed_lock_ = make_lock(design.lock, name() + "/delayed sends");
  const ProgressDesign& progress = settings_.library.progress;
  progress_ = progress_registry().at(progress.engine)(
      {engine, host, *this,
       [this, &progress](std::string_view label) { return make_lock(progress.lock, std::string(label)); },
       settings_.locks.pause, name()});
}

std::unique_ptr<Lock> Process::make_lock(const std::string& kind, const std::string& name) const {
  return lock_registry().at(kind)(engine_, host_, settings_.locks, name);
}

/// The queues that a communicator uses; made when the first communicator needs them.
MatchingDomain& Process::domain_of(int communicator) {
  const MatchingDesign& design = settings_.library.matching;
  const bool shared = design.domain == "global";
  const auto number = static_cast<std::size_t>(shared ? 0 : communicator);
  if (domains_.size() <= number) {
    domains_.resize(number + 1);
  }
  if (!domains_[number]) {
    const std::string label =
        name() + (shared ? "/all communicators" : "/communicator " + std::to_string(communicator));
    const MatchingSizes sizes{design.bins, design.vector_width, design.offload_capacity};
    domains_[number] = std::make_unique<MatchingDomain>();
    MatchingDomain& domain = *domains_[number];
    domain.lock = make_lock(design.lock, label + "/matching");
    domain.matcher = matcher_registry().at(design.engine)({host_, settings_.matching, sizes, peers_});
    domain.state = std::make_unique<CacheLine>(engine_, host_, label + "/queues");
    domain.posted.name = label + "/posted";
    domain.unexpected.name = label + "/unexpected";
    domain.posted.owner = domain.unexpected.owner = rank_;
  }
  return *domains_[number];
}

int Process::create_communicator(bool allow_overtaking) {
  const int id = static_cast<int>(communicators_.size());
  const std::string label = name() + "/communicator " + std::to_string(id);
  Communicator communicator;
  communicator.id = id;
  communicator.sequenced = !allow_overtaking && !settings_.library.matching.ordered_by_transport();
  communicator.domain = &domain_of(id);
  communicator.peers.resize(static_cast<std::size_t>(peers_));
  for (std::size_t peer = 0; peer < communicator.peers.size(); ++peer) {
    communicator.peers[peer].send_line =
        std::make_unique<CacheLine>(engine_, host_, label + "/sequence to " + std::to_string(peer));
  }
  communicators_.push_back(std::move(communicator));
  return id;
}

void Process::connect(Process& peer) {
  for (std::size_t i = 0; i < instances_.size(); ++i) {
    NicContext& remote = *peer.instances_[i % peer.instances_.size()].context;
    instances_[i].endpoints[static_cast<std::size_t>(peer.rank_)] =
        std::make_unique<Endpoint>(*instances_[i].context, remote);
  }
}

Process::Instance& Process::instance_of(const Lock& lock) {
  return *std::find_if(instances_.begin(), instances_.end(),
                       [&](const Instance& instance) { return instance.lock.get() == &lock; });
}

Duration Process::copy_time(std::int64_t bytes) const {
  return Duration::seconds(static_cast<double>(bytes) / settings_.software.copy_bytes_per_second);
}

Request* Process::new_request(SimThread& self) {
  free_list_.atomic(self, Category::line_transfer);
  self.owe(settings_.software.request_allocate, Category::software);
  if (free_requests_.empty()) {
    free_requests_.push_back(&requests_.emplace_back());
  }
  Request* request = free_requests_.back();
  free_requests_.pop_back();
  *request = Request();
  request->complete = false;
  return request;
}

void Process::free_request(SimThread& self, Request* request) {
  free_list_.atomic(self, Category::line_transfer);
  free_requests_.push_back(request);
}

SyncObject& Process::sync_of(SimThread& self) {
  const auto id = static_cast<std::size_t>(self.id());
  if (syncs_.size() <= id) {
    syncs_.resize(id + 1);
  }
  if (!syncs_[id]) {
    syncs_[id] = std::make_unique<SyncObject>(engine_, host_, name() + "/sync of " + self.name());
  }
  return *syncs_[id];
}

void Process::show_matching(const MatchingDomain& domain) const {
  if (engine_.trace() != nullptr) [[unlikely]] {
    show_length(domain.posted, domain.matcher->posted());
    show_length(domain.unexpected, domain.matcher->unexpected());
  }
}

void Process::show_match(const SimThread& self, const Envelope& envelope) {
  if (TraceSink* const trace = self.engine().trace(); trace != nullptr) [[unlikely]] {
    trace->message_matched(self, envelope.number, self.now());
  }
}

void Process::waitall(SimThread& self, std::span<Request* const> requests) {
  const TraceScope scope(self, rank_, "MPI_Waitall");
  software(self, settings_.software.wait_call);
  SyncObject& sync = sync_of(self);
  sync.pending = 0;
  sync.line.store(self, Category::line_transfer);
  for (Request* request : requests) {
    if (request != nullptr && !request->complete) {
      self.owe(settings_.software.wait_request, Category::software); // attach by compare-and-swap
      request->sync = &sync;
      ++sync.pending;
    }
  }
  self.settle();
  progress_->wait(self, sync);
  for (Request* request : requests) {
    if (request != nullptr) {
      self.owe(settings_.software.wait_request, Category::software);
      free_request(self, request);
    }
  }
}

void Process::barrier(SimThread& self, int communicator) {
  const TraceScope scope(self, rank_, "MPI_Barrier");
  constexpr int first_internal_tag = -100; // negative tags are the library's own
  int round = 0;
  for (int distance = 1; distance < peers_; distance *= 2, ++round) {
    const int tag = first_internal_tag - round;
    Request* const from = irecv(self, communicator, (rank_ + peers_ - distance) % peers_, tag, 0);
    Request* const to = isend(self, communicator, (rank_ + distance) % peers_, tag, 0);
    const std::array<Request*, 2> both{from, to};
    waitall(self, both);
  }
}

} // namespace contend
