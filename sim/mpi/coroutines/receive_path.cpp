// From MPI_Irecv and an arriving packet to a complete request.
#include "mpi/coroutines/os_process.hpp"
#include "mpi/coroutines/world.hpp"

#include <algorithm>
#include <utility>

namespace contend {

CoRequest* OsProcess::irecv(CoProcess& receiver, int source, int tag, std::int64_t bytes, Transfer transfer,
                            std::int32_t context) {
  call(world_.settings().software.receive_call);
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
  case CoRequest::Kind::copied:
    free(message);
    break;
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
  const bool pushed = !open_large_sends_.empty() && push_pieces();
  return found || pushed;
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
/// overlap; to a stream as many as its two socket buffers hold. Returns whether there were any.
bool OsProcess::push_pieces() {
  bool pushed = false;
  const CoroutineDesign& design = world_.settings().library.coroutines;
  for (std::size_t i = 0; i < open_large_sends_.size();) {
    LargeSend& large = *open_large_sends_[i];
    thread_->settle(); // how many pieces are under way may change in what is owed
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
      pushed = true;
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
  return pushed;
}

} // namespace contend
