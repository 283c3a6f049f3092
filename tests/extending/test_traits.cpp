// Checks of scenarios go by what parts say of themselves: one under a name that they have never heard of is taken, or refused,
// as a shipped one that says the same.
#include "extending/back_off_progress.hpp"
#include "models/matching/list_matcher.hpp"
#include "models/matching/offload_matcher.hpp"
#include "models/matching/per_source_matcher.hpp"
#include "models/progress/offload.hpp"
#include "models/progress/request_lock.hpp"
#include "models/progress/wait_ring.hpp"
#include "models/waiting/flag_notification.hpp"
#include "models/waiting/steal_idling.hpp"
#include "mpi/assignment.hpp"
#include "mpi/partitioned.hpp"
#include "scenario/loader.hpp"
#include "simulation/names.hpp"
#include "simulation/simulation.hpp"
#include "workloads/transfers/message_transfer.hpp"
#include "workloads/transfers/multi_send_transfer.hpp"
#include "workloads/transfers/nonblocking_receive.hpp"
#include "workloads/transfers/partitioned_transfer.hpp"

#include <catch2/catch.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

using namespace contend;
using Catch::Contains;

namespace {

/// One waiting thread polls, without a limit that could be changed; the others idle.
class LeaderProgress final : public ProgressEngine {
public:
  static constexpr ProgressTraits traits{.threads_idle = true};

  explicit LeaderProgress(const ProgressParts& parts) : source_(parts.source), ring_(parts, 1) {}

  void wait(SimThread& self, SyncObject& sync) override {
    ring_.wait(self, sync, [&] {
      while (sync.pending > 0) {
        source_.progress(self, ProgressSource::Noise::always);
      }
    });
  }
  void completed(SimThread& self, SyncObject& sync) override { ring_.completed(self, sync); }

private:
  ProgressSource& source_;
  WaitRing ring_;
};

/// Polls, then looks at the flags of its requests.
class FlagReader final : public ProgressEngine {
public:
  static constexpr ProgressTraits traits{.reads_flags = true};

  explicit FlagReader(const ProgressParts& parts) : source_(parts.source) {}

  void wait(SimThread& self, SyncObject& sync) override {
    while (sync.pending > 0) {
      source_.progress(self, ProgressSource::Noise::always);
      sync.look(self, Category::poll_idle);
    }
  }
  void completed(SimThread& /*self*/, SyncObject& /*sync*/) override {}

private:
  ProgressSource& source_;
};

/// A thread goes from one instance to the next: its messages take several ways.
class Wanderer final : public Assignment {
public:
  Wanderer(Engine& /*engine*/, const Host& /*host*/, int count, std::string_view /*name*/) : count_(count) {}
  int pick(SimThread& /*self*/) override { return next_++ % count_; }

private:
  int count_;
  int next_ = 0;
};

/// All threads have the same.
class First final : public Assignment {
public:
  static constexpr AssignmentTraits traits{.by_thread = true};

  First(Engine& /*engine*/, const Host& /*host*/, int /*count*/, std::string_view /*name*/) {}
  int pick(SimThread& /*self*/) override { return 0; }
};

/// A message for each partition, all by the thread that waits for them.
class LeaderSends final : public MessageTransfer {
public:
  static constexpr BufferTransferTraits traits{.one_thread_sends = true};

  explicit LeaderSends(const BufferTransferParts& parts)
      : MessageTransfer(parts, parts.shape.send_partitions), send_(sending()), receive_(receiving()) {}

  SendSide& sender() override { return send_; }
  ReceiveSide& receiver() override { return receive_; }

private:
  class Send final : public SendSide {
  public:
    explicit Send(const MessageEnd& end) : end_(end) {}

    void ready(SimThread& /*self*/, int /*partition*/) override {}
    void wait(SimThread& self) override {
      std::vector<Request*> requests;
      for (int message = 0; message < end_.messages; ++message) {
        requests.push_back(end_.process.isend(self, end_.communicator, end_.peer, message, end_.bytes));
      }
      end_.process.waitall(self, requests);
    }

  private:
    MessageEnd end_;
  };

