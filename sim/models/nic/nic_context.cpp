#include "models/nic/nic_context.hpp"

#include "models/nic/endpoint.hpp"
#include "models/nic/nic.hpp"
#include "models/nic/rdma.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace contend {

NicContext::NicContext(Nic& nic, ActivityListener& listener, std::string_view name, int process)
    : nic_(nic), listener_(listener), send_state_(nic.engine(), nic.host(), std::string(name) + "/send"),
      receive_state_(nic.engine(), nic.host(), std::string(name) + "/receive"),
      completion_state_(nic.engine(), nic.host(), std::string(name) + "/completion"),
      fifos_(static_cast<std::size_t>(nic.parameters().injection_fifos)), label_(std::string(name), process),
      queue_label_(std::string(name) + "/completions", process) {}

void NicContext::report(const Completion& completion) {
  if (completion.header.eager_rdma) {
    buffers_[completion.endpoint->peer().channel()].push_back(completion);
    ++written_;
  } else {
    completions_.push_back(completion);
  }
  show_queue();
  listener_.activity(*this);
  if (sleeper_ != nullptr) {
    std::exchange(sleeper_, nullptr)->resume();
  }
}

void NicContext::show_queue() const {
  if (TraceSink* const trace = nic_.engine().trace(); trace != nullptr) [[unlikely]] {
    trace->length(queue_label_, nic_.engine().now(), static_cast<std::int64_t>(completions_.size() + written_));
  }
}

/// The interface serves its contexts, each at its own pace, one message at a time.
Passage NicContext::send(const WorkRequest& request) {
  Passage passage;
  NicPort& port = nic_.port();
  passage.on_wire = port.serialization(request.bytes);
  passage.interface_busy = std::max(request.packets * nic_.parameters().nic_gap, passage.on_wire);
  passage.context_busy = std::max(nic_.parameters().context_gap, passage.on_wire);
  passage.ready = request.ready;
  passage.served = port.depart(request.ready, passage.interface_busy); // the pace of the interface, then of the context
  passage.loaded = passage.served + request.fetch + request.bus;
  Fifo& fifo = fifos_[request.fifo];
  passage.departure = std::max(passage.loaded, fifo.next_departure);
  fifo.next_departure = passage.departure + passage.context_busy;
  passage.arrival = std::max(passage.departure + passage.on_wire + port.latency() + request.bus, fifo.last_arrival);
  fifo.last_arrival = passage.arrival;
  return passage;
}

void NicContext::hold_fifo(std::size_t fifo, TimePoint time) {
  fifos_[fifo].next_departure = std::max(fifos_[fifo].next_departure, time);
}

std::size_t NicContext::add_buffers() {
  buffers_.emplace_back();
  return buffers_.size() - 1;
}

