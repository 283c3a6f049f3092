// A struct member without a descriptor would silently keep its default; this counts both.
#include "scenario/fields.hpp"

#include <catch2/catch.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

using namespace contend;
using namespace contend::scenario;

namespace {

/// Converts to any member, so that the compiler can be asked how many members an aggregate has.
struct Anything {
  template <class Member>
  operator Member() const; // only named, never called
};

template <class Struct, std::size_t... i>
constexpr bool takes(std::index_sequence<i...>) {
  return requires { Struct{(static_cast<void>(i), Anything{})...}; };
}

template <class Struct, std::size_t count = 0>
constexpr std::size_t member_count() {
  if constexpr (takes<Struct>(std::make_index_sequence<count + 1>{}))
    return member_count<Struct, count + 1>();
  else
    return count;
}

std::size_t declared(const Section& section) {
  return section.fields.size() + section.sections.size() + section.kinds.size();
}

const Section& kind(const Section& section, const std::string& name) {
  for (const Section& candidate : section.kinds) {
    if (candidate.name == name)
      return candidate;
  }
  throw std::logic_error("no kind " + name);
}

const Section& inner(const Section& section, const std::string& name) {
  for (const Section& candidate : section.sections) {
    if (candidate.name == name)
      return candidate;
  }
  throw std::logic_error("no section " + name);
}

} // namespace

TEST_CASE("every struct member has a descriptor", "[scenario][fields]") {
  const Section& machine = root_section("machine");
  CHECK(declared(machine) == member_count<MachineConfig>());
  CHECK(declared(inner(machine, "topology")) == member_count<TopologyParameters>());
  CHECK(declared(inner(machine, "slow_cores")) == member_count<SlowCoreParameters>());
  CHECK(declared(inner(machine, "cache")) == member_count<CacheParameters>());
  CHECK(declared(inner(machine, "futex")) == member_count<FutexParameters>());
  CHECK(declared(inner(machine, "scheduler")) == member_count<SchedulerParameters>());
  CHECK(declared(inner(machine, "locks")) == member_count<LockParameters>());
  CHECK(declared(inner(machine, "nic")) == member_count<NicParameters>());
  CHECK(declared(inner(machine, "rdma")) == member_count<RdmaParameters>());
  CHECK(declared(inner(machine, "matching")) == member_count<MatchingParameters>());
  CHECK(declared(inner(machine, "software")) == member_count<SoftwareParameters>());
  CHECK(declared(inner(machine, "waiting")) == member_count<WaitingParameters>());
  CHECK(declared(inner(machine, "datatype")) == member_count<DatatypeParameters>());
  CHECK(declared(root_section("fabric")) == member_count<RouteParameters>());
  const Section& library = root_section("library");
  CHECK(declared(library) == member_count<LibraryDesign>());
  CHECK(declared(inner(library, "instances")) == member_count<InstancesDesign>());
  CHECK(declared(inner(library, "progress")) == member_count<ProgressDesign>());
  CHECK(declared(inner(library, "waiting")) == member_count<WaitingDesign>());
  CHECK(declared(inner(library, "tasks")) == member_count<TasksDesign>());
  CHECK(declared(inner(library, "matching")) == member_count<MatchingDesign>());
  CHECK(declared(inner(library, "protocol")) == member_count<ProtocolDesign>());
  CHECK(declared(inner(library, "one_sided")) == member_count<OneSidedDesign>());
  CHECK(declared(inner(library, "code")) == member_count<CodeDesign>());
  CHECK(declared(inner(library, "transport")) == member_count<TransportDesign>());
  CHECK(declared(inner(machine, "tcp")) == member_count<TcpParameters>());
  CHECK(declared(inner(machine, "shared_memory")) == member_count<SharedMemoryParameters>());
  CHECK(declared(inner(library, "partitioned")) == member_count<PartitionedDesign>());
  const Section& workload = root_section("workload");
  CHECK(declared(workload) == member_count<WorkloadParameters>()); // the selector, and each kind
  CHECK(declared(kind(workload, "multirate")) == member_count<MultirateParameters>());
  CHECK(declared(kind(workload, "latency")) == member_count<LatencyParameters>());
  CHECK(declared(kind(workload, "rma-mt")) == member_count<RmaMtParameters>());
  CHECK(declared(root_section("placement")) == member_count<PlacementParameters>());
  CHECK(declared(kind(workload, "waiting")) == member_count<WaitingWorkloadParameters>());
  CHECK(declared(kind(workload, "ping-pong")) == member_count<PingPongParameters>());
  CHECK(declared(kind(workload, "pack")) == member_count<PackParameters>());
  CHECK(declared(kind(workload, "neighbour")) == member_count<NeighbourParameters>());
  CHECK(declared(kind(workload, "partitioned")) == member_count<PartitionedParameters>());
  CHECK(declared(root_section("run")) == member_count<RunConfig>());
  CHECK(declared(scenario_fields()) == member_count<PointConfig>());
}

TEST_CASE("only the values of the chosen kind apply", "[scenario][fields]") {
  const Section& workload = root_section("workload");
  for (const Section& candidate : workload.kinds) {
    CAPTURE(candidate.name);
    PointConfig point;
    point.workload.kind = candidate.name;
    REQUIRE(kind_of(workload, point) == &candidate);
    const auto by_path = fields_by_path(point);
    for (const Field& field : candidate.fields)
      CHECK(by_path.at(field.path) == &field);
    std::size_t of_workload = 0;
    for (const auto& [path, field] : by_path)
      of_workload += path.rfind("workload.", 0) == 0 ? 1 : 0;
    CHECK(of_workload == candidate.fields.size() + 1); // and the selector
  }
  PointConfig point;
  point.workload.kind = "registered at run time, without values";
  CHECK(kind_of(workload, point) == nullptr);
  CHECK(fields_by_path(point).count("workload.pairs") == 0);
}

TEST_CASE("each field has its own place", "[scenario][fields]") {
  // A descriptor copied from its neighbour and not changed would write the neighbour's member.
  std::vector<const Field*> fields;
  for_each_field(scenario_fields(), [&](const Field& field) { fields.push_back(&field); });
  for (const Field* field : fields) {
    CAPTURE(field->path);
    PointConfig point;
    const Value before = field->get(point);
    Value other;
    if (field->kind == Kind::flag)
      other = !std::get<bool>(before);
    else if (std::holds_alternative<std::string>(before))
      other = std::string("changed");
    else
      other = before == field->maximum ? field->minimum : field->maximum;
    field->set(point, other);
    CHECK(field->get(point) == other);
    for (const Field* neighbour : fields) {
      if (neighbour != field) {
        CAPTURE(neighbour->path);
        CHECK(neighbour->get(point) == neighbour->get(PointConfig{}));
      }
    }
  }
}
