#include "multirate/workload.hpp"

#include "support/failure.hpp"

namespace contend::native {

namespace {

constexpr std::int64_t most_entities = 4096;
constexpr std::int64_t most_bytes = std::int64_t{1} << 30;

} // namespace

void Workload::declare(Options& options) {
  options.choice("pattern", pattern, {"pairwise", "one-to-many", "many-to-one", "many-to-many"}, "who sends to whom");
  options.choice("mode", mode, {"thread", "process", "process-to-thread", "thread-to-process"},
                 "what the entities are");
  options.integer("pairs", pairs, 1, most_entities, "pairs of a sender and a receiver; pattern pairwise");
  options.integer("senders", senders, 1, most_entities, "sending entities; other patterns");
  options.integer("receivers", receivers, 1, most_entities, "receiving entities; other patterns");
  options.size("message-size", message_size, most_bytes, "payload of one message");
  options.integer("window", window, 1, 65536, "messages per entity, peer and iteration");
  options.integer("iterations", iterations, 1, 10'000'000, "timed iterations per repetition");
  options.integer("warmup-iterations", warmup_iterations, 0, 10'000'000, "iterations before the timed ones");
  options.flag("barrier-every-iteration", barrier_every_iteration, "all entities meet in every iteration; pairwise");
  options.choice("completion", completion, {"window", "test", "testany", "waitany"},
                 "wait for a whole window and answer; or keep a window of requests in flight, and post each again when "
                 "it is found complete, one after the other or any of all; pairwise");
  options.flag("communicator-per-pair", communicator_per_pair, "each pair has a communicator of its own");
  options.choice("handshake", handshake, {"pair", "world"},
                 "ready words and acknowledgements travel on the pair's communicator, or on one of all; pairwise");
  options.choice("tags", tags, {"window", "pair"},
                 "a tag is a message's place in its window, or says whose it is as well; pairwise");
  options.flag("allow-overtaking", allow_overtaking, "info key mpi_assert_allow_overtaking");
  options.flag("any-tag", any_tag, "receives accept any tag");
}

void Workload::check() const {
  const auto refuse = [](const std::string& message) { throw Failure(ExitCode::bad_options, message); };
  if (pairwise() && (senders != 1 || receivers != 1)) {
    refuse("pattern pairwise takes --pairs, not --senders and --receivers");
  }
  if (!pairwise() && pairs != 1) {
    refuse("pattern " + pattern + " takes --senders and --receivers, not --pairs");
  }
  if (!pairwise() && !barrier_every_iteration) {
    refuse("only pattern pairwise can do without a barrier in every iteration");
  }
  if (!pairwise() && !windows()) {
    refuse("only pattern pairwise keeps requests in flight one by one");
  }
  if (!windows() && barrier_every_iteration) {
    refuse("requests that are posted again one by one have no iterations to meet in: they need "
           "--no-barrier-every-iteration");
  }
  if (!windows() && handshake != "pair") {
    refuse("requests that are posted again one by one have no handshakes");
  }
  if (!pairwise() && handshake != "pair") {
    refuse("only pattern pairwise has handshakes of pairs");
  }
  if (!pairwise() && tags != "window") {
    refuse("only pattern pairwise has tags of pairs");
  }
  constexpr std::int64_t guaranteed_tags = 32768;
  if (tags == "pair" && (window + 2) * pairs > guaranteed_tags) {
    refuse("tags of pairs need (window + 2) x pairs = " + std::to_string((window + 2) * pairs) +
           " tags; MPI guarantees " + std::to_string(guaranteed_tags));
  }
  if (pairs_can_starve()) {
    refuse("threads of " + std::to_string(pairs) +
           " pairs that share a communicator and do not meet can take each other's messages until all wait; "
           "give them --barrier-every-iteration, --communicator-per-pair, or --tags pair without --any-tag");
  }
  if (pattern == "one-to-many" && senders != 1) {
    refuse("pattern one-to-many has one sender, not " + std::to_string(senders));
  }
  if (pattern == "many-to-one" && receivers != 1) {
    refuse("pattern many-to-one has one receiver, not " + std::to_string(receivers));
  }
}

bool Workload::tells_pairs_apart() const {
  return communicator_per_pair || (tags == "pair" && !any_tag) || !threads(Role::sender) || !threads(Role::receiver);
}

bool Workload::pairs_can_starve() const {
  return pairwise() && windows() && pairs > 1 && !barrier_every_iteration && !tells_pairs_apart();
}

int Workload::entities(Role role) const {
  if (pairwise()) {
    return static_cast<int>(pairs);
  }
  return static_cast<int>(role == Role::sender ? senders : receivers);
}

bool Workload::threads(Role role) const {
  return mode == "thread" || mode == (role == Role::sender ? "thread-to-process" : "process-to-thread");
}

std::int64_t Workload::channels() const { return pairwise() ? pairs : senders * receivers; }

Json Workload::describe() const {
  Json result = Json::object();
  result.set("kind", "multirate").set("pattern", pattern).set("mode", mode);
  if (pairwise()) {
    result.set("pairs", pairs);
  } else {
    result.set("senders", senders).set("receivers", receivers);
  }
  result.set("message_size", size_text(message_size))
      .set("window", window)
      .set("iterations", iterations)
      .set("warmup_iterations", warmup_iterations);
  if (pairwise()) {
    result.set("barrier_every_iteration", barrier_every_iteration).set("handshake", handshake).set("tags", tags);
  }
  if (!windows()) {
    result.set("completion", completion);
  }
  result.set("communicator_per_pair", communicator_per_pair)
      .set("allow_overtaking", allow_overtaking)
      .set("any_tag", any_tag);
  return result;
}

Json Workload::parameters() const {
  if (pairwise()) {
    return std::move(Json::object().set("pairs", pairs));
  }
  return std::move(Json::object().set("senders", senders).set("receivers", receivers));
}

} // namespace contend::native
