// A server with a queue against the exact results of queueing theory. Every test has two halves: the estimate agrees
// with theory within its confidence interval, and the interval is so narrow that a wrong order of service, a wrong date
// or a wrong account would be seen.
#include "core/engine.hpp"
#include "core/fifo_mutex.hpp"
#include "support/sanitizers.hpp"
#include "support/statistics.hpp"
#include "support/waiting.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace contend;
using test::BatchMeans;
using test::Reason;

namespace {

constexpr Duration mean_service = 100_ns;
constexpr double z_limit = 3.5; ///< the seeds are fixed; a correct engine fails one in 2,000 new seeds

/// Customers arrive at random times at one server. Arrivals are events, customers are threads that are used again.
class OpenQueue final : public Event {
public:
  OpenQueue(Engine& engine, double load, bool constant_service, std::int64_t customers)
      : Event(engine), constant_service_(constant_service), customers_left_(customers),
        mean_gap_(Duration::nanoseconds(mean_service.in_nanoseconds() / load)), gaps_(engine.stream("gaps")),
        services_(engine.stream("services")), wait_(static_cast<std::size_t>(customers / batches)),
        late_(static_cast<std::size_t>(customers / batches)),
        exponential_mean_sojourn_(static_cast<double>(mean_service.count()) / (1.0 - load)) {
    engine.schedule(*this, TimePoint{} + gaps_.exponential(mean_gap_));
  }

  /// An arrival.
  void fire() override {
    count_change(+1);
    if (idle_.empty()) {
      engine_.spawn("customer " + std::to_string(engine_.threads().size()), 0, 0,
                    [this](SimThread& self) { serve_for_ever(self); });
    } else {
      SimThread* customer = idle_.back();
      idle_.pop_back();
      customer->resume();
    }
    if (--customers_left_ > 0) {
      engine_.schedule(*this, engine_.now() + gaps_.exponential(mean_gap_));
    }
  }

  /// Waiting times without service, in mean service times.
  [[nodiscard]] test::Estimate wait() const { return wait_.result(); }
  /// Share of the customers who stay longer than the mean stay in M/M/1.
  [[nodiscard]] test::Estimate late() const { return late_.result(); }
  [[nodiscard]] Duration sum_of_sojourns() const { return sum_of_sojourns_; }
  [[nodiscard]] Duration sum_of_services() const { return sum_of_services_; }
  /// Number in system, integrated over time.
  [[nodiscard]] Duration integral_of_number() const { return integral_of_number_; }
  [[nodiscard]] std::int64_t served() const { return served_; }

private:
  static constexpr std::int64_t batches = 40;

  void serve_for_ever(SimThread& self) {
    while (true) {
      const TimePoint arrival = engine_.now();
      server_.lock(self);
      const Duration waited = engine_.now() - arrival;
      const Duration service = constant_service_ ? mean_service : services_.exponential(mean_service);
      self.spend(service, Category::software);
      server_.unlock(self);
      record(waited, service);
      count_change(-1);
      idle_.push_back(&self);
      self.wait(next_customer_, Category::poll_idle);
    }
  }

  void record(Duration waited, Duration service) {
    ++served_;
    sum_of_services_ += service;
    sum_of_sojourns_ += waited + service;
    wait_.add(static_cast<double>(waited.count()) / static_cast<double>(mean_service.count()));
    late_.add(static_cast<double>((waited + service).count()) > exponential_mean_sojourn_ ? 1.0 : 0.0);
  }

  void count_change(int change) {
    integral_of_number_ += in_system_ * (engine_.now() - last_change_);
    last_change_ = engine_.now();
    in_system_ += change;
  }

