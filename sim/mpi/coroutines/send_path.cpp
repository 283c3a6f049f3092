// From MPI_Isend to a copy, a packet or an announcement.
#include "mpi/coroutines/os_process.hpp"
#include "mpi/coroutines/world.hpp"

#include <algorithm>

namespace contend {

CoRequest* OsProcess::isend(CoProcess& sender, int destination, int tag, std::int64_t bytes, Transfer transfer,
                            std::int32_t context) {
  call(world_.settings().software.send_call);
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
/// Where there is one copy only, it is the sender's.
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
    const auto kind = design.copies > 1 ? CoRequest::Kind::buffered : CoRequest::Kind::copied;
    keep(*unexpected_, *new_request(kind, send.envelope, send.bytes));
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
  thread_->settle(); // whether the box is free changes while the copy takes its time
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

} // namespace contend