  Send send_;
  NonblockingReceive receive_;
};

/// Once, before the first simulation, under names that say nothing.
void register_parts_with_traits() {
  static const bool once = [] {
    progress_registry().add("p-leader", make_progress<LeaderProgress>);
    progress_registry().add("p-flags", make_progress<FlagReader>);
    progress_registry().add("p-thread", make_progress<OffloadProgress>);
    progress_registry().add("p-lock", make_progress<RequestLockProgress>);
    progress_registry().add("p-plain", make_progress<example::BackOffProgress>);
    matcher_registry().add("m-sources", make_matcher<PerSourceMatcher>);
    matcher_registry().add("m-interface", make_matcher<OffloadMatcher>);
    matcher_registry().add("m-plain", make_matcher<ListMatcher>);
    assignment_registry().add("a-wanderer", make_assignment<Wanderer>);
    assignment_registry().add("a-first", make_assignment<First>);
    notification_registry().add("n-flags", make_notification<FlagNotification>);
    idling_registry().add("i-tasks", make_idling<StealIdling>);
    partitioned_registry().add("d-puts", {make_rma_partitioned, {.puts = true}});
    partitioned_registry().add("d-messages", make_persistent_partitioned);
    buffer_transfer_registry().add("t-partitions", make_buffer_transfer<PartitionedTransfer>);
    buffer_transfer_registry().add("t-threads", make_buffer_transfer<MultiSendTransfer>);
    buffer_transfer_registry().add("t-leader", make_buffer_transfer<LeaderSends>);
    return true;
  }();
  static_cast<void>(once);
}

const std::string multirate =
    R"({"kind": "multirate", "pairs": 4, "window": 16, "iterations": 2, "warmup_iterations": 1})";
const std::string neighbour = R"({"kind": "neighbour", "threads": 2, "iterations": 3})";

/// A library of these values, and the workload.
PointConfig loaded(const std::string& library, const std::string& workload = multirate,
                   const std::string& placement = "{}") {
  register_parts_with_traits();
  const std::filesystem::path root = CONTEND_REPOSITORY;
  LoadOptions options;
  options.names = known_names();
  options.profile_directories = {root / "calibration" / "profiles"};
  const std::string text = R"({"schema_version": 1, "name": "traits", "machine": {"profile": "alembert"},
    "fabric": {"latency": "900 ns", "bandwidth": "12.5 GB/s"}, "library": {"name": "ours", )" +
                           library + R"(}, "workload": )" + workload + R"(, "placement": )" + placement + "}";
  return load_scenario_text(text, "inline", root, options).points.at(0).config;
}

/// What loading says: why the scenario is refused, or that it is not.
std::string outcome(const std::string& library, const std::string& workload = multirate,
                    const std::string& placement = "{}") {
  try {
    (void)loaded(library, workload, placement);
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "it was accepted";
}

const std::string accepted = "it was accepted";

/// `text` with `name` in place of what its parts are called there.
std::string with(std::string text, const std::string& name) {
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at)) {
    text.replace(at, 1, name);
  }
  return text;
}

/// Both parts are refused for the same reason, which may name them.
void refused_alike(const std::string& library, const std::string& shipped, const std::string& ours,
                   const std::string& workload = multirate, const std::string& placement = "{}") {
  CAPTURE(library, workload);
  std::string expected = outcome(with(library, shipped), with(workload, shipped), placement);
  CHECK(expected != accepted);
  for (std::size_t at = expected.find('"' + shipped + '"'); at != std::string::npos;
       at = expected.find('"' + shipped + '"', at)) {
    expected.replace(at, shipped.size() + 2, '"' + ours + '"');
  }
  CHECK(outcome(with(library, ours), with(workload, ours), placement) == expected);
}

/// Both parts are taken, and do the same in a run.
void run_alike(const std::string& library, const std::string& shipped, const std::string& ours,
               const std::string& workload = multirate) {
  CAPTURE(library, workload);
  REQUIRE(outcome(with(library, ours), with(workload, ours)) == accepted);
  const PointResult expected = simulate(loaded(with(library, shipped), with(workload, shipped)), {});
  const PointResult result = simulate(loaded(with(library, ours), with(workload, ours)), {});
  CHECK(result.workload.elapsed == expected.workload.elapsed);
  CHECK(result.notes == expected.notes);
}

} // namespace

