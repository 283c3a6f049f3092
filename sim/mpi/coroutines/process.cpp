#include "mpi/coroutines/process.hpp"

#include "mpi/coroutines/os_process.hpp"
#include "mpi/coroutines/world.hpp"

#include <string>

namespace contend {

int CoProcess::size() const { return os_->world().layout().processes(); }
SimThread& CoProcess::thread() const { return os_->thread(); }
FramePool& CoProcess::frames() const { return os_->frames(); }
const WorkingSet& CoProcess::memory() const { return os_->memory(); }

void CoProcess::compute(Duration time) const { thread().owe(time, Category::compute); }

CoRequest* CoProcess::isend(int destination, int tag, std::int64_t bytes, Transfer transfer, std::int32_t context) {
  return os_->isend(*this, destination, tag, bytes, transfer, context);
}

CoRequest* CoProcess::irecv(int source, int tag, std::int64_t bytes, Transfer transfer, std::int32_t context) {
  return os_->irecv(*this, source, tag, bytes, transfer, context);
}

bool CoProcess::Wait::await_ready() {
  process_.pending_ = 0;
  for (CoRequest* const request : requests()) {
    if (!request->complete) {
      request->counted = true;
      ++process_.pending_;
    }
  }
  const SoftwareParameters& prices = process_.os().world().settings().software;
  process_.os().call(prices.wait_call + prices.wait_request * static_cast<std::int64_t>(requests().size()));
  process_.waiting_ = process_.pending_ > 0 ? Waiting::requests : Waiting::nothing;
  return process_.pending_ == 0;
}

Status CoProcess::Wait::await_resume() {
  const Status status = requests().empty() ? Status{} : requests().front()->status;
  for (CoRequest* const request : requests()) {
    process_.os().free(request);
  }
  return status;
}

bool CoProcess::WaitAny::await_ready() {
  bool ready = false;
  bool any = false;
  for (const CoRequest* const request : all_) {
    any = any || request != nullptr;
    ready = ready || (request != nullptr && request->complete);
  }
  if (!any) {
    throw InvariantViolation("rank " + std::to_string(process_.rank()) + " waits for one of no requests");
  }
  const SoftwareParameters& prices = process_.os().world().settings().software;
  process_.os().call(prices.wait_call + prices.wait_request * static_cast<std::int64_t>(all_.size()));
  process_.pending_ = ready ? 0 : 1;
  for (CoRequest* const request : all_) {
    if (!ready && request != nullptr) {
      request->counted = true;
    }
  }
  process_.waiting_ = ready ? Waiting::nothing : Waiting::requests;
  return ready;
}

std::size_t CoProcess::WaitAny::await_resume() {
  std::size_t place = all_.size();
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i] != nullptr) {
      all_[i]->counted = false;
      place = place == all_.size() && all_[i]->complete ? i : place;
    }
  }
  process_.os().free(all_[place]);
  all_[place] = nullptr;
  return place;
}

bool CoProcess::Until::await_ready() {
  if (line_ != nullptr) {
    line_->load(process_.thread(), Category::barrier);
  }
  if ((word_ == value_) == equal_) {
    return true;
  }
  process_.waiting_ = line_ != nullptr ? Waiting::shared_word : Waiting::word;
  process_.word_ = &word_;
  process_.value_ = value_;
  process_.equal_ = equal_;
  process_.line_ = line_;
  return false;
}

bool CoProcess::Yield::await_ready() const { return process_.os().policy_->queue().empty(); }

} // namespace contend
