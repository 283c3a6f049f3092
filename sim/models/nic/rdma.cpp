#include "models/nic/rdma.hpp"

#include <algorithm>

namespace contend {

namespace {

constexpr std::int64_t atomic_operands_bytes = 16; ///< operand and comparand
constexpr std::int64_t atomic_result_bytes = 8;

bool is_read(const RdmaRequest& request) { return request.kind != RdmaRequest::Kind::put; }

bool is_atomic(const RdmaRequest& request) {
  return request.kind == RdmaRequest::Kind::fetch_add || request.kind == RdmaRequest::Kind::compare_swap;
}

} // namespace

/// An operation on its way to the target and back.
class RdmaTransfer final : public Event, private FlowListener, private Offload {
public:
  explicit RdmaTransfer(RdmaEndpoint& endpoint) : Event(endpoint.local_.nic().engine()), endpoint_(endpoint) {}
  void fire() override;
  /// A large put whose wires are shared as flows: the context works on one descriptor at a time.
  void queue(RdmaEndpoint::Operation& operation, TimePoint ready);
  void start(RdmaEndpoint::Operation& operation, const Passage& passage) {
    operation_ = &operation;
    occupancy_ = passage.interface_busy;
    go_on(Stage::request, passage.arrival);
  }

private:
  enum class Stage { descriptor, request, accepted, atomic, read, response, response_accepted, acknowledgement };

  void go_on(Stage stage, TimePoint date) {
    stage_ = stage;
    endpoint_.local_.nic().engine().schedule(*this, date);
  }
  TimePoint take(Nic& nic);
  void serve(TimePoint now);
  void respond(TimePoint ready, std::int64_t bytes);
  void execute();
  void begin(TimePoint earliest) override;
  void flow_finished() override;

