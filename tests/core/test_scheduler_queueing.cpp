// Shared cores against queueing theory: with slices that are short against the service times, a core under a fair scheduler
// serves all its threads at once, each at an equal share. Under Poisson arrivals the mean stay is then E[S] / (1 - load), whatever
// the distribution of service times is (M/G/1 processor sharing); first come, first served would depend on its variance.
#include "support/sanitizers.hpp"
#include "support/scheduling.hpp"
#include "support/statistics.hpp"
#include "support/waiting.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace contend;

namespace {

enum class Service { constant, exponential, two_kinds };

/// Customers arrive at random dates; each is a thread that sleeps until then.
class Arrivals final : public Event {
public:
  Arrivals(test::SharedHost& shared, Duration mean_service, double load, Service kind, int customers)
      : Event(shared.engine), shared_(shared), mean_(mean_service), mean_gap_(mean_service.scaled(1.0 / load)),
        kind_(kind), left_(customers), gaps_(shared.engine.stream("gaps")), services_(shared.engine.stream("services")),
        stays_(static_cast<std::size_t>(customers / 40)) {
    shared.engine.schedule(*this, TimePoint() + gaps_.exponential(mean_gap_));
  }

  void fire() override {
    if (idle_.empty()) {
      shared_.spawn("customer", [this](SimThread& self) { serve(self); });
    } else {
      SimThread* const customer = idle_.back();
      idle_.pop_back();
      customer->resume();
    }
    if (--left_ > 0) {
      engine_.schedule(*this, engine_.now() + gaps_.exponential(mean_gap_));
    }
  }

  [[nodiscard]] test::Estimate stay() const { return stays_.result(); }

private:
  Duration draw() {
    switch (kind_) {
    case Service::constant:
      return mean_;
    case Service::exponential:
      return services_.exponential(mean_);
    case Service::two_kinds: // one in ten is long: squared coefficient of variation 3.8
      return services_.below(10) == 0 ? mean_.scaled(7.0) : mean_.scaled(1.0 / 3.0);
    }
    return {};
  }

  void serve(SimThread& self) {
    for (;;) {
      const TimePoint arrival = engine_.now();
      self.spend(draw(), Category::software);
      stays_.add((engine_.now() - arrival).in_seconds() / mean_.in_seconds());
      idle_.push_back(&self);
      if (left_ == 0 && idle_.size() == shared_.engine.threads().size()) {
        for (SimThread* thread : idle_) { // all may go home
          if (thread != &self) {
            thread->resume();
          }
        }
        closed_ = true;
        return;
      }
      self.wait(next_customer_, Category::blocked, Waiting::asleep);
      if (closed_) {
        return;
      }
    }
  }

  test::SharedHost& shared_;
  Duration mean_;
  Duration mean_gap_;
  Service kind_;
  int left_;
  RandomStream gaps_;
  RandomStream services_;
  test::BatchMeans stays_;
  std::vector<SimThread*> idle_;
  test::Reason next_customer_{"the next customer"};
  bool closed_ = false;
};

} // namespace

TEST_CASE("a shared core is a server with processor sharing", "[scheduler][queueing]") {
  const auto* const policy = GENERATE("cfs", "eevdf");
  const auto kind = GENERATE(Service::constant, Service::exponential, Service::two_kinds);
  constexpr double load = 0.6;
  SchedulerParameters parameters = test::free_scheduler(policy);
  parameters.latency = 20_us;
  parameters.slice = 10_us;
  parameters.wakeup_granularity = 10_us;
  test::SharedHost shared(1, parameters, 11);
  Arrivals arrivals(shared, 1_ms, load, kind, test::sanitized ? 4'000 : 40'000);
  shared.engine.set_step_limit(200'000'000);
  shared.engine.run();
  const test::Estimate stay = arrivals.stay();
  CAPTURE(policy, static_cast<int>(kind), stay.mean, stay.standard_error);
  CHECK(stay.mean == Approx(1.0 / (1.0 - load)).epsilon(0.03).margin(3.5 * stay.standard_error));
  CHECK(stay.relative_error() < (test::sanitized ? 0.15 : 0.05));
}
