// Bandwidth sharing of large transfers: flows over links, each with its max-min fair share, as SimGrid's flow-level network
// model has it (Bertsekas and Gallager's progressive filling; SimGrid: CM02 without its correction factors and windows).
#pragma once

#include "core/engine.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace contend {

/// Told that all bytes of a flow have passed its links. Runs in an event.
class FlowListener {
public:
  virtual ~FlowListener() = default;
  virtual void flow_finished() = 0;
};

/// Links with a capacity, and the flows on them. Whenever a flow begins or ends, all rates are found anew: the rates of all
/// flows grow together until a link is full or a flow has reached its own limit; what is on that link stays as it is, the
/// others grow on. Between two such moments rates are constant. Latencies are the caller's business.
class FlowNetwork {
public:
  using Link = std::size_t;

  explicit FlowNetwork(Engine& engine) : engine_(engine) {}
  ~FlowNetwork() = default;
  FlowNetwork(const FlowNetwork&) = delete;
  FlowNetwork& operator=(const FlowNetwork&) = delete;

  /// Capacity in bytes per second, above zero.
  Link add_link(double capacity);

  /// Lets `bytes` (above zero) flow over the links of `route` from now on, no faster than `limit` bytes per second.
  /// Throws std::invalid_argument for a route without links and without a limit.
  void start(FlowListener& listener, std::span<const Link> route, std::int64_t bytes,
             double limit = std::numeric_limits<double>::infinity());

  /// Flows that have not ended.
  [[nodiscard]] std::size_t flows() const { return flows_.size(); }
  /// What flows over a link now, in bytes per second.
  [[nodiscard]] double load(Link link) const;

private:
  struct Flow {
    FlowListener* listener = nullptr;
    std::vector<Link> route;
    double remaining = 0; ///< bytes at `updated_`
    double limit = 0;
    double rate = 0;
    bool settled = false; ///< while rates are being found
  };
  /// The date at which the next flow ends, or would have if rates had not changed since.
  class Alarm final : public Event {
  public:
    Alarm(Engine& engine, FlowNetwork& network) : Event(engine), network_(network) {}
    void fire() override { network_.alarm(*this); }
    std::uint64_t round = 0;

  private:
    FlowNetwork& network_;
  };

  void alarm(Alarm& due);
  void advance();
  void share();
  void settle_flow(Flow& flow, double rate);
  void set_alarm();

  Engine& engine_;
  std::vector<double> capacities_; ///< by link
  std::vector<Flow> flows_;        ///< in order of their beginning
  TimePoint updated_;              ///< `remaining` is as of then
  std::uint64_t round_ = 0;        ///< counts changes of the rates: alarms of earlier rounds are void
  std::vector<double> free_;       ///< by link, while rates are being found: capacity not taken
  std::vector<int> users_;         ///< by link: flows that are not settled
  std::vector<FlowListener*> ended_;
  std::vector<std::unique_ptr<Alarm>> alarms_;
  std::vector<Alarm*> free_alarms_;
};

} // namespace contend
