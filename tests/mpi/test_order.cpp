// MPI's order per communicator, source and tag, checked where matching happens: by a matching engine that a test adds with
// one registration, and a design chooses by name.
#include "models/matching/matcher.hpp"
#include "simulation/simulation.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace contend;

namespace {

struct Findings {
  std::int64_t arrivals = 0;
  std::int64_t out_of_order_arrivals = 0; ///< sequence numbers of one peer that do not follow each other
  std::int64_t overtaken_receives = 0;    ///< of receives with equal source and tag, a younger one was served first
  std::int64_t overtaken_messages = 0; ///< of unexpected messages of one source and tag, a younger one was taken first
  std::int64_t not_the_oldest = 0;     ///< messages that went to another receive than the oldest one that accepts them
  std::int64_t data_by_interface = 0;  ///< messages without payload of the application that the interface has matched
};

Findings findings;
bool ordered = true;          ///< whether communicators keep order
std::string spied_on = "ob1"; ///< the engine that does the work

/// Passes everything on to another engine, and watches.
class SpyMatcher final : public Matcher, public HardwareMatcher {
public:
  explicit SpyMatcher(const MatcherSetup& setup) : inner_(matcher_registry().at(spied_on)(setup)) {}

  PostedReceive* arrive(SimThread& self, const Envelope& envelope) override {
    ++findings.arrivals;
    if (ordered) {
      std::uint16_t& next = next_sequence_[{envelope.communicator, envelope.source}];
      findings.out_of_order_arrivals += envelope.sequence == next++ ? 0 : 1;
    }
    PostedReceive* const receive = inner_->arrive(self, envelope);
    expect_oldest(envelope, receive);
    if (receive != nullptr) {
      // Receives that differ in their wildcards may overtake each other: one may not fit.
      auto [last, is_new] =
          last_served_.try_emplace({receive->communicator, receive->source, receive->tag}, receive->order);
      if (!is_new && envelope.tag >= 0) {
        findings.overtaken_receives += receive->order > last->second ? 0 : 1;
      }
      last->second = receive->order;
    }
    return receive;
  }

  std::optional<Envelope> post(SimThread& self, PostedReceive& receive) override {
    const std::optional<Envelope> message = inner_->post(self, receive);
    if (!message) {
      waiting_.push_back(&receive);
    }
    if (message && ordered) {
      auto [last, is_new] =
          last_taken_.try_emplace({message->communicator, message->source, message->tag}, message->sequence);
      if (!is_new) {
        const auto distance = static_cast<std::uint16_t>(message->sequence - last->second);
        findings.overtaken_messages += distance > 0 && distance < 0x8000 ? 0 : 1;
        last->second = message->sequence;
      }
    }
    return message;
  }

  [[nodiscard]] HardwareMatcher* hardware() override { return inner_->hardware() == nullptr ? nullptr : this; }
  Time reach(Envelope& envelope) override {
    const Time time = inner_->hardware()->reach(envelope);
    if (envelope.matched != nullptr) {
      findings.data_by_interface += envelope.tag >= 0 && envelope.bytes == 0 ? 1 : 0;
      expect_oldest(envelope, envelope.matched);
    }
    return time;
  }

  [[nodiscard]] std::int64_t posted() const override { return inner_->posted(); }
  [[nodiscard]] std::int64_t unexpected() const override { return inner_->unexpected(); }
  [[nodiscard]] std::uint64_t visited() const override { return inner_->visited(); }

private:
  /// By one list of all receives in posting order, without any of the engines' shortcuts.
  void expect_oldest(const Envelope& envelope, const PostedReceive* taken) {
    const auto oldest = std::find_if(waiting_.begin(), waiting_.end(),
                                     [&](const PostedReceive* receive) { return receive->accepts(envelope); });
    findings.not_the_oldest += taken == (oldest == waiting_.end() ? nullptr : *oldest) ? 0 : 1;
    std::erase(waiting_, taken);
  }

  std::unique_ptr<Matcher> inner_;
  std::vector<const PostedReceive*> waiting_;
  std::map<std::pair<int, int>, std::uint16_t> next_sequence_;
  std::map<std::tuple<int, int, int>, std::uint64_t> last_served_;
  std::map<std::tuple<int, int, int>, std::uint16_t> last_taken_;
};

/// Registered once, as a program that links the simulator would do it.
const std::string& spy() {
  static const std::string name = [] {
    matcher_registry().add("spy", make_matcher<SpyMatcher>);
    return std::string("spy");
  }();
  return name;
}

} // namespace

