#include "mpi/coroutines/os_process.hpp"

#include "models/matching/queue_walk.hpp"
#include "mpi/coroutines/world.hpp"

#include <algorithm>
#include <utility>

namespace contend {

namespace {

SchedulingPolicy::Wake wake_of(const CoroutineDesign& design) {
  return design.wake == "head" ? SchedulingPolicy::Wake::head : SchedulingPolicy::Wake::tail;
}

} // namespace

OsProcess::OsProcess(CoWorld& world, int number)
    : world_(world), number_(number), node_(world.layout().node_of(number)), core_(world.core_of(number)),
      first_rank_(number * world.layout().processes_per_os_process),
      count_(static_cast<std::size_t>(world.layout().processes_per_os_process)),
      memory_(world.settings().cache, world.settings().memory, world.sharers()),
      name_("OS process " + std::to_string(number)), processes_(count_),
      policy_(scheduling_policy_registry().at(world.settings().library.coroutines.scheduler)(
          wake_of(world.settings().library.coroutines))),
      posted_(process_queues_registry().at(world.settings().library.coroutines.queues)(first_rank_,
                                                                                       static_cast<int>(count_))),
      unexpected_(process_queues_registry().at(world.settings().library.coroutines.queues)(first_rank_,
                                                                                           static_cast<int>(count_))),
      queue_line_(world.engine(), world.host(), "incoming queue") {
  const CoSettings& settings = world_.settings();
  packets_ = world_.layout().os_processes() > 1 || settings.library.coroutines.colocated == "channel";
  // A process alone is its OS process: there is nothing to switch to.
  switch_ = count_ == 1 ? Duration{}
                        : SwitchCost(settings.coroutines, settings.library.coroutines.backend, memory_)
                              .price(static_cast<std::int64_t>(count_));
}

void OsProcess::start() {
  thread_ = &world_.engine().spawn(name_, node_, core_, [this](SimThread& self) { run(self); });
  thread_->set_process(number_);
}

CoCounters OsProcess::counters() const {
  CoCounters counters = counters_;
  counters.posted_visited = posted_->visited();
  counters.unexpected_visited = unexpected_->visited();
  return counters;
}

std::string OsProcess::describe() const {
  return "a message or a flag (" + std::to_string(unfinished_) + " MPI processes from rank " +
         std::to_string(first_rank_) + " on have not ended)";
}

void OsProcess::software(Duration time) { thread_->owe(time, Category::software); }

// ---------------------------------------------------------------------------------------------------------------------
// Scheduling

void OsProcess::run(SimThread& self) {
  world_.core_share(*this).acquire(self);
  unfinished_ = static_cast<std::int64_t>(count_);
  for (std::size_t i = 0; i < count_; ++i) {
    CoProcess& process = processes_[i];
    process.os_ = this;
    process.rank_ = first_rank_ + static_cast<int>(i);
    process.program_ = world_.body_(process);
    process.program_.start(process.activation_);
    policy_->yielded(process);
  }
  constexpr std::uint64_t turns_between_steps = 256;
  for (std::uint64_t turns = 1; unfinished_ > 0; ++turns) {
    if (turns % turns_between_steps == 0) {
      self.settle(); // the engine looks now and then whether it is to stop
    }
    RunQueue& queue = policy_->queue();
    if (queue.empty() || fruitless_ >= queue.size()) {
      rest();
    } else {
      turn(queue.pop());
    }
  }
  world_.core_share(*this).release(self);
}

/// Switches to `next` and lets it do what it can.
void OsProcess::turn(Schedulable& next) {
  if (fruitless_ == 0) {
    attention_ = false; // from here on everybody looks once
  }
  const bool stays = last_ == &next && policy_->queue().empty();
  if (!stays) {
    ++counters_.switches;
    thread_->owe(switch_, Category::software);
  }
  last_ = &next;
  look(next, false);
}

/// What a turn costs after which nobody can go on.
Duration OsProcess::turn_price(const Schedulable& one) const {
  const CoSettings& settings = world_.settings();
  const Duration change = policy_->queue().size() > 1 ? switch_ : Duration{};
  if (&one == &progress_) {
    return change + settings.channels.poll + settings.channels.socket_poll * (world_.layout().nodes > 1 ? 1 : 0);
  }
  const auto& process = static_cast<const CoProcess&>(one);
  Duration price = change + settings.coroutines.check;
  if (process.waiting_ == CoProcess::Waiting::shared_word) {
    price += settings.cache.hit;
  }
  if (polls(process)) {
    price += settings.channels.poll + settings.channels.socket_poll * (world_.layout().nodes > 1 ? 1 : 0);
  }
  return price;
}

/// Whether a process that waits makes progress itself when it is switched to.
bool OsProcess::polls(const CoProcess& process) const {
  return process.waiting_ == CoProcess::Waiting::requests && !policy_->blocks() && packets_;
}

bool OsProcess::is_ready(CoProcess& process) {
  switch (process.waiting_) {
  case CoProcess::Waiting::nothing:
    return true;
  case CoProcess::Waiting::requests:
    return process.pending_ <= 0;
  case CoProcess::Waiting::shared_word:
    process.line_->load(*thread_, Category::barrier);
    [[fallthrough]];
  case CoProcess::Waiting::word:
    break;
  }
  return (*process.word_ == process.value_) == process.equal_;
}

/// `next` has the processor: it looks whether it can go on, and does. `charged`: the time of looking has passed already.
void OsProcess::look(Schedulable& next, bool charged) {
  const ChannelParameters& channels = world_.settings().channels;
  const Duration poll = channels.poll + channels.socket_poll * (world_.layout().nodes > 1 ? 1 : 0);
  if (&next == &progress_) {
    ++counters_.progress_turns;
    thread_->owe(charged ? Duration{} : poll, Category::poll_idle);
    fruitless_ = progress() ? 0 : fruitless_ + 1;
    policy_->yielded(progress_);
    return;
  }
  auto& process = static_cast<CoProcess&>(next);
  if (process.waiting_ != CoProcess::Waiting::nothing) {
    thread_->owe(charged ? Duration{} : world_.settings().coroutines.check, Category::software);
    bool ready = is_ready(process);
    if (!ready && polls(process)) {
      thread_->owe(charged ? Duration{} : poll, Category::poll_idle);
      fruitless_ = progress() ? 0 : fruitless_;
      ready = is_ready(process);
    }
    if (!ready) {
      bool stays = true;
      if (process.waiting_ == CoProcess::Waiting::shared_word) {
        policy_->yielded(process);
      } else {
        stays = policy_->waits(process);
      }
      fruitless_ += stays ? 1 : 0; // who is blocked does not count: it has left the queue
      return;
    }
  }
  fruitless_ = 0;
  resume(process);
}

void OsProcess::resume(CoProcess& process) {
  process.waiting_ = CoProcess::Waiting::nothing;
  if (process.activation_.run()) {
    process.program_ = CoTask();
    --unfinished_;
    return;
  }
  switch (process.waiting_) {
  case CoProcess::Waiting::nothing:
  case CoProcess::Waiting::shared_word:
    policy_->yielded(process);
    return;
  case CoProcess::Waiting::requests:
    if (!policy_->waits(process) && !progress_runs_ && packets_) {
      progress_runs_ = true; // the first to be blocked in a receive or send: from now on somebody has to poll
      policy_->yielded(progress_);
    }
    return;
  case CoProcess::Waiting::word:
    policy_->waits(process);
    return;
  }
}

void OsProcess::wait_for_activity() {
  asleep_ = true;
  CoreShare& core = world_.core_share(*this);
  core.release(*thread_);
  thread_->wait(*this, Category::poll_idle); // no time has passed since the caller looked
  core.acquire(*thread_);
}

/// Nobody can go on. The turns until something happens are all alike: they pass at once, and the OS process goes on in the
/// turn in which it would have been then.
void OsProcess::rest() {
  thread_->settle();
  fruitless_ = 0;
  if (std::exchange(attention_, false)) {
    return; // since the first of these turns
  }
  RunQueue& queue = policy_->queue();
  if (!queue.empty() && !world_.settings().coalesce_idle_polls && packets_) {
    return;
  }
  Duration round{};
  for (const Schedulable* one = queue.front(); one != nullptr; one = RunQueue::after(*one)) {
    round += turn_price(*one);
  }
  const TimePoint begin = thread_->now();
  wait_for_activity();
  if (round == Duration{}) {
    static_cast<void>(progress()); // everybody is blocked
    return;
  }
  const Duration passed = thread_->now() - begin;
  const auto size = queue.size();
  counters_.switches += size > 1 ? passed / round * size : 0;
  counters_.progress_turns += progress_runs_ ? passed / round : 0;
  Duration over = passed % round;
  while (over >= turn_price(*queue.front())) {
    over -= turn_price(*queue.front());
    counters_.switches += size > 1 ? 1 : 0;
    counters_.progress_turns += queue.front() == &progress_ ? 1 : 0;
    queue.rotate();
  }
  Duration left = turn_price(*queue.front()) - over;
  Schedulable& next = queue.pop();
  if (&next != &progress_ && static_cast<CoProcess&>(next).waiting_ == CoProcess::Waiting::shared_word) {
    left = std::max(left - world_.settings().cache.hit, Duration{}); // the look at the line passes in look()
  }
  counters_.switches += size > 1 ? 1 : 0;
  last_ = &next;
  thread_->spend(left, Category::poll_idle);
  attention_ = false;
  look(next, true);
}

void OsProcess::activity() {
  attention_ = true;
  if (std::exchange(asleep_, false)) {
    thread_->resume();
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Requests and matching

CoRequest* OsProcess::new_request(CoRequest::Kind kind, const ProcessEnvelope& envelope, std::int64_t bytes) {
  CoRequest* request = nullptr;
  if (free_requests_.empty()) {
    request = &requests_.emplace_back();
  } else {
    request = free_requests_.back();
    free_requests_.pop_back();
    *request = CoRequest{};
  }
  request->kind = kind;
  request->envelope = envelope;
  request->bytes = bytes;
  return request;
}

/// Takes what fits out of a queue, at the price of the walk.
QueuedOperation* OsProcess::search(ProcessQueues& queues, const ProcessEnvelope& wanted) {
  const MatchingParameters& prices = world_.settings().matching;
  const std::int64_t length = queues.size();
  const ProcessQueues::Found found = queues.take(wanted);
  QueueWalk walk(world_.host(), prices.element, core_);
  walk.visit(found.visited);
  // What a walk goes through again and again: as much as it has just gone through, up to the whole queue.
  const std::int64_t footprint = std::min(length, std::max<std::int64_t>(found.visited, 1)) * prices.element_bytes;
  thread_->owe(prices.attempt + walk.price(footprint), Category::matching);
  return found.operation;
}

void OsProcess::keep(ProcessQueues& queues, CoRequest& request) {
  thread_->owe(world_.settings().matching.enqueue, Category::matching);
  queues.append(request);
}

void OsProcess::complete(CoRequest& request) {
  software(world_.settings().software.complete);
  request.complete = true;
  if (request.counted && request.owner->pending_-- == 1) {
    policy_->notify(*request.owner);
  }
}

/// A receive has been matched with a message: what it will say when it is complete. Throws what is an error of the program.
void OsProcess::take(CoRequest& receive, const ProcessEnvelope& message, std::int64_t bytes) {
  if (bytes > receive.bytes) {
    throw InvariantViolation("a message of " + std::to_string(bytes) + " B from rank " +
                             std::to_string(message.source) + " does not fit the receive of " +
                             std::to_string(receive.bytes) + " B by rank " + std::to_string(message.receiver));
  }
  receive.status = {message.source, message.tag, bytes};
  ++counters_.received;
}

// ---------------------------------------------------------------------------------------------------------------------
// Sending

CoRequest* OsProcess::isend(CoProcess& sender, int destination, int tag, std::int64_t bytes, Transfer transfer,
                            std::int32_t context) {
  software(world_.settings().software.send_call);
  CoRequest* const send = new_request(CoRequest::Kind::send, {context, sender.rank(), tag, destination}, bytes);
  send->owner = &sender;
  send->transfer = transfer;
  const std::string& colocated = world_.settings().library.coroutines.colocated;
  if (world_.layout().os_process_of(destination) != number_ || colocated == "channel") {
    send_packet(*send);
  } else if (colocated == "one-copy") {
    send_colocated(*send);
  } else {
    send_buffered(*send);
  }
  return send;
}

/// Inside the OS process: any size, no protocol, no buffer. Who comes second copies.
void OsProcess::send_colocated(CoRequest& send) {
  ++counters_.colocated;
  if (auto* const receive = static_cast<CoRequest*>(search(*posted_, send.envelope)); receive != nullptr) {
    take(*receive, send.envelope, send.bytes);
    copy_colocated(send, *receive);
    complete(*receive);
    complete(send);
    return;
  }
  ++counters_.unexpected;
  keep(*unexpected_, send);
}

/// From user's buffer to user's buffer, or only the pointer; buffers on the heap change hands where only one side asks.
void OsProcess::copy_colocated(const CoRequest& send, const CoRequest& receive) {
  const CoroutineParameters& prices = world_.settings().coroutines;
  const bool handed = send.transfer == Transfer::hand_over;
  const bool taken = receive.transfer == Transfer::hand_over;
  if (handed && taken) {
    return;
  }
  if (handed || taken) {
    software(prices.buffer); // freed, or allocated
  }
  thread_->owe(memory_.copy(send.bytes), Category::copy);
  // A large copy has driven the library's own lines out.
  thread_->owe(memory_.beyond_l2(2 * send.bytes) * prices.library_lines, Category::copy);
}

/// Inside the OS process through a message of the runtime's: the sender copies all but the last time, and goes on.
void OsProcess::send_buffered(CoRequest& send) {
  ++counters_.colocated;
  const CoroutineDesign& design = world_.settings().library.coroutines;
  const Duration copy = memory_.copy(send.bytes);
  thread_->owe(copy * std::max(design.copies - 1, 1), Category::copy);
  if (auto* const receive = static_cast<CoRequest*>(search(*posted_, send.envelope)); receive != nullptr) {
    take(*receive, send.envelope, send.bytes);
    thread_->owe(design.copies > 1 ? copy : Duration{}, Category::copy);
    complete(*receive);
  } else {
    ++counters_.unexpected;
    keep(*unexpected_, *new_request(CoRequest::Kind::buffered, send.envelope, send.bytes));
  }
  complete(send);
}

/// To another OS process: at once, or announced.
void OsProcess::send_packet(CoRequest& send) {
  ++counters_.sent;
  OsProcess& to = world_.os_process_of(send.envelope.receiver);
  CoPacket packet;
  packet.envelope = send.envelope;
  packet.bytes = send.bytes;
  packet.from = this;
  packet.send = &send;
  if (send.bytes > world_.settings().library.protocol.eager_limit_bytes) {
    ++counters_.announced;
    packet.kind = CoPacket::Kind::announce;
    post(packet, to, 0);
    return;
  }
  post(packet, to, send.bytes);
  if (send.transfer == Transfer::hand_over) {
    software(world_.settings().coroutines.buffer); // freed after the transfer
  }
  complete(send);
}

Fastbox* OsProcess::free_fastbox_of(const OsProcess& from) {
  std::unique_ptr<Fastbox>& box = fastboxes_[from.number()];
  if (box == nullptr) {
    box = std::make_unique<Fastbox>(world_.engine(), world_.host());
  }
  return box->full ? nullptr : box.get();
}

/// Hands a packet with `payload` bytes behind its header over.
void OsProcess::post(CoPacket& packet, OsProcess& to, std::int64_t payload) {
  const CoSettings& settings = world_.settings();
  const CoroutineDesign& design = settings.library.coroutines;
  const std::int64_t whole = payload + design.envelope_bytes + settings.library.protocol.header_bytes;
  if (payload > 0) {
    thread_->owe(memory_.copy(payload), Category::copy);
  }
  if (to.node() != node_) {
    software(settings.channels.socket_send);
    thread_->settle();
    world_.transmit(*world_.new_packet(packet), to, whole);
    return;
  }
  packet.box = whole <= design.fastbox_bytes ? to.free_fastbox_of(*this) : nullptr;
  if (packet.box != nullptr) {
    ++counters_.fastboxes;
    packet.box->full = true;
    packet.box->line.store(*thread_, Category::line_transfer);
  } else {
    software(settings.channels.enqueue);
    to.queue_line_.atomic(*thread_, Category::line_transfer);
  }
  to.arrive(*world_.new_packet(packet));
}

void OsProcess::arrive(CoPacket& packet) {
  packet.next = nullptr;
  (incoming_head_ == nullptr ? incoming_head_ : incoming_tail_->next) = &packet;
  incoming_tail_ = &packet;
  activity();
}

// ---------------------------------------------------------------------------------------------------------------------
// Receiving

CoRequest* OsProcess::irecv(CoProcess& receiver, int source, int tag, std::int64_t bytes, Transfer transfer,
                            std::int32_t context) {
  software(world_.settings().software.receive_call);
  CoRequest* const receive = new_request(CoRequest::Kind::receive, {context, source, tag, receiver.rank()}, bytes);
  receive->owner = &receiver;
  receive->transfer = transfer;
  auto* const message = static_cast<CoRequest*>(search(*unexpected_, receive->envelope));
  if (message == nullptr) {
    keep(*posted_, *receive);
    return receive;
  }
  take(*receive, message->envelope, message->bytes);
  switch (message->kind) {
  case CoRequest::Kind::send:
    copy_colocated(*message, *receive);
    complete(*message);
    break;
  case CoRequest::Kind::announced:
    invite(*message->from, message->announcer, *receive);
    free(message);
    return receive;
  default:
    thread_->owe(memory_.copy(message->bytes), Category::copy);
    free(message);
  }
  complete(*receive);
  return receive;
}

/// The middleware's progress loop, once: takes what has come in, and pushes out what large messages have left.
bool OsProcess::progress() {
  thread_->settle();
  bool found = false;
  while (incoming_head_ != nullptr) {
    CoPacket* const packet = std::exchange(incoming_head_, incoming_head_->next);
    handle(*packet);
    world_.free_packet(packet);
    found = true;
  }
  if (!open_large_sends_.empty()) {
    push_pieces();
  }
  return found;
}

void OsProcess::handle(CoPacket& packet) {
  const CoSettings& settings = world_.settings();
  if (packet.kind == CoPacket::Kind::room) {
    piece_is_out(*packet.large);
    return; // the sockets have been asked already
  }
  if (packet.from->node() != node_) {
    software(settings.channels.socket_receive);
  } else if (packet.box != nullptr) {
    packet.box->line.load(*thread_, Category::line_transfer);
    packet.box->full = false;
  } else {
    queue_line_.load(*thread_, Category::line_transfer);
    software(settings.channels.dequeue);
  }
  switch (packet.kind) {
  case CoPacket::Kind::eager:
    take_eager(packet);
    return;
  case CoPacket::Kind::announce: {
    software(settings.software.deliver);
    if (auto* const receive = static_cast<CoRequest*>(search(*posted_, packet.envelope)); receive != nullptr) {
      take(*receive, packet.envelope, packet.bytes);
      invite(*packet.from, packet.send, *receive); // on behalf of whoever has posted it
      return;
    }
    ++counters_.unexpected;
    CoRequest* const message = new_request(CoRequest::Kind::announced, packet.envelope, packet.bytes);
    message->from = packet.from;
    message->announcer = packet.send;
    keep(*unexpected_, *message);
    return;
  }
  case CoPacket::Kind::invite: {
    if (free_large_sends_.empty()) {
      free_large_sends_.push_back(&large_sends_.emplace_back());
    }
    LargeSend* const large = free_large_sends_.back();
    free_large_sends_.pop_back();
    *large = {packet.send, packet.receive, packet.from, packet.send->bytes, 0};
    open_large_sends_.push_back(large);
    return;
  }
  case CoPacket::Kind::piece:
    thread_->owe(memory_.copy(packet.bytes), Category::copy);
    if (packet.from->node() == node_) { // the cell is free again
      thread_->settle();
      if (!packet.from->piece_is_out(*packet.large)) {
        packet.from->activity();
      }
    } else if (settings.library.coroutines.stream_cells_under_way > 0) {
      thread_->settle();
      CoPacket room;
      room.kind = CoPacket::Kind::room;
      room.from = this;
      room.large = packet.large;
      world_.acknowledge(*world_.new_packet(room), *packet.from);
    }
    if (packet.last) {
      if (packet.receive->transfer == Transfer::hand_over) {
        software(settings.coroutines.buffer);
      }
      complete(*packet.receive);
    }
    return;
  case CoPacket::Kind::room:
    return; // see above
  }
}

/// The receiver has taken a piece of a message of ours. Returns whether it was the last one.
bool OsProcess::piece_is_out(LargeSend& large) {
  if (--large.under_way > 0 || large.left > 0) {
    return false;
  }
  free_large_sends_.push_back(&large);
  return true;
}

void OsProcess::take_eager(const CoPacket& packet) {
  const CoSettings& settings = world_.settings();
  software(settings.software.deliver);
  thread_->owe(memory_.copy(packet.bytes), Category::copy); // out of the cell or socket, wherever to
  if (auto* const receive = static_cast<CoRequest*>(search(*posted_, packet.envelope)); receive != nullptr) {
    take(*receive, packet.envelope, packet.bytes);
    if (receive->transfer == Transfer::hand_over) {
      software(settings.coroutines.buffer); // allocated for the receiver
    }
    complete(*receive);
    return;
  }
  ++counters_.unexpected;
  keep(*unexpected_, *new_request(CoRequest::Kind::buffered, packet.envelope, packet.bytes));
}

/// Tells the sender that the payload may come (CTS).
void OsProcess::invite(OsProcess& sender, CoRequest* send, CoRequest& receive) {
  CoPacket packet;
  packet.kind = CoPacket::Kind::invite;
  packet.from = this;
  packet.send = send;
  packet.receive = &receive;
  post(packet, sender, 0);
}

/// Hands over pieces of large messages: in shared memory as many as there are cells, so that copying in and copying out
/// overlap; to a stream as many as its two socket buffers hold.
void OsProcess::push_pieces() {
  const CoroutineDesign& design = world_.settings().library.coroutines;
  for (std::size_t i = 0; i < open_large_sends_.size();) {
    LargeSend& large = *open_large_sends_[i];
    const int most = large.to->node() == node_ ? design.cells_under_way : design.stream_cells_under_way;
    while (large.left > 0 && (most == 0 || large.under_way < most)) {
      CoPacket packet;
      packet.kind = CoPacket::Kind::piece;
      packet.bytes = std::min(large.left, design.cell_bytes);
      packet.from = this;
      packet.receive = large.receive;
      packet.large = &large;
      large.left -= packet.bytes;
      large.under_way += most > 0 ? 1 : 0;
      packet.last = large.left == 0;
      post(packet, *large.to, packet.bytes);
    }
    if (large.left > 0) {
      ++i;
      continue;
    }
    CoRequest& send = *large.send;
    if (send.transfer == Transfer::hand_over) {
      software(world_.settings().coroutines.buffer);
    }
    complete(send);
    open_large_sends_.erase(open_large_sends_.begin() + static_cast<std::ptrdiff_t>(i));
    if (most == 0) {
      free_large_sends_.push_back(&large);
    }
  }
}

} // namespace contend
