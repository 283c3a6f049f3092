#include "models/nic/shared_memory.hpp"

#include "models/nic/message_trace.hpp"

#include <algorithm>
#include <stdexcept>

namespace contend {

namespace {

/// What is sent from now on.
Envelope numbered(const SimThread& self, Envelope envelope) {
  envelope.number = trace_sent(self, self.now());
  return envelope;
}

constexpr std::int64_t pointer_bytes = SharedMemoryParameters::pointer_bytes;

Duration copying(const SharedMemoryParameters& parameters, std::int64_t bytes) {
  return Duration::seconds(static_cast<double>(bytes) / parameters.copy_bytes_per_second);
}

} // namespace

SharedMemoryContext& SharedMemoryTransport::create_context(ActivityListener& listener, std::string_view name,
                                                           int process) {
  contexts_.push_back(std::make_unique<SharedMemoryContext>(*this, listener, name, process));
  return *contexts_.back();
}

std::unique_ptr<Connection> SharedMemoryTransport::connect(TransportContext& local, TransportContext& remote) {
  auto& from = dynamic_cast<SharedMemoryContext&>(local);
  auto& to = dynamic_cast<SharedMemoryContext&>(remote);
  if (&from.transport_ != &to.transport_) {
    throw std::invalid_argument("shared memory connects processes of one host only");
  }
  return std::make_unique<SharedMemoryConnection>(from, to);
}

SharedMemoryConnection::SharedMemoryConnection(SharedMemoryContext& local, SharedMemoryContext& remote)
    : local_(local), remote_(remote),
      box_line_(local.transport_.engine(), local.transport_.host(), local.name_ + "/box to " + remote.name_),
      start_line_(local.transport_.engine(), local.transport_.host(), local.name_ + "/start of box to " + remote.name_),
      room_seen_(local.transport_.parameters().box_room()) {}

bool SharedMemoryConnection::everything_takes_box() const { return box_ && local_.transport_.design().box_only; }

/// What follows a message in the queue must not pass it.
bool SharedMemoryConnection::takes_box(std::int64_t wire_bytes) const {
  const SharedMemoryParameters& parameters = local_.transport_.parameters();
  return box_ && wire_bytes <= parameters.box_bytes && (everything_takes_box() || queued_ == 0);
}

bool SharedMemoryConnection::box_has_room(std::int64_t entry_bytes) const {
  return box_used_ + entry_bytes <= local_.transport_.parameters().box_room();
}

bool SharedMemoryConnection::fragment_has_room() const {
  return local_.has_fragment() &&
         (!everything_takes_box() || box_has_room(local_.transport_.parameters().box_entry(pointer_bytes)));
}

bool SharedMemoryConnection::has_room(std::int64_t wire_bytes) const {
  const SharedMemoryParameters& parameters = local_.transport_.parameters();
  if (takes_box(wire_bytes) && box_has_room(parameters.box_entry(wire_bytes))) {
    return true;
  }
  return !(takes_box(wire_bytes) && everything_takes_box()) && fragment_has_room();
}

bool SharedMemoryConnection::has_room_for_kept() const {
  return box_has_room(local_.transport_.parameters().box_entry(pointer_bytes));
}

/// Pieces take fragments; a copy by the kernel needs no room.
bool SharedMemoryConnection::has_room_for(Bulk kind, std::int64_t /*bytes*/) const {
  return kind != Bulk::send || fragment_has_room();
}

bool SharedMemoryConnection::finds_room(SimThread& self, std::int64_t entry_bytes) {
  if (room_seen_ < entry_bytes) {
    if (pays_for_look()) {
      start_line_.load(self, Category::nic_post);
    }
    room_seen_ = local_.transport_.parameters().box_room() - box_used_;
  }
  return room_seen_ >= entry_bytes;
}

bool SharedMemoryConnection::post(SimThread& self, const Envelope& envelope, std::int64_t wire_bytes) {
  const SharedMemoryParameters& parameters = local_.transport_.parameters();
  self.settle();
  if (takes_box(wire_bytes)) {
    const std::int64_t entry_bytes = parameters.box_entry(wire_bytes);
    if (finds_room(self, entry_bytes)) {
      put(self, {numbered(self, envelope), entry_bytes, nullptr},
          parameters.box_write + copying(parameters, wire_bytes));
      remote_.report();
      return true;
    }
    if (everything_takes_box()) {
      saw_no_room(self.now());
      return false;
    }
  }
  if (!send_fragment(self, envelope, wire_bytes)) {
    saw_no_room(self.now());
    return false;
  }
  if (++sent_through_queue_ == parameters.box_threshold && parameters.box_size > 0) {
    box_ = true;
  }
  return true;
}

bool SharedMemoryConnection::keep(SimThread& self, std::int64_t wire_bytes) {
  self.settle();
  if (!everything_takes_box() || !local_.has_fragment()) {
    return false;
  }
  kept_.push_back(&fill_fragment(self, wire_bytes));
  return true;
}

bool SharedMemoryConnection::post_kept(SimThread& self, const Envelope& envelope, void* token) {
  const SharedMemoryParameters& parameters = local_.transport_.parameters();
  self.settle();
  const std::int64_t entry_bytes = parameters.box_entry(pointer_bytes);
  if (!finds_room(self, entry_bytes)) {
    return false;
  }
  SharedMemoryFragment& fragment = *kept_.front();
  kept_.pop_front();
  fragment.token = token;
  put(self, {numbered(self, envelope), entry_bytes, &fragment},
      parameters.box_write + copying(parameters, pointer_bytes));
  remote_.report();
  return true;
}

void SharedMemoryConnection::put(SimThread& self, const Entry& entry, Duration writing) {
  box_used_ += entry.bytes;
  room_seen_ -= entry.bytes;
  self.owe(writing, Category::nic_post);
  if (local_.transport_.parameters().streamed_boxes) {
    box_line_.post_store(self, Category::nic_post);
  } else {
    box_line_.store(self, Category::nic_post);
  }
  in_box_.push_back(entry);
  ++boxed_;
}

SharedMemoryFragment& SharedMemoryConnection::fill_fragment(SimThread& self, std::int64_t bytes) {
  const SharedMemoryParameters& parameters = local_.transport_.parameters();
  SharedMemoryFragment& fragment = local_.take_fragment();
  fragment.connection = this;
  self.owe(parameters.queue_write + copying(parameters, bytes), Category::nic_post);
  if (local_.transport_.design().fragments_returned) {
    fragment.line.post_store(self, Category::nic_post);
  }
  return fragment;
}

bool SharedMemoryConnection::send_fragment(SimThread& self, const Envelope& envelope, std::int64_t bytes) {
  const SharedMemoryParameters& parameters = local_.transport_.parameters();
  const std::int64_t entry_bytes = parameters.box_entry(pointer_bytes);
  const bool through_box = everything_takes_box();
  if ((through_box && !finds_room(self, entry_bytes)) || !local_.has_fragment()) {
    return false;
  }
  const Envelope sent = numbered(self, envelope);
  SharedMemoryFragment& fragment = fill_fragment(self, bytes);
  fragment.envelope = sent;
  if (through_box) {
    put(self, {sent, entry_bytes, &fragment}, parameters.box_write + copying(parameters, pointer_bytes));
  } else {
    ++queued_;
    fragment.after = boxed_;
    remote_.tail_line_.atomic(self, Category::nic_post);
    remote_.queue_.push_back(&fragment);
  }
  remote_.report();
  return true;
}

bool SharedMemoryConnection::post_bulk(SimThread& self, Bulk kind, const Envelope& envelope, std::int64_t bytes) {
  const SharedMemoryParameters& parameters = local_.transport_.parameters();
  self.settle();
  if (kind != Bulk::send) {
    self.spend(parameters.copy_call + copying(parameters, bytes), Category::copy);
    return true;
  }
  if (!send_fragment(self, envelope, bytes)) {
    return false;
  }
  local_.copied_.push_back(envelope);
  local_.report();
  return true;
}

SharedMemoryContext::SharedMemoryContext(SharedMemoryTransport& transport, ActivityListener& listener,
                                         std::string_view name, int process)
    : transport_(transport), listener_(listener), name_(name), incoming_label_(name_ + "/incoming", process),
      tail_line_(transport.engine(), transport.host(), std::string(name) + "/queue") {}

bool SharedMemoryContext::has_fragment() const { return fragments_in_use_ < transport_.parameters().fragments; }

SharedMemoryFragment& SharedMemoryContext::take_fragment() {
  ++fragments_in_use_;
  if (free_fragments_.empty()) {
    return fragments_.emplace_back(transport_.engine(), transport_.host(), name_ + "/fragment");
  }
  SharedMemoryFragment& fragment = *free_fragments_.back(); // the one that was used last, as free lists do
  free_fragments_.pop_back();
  return fragment;
}

void SharedMemoryContext::free_fragment(SharedMemoryFragment& fragment) {
  fragment.token = nullptr;
  fragment.taken = false;
  free_fragments_.push_back(&fragment);
  --fragments_in_use_;
  listener_.activity(*this); // there is room again
}

void SharedMemoryContext::report() {
  ++waiting_;
  show_waiting();
  listener_.activity(*this);
}

void SharedMemoryContext::show_waiting() const { show_incoming(transport_.engine(), incoming_label_, waiting_); }

void SharedMemoryContext::look(SimThread& self) {
  const SharedMemoryParameters& parameters = transport_.parameters();
  self.spend(parameters.poll_queue + parameters.poll_box * static_cast<std::int64_t>(boxes_.size()),
             Category::poll_idle);
}

template <typename Action>
void SharedMemoryContext::handle(SimThread& self, int& handled, const Action& action) {
  --waiting_;
  show_waiting();
  ++handled;
  action();
  self.settle();
}

int SharedMemoryContext::drain(SimThread& self, CompletionHandler& handler) {
  const SharedMemoryParameters& parameters = transport_.parameters();
  int handled = 0;
  while (!copied_.empty()) {
    const Envelope envelope = copied_.front();
    copied_.pop_front();
    handle(self, handled, [&] { handler.transferred(self, envelope); });
  }
  // Others may make boxes meanwhile.
  for (std::size_t i = 0; i < boxes_.size(); ++i) { // NOLINT(modernize-loop-convert): the list may grow
    SharedMemoryConnection& connection = *boxes_[i];
    const auto there = static_cast<std::int64_t>(connection.in_box_.size());
    handled += drain_box(self, handler, connection,
                         parameters.box_batch > 0 ? std::min<std::int64_t>(there, parameters.box_batch) : there);
  }
  for (int left = parameters.poll_batch; left > 0 && !queue_.empty(); --left) {
    tail_line_.load(self, Category::completion);
    SharedMemoryFragment& fragment = *queue_.front();
    SharedMemoryConnection& connection = *fragment.connection;
    const bool comes_back = fragment.taken;
    if (!comes_back && fragment.after > connection.unboxed_) {
      // The box was full when it was sent. What is in there came before, however late it came since this poll looked.
      handled += drain_box(self, handler, connection, fragment.after - connection.unboxed_);
    }
    queue_.pop_front();
    handle(self, handled, [&] { handle_fragment(self, handler, fragment); });
    if (!comes_back && --connection.queued_ == 0 && connection.box_ && !connection.box_is_polled_) {
      connection.box_is_polled_ = true;
      boxes_.push_back(&connection);
    }
  }
  return handled;
}

int SharedMemoryContext::drain_box(SimThread& self, CompletionHandler& handler, SharedMemoryConnection& connection,
                                   std::int64_t most) {
  const SharedMemoryParameters& parameters = transport_.parameters();
  if (most == 0) {
    return 0;
  }
  int handled = 0;
  std::int64_t freed = 0;
  for (std::int64_t left = most; left > 0; --left) {
    if (left == most || !parameters.streamed_boxes) {
      connection.box_line_.load(self, Category::completion);
    }
    const SharedMemoryConnection::Entry entry = connection.in_box_.front();
    connection.in_box_.pop_front();
    ++connection.unboxed_;
    freed += entry.bytes;
    self.owe(parameters.box_read, Category::completion);
    handle(self, handled, [&] {
      if (entry.fragment != nullptr) {
        entry.fragment->envelope = entry.envelope;
        handle_fragment(self, handler, *entry.fragment);
      } else {
        handler.receive(self, entry.envelope);
      }
    });
  }
  connection.start_line_.post_store(self, Category::completion);
  connection.box_used_ -= freed;
  connection.local_.listener_.activity(connection.local_); // there is room again
  return handled;
}

void SharedMemoryContext::handle_fragment(SimThread& self, CompletionHandler& handler, SharedMemoryFragment& fragment) {
  const SharedMemoryParameters& parameters = transport_.parameters();
  self.owe(parameters.queue_read, Category::completion);
  if (transport_.design().fragments_returned) {
    fragment.line.load(self, Category::completion);
  }
  if (!fragment.taken) {
    handler.receive(self, fragment.envelope);
    give_back(self, fragment);
    return;
  }
  void* const token = fragment.token;
  free_fragment(fragment);
  if (token != nullptr) {
    handler.returned(self, token);
  }
}

void SharedMemoryContext::give_back(SimThread& self, SharedMemoryFragment& fragment) {
  SharedMemoryContext& owner = fragment.connection->local_;
  if (!transport_.design().fragments_returned) {
    owner.free_fragment(fragment);
    return;
  }
  fragment.line.post_store(self, Category::completion);
  fragment.taken = true;
  owner.tail_line_.atomic(self, Category::completion);
  owner.queue_.push_back(&fragment);
  owner.report();
}

} // namespace contend