TEST_CASE("a way to idle goes with every engine that says its threads idle", "[extending][traits]") {
  for (const char* idle : {"spin", "guarded-sleep", "steal", "i-tasks"}) {
    const std::string waiting = std::string(R"("waiting": {"idle": ")") + idle + R"("}, )";
    REQUIRE(outcome(waiting + R"("progress": {"engine": "p-leader"})") == accepted);
    const PointResult result = simulate(loaded(waiting + R"("progress": {"engine": "p-leader"})"), {});
    CHECK(result.receiver.received == std::int64_t{4} * 16 * 3);
    CHECK_THAT(outcome(waiting + R"("progress": {"engine": "p-plain"})"),
               Contains(R"(with progress engine "p-plain" every waiting thread makes progress)"));
    refused_alike(waiting + R"("progress": {"engine": "@"})", "offload-thread", "p-thread");
  }
}

TEST_CASE("a limit on threads in progress needs an engine that says it has one", "[extending][traits]") {
  CHECK(outcome(R"("progress": {"engine": "ownership", "threads_in_progress": 2})") == accepted);
  CHECK_THAT(outcome(R"("progress": {"engine": "p-leader", "threads_in_progress": 2})"),
             Contains(R"(progress engine "p-leader" has no limit on threads in progress)"));
}

TEST_CASE("flags of requests go with every engine that says it reads them", "[extending][traits]") {
  for (const char* notification : {"request-flags", "n-flags"}) {
    const std::string waiting = std::string(R"("waiting": {"notification": ")") + notification + R"("}, )";
    REQUIRE(outcome(waiting + R"("progress": {"engine": "p-flags"})") == accepted);
    const PointResult result = simulate(loaded(waiting + R"("progress": {"engine": "p-flags"})"), {});
    CHECK(result.receiver.received == std::int64_t{4} * 16 * 3);
    // It says which can: those that are registered, ours among them.
    CHECK_THAT(
        outcome(waiting + R"("progress": {"engine": "p-plain"})"),
        Contains(R"(library.progress.engine must be "p-flags", "serial-blocking", "serial-try-lock", "p-lock" or )"
                 R"("request-lock", not "p-plain")"));
  }
}

TEST_CASE("an engine that says it has a thread gets one, and is refused where none can be", "[extending][traits]") {
  const std::string engine = R"("progress": {"engine": "@"})";
  run_alike(engine, "offload-thread", "p-thread");
  refused_alike(engine + R"(, "critical_section": "global", "matching": {"domain": "global"})", "offload-thread",
                "p-thread");
  refused_alike(engine + R"(, "protocol": {"pending_order": "in-call"})", "offload-thread", "p-thread");
  refused_alike(engine + R"(, "thread_level": "single")", "offload-thread", "p-thread",
                R"({"kind": "ping-pong", "iterations": 2})");
  for (const char* workload :
       {R"({"kind": "lock", "threads": 2})", R"({"kind": "pack", "helpers": 1})", R"({"kind": "rma-mt", "threads": 2})",
        R"({"kind": "partitioned"})", R"({"kind": "neighbour", "threads": 1, "interface": "active-messages"})"}) {
    refused_alike(engine, "offload-thread", "p-thread", workload);
  }
  // No core is left for it.
  for (const char* workload :
       {R"({"kind": "multirate", "pairs": 1})", R"({"kind": "latency", "receivers": 1})", R"({"kind": "ping-pong"})",
        R"({"kind": "waiting"})", R"({"kind": "neighbour", "threads": 1})"}) {
    CHECK(outcome(R"("progress": {"engine": "p-plain"})", workload, R"({"cores": 1})") == accepted);
    refused_alike(engine, "offload-thread", "p-thread", workload, R"({"cores": 1})");
  }
}

TEST_CASE("an engine that says it locks all requests frees none under the lock of an instance", "[extending][traits]") {
  refused_alike(R"("progress": {"engine": "@"}, "instances": {"mapping": "communicator", "frees_requests": true})",
                "request-lock", "p-lock");
}

TEST_CASE("instances guard queues together where the engine says that every source has its own",
          "[extending][traits]") {
  const std::string library = R"("instances": {"count": 2, "mapping": "peer"},
    "matching": {"engine": "@", "domain": "global", "guard": "instance", "ordering": "transport"},
    "protocol": {"pending_order": "fifo"})";
  run_alike(library, "per-source", "m-sources", neighbour);
  CHECK_THAT(outcome(with(library, "m-plain"), neighbour),
             Contains(R"(library.matching.engine must be "m-sources" or "per-source")"));
}

TEST_CASE("an engine that says it matches in the interface needs one that keeps order", "[extending][traits]") {
  const std::string matching =
      R"("matching": {"engine": "@", "ordering": "transport"}, "protocol": {"pending_order": "fifo"},
    "instances": {"assignment": "dedicated"})";
  run_alike(matching, "offload", "m-interface");
  refused_alike(R"("matching": {"engine": "@", "ordering": "sequence-numbers"})", "offload", "m-interface");
  refused_alike(matching + R"(, "transport": {"kind": "tcp"})", "offload", "m-interface");
}

