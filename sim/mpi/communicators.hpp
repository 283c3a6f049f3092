// The communicators of a process, and the queues in which their messages are matched.
#pragma once

#include "mpi/communicator.hpp"
#include "mpi/instances.hpp"
#include "mpi/process_context.hpp"

#include <memory>
#include <vector>

namespace contend {

class Communicators {
public:
  Communicators(ProcessContext& process, const Instances& instances);

  /// Collective over all processes, in the same order everywhere. Returns the communicator's number.
  int create(bool allow_overtaking);
  [[nodiscard]] Communicator& operator[](int number) { return all_[static_cast<std::size_t>(number)]; }

  /// The queues that messages of this communicator and tag use.
  [[nodiscard]] MatchingDomain& domain_of(const Communicator& communicator, int tag) {
    return kind_ == DomainKind::instance ? domain_of(communicator.id, tag) : *communicator.domain;
  }
  void lock_queues(SimThread& self, MatchingDomain& domain) const;
  static void unlock_queues(SimThread& self, MatchingDomain& domain);

  /// A request that is made or freed takes or drops a reference on its communicator.
  void count_reference(SimThread& self, int number) {
    if (process_.library().reference_counts) {
      process_.update_shared(self, *(*this)[number].references, Category::line_transfer);
    }
  }

  /// For traces: the lengths of the queues.
  void show(const MatchingDomain& domain) const;

private:
  enum class DomainKind { communicator, instance, global };

  [[nodiscard]] static DomainKind kind_of(const MatchingDesign& design);
  MatchingDomain& domain_of(int communicator, int tag);
  [[nodiscard]] std::unique_ptr<MatchingDomain> make_domain(std::size_t number) const;

  ProcessContext& process_;
  const Instances& instances_;
  DomainKind kind_;
  std::vector<std::unique_ptr<MatchingDomain>> domains_; ///< by number
  std::vector<Communicator> all_;
};

} // namespace contend
