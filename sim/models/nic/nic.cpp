#include "models/nic/nic.hpp"

#include <algorithm>

namespace contend {

NicContext& Nic::create_context(ActivityListener& listener, std::string_view name, int process) {
  contexts_.push_back(std::make_unique<NicContext>(*this, listener, name, process));
  return *contexts_.back();
}

Packet& Nic::take_packet() {
  if (free_packets_.empty()) {
    packets_.push_back(std::make_unique<Packet>(engine_));
    free_packets_.push_back(packets_.back().get());
  }
  Packet& packet = *free_packets_.back();
  free_packets_.pop_back();
  return packet;
}

Duration Nic::serialization(std::int64_t bytes) const {
  return Duration::seconds(static_cast<double>(bytes) / route_.bytes_per_second);
}

Endpoint::Endpoint(NicContext& local, NicContext& remote)
    : local_(local), remote_(remote), credits_(local.nic().parameters().flow_control_window) {}

bool Endpoint::post(SimThread& self, const Envelope& envelope, std::int64_t wire_bytes) {
  Nic& nic = local_.nic_;
  const NicParameters& parameters = nic.parameters_;
  local_.send_state_.store_protected(self, Category::nic_post);
  const bool flow_control = parameters.flow_control_window > 0;
  if (outstanding_ == parameters.send_queue_depth || (flow_control && credits_ == 0)) {
    return false;
  }
  const TimePoint called = self.now();
  self.spend(parameters.post + parameters.doorbell, Category::nic_post);
  ++outstanding_;
  ++nic.messages_sent_;

  // The interface fetches the work request and serves its contexts, each at its own pace, one message at a time.
  const Duration on_wire = nic.serialization(wire_bytes);
  const TimePoint fetched = nic.engine_.now() + parameters.wqe_fetch;
  const TimePoint served = std::max(fetched, nic.next_departure_); // the pace of the interface, then of the context
  const TimePoint departure = std::max(served, local_.next_departure_);
  const Duration nic_busy = std::max(parameters.nic_gap, on_wire);
  const Duration context_busy = std::max(parameters.context_gap, on_wire);
  nic.next_departure_ = served + nic_busy;
  local_.next_departure_ = departure + context_busy;
  const TimePoint arrival = departure + on_wire + nic.route_.latency;

  Packet& packet = nic.take_packet();
  packet.stage_ = Packet::Stage::wire;
  packet.destination_ = &remote_;
  packet.sender_ = this;
  packet.envelope_ = envelope;
  if (TraceSink* const trace = nic.engine_.trace(); trace != nullptr) [[unlikely]] {
    packet.envelope_.number =
        trace->message_posted(self, {nic.send_label_, local_.label_, wire_bytes, called, fetched, served, departure,
                                     arrival, nic_busy, context_busy, on_wire});
  }
  // Like UCX's hard threshold: a grant is asked for when a quarter of the window is left, and it restores all of it.
  packet.wants_grant_ = flow_control && --credits_ == parameters.flow_control_window / 4;
  nic.engine_.schedule(packet, arrival);

  // The last work request that fits asks for a report too, or a short queue would stay full for ever.
  if (++unreported_ >= parameters.send_completion_batch || outstanding_ == parameters.send_queue_depth) {
    Packet& report = nic.take_packet();
    report.stage_ = Packet::Stage::send_completion;
    report.destination_ = &local_;
    report.sender_ = this;
    report.completions_ = unreported_;
    unreported_ = 0;
    nic.engine_.schedule(report, arrival + nic.route_.latency); // the acknowledgement comes back
  }
  return true;
}

/// Called on the receiving side: a control message lets the sender go on.
void Endpoint::grant(SimThread& self) {
  Nic& nic = remote_.nic_; // the interface that sends the grant
  const NicParameters& parameters = nic.parameters_;
  self.spend(parameters.post + parameters.doorbell, Category::nic_post);
  Packet& packet = local_.nic_.take_packet();
  packet.stage_ = Packet::Stage::grant;
  packet.destination_ = &local_;
  packet.sender_ = this;
  nic.engine_.schedule(packet, nic.engine_.now() + parameters.wqe_fetch + nic.route_.latency);
}

void Packet::fire() {
  using Kind = NicContext::Completion::Kind;
  if (stage_ == Stage::send_completion) {
    destination_->report({Kind::sent, sender_, completions_, false, {}});
  } else if (stage_ == Stage::grant) {
    destination_->report({Kind::granted, sender_, 0, false, {}});
  } else {
    Nic& receiver = destination_->nic_;
    if (stage_ == Stage::wire) {
      // The receiving interface takes one message at a time.
      const TimePoint now = receiver.engine_.now();
      const TimePoint taken = std::max(now, receiver.next_reception_);
      receiver.next_reception_ = taken + receiver.parameters_.nic_gap;
      if (taken > now) {
        stage_ = Stage::receive_queue;
        receiver.engine_.schedule(*this, taken);
        return;
      }
    }
    if (stage_ != Stage::matched) {
      const HardwareMatcher::Time time = destination_->listener_.arrived(envelope_);
      if (time.latency + time.work > Duration{}) {
        // The latency overlaps with the messages before; the unit works on one at a time, and reports in order.
        receiver.matching_until_ =
            std::max(receiver.engine_.now() + time.latency, receiver.matching_until_) + time.work;
        stage_ = Stage::matched;
        receiver.engine_.schedule(*this, receiver.matching_until_);
        return;
      }
    }
    ++receiver.messages_received_;
    if (envelope_.number != 0) [[unlikely]] {
      if (TraceSink* const trace = engine_.trace(); trace != nullptr) {
        trace->message_arrived(envelope_.number, receiver.receive_label_, engine_.now(), receiver.parameters_.nic_gap);
      }
    }
    destination_->report({Kind::received, sender_, 0, wants_grant_, envelope_});
  }
  sender_->local_.nic_.give_back(*this);
}

NicContext::NicContext(Nic& nic, ActivityListener& listener, std::string_view name, int process)
    : nic_(nic), listener_(listener), send_state_(nic.engine(), nic.host(), std::string(name) + "/send"),
      receive_state_(nic.engine(), nic.host(), std::string(name) + "/receive"), label_(std::string(name), process),
      queue_label_(std::string(name) + "/completions", process) {}

void NicContext::report(const Completion& completion) {
  completions_.push_back(completion);
  show_queue();
  listener_.activity(*this);
}

void NicContext::show_queue() const {
  if (TraceSink* const trace = nic_.engine().trace(); trace != nullptr) [[unlikely]] {
    trace->length(queue_label_, nic_.engine().now(), static_cast<std::int64_t>(completions_.size()));
  }
}

int NicContext::poll(SimThread& self, CompletionHandler& handler) {
  look(self);
  return drain(self, handler);
}

void NicContext::look(SimThread& self) {
  receive_state_.store_protected(self, Category::poll_idle);
  self.spend(nic_.parameters().empty_poll, Category::poll_idle);
}

int NicContext::drain(SimThread& self, CompletionHandler& handler) {
  int handled = 0;
  for (; handled < nic_.parameters().poll_batch; self.settle()) {
    if (completions_.empty()) {
      break;
    }
    const Completion completion = completions_.front();
    completions_.pop_front();
    show_queue();
    ++handled;
    self.owe(nic_.parameters().completion, Category::completion);
    switch (completion.kind) {
    case Completion::Kind::sent:
      completion.endpoint->outstanding_ -= completion.count;
      break;
    case Completion::Kind::granted:
      completion.endpoint->credits_ = nic_.parameters().flow_control_window;
      break;
    case Completion::Kind::received:
      handler.receive(self, completion.envelope);
      if (completion.wants_grant) {
        completion.endpoint->grant(self);
      }
      break;
    }
  }
  return handled;
}

} // namespace contend