TEST_CASE("a transport keeps order where the assignment says that a thread keeps its instance", "[extending][traits]") {
  const std::string library =
      R"("instances": {"count": 2, "assignment": "@"}, "matching": {"ordering": "transport"}, "protocol": {"pending_order": "fifo"})";
  CHECK(outcome(with(library, "a-first")) == accepted);
  CHECK_THAT(outcome(with(library, "a-wanderer")),
             Contains("a-wanderer assignment sends the messages of one thread through 2 instances"));
}

TEST_CASE("threads take tasks where the way to idle says so", "[extending][traits]") {
  const std::string library = R"("waiting": {"idle": "@"}, "tasks": {"matching": true})";
  run_alike(library, "steal", "i-tasks");
  CHECK_THAT(outcome(with(library, "spin")), Contains(R"(library.waiting.idle must be "i-tasks" or "steal")"));
  refused_alike(R"("waiting": {"idle": "@"}, "thread_level": "single")", "steal", "i-tasks",
                R"({"kind": "ping-pong", "iterations": 2})");
  refused_alike(R"("waiting": {"idle": "@"}, "tasks": {"pack_piece": "64 B"})", "steal", "i-tasks",
                R"({"kind": "pack", "message_size": "1 GB"})");
}

TEST_CASE("partitions that are put need what puts need", "[extending][traits]") {
  const std::string workload = R"({"kind": "partitioned", "partitions": 2, "iterations": 2})";
  const std::string library = R"("partitioned": {"engine": "@"})";
  run_alike(library, "rma", "d-puts", workload);
  run_alike(library, "persistent", "d-messages", workload);
  const std::string global = library + R"(, "critical_section": "global", "matching": {"domain": "global"})";
  refused_alike(global, "rma", "d-puts", workload);
  CHECK(outcome(with(global, "d-messages"), workload) == accepted);
}

TEST_CASE("a way of transferring a buffer is taken by what it says", "[extending][traits]") {
  const auto workload = [](int partitions, int receive_partitions) {
    return R"({"kind": "partitioned", "method": "@", "iterations": 2, "partitions": )" + std::to_string(partitions) +
           R"(, "receive_partitions": )" + std::to_string(receive_partitions) + "}";
  };
  const std::string puts = R"("partitioned": {"engine": "rma"})";
  const std::string global =
      puts + R"(, "critical_section": "global", "matching": {"domain": "global"})"; // refuses puts
  run_alike(puts, "partitioned", "t-partitions", workload(2, 2));
  refused_alike(global, "partitioned", "t-partitions", workload(2, 2));
  run_alike(global, "multi-send", "t-threads", workload(2, 1));
  CHECK_THAT(outcome(puts, with(workload(2, 2), "t-threads")),
             Contains(R"(for the method "partitioned" or "t-partitions"; t-threads receives messages)"));

  const std::string one_thread = R"("thread_level": "single")";
  refused_alike(one_thread, "partitioned", "t-partitions", workload(2, 1));
  refused_alike(one_thread, "multi-send", "t-threads", workload(2, 1));
  run_alike(one_thread, "multi-send", "t-threads", workload(1, 1));
  CHECK_THAT(outcome(one_thread, with(workload(2, 1), "t-threads")),
             Contains(R"(workload.method must be "single-send" or "t-leader")"));
  REQUIRE(outcome(one_thread, with(workload(4, 1), "t-leader")) == accepted);
  const PointResult result = simulate(loaded(one_thread, with(workload(4, 1), "t-leader")), {});
  CHECK(result.sender.sent == 4 * (2 + 2)); // two iterations are warm-up
}

TEST_CASE("a part without traits says what the defaults say", "[extending][traits]") {
  register_parts_with_traits();
  const ProgressTraits& engine = progress_registry().at("p-plain").traits();
  CHECK_FALSE((engine.own_thread || engine.limits_pollers || engine.threads_idle || engine.threads_idle_beyond_limit ||
               engine.reads_flags || engine.locks_requests || engine.polls_own_targets));
  CHECK_FALSE(matcher_registry().at("m-plain").traits().queues_by_source);
  CHECK_FALSE(partitioned_registry().at("d-messages").traits().puts);
  const BufferTransferTraits& transfer = buffer_transfer_registry().at("t-threads").traits();
  CHECK_FALSE((transfer.by_partitions || transfer.one_thread_sends));
}