  RdmaEndpoint& endpoint_;
  RdmaEndpoint::Operation* operation_ = nullptr;
  Stage stage_ = Stage::request;
  Duration occupancy_{}; ///< of the wire, by the request or the response
  TimePoint ready_;      ///< the interface has the descriptor
};

void RdmaTransfer::queue(RdmaEndpoint::Operation& operation, TimePoint ready) {
  operation_ = &operation;
  occupancy_ = Duration{};
  ready_ = ready;
  endpoint_.local_.offloads().push(*this);
}

void RdmaTransfer::begin(TimePoint earliest) {
  go_on(Stage::descriptor, std::max({endpoint_.local_.nic().engine().now(), ready_, earliest}));
}

/// The last byte has passed the wires of both interfaces.
void RdmaTransfer::flow_finished() {
  NicContext& context = endpoint_.local_;
  const TimePoint now = context.nic().engine().now();
  if (stage_ == Stage::read) {
    const Nic& target = endpoint_.remote_.nic();
    go_on(Stage::response, now + target.port().latency() + target.port().bus(operation_->request.bytes));
    return;
  }
  go_on(Stage::request, now + context.nic().port().latency() + context.nic().port().bus(operation_->request.bytes));
  context.offloads().pop(now + endpoint_.parameters_.offload_gap);
}

void RdmaTransfer::fire() {
  Nic& origin = endpoint_.local_.nic();
  Nic& target = endpoint_.remote_.nic();
  const TimePoint now = origin.engine().now();
  switch (stage_) {
  case Stage::descriptor: {
    const std::int64_t bytes = operation_->request.bytes;
    origin.port().start_flow(*this, target.port(), endpoint_.wire_bytes(bytes), origin.port().packets_for(bytes));
    return;
  }
  case Stage::read: {
    const std::int64_t bytes = operation_->request.bytes;
    occupancy_ = Duration{};
    target.port().start_flow(*this, origin.port(), endpoint_.wire_bytes(bytes), target.port().packets_for(bytes));
    return;
  }
  case Stage::request:
    if (const TimePoint taken = take(target); taken > now) {
      go_on(Stage::accepted, taken);
      return;
    }
    [[fallthrough]];
  case Stage::accepted:
    serve(now);
    return;
  case Stage::atomic:
    execute();
    respond(now + endpoint_.parameters_.atomic_response, atomic_result_bytes);
    return;
  case Stage::response:
    if (const TimePoint taken = take(origin); taken > now) {
      go_on(Stage::response_accepted, taken);
      return;
    }
    break;
  case Stage::response_accepted:
  case Stage::acknowledgement:
    break;
  }
  operation_->done = true;
  endpoint_.free_transfers_.push_back(this);
  endpoint_.finished();
}

/// An interface takes the request, or the response. Returns when it is done with that.
TimePoint RdmaTransfer::take(Nic& nic) {
  const TimePoint taken = nic.port().take(occupancy_);
  if (TraceSink* const trace = nic.engine().trace(); trace != nullptr && occupancy_ > Duration{}) [[unlikely]] {
    const TimePoint begin = taken - occupancy_;
    if (stage_ == Stage::request) {
      trace->message_arrived(operation_->number, nic.port().receive_label(), begin, occupancy_);
    } else {
      trace->interface_occupied(nic.port().receive_label(), "response", begin, begin, occupancy_, Duration{});
    }
  }
  return taken;
}

/// The target's interface has taken the request.
void RdmaTransfer::serve(TimePoint now) {
  Nic& target = endpoint_.remote_.nic();
  const RdmaRequest& request = operation_->request;
  if (is_atomic(request)) {
    go_on(Stage::atomic, target.begin_atomic(now, endpoint_.parameters_.atomic_gap));
  } else if (is_read(request) && target.port().is_shared() && endpoint_.offloaded(request)) {
    go_on(Stage::read, now + endpoint_.parameters_.read_response + target.port().bus(request.bytes));
  } else if (is_read(request)) {
    respond(now + endpoint_.parameters_.read_response, request.bytes);
  } else {
    if (request.memory != nullptr) {
      request.memory->written(request);
    }
    go_on(Stage::acknowledgement, now + target.port().latency());
  }
}

/// Data goes back to the origin, paced by the target's interface.
void RdmaTransfer::respond(TimePoint ready, std::int64_t bytes) {
  Nic& target = endpoint_.remote_.nic();
  const std::int64_t packets = target.port().packets_for(bytes);
  const Duration on_wire = target.port().serialization(endpoint_.wire_bytes(bytes));
  occupancy_ = std::max(packets * target.parameters().nic_gap, on_wire);
  const TimePoint departure = target.port().depart_besides("response", ready, occupancy_, on_wire);
  go_on(Stage::response, departure + on_wire + target.port().latency() + 2 * target.port().bus(bytes));
}

void RdmaTransfer::execute() {
  if (operation_->request.word != nullptr) {
    operation_->request.change_word();
  }
}

void RdmaRequest::change_word() {
  old_value = *word;
  if (kind == Kind::fetch_add) {
    *word += operand;
  } else if (old_value == expected) {
    *word = operand;
  }
}

RdmaEndpoint::RdmaEndpoint(NicContext& local, NicContext& remote, const RdmaParameters& parameters)
    : local_(local), remote_(remote), fifo_(local.take_fifo()), parameters_(parameters) {}

RdmaEndpoint::~RdmaEndpoint() = default;

RdmaTransfer& RdmaEndpoint::take_transfer() {
  if (free_transfers_.empty()) {
    transfers_.push_back(std::make_unique<RdmaTransfer>(*this));
    free_transfers_.push_back(transfers_.back().get());
  }
  RdmaTransfer& transfer = *free_transfers_.back();
  free_transfers_.pop_back();
  return transfer;
}

/// Takes a descriptor and fills it in. The caller holds the lock of the context.
RdmaEndpoint::Operation& RdmaEndpoint::new_operation(SimThread& self) {
  if (free_descriptors_.empty()) {
    const Nic& nic = local_.nic();
    descriptors_.push_back(std::make_unique<CacheLine>(nic.engine(), nic.host(), local_.name() + "/descriptor"));
    free_descriptors_.push_back(descriptors_.back().get());
  }
  Operation& operation = operations_.emplace_back();
  operation.descriptor = free_descriptors_.back();
  free_descriptors_.pop_back();
  operation.descriptor->store_protected(self, parameters_.descriptor_lines, Category::nic_post);
  return operation;
}

bool RdmaEndpoint::post(SimThread& self, const RdmaRequest& request) {
  local_.send_state().store_protected(self, parameters_.post_lines, Category::nic_post);
  if (outstanding_ == local_.nic().parameters().send_queue_depth ||
      (is_read(request) && reads_ == parameters_.read_depth)) {
    return false;
  }
  const bool put = request.kind == RdmaRequest::Kind::put;
  const bool by_store = !offloaded(request);
  Duration cost = by_store ? parameters_.store_post : parameters_.offload_post;
  if (put && by_store) {
    cost += Duration::seconds(static_cast<double>(request.bytes) / parameters_.store_bytes_per_second);
  }
  const TimePoint called = self.now();
  Operation& operation = new_operation(self);
  self.spend(cost, Category::nic_post);
  ++outstanding_;
  reads_ += is_read(request) ? 1 : 0;
  operation.request = request;
  operation.stored = put && by_store;
  buffers_in_use_ += operation.stored ? 0 : 1;
  // The last one that fits asks for a report, or nothing would ever make room.
  const bool last = outstanding_ == local_.nic().parameters().send_queue_depth ||
                    (is_read(request) && reads_ == parameters_.read_depth);
  operation.reported = ++unreported_ >= parameters_.completion_batch || last || request.report;
  unreported_ = operation.reported ? 0 : unreported_;
  launch(self, called);
  return true;
}

bool RdmaEndpoint::request_report(SimThread& self) {
  if (unreported_ == 0) {
    return true;
  }
  local_.send_state().store_protected(self, parameters_.post_lines, Category::nic_post);
  if (outstanding_ == local_.nic().parameters().send_queue_depth) {
    return false;
  }
  const TimePoint called = self.now();
  Operation& operation = new_operation(self);
  self.spend(parameters_.store_post, Category::nic_post);
  ++outstanding_;
  unreported_ = 0;
  operation.empty = true;
  operation.reported = true;
  operation.stored = true;
  launch(self, called);
  return true;
}

/// Of a request or response with `payload`: its header, and those of further packets.
std::int64_t RdmaEndpoint::wire_bytes(std::int64_t payload) const {
  const Nic& nic = local_.nic();
  return parameters_.header_bytes + payload + (nic.port().packets_for(payload) - 1) * nic.parameters().packet_bytes;
}

void RdmaEndpoint::launch(const SimThread& self, TimePoint called) {
  Nic& nic = local_.nic();
  Operation& operation = operations_.back();
  const RdmaRequest& request = operation.request;
  const bool offload = offloaded(request);
  std::int64_t payload = 0; // a get's request has none
  if (request.kind == RdmaRequest::Kind::put) {
    payload = request.bytes;
  } else if (is_atomic(request)) {
    payload = atomic_operands_bytes;
  }
  const TimePoint ready = nic.engine().now() + (offload ? parameters_.offload_start : parameters_.store_start);
  if (offload && nic.port().is_shared() && request.kind == RdmaRequest::Kind::put) {
    take_transfer().queue(operation, ready + nic.port().bus(payload));
    return;
  }
  WorkRequest work{ready, wire_bytes(payload), nic.port().packets_for(payload), fifo_};
  work.bus = offload ? nic.port().bus(payload) : Duration{}; // the first byte is fetched within offload_start
  const Passage passage = local_.send(work);
  if (offload) {
    local_.hold_fifo(fifo_, passage.departure + passage.on_wire + parameters_.offload_gap);
  }
  operation.number = local_.trace_post(self, called, wire_bytes(payload), passage);
  take_transfer().start(operation, passage);
}

/// Some operation has become complete. What is complete without a gap from the oldest on can be reported.
void RdmaEndpoint::finished() {
  while (in_order_ < operations_.size() && operations_[in_order_].done) {
    ++unannounced_;
    if (operations_[in_order_++].reported) {
      NicContext::Completion completion;
      completion.kind = NicContext::Completion::Kind::rdma;
      completion.rdma = this;
      completion.count = unannounced_;
      unannounced_ = 0;
      local_.report(completion);
    }
  }
}

void RdmaEndpoint::retire(SimThread& self, int count) {
  for (; count > 0; --count) {
    // Others may go on meanwhile.
    operations_.front().descriptor->store_protected(self, parameters_.descriptor_lines, Category::completion);
    const Operation operation = operations_.front();
    operations_.pop_front();
    free_descriptors_.push_back(operation.descriptor);
    --in_order_;
    --outstanding_;
    buffers_in_use_ -= operation.stored ? 0 : 1;
    reads_ -= !operation.empty && is_read(operation.request) ? 1 : 0;
    if (operation.number != 0) [[unlikely]] {
      if (TraceSink* const trace = self.engine().trace(); trace != nullptr) {
        trace->message_matched(self, operation.number, self.now());
      }
    }
    if (operation.request.result != nullptr) {
      *operation.request.result = operation.request.old_value;
    }
    if (operation.request.listener != nullptr) {
      operation.request.listener->completed(self, operation.request);
    }
  }
}

} // namespace contend
