#include "models/nic/shared_memory.hpp"

#include <stdexcept>

namespace contend {

namespace {

Duration copying(const SharedMemoryParameters& parameters, std::int64_t bytes) {
  return Duration::seconds(static_cast<double>(bytes) / parameters.copy_bytes_per_second);
}

} // namespace

SharedMemoryContext& SharedMemoryTransport::create_context(ActivityListener& listener, std::string_view name,
                                                           int /*process*/) {
  contexts_.push_back(std::make_unique<SharedMemoryContext>(*this, listener, name));
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
      box_line_(local.transport_.engine(), local.transport_.host(), local.name_ + "/box to " + remote.name_) {}

bool SharedMemoryConnection::fits_box(std::int64_t bytes) const {
  const SharedMemoryParameters& parameters = local_.transport_.parameters();
  return box_ && bytes <= parameters.box_bytes && queued_ == 0 &&
         in_box_.size() < static_cast<std::size_t>(parameters.box_messages);
}

bool SharedMemoryConnection::has_room(std::int64_t wire_bytes) const {
  return fits_box(wire_bytes) || local_.fragments_in_use_ < local_.transport_.parameters().fragments;
}

/// Pieces go through the queue; a copy by the kernel needs no room.
bool SharedMemoryConnection::has_room_for(Bulk kind, std::int64_t /*bytes*/) const {
  return kind != Bulk::send || local_.fragments_in_use_ < local_.transport_.parameters().fragments;
}

bool SharedMemoryConnection::post(SimThread& self, const Envelope& envelope, std::int64_t wire_bytes) {
  const SharedMemoryParameters& parameters = local_.transport_.parameters();
  self.settle();
  if (fits_box(wire_bytes)) {
    self.owe(parameters.box_write + copying(parameters, wire_bytes), Category::nic_post);
    if (parameters.streamed_boxes) {
      box_line_.post_store(self, Category::nic_post);
    } else {
      box_line_.store(self, Category::nic_post);
    }
    in_box_.push_back(envelope);
  } else if (local_.fragments_in_use_ < parameters.fragments) {
    enqueue(self, envelope, wire_bytes);
  } else {
    return false;
  }
  if (++sent_ == parameters.box_threshold && parameters.box_messages > 0) {
    box_ = true;
    remote_.boxes_.push_back(this);
  }
  ++remote_.waiting_;
  remote_.listener_.activity(remote_);
  return true;
}

void SharedMemoryConnection::enqueue(SimThread& self, const Envelope& envelope, std::int64_t bytes) {
  const SharedMemoryParameters& parameters = local_.transport_.parameters();
  ++local_.fragments_in_use_;
  ++queued_;
  self.owe(parameters.queue_write + copying(parameters, bytes), Category::nic_post);
  remote_.tail_line_.atomic(self, Category::nic_post);
  remote_.queue_.push_back({envelope, this});
}

bool SharedMemoryConnection::post_bulk(SimThread& self, Bulk kind, const Envelope& envelope, std::int64_t bytes) {
  const SharedMemoryParameters& parameters = local_.transport_.parameters();
  self.settle();
  if (kind == Bulk::send) {
    if (local_.fragments_in_use_ >= parameters.fragments) {
      return false;
    }
    enqueue(self, envelope, bytes);
    ++remote_.waiting_;
    remote_.listener_.activity(remote_);
  } else {
    self.spend(parameters.copy_call + copying(parameters, bytes), Category::copy);
  }
  local_.copied_.push_back(envelope);
  ++local_.waiting_;
  local_.listener_.activity(local_);
  return true;
}

SharedMemoryContext::SharedMemoryContext(SharedMemoryTransport& transport, ActivityListener& listener,
                                         std::string_view name)
    : transport_(transport), listener_(listener), name_(name),
      tail_line_(transport.engine(), transport.host(), std::string(name) + "/queue") {}

void SharedMemoryContext::look(SimThread& self) {
  const SharedMemoryParameters& parameters = transport_.parameters();
  self.spend(parameters.poll_queue + parameters.poll_box * static_cast<std::int64_t>(boxes_.size()),
             Category::poll_idle);
}

int SharedMemoryContext::drain(SimThread& self, CompletionHandler& handler) {
  const SharedMemoryParameters& parameters = transport_.parameters();
  int handled = 0;
  const auto handle = [&](const auto& action) {
    --waiting_;
    ++handled;
    action();
    self.settle();
  };
  while (!copied_.empty()) {
    const Envelope envelope = copied_.front();
    copied_.pop_front();
    handle([&] { handler.transferred(self, envelope); });
  }
  // Others may make boxes meanwhile.
  for (std::size_t i = 0; i < boxes_.size(); ++i) { // NOLINT(modernize-loop-convert): the list may grow
    SharedMemoryConnection& connection = *boxes_[i];
    const std::size_t there = connection.in_box_.size();
    for (std::size_t left = there; left > 0; --left) {
      if (left == there || !parameters.streamed_boxes) {
        connection.box_line_.load(self, Category::completion);
      }
      const Envelope envelope = connection.in_box_.front();
      connection.in_box_.pop_front();
      self.owe(parameters.box_read, Category::completion);
      handle([&] { handler.receive(self, envelope); });
    }
  }
  for (int left = parameters.poll_batch; left > 0 && !queue_.empty(); --left) {
    tail_line_.load(self, Category::completion);
    const Fragment fragment = queue_.front();
    queue_.pop_front();
    self.owe(parameters.queue_read, Category::completion);
    handle([&] { handler.receive(self, fragment.envelope); });
    --fragment.connection->queued_;
    --fragment.connection->local_.fragments_in_use_;
    fragment.connection->local_.listener_.activity(fragment.connection->local_); // there is room again
  }
  return handled;
}

} // namespace contend
