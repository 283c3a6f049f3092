#include "models/nic/packet.hpp"

#include "models/nic/bulk_transfer.hpp"
#include "models/nic/endpoint.hpp"
#include "models/nic/nic.hpp"

namespace contend {

void Packet::fire() {
  using Kind = NicContext::Completion::Kind;
  switch (stage) {
  case Stage::send_completion:
    destination->report({.kind = transfer_over ? Kind::transferred : Kind::sent,
                         .endpoint = sender,
                         .count = completions,
                         .header = {},
                         .envelope = envelope});
    break;
  case Stage::grant:
    destination->report({.kind = Kind::granted, .endpoint = sender, .header = {}, .envelope = {}});
    break;
  case Stage::credit_write:
    sender->peer().credits_written(header.credits);
    destination->tell(); // who rests may have something to send
    break;
  case Stage::wire:
  case Stage::receive_queue:
  case Stage::matched:
    if (go_on_later()) {
      return;
    }
    arrive();
    break;
  }
  sender->nic().give_back(*this);
}

/// The receiving interface is not done with it. Returns whether the next stage has been scheduled.
bool Packet::go_on_later() {
  Nic& receiver = destination->nic();
  const TimePoint now = receiver.engine().now();
  if (stage == Stage::wire) {
    const TimePoint taken = receiver.port().take(occupancy);
    show_reception(taken);
    if (taken > now) {
      stage = Stage::receive_queue;
      receiver.engine().schedule(*this, taken);
      return true;
    }
  }
  const bool new_message = burst_of == nullptr && !credit_message;
  if (!new_message || stage == Stage::matched) {
    return false;
  }
  const HardwareMatcher::Time time = destination->arrived(envelope);
  if (envelope.matched == nullptr && !envelope.missed) {
    return false;
  }
  const TimePoint matched = receiver.match(time);
  if (matched <= now) {
    return false;
  }
  stage = Stage::matched;
  receiver.engine().schedule(*this, matched);
  return true;
}

/// The receiving interface is busy with the packet until `taken`.
void Packet::show_reception(TimePoint taken) const {
  const Nic& receiver = destination->nic();
  TraceSink* const trace = receiver.engine().trace();
  if (trace == nullptr) [[likely]] {
    return;
  }
  const TimePoint begin = taken - occupancy;
  const TraceLabel& label = receiver.port().receive_label();
  if (burst_of == nullptr && !credit_message) {
    trace->message_arrived(envelope.number, label, begin, occupancy);
  } else {
    trace->interface_occupied(label, credit_message ? "credits" : "burst", begin, begin, occupancy, Duration{});
  }
}

void Packet::arrive() {
  using Kind = NicContext::Completion::Kind;
  if (burst_of != nullptr) {
    if (last_burst) {
      end_transfer();
    }
    return;
  }
  if (!credit_message) {
    destination->nic().count_received();
  }
  destination->report({.kind = credit_message ? Kind::credited : Kind::received,
                       .endpoint = sender,
                       .header = header,
                       .envelope = envelope});
}

void Packet::end_transfer() {
  BulkTransfer& bulk = *burst_of;
  Nic& receiver = destination->nic();
  receiver.count_received();
  if (bulk.kind == Bulk::send) {
    destination->report({.kind = NicContext::Completion::Kind::received,
                         .endpoint = sender,
                         .header = bulk.header,
                         .envelope = bulk.envelope});
  }
  const Duration way_back = bulk.kind == Bulk::read ? Duration{} : receiver.port().latency();
  sender->report_after(receiver.engine().now() + way_back, bulk.completions, &bulk.envelope);
  sender->nic().give_back(bulk);
}

} // namespace contend