  bool constant_service_;
  std::int64_t customers_left_;
  Duration mean_gap_;
  RandomStream gaps_;
  RandomStream services_;
  FifoMutex server_{"server"};
  Reason next_customer_{"the next customer"};
  std::vector<SimThread*> idle_;
  BatchMeans wait_;
  BatchMeans late_;
  double exponential_mean_sojourn_;
  std::int64_t served_ = 0;
  std::int64_t in_system_ = 0;
  TimePoint last_change_;
  Duration sum_of_sojourns_;
  Duration sum_of_services_;
  Duration integral_of_number_;
};

std::int64_t scaled(std::int64_t customers) { return test::sanitized ? customers / 40 : customers; }

/// Runs until every customer has been served; then all threads wait for the next one, which never comes.
void run_to_last_customer(Engine& engine) {
  CHECK_THROWS_AS(engine.run(), Deadlock);
  engine.abandon();
}

/// True in any run, whatever was drawn: the area under the number in system is the sum of the times in it, and the
/// threads' accounts contain each wait and each service exactly once.
void check_invariants(const Engine& engine, const OpenQueue& queue) {
  CHECK(queue.integral_of_number() == queue.sum_of_sojourns()); // Little's law, exactly
  Duration serving;
  Duration waiting;
  for (const auto& thread : engine.threads()) {
    serving += thread->times()[static_cast<std::size_t>(Category::software)];
    waiting += thread->times()[static_cast<std::size_t>(Category::lock_wait)];
  }
  CHECK(serving == queue.sum_of_services());
  CHECK(waiting == queue.sum_of_sojourns() - queue.sum_of_services());
}

} // namespace

TEST_CASE("M/M/1: waiting time, time in system and its distribution", "[queueing]") {
  struct Load {
    double rho;
    std::int64_t customers;
    double widest; ///< largest acceptable relative standard error of the mean wait
  };
  // The variance of the estimate grows as (1 - rho)^-2 relative to the squared mean, so high loads need more customers.
  for (const Load& load : {Load{0.3, 2'000'000, 0.005}, Load{0.6, 4'000'000, 0.005}, Load{0.8, 8'000'000, 0.008}}) {
    Engine engine(20240601);
    OpenQueue queue(engine, load.rho, false, scaled(load.customers));
    run_to_last_customer(engine);
    CAPTURE(load.rho);
    CHECK(queue.served() == scaled(load.customers));
    check_invariants(engine, queue);

    const test::Estimate wait = queue.wait();
    const double exact = load.rho / (1.0 - load.rho);
    CAPTURE(wait.mean, exact, wait.relative_error());
    CHECK(std::abs(wait.z(exact)) < z_limit);

    // FIFO only: the time in system is exponential. Last-come-first-served has the same mean but not this share.
    const test::Estimate late = queue.late();
    CAPTURE(late.mean, late.relative_error());
    CHECK(std::abs(late.z(std::exp(-1.0))) < z_limit);

    const double utilisation =
        static_cast<double>(queue.sum_of_services().count()) / static_cast<double>(engine.now().since_start().count());
    const double mean_number = static_cast<double>(queue.integral_of_number().count()) /
                               static_cast<double>(engine.now().since_start().count());
    CAPTURE(utilisation, mean_number);
    if (!test::sanitized) {
      CHECK(wait.relative_error() < load.widest);
      CHECK(late.relative_error() < load.widest);
      CHECK(utilisation == Approx(load.rho).epsilon(0.005));
      CHECK(mean_number == Approx(load.rho / (1.0 - load.rho)).epsilon(3.5 * load.widest));
    }
  }
}

TEST_CASE("M/D/1: the Pollaczek-Khinchine formula", "[queueing]") {
  for (const double rho : {0.4, 0.75}) {
    Engine engine(99);
    OpenQueue queue(engine, rho, true, scaled(4'000'000));
    run_to_last_customer(engine);
    check_invariants(engine, queue);
    const test::Estimate wait = queue.wait();
    const double exact = rho / (2.0 * (1.0 - rho));
    CAPTURE(rho, wait.mean, exact, wait.relative_error());
    CHECK(std::abs(wait.z(exact)) < z_limit);
    if (!test::sanitized) {
      CHECK(wait.relative_error() < 0.005);
    }
  }
}
