#include "models/nic/nic.hpp"

#include "models/nic/rdma.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

namespace contend {

NicContext& Nic::create_context(ActivityListener& listener, std::string_view name, int process) {
  contexts_.push_back(std::make_unique<NicContext>(*this, listener, name, process));
  return *contexts_.back();
}

std::unique_ptr<Connection> Nic::connect(TransportContext& local, TransportContext& remote) {
  return std::make_unique<Endpoint>(dynamic_cast<NicContext&>(local), dynamic_cast<NicContext&>(remote), credits_);
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

BulkTransfer& Nic::take_bulk() {
  if (free_bulks_.empty()) {
    bulks_.push_back(std::make_unique<BulkTransfer>(engine_));
    free_bulks_.push_back(bulks_.back().get());
  }
  BulkTransfer& bulk = *free_bulks_.back();
  free_bulks_.pop_back();
  return bulk;
}

void Nic::share_wires(FlowNetwork& flows) {
  flows_ = &flows;
  out_ = flows.add_link(route_.bytes_per_second);
  in_ = flows.add_link(route_.bytes_per_second);
}

void Nic::start_flow(FlowListener& listener, const Nic& to, std::int64_t bytes, std::int64_t packets) {
  const std::array<FlowNetwork::Link, 2> route{out_, to.in_};
  const Duration least = packets * parameters_.nic_gap;
  const double limit =
      least > Duration{} ? static_cast<double>(bytes) / least.in_seconds() : std::numeric_limits<double>::infinity();
  flows_->start(listener, route, bytes, limit);
}

std::int64_t Nic::packets_for(std::int64_t bytes) const {
  return std::max<std::int64_t>(1, (bytes + parameters_.mtu_bytes - 1) / parameters_.mtu_bytes);
}

Duration Nic::serialization(std::int64_t bytes) const {
  return Duration::seconds(static_cast<double>(bytes) / route_.bytes_per_second);
}

TimePoint Nic::depart(TimePoint ready, Duration occupancy) {
  const TimePoint departure = std::max(ready, next_departure_);
  next_departure_ = departure + occupancy;
  return departure;
}

TimePoint Nic::depart_besides(std::string_view what, TimePoint ready, Duration occupancy, Duration on_wire) {
  const TimePoint departure = depart(ready, occupancy);
  if (TraceSink* const trace = engine_.trace(); trace != nullptr) [[unlikely]] {
    trace->interface_occupied(send_label_, what, ready, departure, occupancy, on_wire);
  }
  return departure;
}

TimePoint Nic::take(Duration occupancy) {
  last_reception_ = std::max(engine_.now(), last_reception_ + occupancy);
  return last_reception_;
}

Endpoint::Endpoint(NicContext& local, NicContext& remote, const CreditParameters& credits)
    : local_(local), remote_(remote), fifo_(local.take_fifo()), credit_parameters_(credits),
      credits_(credits.buffers > 0 ? credits.buffers : local.nic().parameters().flow_control_window),
      posted_buffers_(credits.buffers) {}

void Endpoint::pair(Endpoint& one, Endpoint& other) {
  one.reverse_ = &other;
  other.reverse_ = &one;
}

int Endpoint::send_queue_depth() const {
  return uses_credits() && !credit_parameters_.written ? credit_parameters_.buffers
                                                       : local_.nic_.parameters_.send_queue_depth;
}

bool Endpoint::has_room() const {
  const NicParameters& parameters = local_.nic_.parameters_;
  const bool limited = uses_credits() || parameters.flow_control_window > 0;
  return outstanding_ < send_queue_depth() && (!limited || credits_ > 0);
}

/// Takes one of the messages that may be sent. Returns whether the peer is to be asked for a grant: like UCX's hard
/// threshold, when a quarter of the window is left; a grant restores all of it.
bool Endpoint::take_credit() {
  if (uses_credits()) {
    --credits_;
    return false;
  }
  const int window = local_.nic_.parameters_.flow_control_window;
  return window > 0 && --credits_ == window / 4;
}

int Endpoint::credits_to_take_along() { return credit_parameters_.written ? 0 : std::exchange(to_return_, 0); }

/// Schedules what the poster will find in its completion queue.
void Endpoint::report_after(TimePoint time, int completions, const Envelope* transfer) {
  Nic& nic = local_.nic_;
  Packet& report = nic.take_packet();
  report.stage_ = Packet::Stage::send_completion;
  report.destination_ = &local_;
  report.sender_ = this;
  report.burst_of_ = nullptr;
  report.completions_ = completions;
  report.transfer_over_ = transfer != nullptr;
  if (transfer != nullptr) {
    report.envelope_ = *transfer;
  }
  nic.engine_.schedule(report, time);
}

bool Endpoint::post(SimThread& self, const Envelope& envelope, std::int64_t wire_bytes) {
  Nic& nic = local_.nic_;
  const NicParameters& parameters = nic.parameters_;
  local_.send_state_.store_protected(self, Category::nic_post);
  if (!has_room()) {
    return false;
  }
  const TimePoint called = self.now();
  self.spend(parameters.post + parameters.doorbell, Category::nic_post);
  ++outstanding_;
  ++nic.messages_sent_;

  const std::int64_t packets =
      nic.packets_for(wire_bytes - parameters.packet_bytes); // the first one's header is counted
  const Passage passage = local_.send(nic.engine_.now() + parameters.wqe_fetch,
                                      wire_bytes + (packets - 1) * parameters.packet_bytes, packets, fifo_);

  Packet& packet = nic.take_packet();
  packet.stage_ = Packet::Stage::wire;
  packet.destination_ = &remote_;
  packet.sender_ = this;
  packet.burst_of_ = nullptr;
  packet.occupancy_ = passage.interface_busy;
  packet.envelope_ = envelope;
  packet.envelope_.number = local_.trace_post(self, called, wire_bytes, passage);
  packet.wants_grant_ = take_credit();
  packet.credit_message_ = false;
  packet.credits_ = credits_to_take_along();
  packet.control_seen_ = std::exchange(control_to_return_, 0);
  nic.engine_.schedule(packet, passage.arrival);

  // The last work request that fits asks for a report too, or a short queue would stay full for ever.
  if (++unreported_ >= parameters.send_completion_batch || outstanding_ == send_queue_depth()) {
    report_after(passage.arrival + nic.route_.latency, std::exchange(unreported_, 0),
                 nullptr); // the acknowledgement comes back
  }
  return true;
}

bool Endpoint::post_bulk(SimThread& self, Bulk kind, const Envelope& envelope, std::int64_t bytes) {
  Nic& nic = local_.nic_;
  const NicParameters& parameters = nic.parameters_;
  local_.send_state_.store_protected(self, Category::nic_post);
  if (kind == Bulk::send ? !has_room() : outstanding_ == send_queue_depth()) {
    return false;
  }
  self.spend(parameters.post + parameters.doorbell, Category::nic_post);
  ++outstanding_;
  ++nic.messages_sent_;

  constexpr std::int64_t most_bursts = 256; // of one transfer: the share of each is exact to 0.4 % of its size
  BulkTransfer& bulk = nic.take_bulk();
  bulk.poster_ = this;
  bulk.kind_ = kind;
  bulk.envelope_ = envelope;
  bulk.unsent_ = bytes;
  bulk.packets_left_ = nic.packets_for(bytes);
  bulk.burst_packets_ = (bulk.packets_left_ + most_bursts - 1) / most_bursts;
  bulk.completions_ = std::exchange(unreported_, 0) + 1; // the earlier ones are over as well by then
  bulk.wants_grant_ = kind == Bulk::send && take_credit();
  bulk.credits_ = kind == Bulk::send ? credits_to_take_along() : 0;
  bulk.control_seen_ = kind == Bulk::send ? std::exchange(control_to_return_, 0) : 0;
  if (kind != Bulk::read) {
    bulk.source_ = &nic;
    if (nic.flows_ != nullptr) {
      nic.engine_.schedule(bulk, nic.engine_.now() + parameters.wqe_fetch);
    } else {
      bulk.fire(); // work request and payload are fetched while the wire is busy with others
    }
    return true;
  }
  // The request travels to the peer's interface, which answers without its processor.
  const Duration on_wire = nic.serialization(parameters.packet_bytes);
  const TimePoint departure = nic.depart_besides("read request", nic.engine_.now() + parameters.wqe_fetch,
                                                 std::max(parameters.nic_gap, on_wire), on_wire);
  bulk.source_ = &remote_.nic_;
  const Duration fetch = nic.flows_ != nullptr ? remote_.nic_.parameters_.wqe_fetch : Duration{};
  nic.engine_.schedule(bulk, departure + on_wire + nic.route_.latency + fetch);
  return true;
}

/// Puts the next burst on the wire. The payload was asked for just in time for the end of the one before.
void BulkTransfer::fire() {
  Nic& nic = *source_;
  const NicParameters& parameters = nic.parameters_;
  if (nic.flows_ != nullptr) {
    const Nic& to = kind_ == Bulk::read ? poster_->local_.nic_ : poster_->remote_.nic_;
    nic.start_flow(*this, to, std::max<std::int64_t>(1, unsent_ + packets_left_ * parameters.packet_bytes),
                   packets_left_);
    return;
  }
  const std::int64_t packets = std::min(burst_packets_, packets_left_);
  const std::int64_t payload = std::min(unsent_, packets * parameters.mtu_bytes);
  packets_left_ -= packets;
  unsent_ -= payload;
  const Duration on_wire = nic.serialization(payload + packets * parameters.packet_bytes);
  const Duration occupancy = std::max(packets * parameters.nic_gap, on_wire);
  const TimePoint departure = nic.depart_besides("burst", nic.engine_.now() + parameters.wqe_fetch, occupancy, on_wire);

  Packet& burst = packet();
  burst.last_burst_ = packets_left_ == 0;
  burst.occupancy_ = occupancy;
  nic.engine_.schedule(burst, departure + on_wire + nic.route_.latency);
  if (packets_left_ > 0) {
    nic.engine_.schedule(*this, departure + occupancy - parameters.wqe_fetch);
  }
}

/// One that stands for a part of this transfer.
Packet& BulkTransfer::packet() {
  Packet& burst = poster_->local_.nic_.take_packet();
  burst.stage_ = Packet::Stage::wire;
  burst.destination_ = kind_ == Bulk::read ? &poster_->local_ : &poster_->remote_;
  burst.sender_ = poster_;
  burst.burst_of_ = this;
  burst.credit_message_ = false;
  return burst;
}

/// The last byte is on the wire; the receiving one has been shared as well.
void BulkTransfer::flow_finished() {
  Packet& end = packet();
  end.last_burst_ = true;
  end.occupancy_ = Duration{};
  source_->engine_.schedule(end, source_->engine_.now() + source_->route_.latency);
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
  packet.burst_of_ = nullptr;
  nic.engine_.schedule(packet, nic.engine_.now() + parameters.wqe_fetch + nic.route_.latency);
}

/// The peer's end has handled one of our messages: its buffer is free, and the message has brought credits along.
/// (btl_openib_handle_incoming, mca_btl_openib_endpoint_post_rr, send_credits in Open MPI 4.0.)
void Endpoint::consumed(SimThread& self, bool credit_message, int credits, int control_seen) {
  credits_ += credits;
  control_sent_ -= control_seen;
  credit_message ? ++control_received_ : --posted_buffers_;
  if (posted_buffers_ <= credit_parameters_.low_watermark) {
    to_return_ += credit_parameters_.buffers - posted_buffers_;
    posted_buffers_ = credit_parameters_.buffers;
  }
  if (control_received_ >= credit_parameters_.reserve / 4) {
    control_to_return_ += std::exchange(control_received_, 0);
  }
  if (credits_ > credit_parameters_.buffers || posted_buffers_ < 0 || control_sent_ < 0 ||
      control_sent_ >= credit_parameters_.reserve) {
    throw InvariantViolation("a connection has " + std::to_string(credits_) + " send credits, " +
                             std::to_string(posted_buffers_) + " of " + std::to_string(credit_parameters_.buffers) +
                             " receive buffers, and " + std::to_string(control_sent_) + " credit messages under way");
  }
  if (to_return_ >= credit_parameters_.window && control_sent_ < credit_parameters_.reserve - 1) {
    send_credits(self);
  }
}

/// A message of ours has left its slot of the mailbox: when enough have, the peer's number of credits is written.
void Endpoint::free_slot(SimThread& self) {
  if (++to_return_ < credit_parameters_.window) {
    return;
  }
  Nic& nic = local_.nic_;
  const NicParameters& parameters = nic.parameters_;
  self.spend(parameters.post + parameters.doorbell, Category::nic_post);
  Packet& packet = nic.take_packet();
  packet.stage_ = Packet::Stage::credit_write;
  packet.destination_ = &remote_;
  packet.sender_ = this;
  packet.burst_of_ = nullptr;
  packet.credits_ = std::exchange(to_return_, 0);
  nic.engine_.schedule(packet, nic.engine_.now() + parameters.wqe_fetch + nic.route_.latency);
}

/// A message for credits alone; it has a work request and a receive buffer of its own.
void Endpoint::send_credits(SimThread& self) {
  Nic& nic = local_.nic_;
  const NicParameters& parameters = nic.parameters_;
  self.spend(parameters.post + parameters.doorbell, Category::nic_post);
  ++control_sent_;
  const Duration on_wire = nic.serialization(parameters.packet_bytes);
  const Duration occupancy = std::max(parameters.nic_gap, on_wire);
  const TimePoint departure =
      nic.depart_besides("credits", nic.engine_.now() + parameters.wqe_fetch, occupancy, on_wire);
  Packet& packet = nic.take_packet();
  packet.stage_ = Packet::Stage::wire;
  packet.destination_ = &remote_;
  packet.sender_ = this;
  packet.burst_of_ = nullptr;
  packet.occupancy_ = occupancy;
  packet.envelope_.number = 0;
  packet.wants_grant_ = false;
  packet.credit_message_ = true;
  packet.credits_ = std::exchange(to_return_, 0);
  packet.control_seen_ = std::exchange(control_to_return_, 0);
  nic.engine_.schedule(packet, departure + on_wire + nic.route_.latency);
}

void Packet::fire() {
  using Kind = NicContext::Completion::Kind;
  if (stage_ == Stage::send_completion) {
    destination_->report(
        {transfer_over_ ? Kind::transferred : Kind::sent, sender_, completions_, false, 0, 0, envelope_, nullptr});
  } else if (stage_ == Stage::grant) {
    destination_->report({Kind::granted, sender_, 0, false, 0, 0, {}, nullptr});
  } else if (stage_ == Stage::credit_write) {
    Endpoint& credited = *sender_->reverse_;
    credited.credits_ += credits_;
    if (credited.credits_ > credited.credit_parameters_.buffers) {
      throw InvariantViolation("a connection has " + std::to_string(credited.credits_) + " credits for a mailbox of " +
                               std::to_string(credited.credit_parameters_.buffers) + " slots");
    }
    destination_->listener_.activity(*destination_); // who rests may have something to send
  } else {
    Nic& receiver = destination_->nic_;
    if (stage_ == Stage::wire) {
      const TimePoint taken = receiver.take(occupancy_);
      show_reception(taken);
      if (taken > receiver.engine_.now()) {
        stage_ = Stage::receive_queue;
        receiver.engine_.schedule(*this, taken);
        return;
      }
    }
    const bool new_message = burst_of_ == nullptr && !credit_message_;
    if (new_message && stage_ != Stage::matched) {
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
    arrive();
  }
  sender_->local_.nic_.give_back(*this);
}

/// The receiving interface is busy with the packet until `taken`.
void Packet::show_reception(TimePoint taken) const {
  const Nic& receiver = destination_->nic_;
  TraceSink* const trace = receiver.engine_.trace();
  if (trace == nullptr) [[likely]] {
    return;
  }
  const TimePoint begin = taken - occupancy_;
  if (burst_of_ == nullptr && !credit_message_) {
    trace->message_arrived(envelope_.number, receiver.receive_label_, begin, occupancy_);
  } else {
    trace->interface_occupied(receiver.receive_label_, credit_message_ ? "credits" : "burst", begin, begin, occupancy_,
                              Duration{});
  }
}

void Packet::arrive() {
  using Kind = NicContext::Completion::Kind;
  if (burst_of_ == nullptr) {
    if (!credit_message_) {
      ++destination_->nic_.messages_received_;
    }
    destination_->report({credit_message_ ? Kind::credited : Kind::received, sender_, 0, wants_grant_, credits_,
                          control_seen_, envelope_, nullptr});
    return;
  }
  if (!last_burst_) {
    return;
  }
  BulkTransfer& bulk = *burst_of_;
  Engine& engine = destination_->nic_.engine_;
  ++destination_->nic_.messages_received_;
  if (bulk.kind_ == Bulk::send) {
    destination_->report(
        {Kind::received, sender_, 0, bulk.wants_grant_, bulk.credits_, bulk.control_seen_, bulk.envelope_, nullptr});
  }
  const Duration way_back = bulk.kind_ == Bulk::read ? Duration{} : destination_->nic_.route_.latency;
  sender_->report_after(engine.now() + way_back, bulk.completions_, &bulk.envelope_);
  sender_->local_.nic_.give_back(bulk);
}

NicContext::NicContext(Nic& nic, ActivityListener& listener, std::string_view name, int process)
    : nic_(nic), listener_(listener), send_state_(nic.engine(), nic.host(), std::string(name) + "/send"),
      receive_state_(nic.engine(), nic.host(), std::string(name) + "/receive"),
      next_departures_(static_cast<std::size_t>(nic.parameters().injection_fifos)), label_(std::string(name), process),
      queue_label_(std::string(name) + "/completions", process) {}

void NicContext::report(const Completion& completion) {
  completions_.push_back(completion);
  show_queue();
  listener_.activity(*this);
  if (sleeper_ != nullptr) {
    std::exchange(sleeper_, nullptr)->resume();
  }
}

void NicContext::show_queue() const {
  if (TraceSink* const trace = nic_.engine().trace(); trace != nullptr) [[unlikely]] {
    trace->length(queue_label_, nic_.engine().now(), static_cast<std::int64_t>(completions_.size()));
  }
}

/// The interface serves its contexts, each at its own pace, one message at a time.
Passage NicContext::send(TimePoint ready, std::int64_t bytes, std::int64_t packets, std::size_t fifo) {
  Passage passage;
  passage.on_wire = nic_.serialization(bytes);
  passage.interface_busy = std::max(packets * nic_.parameters_.nic_gap, passage.on_wire);
  passage.context_busy = std::max(nic_.parameters_.context_gap, passage.on_wire);
  passage.ready = ready;
  passage.served = nic_.depart(ready, passage.interface_busy); // the pace of the interface, then of the context
  passage.departure = std::max(passage.served, next_departures_[fifo]);
  next_departures_[fifo] = passage.departure + passage.context_busy;
  passage.arrival = passage.departure + passage.on_wire + nic_.route_.latency;
  return passage;
}

MessageNumber NicContext::trace_post(const SimThread& self, TimePoint called, std::int64_t bytes,
                                     const Passage& passage) const {
  if (TraceSink* const trace = nic_.engine_.trace(); trace != nullptr) [[unlikely]] {
    return trace->message_posted(self, {nic_.send_label_, label_, bytes, called, passage.ready, passage.served,
                                        passage.departure, passage.arrival, passage.interface_busy,
                                        passage.context_busy, passage.on_wire});
  }
  return 0;
}

int NicContext::poll(SimThread& self, CompletionHandler& handler) {
  look(self);
  return drain(self, handler);
}

int NicContext::poll_until_report(SimThread& self, CompletionHandler& handler) {
  look(self); // the line may have to come first
  if (completions_.empty()) {
    const TimePoint second = self.now();
    look(self);
    const TimePoint asleep = self.now();
    if (const Duration period = asleep - second; completions_.empty() && period > Duration{}) {
      sleeper_ = &self;
      self.wait(*this, Category::poll_idle);
      if (const Duration begun = (self.now() - asleep) % period; begun > Duration{}) {
        self.spend(period - begun, Category::poll_idle);
      }
    }
  }
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
    const bool one_sided = completion.kind == Completion::Kind::rdma;
    self.owe(one_sided ? completion.rdma->parameters().completion : nic_.parameters().completion, Category::completion);
    switch (completion.kind) {
    case Completion::Kind::sent:
      completion.endpoint->outstanding_ -= completion.count;
      break;
    case Completion::Kind::transferred:
      completion.endpoint->outstanding_ -= completion.count;
      handler.transferred(self, completion.envelope);
      break;
    case Completion::Kind::granted:
      completion.endpoint->credits_ = nic_.parameters().flow_control_window;
      break;
    case Completion::Kind::rdma:
      completion.rdma->retire(self, completion.count);
      break;
    case Completion::Kind::received:
      handler.receive(self, completion.envelope);
      if (completion.wants_grant) {
        completion.endpoint->grant(self);
      }
      [[fallthrough]];
    case Completion::Kind::credited:
      if (completion.endpoint->uses_credits()) {
        self.settle();
        Endpoint& end = *completion.endpoint->reverse_;
        if (end.credit_parameters_.written) {
          end.free_slot(self);
        } else {
          end.consumed(self, completion.kind == Completion::Kind::credited, completion.credits,
                       completion.control_seen);
        }
      }
      break;
    }
  }
  return handled;
}

} // namespace contend
