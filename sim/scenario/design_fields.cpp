#include "scenario/design_fields.hpp"

#include "scenario/section_builder.hpp"

namespace contend::scenario {

namespace {

constexpr SizeRule message_bytes{0, std::int64_t{1} << 40};
constexpr RegistryRule lock_kind{&KnownNames::locks};

Section instances_fields() {
  using P = InstancesDesign;
  auto s = declare<P>("instances", "Communication resource instances.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.library.instances; });
  s.field("count", &P::count, CountRule{1, 65536}, "instances per process");
  s.field("assignment", &P::assignment, RegistryRule{&KnownNames::assignments}, "how a thread picks an instance");
  s.field("lock", &P::lock, lock_kind, "lock of each instance");
  return s.finish();
}

Section progress_fields() {
  using P = ProgressDesign;
  auto s = declare<P>("progress", "Who looks for arrived messages, and under which lock.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.library.progress; });
  s.field("engine", &P::engine, RegistryRule{&KnownNames::progress}, "progress engine");
  s.field("lock", &P::lock, lock_kind, "lock of the engine itself");
  return s.finish();
}

Section matching_design_fields() {
  using P = MatchingDesign;
  auto s = declare<P>("matching", "How messages find their receives.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.library.matching; });
  s.field("engine", &P::engine, RegistryRule{&KnownNames::matching}, "matching engine");
  s.field("lock", &P::lock, lock_kind, "matching lock");
  s.field("domain", &P::domain, ChoiceRule{{"communicator", "global"}},
          "which communicators share queues and lock: none, all");
  s.field("ordering", &P::ordering, ChoiceRule{{"sequence-numbers", "transport"}},
          "what keeps messages in order: numbers that the receiver checks, or the connection alone");
  s.field("bins", &P::bins, CountRule{1, 4096}, "engine hash-bins: bins of a domain");
  s.field("vector_width", &P::vector_width, CountRule{1, 64}, "engine vector: elements compared in one step");
  s.field("offload_capacity", &P::offload_capacity, CountRule{1, 65536},
          "engine offload: receives that the interface holds");
  return s.finish();
}

Section protocol_fields() {
  using P = ProtocolDesign;
  auto s = declare<P>("protocol", "Limits and overheads of the wire protocol.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.library.protocol; });
  s.field("inline_limit", &P::inline_limit_bytes, message_bytes, "largest payload that travels in the work request");
  s.field("eager_limit", &P::eager_limit_bytes, message_bytes, "largest payload sent without asking the receiver");
  s.field("header", &P::header_bytes, SizeRule{0, 65536}, "bytes on the wire in front of the payload");
  s.field("pending_order", &P::pending_order, ChoiceRule{{"reversing", "fifo"}},
          "what a failed retry does to the list of delayed sends");
  return s.finish();
}

} // namespace

Section fabric_fields() {
  using P = RouteParameters;
  auto s = declare<P>("fabric", "The route between the two hosts: from a platform, or its two values.",
                      Presence::required, [](auto& point) -> auto& { return point.route; });
  s.stand_ins({"platform", "from", "to"});
  s.field("latency", &P::latency, positive_time, "first byte in to first byte out");
  s.field("bandwidth", &P::bytes_per_second, any_rate, "bandwidth of the narrowest link");
  return s.finish();
}

Section library_fields() {
  using P = LibraryDesign;
  auto s = declare<P>("library", "The MPI library, as a composition.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.library; });
  s.field("name", &P::name, TextRule{100}, "name of the design");
  s.section(instances_fields());
  s.section(progress_fields());
  s.section(matching_design_fields());
  s.section(protocol_fields());
  s.stand_ins({"preset"});
  return s.finish();
}

Section workload_fields() {
  using P = MultirateParameters;
  auto s = declare<P>("workload", "What the entities do.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.workload; });
  s.field("pattern", &P::pattern, ChoiceRule{{"pairwise"}}, "who sends to whom");
  s.field("mode", &P::mode, ChoiceRule{{"thread", "process"}},
          "thread: one process per host with a thread per entity; process: one process per entity");
  s.field("pairs", &P::pairs, CountRule{1, 4096}, "pairs of a sending and a receiving entity");
  s.field("message_size", &P::message_size_bytes, message_bytes, "payload of one message");
  s.field("window", &P::window, CountRule{1, 65536}, "messages per entity and iteration");
  s.field("iterations", &P::iterations, CountRule{1, 10'000'000}, "timed iterations");
  s.field("warmup_iterations", &P::warmup_iterations, CountRule{0, 10'000'000}, "iterations before the timed ones");
  s.field("communicator_per_pair", &P::communicator_per_pair, FlagRule{}, "each pair has a communicator of its own");
  s.field("allow_overtaking", &P::allow_overtaking, FlagRule{}, "messages need not match in the order sent");
  s.field("any_tag", &P::any_tag, FlagRule{}, "receives accept any tag");
  return s.finish();
}

Section run_fields() {
  using P = RunConfig;
  auto s = declare<P>("run", "How the simulation is carried out.", Presence::defaulted,
                      [](auto& point) -> auto& { return point.run; });
  s.field("seed", &P::seed, SeedRule{}, "seed of all random streams");
  s.field("replications", &P::replications, CountRule{1, 10'000}, "independent repetitions");
  s.field("coalesce_idle_polls", &P::coalesce_idle_polls, FlagRule{},
          "off: every empty poll is an event of its own, for checking the engine");
  return s.finish();
}

} // namespace contend::scenario
