#include "models/nic/tcp.hpp"

#include "models/nic/message_trace.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace contend {

namespace {

constexpr std::int64_t largest_packet = 65536; ///< bytes, of the loopback device (GSO_LEGACY_MAX_SIZE of Linux)
/// Bytes that a receiver takes packets to have until it has seen larger ones (TCP_MIN_RCVMSS of Linux).
constexpr std::int64_t expected_packet = 536;

std::int64_t packets_of(std::int64_t bytes) { return (bytes + largest_packet - 1) / largest_packet; }

Duration copying(const TcpParameters& parameters, std::int64_t bytes) {
  return Duration::seconds(static_cast<double>(bytes) / parameters.copy_bytes_per_second);
}

} // namespace

TcpContext& TcpTransport::create_context(ActivityListener& listener, std::string_view name, int process) {
  contexts_.push_back(std::make_unique<TcpContext>(*this, listener, name, process));
  return *contexts_.back();
}

std::unique_ptr<Connection> TcpTransport::connect(TransportContext& local, TransportContext& remote) {
  return std::make_unique<TcpStream>(dynamic_cast<TcpContext&>(local), dynamic_cast<TcpContext&>(remote));
}

TcpStream::TcpStream(TcpContext& local, TcpContext& remote)
    : local_(local), remote_(remote),
      sender_line_(local.transport_.engine(), local.transport_.host(), local.name_ + "/socket to " + remote.name_),
      receiver_line_(remote.transport_.engine(), remote.transport_.host(),
                     remote.name_ + "/socket from " + local.name_) {
  offered_ = room();
  ++remote.sockets_;
  local.pair(*this);
}

bool TcpStream::on_one_host() const { return &local_.transport_.host() == &remote_.transport_.host(); }

/// A message larger than the buffers goes out alone.
bool TcpStream::fit_into_peers_buffer(std::int64_t bytes) const {
  return buffered_ == 0 || buffered_ + bytes <= local_.transport_.parameters().buffer_bytes;
}

bool TcpStream::queues(std::int64_t bytes) const {
  const TcpParameters& parameters = local_.transport_.parameters();
  return parameters.queued_send_call > Duration{} && on_one_host() &&
         (!queued_.empty() || (parameters.window_packets > 0 && unacknowledged_ >= parameters.window_packets) ||
          !fit_into_peers_buffer(bytes + parameters.packet_bytes));
}

bool TcpStream::fits(std::int64_t bytes) const {
  const TcpParameters& parameters = local_.transport_.parameters();
  if (queues(bytes)) {
    return queued_bytes_ == 0 || queued_bytes_ + bytes <= parameters.send_queue_bytes;
  }
  return fit_into_peers_buffer(bytes + parameters.packet_bytes);
}

int TcpStream::open_window() {
  unacknowledged_ = 0;
  unacknowledged_bytes_ = 0;
  std::int64_t bytes = 0;
  for (; !queued_.empty() && fit_into_peers_buffer(queued_.front().bytes); queued_.pop_front()) {
    Segment& segment = queued_.front();
    segment.packets = static_cast<int>(packets_of(bytes + segment.bytes) - packets_of(bytes));
    bytes += segment.bytes;
    buffered_ += segment.bytes;
    put_into_socket(segment);
  }
  largest_packet_ = std::max(largest_packet_, std::min(bytes, largest_packet));
  queued_bytes_ -= bytes;
  offered_ = room();
  if (bytes > 0) {
    remote_.listener_.activity(remote_);
  }
  return unacknowledged_;
}

bool TcpStream::post(SimThread& self, const Envelope& envelope, std::int64_t wire_bytes) {
  return send(self, {envelope, wire_bytes, true});
}

bool TcpStream::post_bulk(SimThread& self, Bulk kind, const Envelope& envelope, std::int64_t bytes) {
  if (kind == Bulk::read) {
    throw std::logic_error("a socket does not read the memory of its peer");
  }
  if (!send(self, {envelope, bytes, kind == Bulk::send})) {
    return false;
  }
  local_.written_.push_back(envelope);
  local_.count_incoming(1);
  local_.listener_.activity(local_);
  return true;
}

bool TcpStream::met(const SimThread& self, const Use& use, TimePoint since) const {
  return use.until > since && use.core != self.core() && on_one_host();
}

bool TcpStream::acknowledges() const {
  const TcpParameters& parameters = remote_.transport_.parameters();
  // What waits in the sender's socket would be let out by a timer at last, or a part of it by the room that there is.
  const int wanted = is_two_way_ && parameters.window_packets != 1 ? 2 : 1;
  const bool emptied = readable_.empty() && (!queued_.empty() || unacknowledged_ >= wanted);
  const bool is_behind = unacknowledged_bytes_ > std::max(expected_packet, largest_packet_);
  const bool has_much_more_room =
      2 * offered_ <= parameters.buffer_bytes && room() >= std::max<std::int64_t>(2 * offered_, 1);
  return emptied || is_behind || has_much_more_room;
}

