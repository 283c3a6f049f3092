#include "models/fabric/flow_network.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace contend {

namespace {

/// Dates are whole picoseconds: what passes in one of them is no reason to go on. The bytes are for the rounding of doubles.
constexpr double least_seconds = 1e-12;
constexpr double least_bytes = 1e-6;

} // namespace

FlowNetwork::Link FlowNetwork::add_link(double capacity) {
  if (!(capacity > 0)) {
    throw std::invalid_argument("a link needs a capacity above zero");
  }
  capacities_.push_back(capacity);
  return capacities_.size() - 1;
}

void FlowNetwork::start(FlowListener& listener, std::span<const Link> route, std::int64_t bytes, double limit) {
  if (bytes <= 0 || !(limit > 0) || (route.empty() && limit == std::numeric_limits<double>::infinity())) {
    throw std::invalid_argument("a flow needs bytes, and a link or a limit");
  }
  advance();
  Flow& flow = flows_.emplace_back();
  flow.listener = &listener;
  flow.route.assign(route.begin(), route.end());
  flow.remaining = static_cast<double>(bytes);
  flow.limit = limit;
  share();
  set_alarm();
}

double FlowNetwork::load(Link link) const {
  double sum = 0;
  for (const Flow& flow : flows_) {
    sum += static_cast<double>(std::count(flow.route.begin(), flow.route.end(), link)) * flow.rate;
  }
  return sum;
}

/// Lets the time since the last change pass.
void FlowNetwork::advance() {
  const double seconds = (engine_.now() - updated_).in_seconds();
  for (Flow& flow : flows_) {
    flow.remaining -= flow.rate * seconds;
  }
  updated_ = engine_.now();
}

void FlowNetwork::settle_flow(Flow& flow, double rate) {
  flow.rate = rate;
  flow.settled = true;
  for (const Link link : flow.route) {
    free_[link] = std::max(0.0, free_[link] - rate);
    --users_[link];
  }
}

/// Progressive filling.
void FlowNetwork::share() {
  free_ = capacities_;
  users_.assign(capacities_.size(), 0);
  for (Flow& flow : flows_) {
    flow.settled = false;
    for (const Link link : flow.route) {
      ++users_[link];
    }
  }
  for (std::size_t left = flows_.size(); left > 0;) {
    double level = std::numeric_limits<double>::infinity(); // the rate at which the next flows stop growing
    for (std::size_t link = 0; link < free_.size(); ++link) {
      if (users_[link] > 0) {
        level = std::min(level, free_[link] / users_[link]);
      }
    }
    for (const Flow& flow : flows_) {
      if (!flow.settled) {
        level = std::min(level, flow.limit);
      }
    }
    // Which links are full must be known before any flow is taken off them.
    std::vector<bool> full(free_.size(), false);
    for (std::size_t link = 0; link < free_.size(); ++link) {
      full[link] = users_[link] > 0 && free_[link] / users_[link] <= level;
    }
    for (Flow& flow : flows_) {
      if (!flow.settled && (flow.limit <= level ||
                            std::any_of(flow.route.begin(), flow.route.end(), [&](Link link) { return full[link]; }))) {
        settle_flow(flow, level);
        --left;
      }
    }
  }
}

void FlowNetwork::set_alarm() {
  ++round_;
  if (flows_.empty()) {
    return;
  }
  double seconds = std::numeric_limits<double>::infinity();
  for (const Flow& flow : flows_) {
    seconds = std::min(seconds, flow.remaining / flow.rate);
  }
  if (free_alarms_.empty()) {
    alarms_.push_back(std::make_unique<Alarm>(engine_, *this));
    free_alarms_.push_back(alarms_.back().get());
  }
  Alarm& next = *free_alarms_.back();
  free_alarms_.pop_back();
  next.round = round_;
  engine_.schedule(next, engine_.now() + std::max(Duration{}, Duration::seconds(seconds)));
}

void FlowNetwork::alarm(Alarm& due) {
  free_alarms_.push_back(&due);
  if (due.round != round_) {
    return; // rates have changed since, and another alarm is set
  }
  advance();
  ended_.clear();
  std::erase_if(flows_, [this](const Flow& flow) {
    const bool over = flow.remaining <= std::max(least_bytes, flow.rate * least_seconds);
    if (over) {
      ended_.push_back(flow.listener);
    }
    return over;
  });
  share();
  set_alarm();
  for (FlowListener* const listener : std::vector<FlowListener*>(ended_)) { // who is told may start another one
    listener->flow_finished();
  }
}

} // namespace contend