MessageNumber NicContext::trace_post(const SimThread& self, TimePoint called, std::int64_t bytes,
                                     const Passage& passage) const {
  if (TraceSink* const trace = nic_.engine().trace(); trace != nullptr) [[unlikely]] {
    return trace->message_posted(self, {nic_.port().send_label(), label_, bytes, called, passage.ready, passage.served,
                                        passage.loaded, passage.departure, passage.arrival, passage.interface_busy,
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
  if (!has_completions()) {
    const TimePoint second = self.now();
    look(self);
    const TimePoint asleep = self.now();
    if (const Duration period = asleep - second; !has_completions() && period > Duration{}) {
      sleeper_ = &self;
      self.wait(*this, Category::poll_idle);
      if (const Duration begun = (self.now() - asleep) % period; begun > Duration{}) {
        self.spend_time(period - begun, Category::poll_idle);
      }
    }
  }
  return drain(self, handler);
}

void NicContext::look(SimThread& self) {
  receive_state_.store_protected(self, Category::poll_idle);
  self.spend(nic_.parameters().empty_poll, Category::poll_idle);
}

template <class Found>
int NicContext::take_from_buffers(SimThread& self, Found&& found) {
  int taken = 0;
  for (RingQueue<Completion>& buffers : buffers_) {
    if (buffers.empty()) {
      continue;
    }
    const Completion message = buffers.front();
    buffers.pop_front();
    --written_;
    show_queue();
    ++taken;
    self.owe(nic_.host().cache().l3_hit, Category::completion); // where the interface has put it
    found(message);
    self.settle();
  }
  return taken;
}

template <class Found>
int NicContext::take_from_queue(SimThread& self, int most, Found&& found) {
  int taken = 0;
  for (; taken < most; self.settle()) {
    if (completions_.empty()) {
      break;
    }
    const Completion completion = completions_.front();
    completions_.pop_front();
    show_queue();
    ++taken;
    if (nic_.parameters().completion_lines > 0) {
      completion_state_.store_protected(self, nic_.parameters().completion_lines, Category::completion);
    }
    const bool one_sided = completion.kind == Completion::Kind::rdma;
    self.owe(one_sided ? completion.rdma->parameters().completion : nic_.parameters().completion, Category::completion);
    found(completion);
  }
  return taken;
}

/// Who finds messages in buffers looks at the queue only from time to time (progress_one_device in Open MPI 4.0).
bool NicContext::looks_at_queue() {
  constexpr int most_without_queue = 100; // btl_openib_eager_rdma_poll_ratio
  if (written_ > 0 && polls_without_queue_ + 1 < most_without_queue) [[unlikely]] {
    ++polls_without_queue_;
    return false;
  }
  polls_without_queue_ = 0;
  return true;
}

int NicContext::drain(SimThread& self, CompletionHandler& handler) {
  const auto found = [&](const Completion& completion) { handle(self, handler, completion); };
  const bool with_queue = looks_at_queue();
  const int taken = written_ > 0 ? take_from_buffers(self, found) : 0;
  return with_queue ? taken + take_from_queue(self, nic_.parameters().poll_batch, found) : taken;
}

/// The lock guards a buffer's head while it is moved on, and the queue while ibv_poll_cq() takes what is there; that is done
/// again until there is nothing left (progress_one_device and poll_device in Open MPI 4.0).
int NicContext::drain_unlocked(SimThread& self, CompletionHandler& handler, Lock& lock) {
  constexpr int most_at_once = 256; // btl_openib_cq_poll_batch
  std::vector<Completion> batch;
  if (!spare_.empty()) {
    batch = std::move(spare_.back());
    spare_.pop_back();
  }
  const auto found = [&](const Completion& completion) { batch.push_back(completion); };
  const auto unlock_and_handle = [&] {
    lock.unlock(self, Category::poll_idle);
    for (const Completion& completion : batch) {
      handle(self, handler, completion);
      self.settle();
      tell(); // there may be room now, and no lock has told those who rest
    }
    batch.clear();
  };
  const bool with_queue = looks_at_queue();
  int written = 0;
  if (written_ > 0) {
    written = take_from_buffers(self, found);
    unlock_and_handle();
    if (with_queue) {
      lock.lock(self, Category::poll_idle);
    }
  }
  int queued = 0;
  for (bool again = with_queue; again;) {
    const int most = std::min(most_at_once, nic_.parameters().poll_batch - queued);
    const int taken = take_from_queue(self, most, found);
    unlock_and_handle();
    queued += taken;
    again = taken > 0 && queued < nic_.parameters().poll_batch;
    if (again) {
      lock.lock(self, Category::poll_idle);
      look(self);
    }
  }
  spare_.push_back(std::move(batch));
  return written + queued;
}

void NicContext::handle(SimThread& self, CompletionHandler& handler, const Completion& completion) {
  switch (completion.kind) {
  case Completion::Kind::sent:
    completion.endpoint->retire(completion.count);
    break;
  case Completion::Kind::transferred:
    completion.endpoint->retire(completion.count);
    handler.transferred(self, completion.envelope);
    break;
  case Completion::Kind::granted:
    completion.endpoint->granted();
    break;
  case Completion::Kind::rdma:
    completion.rdma->retire(self, completion.count);
    break;
  case Completion::Kind::received:
    // Before the message is delivered, which may take long (uct_rc_iface_fc_handler in UCX).
    if (completion.header.wants_grant) {
      completion.endpoint->grant(self);
    }
    handler.receive(self, completion.envelope);
    completion.endpoint->consumed(self, completion.header, false);
    break;
  case Completion::Kind::credited:
    completion.endpoint->consumed(self, completion.header, true);
    break;
  }
}

} // namespace contend