TEST_CASE("messages reach matching in order, whatever threads and instances do", "[mpi][order][property]") {
  std::int64_t out_of_sequence = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomStream random(seed, "design");
    const auto one_of = [&random](const std::vector<std::string>& names) { return names[random.below(names.size())]; };
    PointConfig point = test::small_point();
    test::add_jitter(point);
    point.library.matching.engine = spy();
    point.library.progress.engine = one_of(progress_registry().names());
    point.library.instances.count = static_cast<int>(1 + random.below(4));
    point.library.instances.assignment = one_of(assignment_registry().names());
    point.library.instances.lock = one_of(lock_registry().names());
    point.machine.nic.send_queue_depth = static_cast<int>(2 + random.below(30));
    point.library.protocol.pending_order = random.below(2) == 0 ? "fifo" : "reversing";
    point.workload.multirate.pairs = static_cast<int>(1 + random.below(8));
    point.workload.multirate.communicator_per_pair = random.below(3) == 0;
    point.workload.multirate.any_tag = random.below(3) == 0;
    point.run.seed = seed;
    findings = {};
    ordered = true;
    CAPTURE(seed, point.library.progress.engine, point.library.instances.count, point.library.instances.assignment,
            point.library.instances.lock, point.machine.nic.send_queue_depth, point.workload.multirate.pairs);
    SimulationOptions options;
    options.step_limit = 20'000'000; // a net for designs that poll for ever
    const PointResult result = simulate(point, options);
    out_of_sequence += result.receiver.out_of_sequence;
    REQUIRE(findings.arrivals > 0);
    REQUIRE(findings.out_of_order_arrivals == 0);
    REQUIRE(findings.overtaken_receives == 0);
    REQUIRE(findings.overtaken_messages == 0);
    REQUIRE(findings.not_the_oldest == 0);
  }
  CHECK(out_of_sequence > 1'000); // the property was at stake
}

TEST_CASE("unexpected messages are taken in order", "[mpi][order]") {
  PointConfig point = test::small_point();
  point.library.matching.engine = spy();
  findings = {};
  ordered = true;
  test::Program program(2, point);
  const int comm = program.communicator;
  constexpr int threads = 4;
  constexpr int each = 30;
  for (int i = 0; i < threads; ++i) { // they overtake each other between number and wire
    program.thread(0, [&](SimThread& self, Process& mpi) {
      RandomStream random = program.engine.stream(self.name());
      for (int k = 0; k < each; ++k) {
        mpi.send(self, comm, 1, static_cast<int>(random.below(3)), 0);
      }
    });
  }
  program.thread(1, [&](SimThread& self, Process& mpi) {
    self.spend(50_us, Category::software);
    for (int i = 0; i < threads * each; ++i) {
      mpi.recv(self, comm, i % 2 == 0 ? 0 : any_source, any_tag, 0);
    }
  });
  program.run();
  CHECK(program.counters(1).unexpected > 50);
  CHECK(findings.out_of_order_arrivals == 0);
  CHECK(findings.overtaken_messages == 0);
  CHECK(findings.overtaken_receives == 0);
}

TEST_CASE("receives with wildcards are served in the order of posting, by every engine", "[mpi][order][matching]") {
  const std::vector<std::string> engines = {"ob1", "list", "hash-bins", "vector", "per-source", "offload"};
  for (const std::string& engine : engines) {
    for (const std::string pattern : {"pairwise", "many-to-one", "many-to-many"}) {
      for (const std::string mode : {"thread", "process", "process-to-thread"}) {
        for (const int wildcards : {0, 1, 2, 3}) {
          PointConfig point = test::small_point();
          test::add_jitter(point);
          point.library.matching.engine = spy();
          point.library.instances.count = 2;
          point.library.instances.assignment = "dedicated";
          point.library.progress.engine = "concurrent";
          spied_on = engine;
          ordered = engine != "offload";
          if (!ordered) {
            point.library.matching.ordering = "transport";
            point.library.matching.offload_capacity = 40;
          }
          MultirateParameters& workload = point.workload.multirate;
          workload.pattern = pattern;
          workload.mode = mode;
          workload.pairs = pattern == "pairwise" ? 3 : 1;
          workload.senders = pattern == "pairwise" ? 1 : 3;
          workload.receivers = pattern == "many-to-many" ? 2 : 1;
          workload.any_source = wildcards % 2 == 1;
          workload.any_tag = wildcards >= 2;
          findings = {};
          CAPTURE(engine, pattern, mode, workload.any_source, workload.any_tag);
          const PointResult result = simulate(point, {});
          spied_on = "ob1";
          CHECK(result.workload.operations > 0);
          CHECK(findings.arrivals > 0);
          CHECK(findings.not_the_oldest == 0);
          CHECK(findings.out_of_order_arrivals == 0);
          CHECK(findings.overtaken_receives == 0);
          CHECK(findings.overtaken_messages == 0);
          // A receive from any source never goes to the interface; words of handshakes have payload, and may.
          CHECK((findings.data_by_interface > 0) == (engine == "offload" && !workload.any_source));
        }
      }
    }
  }
}

