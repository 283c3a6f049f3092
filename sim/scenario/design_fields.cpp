#include "scenario/design_fields.hpp"

#include "scenario/section_builder.hpp"

namespace contend::scenario {

namespace {

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
