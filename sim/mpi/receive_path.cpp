#include "mpi/receive_path.hpp"

#include "core/trace_scope.hpp"
#include "mpi/show_message.hpp"

#include <algorithm>
#include <optional>

namespace contend {

/// A message whose matching is left to whatever thread takes it.
class ReceivePath::MatchTask final : public Task {
public:
  explicit MatchTask(ReceivePath& path) : path_(path) {}
  void run(SimThread& self) override {
    const Envelope message = envelope;
    path_.free_match_tasks_.push_back(this);
    path_.receive_now(self, message);
  }

  Envelope envelope;

private:
  ReceivePath& path_;
};

ReceivePath::ReceivePath(ProcessContext& process, Instances& instances, Communicators& communicators,
                         ProgressTurns& turns, CompletionPath& completion, RendezvousPath& rendezvous,
                         ActiveMessages& active, TaskPool* tasks)
    : process_(process), instances_(instances), communicators_(communicators), turns_(turns), completion_(completion),
      rendezvous_(rendezvous), active_(active), tasks_(tasks),
      calls_hold_instance_(process.library().critical_section == "instance"),
      out_of_sequence_label_(process.name() + "/out of sequence", process.rank()) {}

ReceivePath::~ReceivePath() = default;

void ReceivePath::start(SimThread& self, Request& request, int communicator, int source, int tag, std::int64_t bytes,
                        bool has_lock) {
  request.communicator = communicator;
  request.source = source;
  request.tag = tag;
  request.bytes = bytes;
  SpcCounters& counters = process_.counters();
  counters.posted += tag >= 0 || tag == any_tag ? 1 : 0;

  MatchingDomain& domain = communicators_.domain_of(communicators_[communicator], tag);
  const int guard = instances_.mapping().of_receive(communicator, tag, source);
  if (!has_lock) {
    instances_.lock_guards(self, guard);
  }
  communicators_.lock_queues(self, domain);
  const std::optional<Envelope> message = domain.matcher->post(self, request);
  communicators_.show(domain);
  counters.unexpected_in_queue -= message && message->tag >= 0 ? 1 : 0;
  Communicators::unlock_queues(self, domain);
  const bool is_announced = message && message->header == Header::rendezvous; // its answer takes locks
  const bool ends_under_lock = calls_hold_instance_ && !is_announced;
  if (!ends_under_lock) {
    instances_.unlock_guards(self, guard);
  }
  if (message) {
    show_match(self, *message);
    counters.received += message->tag >= 0 ? 1 : 0;
    request.received_tag = message->tag;
    request.received_source = message->source;
    if (is_announced) {
      rendezvous_.begin(self, request, *message);
    } else {
      request.bytes = message->bytes;
      process_.copy(self, message->bytes);
      completion_.complete(self, request);
    }
  }
  if (ends_under_lock) {
    instances_.unlock_guards(self, guard);
  }
}

HardwareMatcher::Time ReceivePath::arrived(Envelope& envelope) {
  if (envelope.header != Header::eager && envelope.header != Header::rendezvous) {
    return {}; // about a message that has been matched
  }
  const Communicator& communicator = communicators_[envelope.communicator];
  const MatchingDomain& domain = communicators_.domain_of(communicator, envelope.tag);
  HardwareMatcher* const hardware = domain.matcher->hardware();
  if (hardware == nullptr || communicator.sequenced) {
    return {}; // the interface does not know sequence numbers: messages that have them go to software
  }
  const HardwareMatcher::Time time = hardware->reach(envelope);
  if (envelope.matched != nullptr) {
    communicators_.show(domain);
  }
  return time;
}

void ReceivePath::receive(SimThread& self, const Envelope& envelope) {
  show_found(self, envelope.number);
  if (process_.library().tasks.matching && envelope.matched == nullptr &&
      (envelope.header == Header::eager || envelope.header == Header::rendezvous)) {
    receive_later(self, envelope);
  } else {
    receive_now(self, envelope);
  }
}

/// The message's thread goes on with its poll; some thread of the process matches it.
void ReceivePath::receive_later(SimThread& self, const Envelope& envelope) {
  if (free_match_tasks_.empty()) {
    match_tasks_.push_back(std::make_unique<MatchTask>(*this));
    free_match_tasks_.push_back(match_tasks_.back().get());
  }
  MatchTask& task = *free_match_tasks_.back();
  free_match_tasks_.pop_back();
  task.envelope = envelope;
  tasks_->push(self, task);
  turns_.end_rests(); // a resting thread would find it at the end of its turn
}

void ReceivePath::receive_now(SimThread& self, const Envelope& envelope) {
  const TraceScope scope(self, process_.rank(), "deliver");
  self.owe(process_.settings().software.deliver, Category::software);
  if (envelope.header == Header::active) {
    active_.take(self, envelope);
    return;
  }
  if (envelope.header != Header::eager && envelope.header != Header::rendezvous) {
    rendezvous_.go_on(self, envelope);
    return;
  }
  if (envelope.matched != nullptr) {
    take_message(self, static_cast<Request&>(*envelope.matched), envelope);
    return;
  }
  Communicator& communicator = communicators_[envelope.communicator];
  PeerState& peer = communicator.peers[static_cast<std::size_t>(envelope.source)];
  MatchingDomain& domain = communicators_.domain_of(communicator, envelope.tag);

  communicators_.lock_queues(self, domain);
  if (communicator.sequenced) {
    if (envelope.sequence != peer.expected) {
      keep_for_later(self, peer, envelope);
      Communicators::unlock_queues(self, domain);
      return;
    }
    ++peer.expected;
  }
  match(self, communicator, envelope); // unlocks

  // The message may have been what others were waiting for.
  while (!peer.out_of_sequence.empty()) {
    communicators_.lock_queues(self, domain);
    const std::optional<Envelope> next = peer.out_of_sequence.take(peer.expected);
    if (!next) {
      Communicators::unlock_queues(self, domain);
      break;
    }
    ++peer.expected;
    std::int64_t& in_queue = process_.counters().oos_in_queue;
    in_queue -= next->tag >= 0 ? 1 : 0;
    process_.show_length(out_of_sequence_label_, in_queue);
    match(self, communicator, *next);
  }
}

/// Matches a message in sequence. Called with the matching lock held; releases it.
void ReceivePath::match(SimThread& self, Communicator& communicator, const Envelope& envelope) {
  MatchingDomain& domain = communicators_.domain_of(communicator, envelope.tag);
  const Duration waited = self.charged(Category::lock_wait);
  const TimePoint start = self.now();
  PostedReceive* const receive = domain.matcher->arrive(self, envelope);
  communicators_.show(domain);
  if (envelope.tag >= 0) {
    SpcCounters& counters = process_.counters();
    counters.match_time += self.now() - start - (self.charged(Category::lock_wait) - waited);
    if (receive == nullptr) {
      ++counters.unexpected;
      counters.unexpected_in_queue_max = std::max(counters.unexpected_in_queue_max, ++counters.unexpected_in_queue);
    }
  }
  if (receive == nullptr && !envelope.kept) {
    keep_payload(self, envelope);
  }
  Communicators::unlock_queues(self, domain);
  if (receive != nullptr) {
    take_message(self, static_cast<Request&>(*receive), envelope);
    if (envelope.kept) {
      self.owe(process_.settings().matching.fragment_release, Category::out_of_sequence);
    }
  }
}

/// A posted receive has its message. Nobody holds the matching lock any more.
void ReceivePath::take_message(SimThread& self, Request& request, const Envelope& envelope) {
  show_match(self, envelope);
  request.received_tag = envelope.tag;
  request.received_source = envelope.source;
  process_.counters().received += envelope.tag >= 0 ? 1 : 0;
  if (envelope.header == Header::rendezvous) {
    rendezvous_.begin(self, request, envelope);
    return;
  }
  request.bytes = envelope.bytes;
  if (envelope.bytes > 0) {
    process_.copy(self, envelope.bytes);
  }
  completion_.complete(self, request);
}

/// The transport wants its buffer back before a receive is known: the payload waits in memory of the library
/// (MCA_PML_OB1_RECV_FRAG_INIT copies it under the matching lock).
void ReceivePath::keep_payload(SimThread& self, const Envelope& envelope) {
  if (envelope.header == Header::eager) {
    process_.copy(self, envelope.bytes);
  }
}

void ReceivePath::keep_for_later(SimThread& self, PeerState& peer, const Envelope& envelope) {
  const MatchingParameters& prices = process_.settings().matching;
  keep_payload(self, envelope);
  self.owe(prices.fragment_allocate, Category::out_of_sequence);
  Envelope fragment = envelope;
  fragment.kept = true;
  const std::int64_t visited = peer.out_of_sequence.insert(fragment, peer.expected);
  QueueWalk walk(process_.host(), prices.range, self.core());
  walk.visit(visited);
  const auto first_ones = static_cast<std::int64_t>(peer.out_of_sequence.ranges()); // the walk sees nothing else
  self.owe(prices.enqueue + walk.price(first_ones * prices.fragment_bytes), Category::out_of_sequence);
  if (envelope.tag >= 0) {
    SpcCounters& counters = process_.counters();
    counters.oos_ranges_visited += visited;
    ++counters.out_of_sequence;
    counters.oos_in_queue_max = std::max(counters.oos_in_queue_max, ++counters.oos_in_queue);
    process_.show_length(out_of_sequence_label_, counters.oos_in_queue);
  }
}

} // namespace contend
