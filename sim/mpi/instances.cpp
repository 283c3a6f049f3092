#include "mpi/instances.hpp"

#include <algorithm>
#include <ranges>
#include <string>

namespace contend {

Instances::Instances(ProcessContext& process, ActivityListener& listener)
    : process_(process), mapping_(process.library().instances, process.rank()),
      guard_queues_(process.library().matching.guard == "instance") {
  const InstancesDesign& design = process.library().instances;
  const TransportDesign& transport = process.library().transport;
  const auto peers = static_cast<std::size_t>(process.peers());
  all_.resize(static_cast<std::size_t>(design.count));
  const bool has_locks = process.global_lock() == nullptr && process.library().thread_level != "single";
  const bool share_lines = design.locks_share_lines && design.count > 1 && has_locks;
  for (int number = 0; share_lines && number <= design.count; ++number) {
    lock_lines_.push_back(std::make_unique<CacheLine>(process.engine(), process.host(),
                                                      process.name() + "/line of locks " + std::to_string(number)));
  }
  for (int number = 0; number < design.count; ++number) {
    const std::string label = process.name() + "/instance " + std::to_string(number);
    Instance& instance = (*this)[number];
    instance.lock = process.make_inner_lock(design.lock, label);
    if (process.global_lock() == nullptr) {
      process.guard_lines(*instance.lock);
    }
    if (share_lines) {
      const auto place = static_cast<std::size_t>(number);
      instance.lock->lies_between(*lock_lines_[place], *lock_lines_[place + 1]);
    }
    instance.context = &process.transport().create_context(listener, label, process.rank());
    instance.interface = dynamic_cast<NicContext*>(instance.context);
    instance.connections.resize(peers);
    for (std::size_t peer = 0; peer < peers && transport.send_lock == "connection"; ++peer) {
      instance.connection_locks.push_back(
          process.make_inner_lock(transport.lock, label + "/connection to " + std::to_string(peer)));
    }
    instance.one_sided.resize(peers);
  }
  const AssignmentFactory& assign = assignment_registry().at(design.assignment);
  assignment_ = assign(process.engine(), process.host(), design.count, process.name());
  polled_first_ = assignment_.get();
  if (!assign.traits().by_thread) {
    polling_assignment_ = assignment_registry().at("dedicated")(process.engine(), process.host(), design.count,
                                                                process.name() + "/polling");
    polled_first_ = polling_assignment_.get();
  }
}

Instance& Instances::with_lock(const Lock& lock) {
  return *std::find_if(all_.begin(), all_.end(), [&](const Instance& one) { return one.lock.get() == &lock; });
}

Instance* Instances::held_by(const SimThread& self) {
  const auto held =
      std::find_if(all_.begin(), all_.end(), [&](const Instance& one) { return one.lock->holder() == &self; });
  return held == all_.end() ? nullptr : &*held;
}

void Instances::connect(Instances& peer) {
  const int there = peer.process_.rank();
  const int here = process_.rank();
  for (int number = 0; number < count(); ++number) {
    Instance& mine = (*this)[number];
    Instance& theirs = peer[number]; // all processes have as many instances
    std::unique_ptr<Connection>& connection = mine.connections[static_cast<std::size_t>(there)];
    connection = process_.transport().connect(*mine.context, *theirs.context);
    if (mine.interface == nullptr || theirs.interface == nullptr) {
      continue;
    }
    if (const auto& other = theirs.connections[static_cast<std::size_t>(here)]; other) {
      Endpoint::pair(dynamic_cast<Endpoint&>(*connection), dynamic_cast<Endpoint&>(*other));
    }
    mine.one_sided[static_cast<std::size_t>(there)] =
        std::make_unique<RdmaEndpoint>(*mine.interface, *theirs.interface, process_.settings().rdma);
  }
}

int Instances::of_message(SimThread& self, int communicator, int tag, int peer) {
  if (!mapping_.decides()) {
    return of_thread(self);
  }
  const int number = mapping_.of(communicator, tag, peer);
  if (tag >= 0) { // negative tags are the library's own
    use_.note(self, number);
  }
  return number;
}

bool Instances::threads_met_at_one() const {
  return count() > 1 && mapping_.by_communicator() && use_.threads_met_at_one();
}

void Instances::lock_guards(SimThread& self, int number) {
  if (!guard_queues_) {
    return;
  }
  if (number != InstanceMapping::every_instance) {
    (*this)[number].lock->lock(self);
    return;
  }
  for (Instance& instance : all_) {
    instance.lock->lock(self);
  }
}

void Instances::unlock_guards(SimThread& self, int number) {
  if (!guard_queues_) {
    return;
  }
  if (number != InstanceMapping::every_instance) {
    (*this)[number].lock->unlock(self);
    return;
  }
  for (Instance& instance : std::ranges::reverse_view(all_)) {
    instance.lock->unlock(self);
  }
}

} // namespace contend
