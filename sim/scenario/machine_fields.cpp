#include "scenario/machine_fields.hpp"

#include "scenario/code_fields.hpp"
#include "scenario/host_fields.hpp"
#include "scenario/interface_fields.hpp"
#include "scenario/section_builder.hpp"

namespace contend::scenario {

Section machine_fields() {
  using P = MachineConfig;
  auto s = declare<P>("machine", "The machine: a profile, single values that replace the profile's, or all of it.",
                      Presence::defaulted, [](auto& point) -> auto& { return point.machine; });
  s.field("name", &P::profile, TextRule{100}, "name of the machine; a profile brings its own");
  s.stand_ins({"profile"});
  s.presence(Presence::measured);
  s.field("noise", &P::noise, any_time, "mean of the exponential jitter added to each library call");
  s.section(topology_fields());
  s.section(slow_core_fields());
  s.section(cache_fields());
  s.section(futex_fields());
  s.section(scheduler_fields());
  s.section(lock_fields());
  s.section(nic_fields());
  s.section(rdma_fields());
  s.section(tcp_fields());
  s.section(shared_memory_fields());
  s.section(matching_fields());
  s.section(software_fields());
  s.section(waiting_fields());
  s.section(datatype_fields());
  s.section(memory_fields());
  s.section(compute_fields());
  s.section(coroutine_fields());
  s.section(channel_fields());
  return s.finish();
}

} // namespace contend::scenario