TEST_CASE("with overtaking allowed nothing is held back", "[mpi][order]") {
  PointConfig point = test::small_point();
  point.library.matching.engine = spy();
  point.library.instances = {4, "round-robin", "ttas"};
  point.workload.multirate.pairs = 6;
  point.workload.multirate.allow_overtaking = true;
  point.workload.multirate.any_tag = true;
  findings = {};
  ordered = false;
  const PointResult result = simulate(point, {});
  CHECK(result.receiver.out_of_sequence == 0);
  CHECK(findings.overtaken_receives == 0);
  CHECK(findings.arrivals > 0);
}

namespace {

constexpr int early_messages = 100;

/// A receiver to which `early_messages` come before one that was sent first, through another instance. `posted`: the
/// receives are posted before anything arrives.
struct EarlyMessages {
  explicit EarlyMessages(bool posted) : program(2, point()) {
    const int comm = program.communicator;
    program.thread(0, [this, comm](SimThread& self, Process& mpi) {
      mpi.send(self, comm, 1, 0, 0);
      self.spend(20_us, Category::software);
      for (int i = 0; i < early_messages; ++i) { // found in the first instance, before what was sent into the second
        mpi.send(self, comm, 1, 0, 0);
      }
    });
    program.thread(0, [this, comm](SimThread& self, Process& mpi) {
      self.spend(10_us, Category::software);
      mpi.send(self, comm, 1, 0, 0);
    });
    receiver = &program.thread(1, [this, comm, posted](SimThread& self, Process& mpi) {
      std::vector<Request*> requests;
      for (int i = 0; posted && i < early_messages + 2; ++i) {
        requests.push_back(mpi.irecv(self, comm, 0, 0, 0));
      }
      self.spend(200_us, Category::software);
      mpi.waitall(self, requests);
      for (int i = 0; !posted && i < early_messages + 2; ++i) {
        mpi.recv(self, comm, 0, 0, 0);
      }
    });
    program.run();
  }

  static PointConfig point() {
    PointConfig point = test::small_point();
    point.library.instances = {2, "dedicated", "pthread-mutex"};
    point.machine.nic.poll_batch = 1000;
    point.machine.cache.l2_bytes = 1024; // far less than all that wait
    point.machine.matching.fragment_allocate = 1_ms;
    return point;
  }

  [[nodiscard]] Duration spent(Category category) const {
    return receiver->times()[static_cast<std::size_t>(category)];
  }

  test::Program program;
  SimThread* receiver = nullptr;
};

} // namespace

TEST_CASE("the walk to an early message's place is as long as there are gaps", "[mpi][order]") {
  const EarlyMessages run(true);
  const MatchingParameters prices = EarlyMessages::point().machine.matching;
  CHECK(run.program.counters(1).out_of_sequence == early_messages);
  CHECK(run.spent(Category::out_of_sequence) ==
        (prices.fragment_allocate + prices.enqueue + prices.fragment_release) * early_messages +
            prices.range * (early_messages - 1));
}

TEST_CASE("an early message that nobody has posted a receive for keeps its fragment", "[mpi][order]") {
  const EarlyMessages run(false);
  CHECK(run.program.counters(1).out_of_sequence == early_messages);
  CHECK(run.program.counters(1).unexpected == early_messages + 1); // and the one that they have waited for
  const Duration spent = run.spent(Category::out_of_sequence) + run.spent(Category::matching);
  const Duration fragment = EarlyMessages::point().machine.matching.fragment_allocate;
  CHECK(spent.count() / fragment.count() == early_messages + 1); // all else costs less than a fragment together
}