void TcpStream::take_room(Segment& segment) {
  segment.overhead = local_.transport_.parameters().packet_bytes;
  segment.packets = static_cast<int>(packets_of(segment.bytes));
  buffered_ += segment.bytes + segment.overhead;
  offered_ -= segment.bytes + segment.overhead;
}

std::int64_t TcpStream::room() const { return remote_.transport_.parameters().buffer_bytes - buffered_; }

Duration TcpStream::moved(const SimThread& self, int& last_core, Duration price) {
  const int before = std::exchange(last_core, self.core());
  return before >= 0 && before != self.core() ? price : Duration{};
}

bool TcpStream::send(SimThread& self, Segment segment) {
  const TcpParameters& parameters = local_.transport_.parameters();
  const TimePoint called = self.now();
  if (pays_for_look()) {
    sender_line_.store_protected(self, Category::nic_post);
  }
  self.settle();
  if (!fits(segment.bytes)) {
    saw_no_room(self.now());
    self.spend(parameters.full_send_call, Category::nic_post);
    self.leave_kernel();
    return false;
  }
  segment.envelope.number = trace_sent(self, called);
  if (queues(segment.bytes)) {
    join_queue(self, segment);
  } else {
    send_packet(self, segment);
  }
  return true;
}

void TcpStream::join_queue(SimThread& self, Segment segment) {
  const TcpParameters& parameters = local_.transport_.parameters();
  queued_bytes_ += segment.bytes;
  sent_at_ = self.now();
  self.owe(moved(self, sent_by_, parameters.moved_send), Category::nic_post);
  self.spend(parameters.queued_send_call + copying(parameters, segment.bytes), Category::nic_post);
  if (queues(segment.bytes)) {
    queued_.push_back(segment);
  } else { // the peer has acknowledged meanwhile, and would not be told of what stayed behind
    queued_bytes_ -= segment.bytes;
    take_room(segment);
    deliver(self, segment);
    self.spend(answer(self), Category::nic_post);
  }
  self.leave_kernel();
}

/// On one host the soft interrupt runs on this processor, up to the peer's socket and back.
void TcpStream::send_packet(SimThread& self, Segment segment) {
  const TcpParameters& parameters = local_.transport_.parameters();
  const TimePoint called = self.now();
  const TimePoint last_send = std::exchange(sent_at_, called);
  take_room(segment);
  const bool acknowledges = on_one_host() && opposite_ != nullptr && opposite_->unacknowledged_ > 0;
  const Duration there = parameters.send_call.scaled(on_one_host() ? parameters.arrival_share : 1.0);
  Duration back = parameters.send_call - there;
  self.owe(moved(self, sent_by_, parameters.moved_send), Category::nic_post);
  self.owe(met(self, used_, last_send) ? parameters.returned_send : Duration{}, Category::nic_post);
  self.owe(acknowledges ? parameters.acknowledging_send : Duration{}, Category::nic_post);
  self.spend(there + copying(parameters, segment.bytes), Category::nic_post);
  // An acknowledgment that finds this end in use is left to it.
  if (met(self, acknowledged_, called) && parameters.contended_send > parameters.returned_send) {
    back += local_.contention_.exponential(parameters.contended_send - parameters.returned_send);
  }
  if (on_one_host()) {
    deliver(self, segment);
  }
  self.spend(back + answer(self), Category::nic_post);
  self.leave_kernel();
  if (!on_one_host()) {
    take_off(segment);
  }
}

Duration TcpStream::answer(const SimThread& self) {
  if (opposite_ == nullptr) {
    return {};
  }
  const Duration let_out = local_.transport_.parameters().send_call * opposite_->open_window();
  opposite_->is_two_way_ = opposite_->is_two_way_ || opposite_->largest_packet_ > 0;
  opposite_->used_.extend(self.now() + let_out, self.core());
  return let_out;
}

void TcpStream::take_off(const Segment& segment) {
  if (free_flights_.empty()) {
    flights_.push_back(std::make_unique<Flight>(*this));
    free_flights_.push_back(flights_.back().get());
  }
  Flight& flight = *free_flights_.back();
  free_flights_.pop_back();
  flight.segment = segment;
  TcpTransport& transport = local_.transport_;
  Engine& engine = transport.engine();
  engine.schedule(flight, transport.wire().transmit(remote_.transport_.wire(), engine.now(), segment.bytes));
}

TcpStream::Flight::Flight(TcpStream& stream) : Event(stream.local_.transport_.engine()), stream_(stream) {}

