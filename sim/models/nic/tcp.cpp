#include "models/nic/tcp.hpp"

#include "models/nic/message_trace.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace contend {

namespace {

constexpr std::int64_t largest_packet = 65536; ///< bytes, of the loopback device (GSO_LEGACY_MAX_SIZE of Linux)

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
  ++remote.sockets_;
}

/// A message larger than the buffers goes out alone.
bool TcpStream::fit_into_peers_buffer(std::int64_t bytes) const {
  return buffered_ == 0 || buffered_ + bytes <= local_.transport_.parameters().buffer_bytes;
}

bool TcpStream::queues(std::int64_t bytes) const {
  const TcpParameters& parameters = local_.transport_.parameters();
  const bool same_host = &local_.transport_.host() == &remote_.transport_.host();
  return parameters.queued_send_call > Duration{} && same_host &&
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
  std::int64_t bytes = 0;
  for (; !queued_.empty() && fit_into_peers_buffer(queued_.front().bytes); queued_.pop_front()) {
    bytes += queued_.front().bytes;
    buffered_ += queued_.front().bytes;
    readable_.push_back(queued_.front());
    remote_.count_incoming(1);
  }
  queued_bytes_ -= bytes;
  unacknowledged_ = static_cast<int>((bytes + largest_packet - 1) / largest_packet);
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

/// The peer, on the same host, has polled or read on another core since the last send, or reads now.
bool TcpStream::contended(const SimThread& self) {
  const TimePoint before = std::exchange(sent_at_, self.now());
  const bool looked = remote_.looks_ != std::exchange(seen_looks_, remote_.looks_) ||
                      remote_.skipped_look_at_ > before || read_until_ > before;
  return looked && remote_.looked_on_ != self.core() && &local_.transport_.host() == &remote_.transport_.host();
}

Duration TcpStream::moved(const SimThread& self, int& last_core, Duration price) {
  const int before = std::exchange(last_core, self.core());
  return before >= 0 && before != self.core() ? price : Duration{};
}

bool TcpStream::send(SimThread& self, Segment segment) {
  const std::int64_t bytes = segment.bytes;
  TcpTransport& transport = local_.transport_;
  const TcpParameters& parameters = transport.parameters();
  const TimePoint called = self.now();
  if (pays_for_look()) {
    sender_line_.store_protected(self, Category::nic_post);
  }
  self.settle();
  if (!fits(bytes)) {
    saw_no_room(self.now());
    self.spend(parameters.full_send_call, Category::nic_post);
    self.leave_kernel();
    return false;
  }
  const bool same_host = &transport.host() == &remote_.transport_.host();
  const bool waits = queues(bytes);
  segment.overhead = waits ? 0 : parameters.packet_bytes;
  (waits ? queued_bytes_ : buffered_) += bytes + segment.overhead;
  segment.envelope.number = trace_sent(self, called);
  const bool beside_another = contended(self) && parameters.contended_send > Duration{} && !waits;
  const Duration beside = beside_another ? local_.contention_.exponential(parameters.contended_send) : Duration{};
  const Duration fetched = moved(self, sent_by_, parameters.moved_send);
  const Duration call = waits ? parameters.queued_send_call : parameters.send_call;
  self.spend(call + fetched + beside + copying(parameters, bytes), Category::nic_post);
  self.leave_kernel();
  if (waits && queues(bytes)) {
    queued_.push_back(segment);
    return true;
  }
  if (waits) { // the peer has read meanwhile, and would not be told of what stayed behind
    segment.overhead = parameters.packet_bytes;
    queued_bytes_ -= bytes;
    buffered_ += bytes + segment.overhead;
  }
  if (same_host) {
    ++unacknowledged_;
    // The soft interrupt has run on this processor: the data is in the peer's socket.
    receiver_line_.store_protected(self, Category::nic_post);
    self.settle();
    arrive(segment);
    return true;
  }
  if (free_flights_.empty()) {
    flights_.push_back(std::make_unique<Flight>(*this));
    free_flights_.push_back(flights_.back().get());
  }
  Flight& flight = *free_flights_.back();
  free_flights_.pop_back();
  flight.segment = segment;
  Engine& engine = transport.engine();
  engine.schedule(flight, transport.wire().transmit(remote_.transport_.wire(), engine.now(), bytes));
  return true;
}

TcpStream::Flight::Flight(TcpStream& stream) : Event(stream.local_.transport_.engine()), stream_(stream) {}

void TcpStream::Flight::fire() {
  stream_.free_flights_.push_back(this);
  stream_.arrive(segment);
}

void TcpStream::arrive(const Segment& segment) {
  if (readable_.empty()) {
    remote_.ready_.push_back(this);
  }
  readable_.push_back(segment);
  remote_.count_incoming(1);
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
  for (std::size_t i = 0; i < messages; ++i) {
    if (readable_.front().told) {
      taken.push_back(readable_.front().envelope);
    }
    buffered_ -= readable_.front().bytes + readable_.front().overhead;
    readable_.pop_front();
  }
  remote_.count_incoming(-static_cast<int>(messages));
  const int packets = open_window();
  if (!readable_.empty()) {
    remote_.ready_.push_back(this); // level-triggered: it is reported again
  }
  local_.listener_.activity(local_); // there is room again
  const Duration fetched = moved(self, read_by_, parameters.moved_receive);
  const Duration call = parameters.receive_call + parameters.send_call * packets + fetched + copying(parameters, bytes);
  read_until_ = self.now() + call;
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
  self.settle(); // senders see when a look begins
  ++looks_;
  looked_on_ = self.core();
  self.spend(parameters.poll_call + parameters.poll_socket * sockets_, Category::poll_idle);
  self.leave_kernel();
}

void TcpContext::skipped_look(const SimThread& self, TimePoint begin) {
  skipped_look_at_ = std::max(skipped_look_at_, begin);
  looked_on_ = self.core();
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
    self.owe(transport_.parameters().dispatch, Category::completion);
    handled += stream.read(self, handler);
  }
  return handled;
}

} // namespace contend
