#include "mpi/communicators.hpp"

#include "models/locks/no_lock.hpp"

#include <string>
#include <utility>

namespace contend {

Communicators::Communicators(ProcessContext& process, const Instances& instances)
    : process_(process), instances_(instances), kind_(kind_of(process.library().matching)) {}

Communicators::DomainKind Communicators::kind_of(const MatchingDesign& design) {
  if (design.domain == "global") {
    return DomainKind::global;
  }
  return design.domain == "instance" ? DomainKind::instance : DomainKind::communicator;
}

int Communicators::create(bool allow_overtaking) {
  const int id = static_cast<int>(all_.size());
  const std::string label = process_.name() + "/communicator " + std::to_string(id);
  Communicator communicator;
  communicator.id = id;
  communicator.sequenced = !allow_overtaking && !process_.library().matching.ordered_by_transport();
  communicator.domain = &domain_of(id, 0);
  communicator.peers.resize(static_cast<std::size_t>(process_.peers()));
  communicator.references = std::make_unique<CacheLine>(process_.engine(), process_.host(), label + "/references");
  for (std::size_t peer = 0; peer < communicator.peers.size(); ++peer) {
    communicator.peers[peer].send_line =
        std::make_unique<CacheLine>(process_.engine(), process_.host(), label + "/sequence to " + std::to_string(peer));
  }
  all_.push_back(std::move(communicator));
  return id;
}

/// Made when the first message or communicator needs them.
MatchingDomain& Communicators::domain_of(int communicator, int tag) {
  std::size_t number = 0;
  if (kind_ == DomainKind::communicator) {
    number = static_cast<std::size_t>(communicator);
  } else if (kind_ == DomainKind::instance) {
    number = static_cast<std::size_t>(instances_.mapping().of(communicator, tag, process_.rank()));
  }
  if (domains_.size() <= number) {
    domains_.resize(number + 1);
  }
  if (!domains_[number]) {
    domains_[number] = make_domain(number);
  }
  return *domains_[number];
}

std::unique_ptr<MatchingDomain> Communicators::make_domain(std::size_t number) const {
  const MatchingDesign& design = process_.library().matching;
  const std::string label =
      process_.name() +
      (kind_ == DomainKind::global ? "/all communicators" : "/" + design.domain + " " + std::to_string(number));
  auto domain = std::make_unique<MatchingDomain>();
  if (instances_.guard_queues()) {
    domain->lock = std::make_unique<NoLock>(process_.engine(), label + "/matching");
  } else {
    domain->lock = process_.make_inner_lock(design.lock, label + "/matching");
  }
  MatcherSetup setup{process_.host(),
                     spaced(process_.settings().matching, design.element_spacing_bytes),
                     {design.bins, design.vector_width, design.offload_capacity},
                     process_.peers()};
  if (instances_.guard_queues() && instances_.mapping().by_peer() &&
      instances_.count() > 1) { // several instances feed the queues at the same time
    setup.engine = &process_.engine();
    setup.make_lock = [this, &design](std::string_view what) {
      return process_.make_inner_lock(design.lock, std::string(what));
    };
    setup.name = label;
  }
  domain->matcher = matcher_registry().at(design.engine)(setup);
  domain->state = std::make_unique<CacheLine>(process_.engine(), process_.host(), label + "/queues");
  domain->posted.name = label + "/posted";
  domain->unexpected.name = label + "/unexpected";
  domain->posted.owner = domain->unexpected.owner = process_.rank();
  return domain;
}

void Communicators::lock_queues(SimThread& self, MatchingDomain& domain) const {
  if (!domain.matcher->locks_itself()) {
    domain.lock->lock(self);
    domain.state->store_protected(self, process_.settings().matching.state_lines, Category::line_transfer);
  }
}

void Communicators::unlock_queues(SimThread& self, MatchingDomain& domain) {
  if (!domain.matcher->locks_itself()) {
    domain.lock->unlock(self);
  }
}

void Communicators::show(const MatchingDomain& domain) const {
  if (process_.engine().trace() != nullptr) [[unlikely]] {
    process_.show_length(domain.posted, domain.matcher->posted());
    process_.show_length(domain.unexpected, domain.matcher->unexpected());
  }
}

} // namespace contend