void TcpStream::Flight::fire() {
  stream_.free_flights_.push_back(this);
  stream_.arrive(segment);
}

void TcpStream::put_into_socket(const Segment& segment) {
  if (readable_.empty()) {
    remote_.ready_.push_back(this);
  }
  readable_.push_back(segment);
  unacknowledged_ += segment.packets;
  unacknowledged_bytes_ += segment.bytes;
  largest_packet_ = std::max(largest_packet_, std::min(segment.bytes, largest_packet));
  remote_.count_incoming(1);
}

/// The soft interrupt runs on the sender's processor.
void TcpStream::deliver(SimThread& self, const Segment& segment) {
  receiver_line_.store_protected(self, Category::nic_post);
  self.settle();
  arrive(segment);
}

void TcpStream::arrive(const Segment& segment) {
  put_into_socket(segment);
  remote_.listener_.activity(remote_);
}

/// One receive call: takes what is there, up to the transport's buffer, and handles every message in it. Returns how many
/// messages and writes that were.
int TcpStream::read(SimThread& self, CompletionHandler& handler) {
  const TcpParameters& parameters = remote_.transport_.parameters();
  receiver_line_.store_protected(self, Category::completion);
  self.settle();
  std::int64_t bytes = 0;
  std::size_t messages = 0;
  while (messages < readable_.size() &&
         (messages == 0 || bytes + readable_[messages].bytes <= parameters.receive_bytes)) {
    bytes += readable_[messages].bytes;
    ++messages;
  }
  std::vector<Envelope>& taken = remote_.taken_;
  taken.clear();
  int packets = 0;
  for (std::size_t i = 0; i < messages; ++i) {
    const Segment& segment = readable_.front();
    if (segment.told) {
      taken.push_back(segment.envelope);
    }
    packets += segment.packets;
    buffered_ -= segment.bytes + segment.overhead;
    readable_.pop_front();
  }
  remote_.count_incoming(-static_cast<int>(messages));
  if (!readable_.empty()) {
    remote_.ready_.push_back(this); // level-triggered: it is reported again
  }
  Duration call = parameters.receive_call + parameters.receive_packet * packets +
                  moved(self, read_by_, parameters.moved_receive) + copying(parameters, bytes);
  if (acknowledges()) {
    call += (on_one_host() ? parameters.acknowledge : Duration{}) + parameters.send_call * open_window();
    acknowledged_.extend(self.now() + call, self.core());
  }
  used_.extend(self.now() + call, self.core());
  local_.listener_.activity(local_); // there is room again
  self.spend(call, Category::completion);
  self.leave_kernel();
  for (const Envelope& envelope : taken) {
    handler.receive(self, envelope);
    self.settle();
  }
  return static_cast<int>(messages);
}

TcpContext::TcpContext(TcpTransport& transport, ActivityListener& listener, std::string_view name, int process)
    : transport_(transport), listener_(listener), name_(name), incoming_label_(name_ + "/incoming", process),
      contention_(transport.engine().stream(name_ + "/contention")) {}

void TcpContext::count_incoming(int more) {
  incoming_ += more;
  show_incoming(transport_.engine(), incoming_label_, incoming_);
}

void TcpContext::look(SimThread& self) {
  const TcpParameters& parameters = transport_.parameters();
  const auto again = std::ranges::count_if(reported_, [](const TcpStream* one) { return one->readable_.empty(); });
  reported_.clear();
  self.spend(parameters.poll_call + parameters.poll_socket * sockets_ + parameters.poll_event * again,
             Category::poll_idle);
  self.leave_kernel();
}

void TcpContext::pair(TcpStream& stream) {
  std::vector<TcpStream*>& theirs = stream.remote_.unpaired_;
  const auto other = std::ranges::find(theirs, this, [](const TcpStream* one) { return &one->remote_; });
  if (other == theirs.end()) {
    unpaired_.push_back(&stream);
    return;
  }
  stream.opposite_ = *other;
  (*other)->opposite_ = &stream;
  theirs.erase(other);
}

int TcpContext::drain(SimThread& self, CompletionHandler& handler) {
  int handled = 0;
  for (std::size_t left = written_.size(); left > 0; --left) {
    const Envelope envelope = written_.front();
    written_.pop_front();
    count_incoming(-1);
    handler.transferred(self, envelope);
    self.settle();
    ++handled;
  }
  // Those that the kernel has named; what arrives meanwhile is for the next poll.
  for (std::size_t left = ready_.size(); left > 0 && !ready_.empty(); --left) {
    TcpStream& stream = *ready_.front();
    ready_.pop_front();
    self.owe(transport_.parameters().poll_event + transport_.parameters().dispatch, Category::completion);
    reported_.push_back(&stream);
    handled += stream.read(self, handler);
  }
  return handled;
}

} // namespace contend
