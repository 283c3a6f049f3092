#include "models/nic/nic.hpp"

#include <algorithm>

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

TimePoint Nic::match(const HardwareMatcher::Time& time) {
  matching_until_ = std::max(engine_.now() + time.latency, matching_until_) + time.work;
  return matching_until_;
}

TimePoint Nic::begin_atomic(TimePoint ready, Duration gap) {
  const TimePoint start = std::max(ready, next_atomic_);
  next_atomic_ = start + gap;
  return start;
}

} // namespace contend
