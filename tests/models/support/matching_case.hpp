// Hand-made matching cases by one thread on core 0: what each operation visits and costs. All prices are different, so that
// a sum tells which ones it is made of.
#pragma once

#include "machine.hpp"
#include "models/matching/matcher.hpp"

#include <catch2/catch.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <string>

namespace contend::test {

inline MatchingParameters matching_prices() {
  MatchingParameters prices;
  prices.attempt = 11_ns;
  prices.element = 3_ns;
  prices.enqueue = 17_ns;
  prices.fragment_allocate = 101_ns;
  prices.fragment_release = 53_ns;
  prices.element_bytes = 100;
  prices.fragment_bytes = 100;
  prices.hash = 7_ns;
  prices.vector_step = 5_ns;
  prices.offload_command = 211_ns;
  prices.offload_latency = 307_ns;
  prices.offload_element = 13_ns;
  return prices;
}

class MatchingCase {
public:
  explicit MatchingCase(const std::string& engine, int peers = 4, MatchingSizes sizes = {})
      : matcher_(matcher_registry().at(engine)({host_, matching_prices(), sizes, peers})) {}

  void run(const std::function<void(SimThread&)>& body) {
    engine_.spawn("t", 0, 0, body);
    engine_.run();
  }
  PostedReceive& receive(SimThread& self, int source, int tag, int communicator = 0) {
    PostedReceive& posted = receives_.emplace_back();
    posted.communicator = communicator;
    posted.source = source;
    posted.tag = tag;
    note(self, [&] { taken = matcher_->post(self, posted).has_value(); });
    return posted;
  }
  PostedReceive* message(SimThread& self, int source, int tag, int communicator = 0) {
    return message(self, Envelope{communicator, source, tag, 0, 0});
  }
  PostedReceive* message(SimThread& self, const Envelope& envelope) {
    PostedReceive* match = nullptr;
    note(self, [&] { match = matcher_->arrive(self, envelope); });
    return match;
  }
  [[nodiscard]] Matcher& matcher() { return *matcher_; }

  std::uint64_t visited = 0; ///< by the last operation
  Duration cost;             ///< of the last operation
  bool taken = false;        ///< the last receive found an unexpected message

private:
  template <typename Operation>
  void note(SimThread& self, Operation operation) {
    const std::uint64_t visited_before = matcher_->visited();
    const Duration spent_before = spent(self, Category::matching);
    const TimePoint start = self.now();
    operation();
    visited = matcher_->visited() - visited_before;
    cost = self.now() - start;
    CHECK(spent(self, Category::matching) - spent_before == cost); // nothing is charged elsewhere
  }

  Engine engine_{1};
  Host host_ = small_host();
  std::unique_ptr<Matcher> matcher_;
  std::deque<PostedReceive> receives_;
};

inline const MatchingParameters prices = matching_prices();

} // namespace contend::test
