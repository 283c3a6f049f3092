// A small machine, a plain library and a short Multirate run, every parameter set here. Prices differ from each other and
// are no round numbers: equal dates are then rare, as they are on a real machine.
#pragma once

#include "../../models/support/printing.hpp"
#include "scenario/config.hpp"

namespace contend::test {

inline MachineConfig small_machine() {
  MachineConfig machine;
  machine.topology = {2, 8, 1};

  machine.cache.hit = 1'303_ps;
  machine.cache.atomic_hit = 7'919_ps;
  machine.cache.transfer_smt = 12'007_ps;
  machine.cache.transfer_socket = 51'109_ps;
  machine.cache.transfer_remote = 123'457_ps;
  machine.cache.l2_hit = 4'801_ps;
  machine.cache.l3_hit = 19'403_ps;
  machine.cache.l2_bytes = 256 * 1024;
  machine.cache.proximity_bias = 0.5;

  machine.futex.wait_call = 907'129_ps;
  machine.futex.wake_call = 811'081_ps;
  machine.futex.empty_wake_call = 103'093_ps;
  machine.futex.call_jitter = 0_ps;
  machine.futex.wake_latency = 2'003'191_ps;
  machine.futex.wake_jitter = 0_ps;

  machine.locks.pause = 15'013_ps;
  machine.locks.backoff_minimum = 0_ps;
  machine.locks.backoff_maximum = 0_ps;

  machine.nic.post = 71'209_ps;
  machine.nic.doorbell = 53'077_ps;
  machine.nic.wqe_fetch = 203'017_ps;
  machine.nic.context_gap = 61'027_ps;
  machine.nic.nic_gap = 7'351_ps;
  machine.nic.completion = 31'069_ps;
  machine.nic.empty_poll = 21'017_ps;
  machine.nic.max_contexts = 64;
  machine.nic.send_queue_depth = 256;
  machine.nic.send_completion_batch = 1;
  machine.nic.flow_control_window = 0;
  machine.nic.poll_batch = 16;

  machine.rdma.store_limit_bytes = 1024;
  machine.rdma.store_post = 93'047_ps;
  machine.rdma.store_bytes_per_second = 5.3e9;
  machine.rdma.store_start = 121'013_ps;
  machine.rdma.offload_post = 111'031_ps;
  machine.rdma.offload_start = 613'051_ps;
  machine.rdma.offload_gap = 33'029_ps;
  machine.rdma.read_response = 331'043_ps;
  machine.rdma.atomic_response = 257'017_ps;
  machine.rdma.atomic_gap = 41'011_ps;
  machine.rdma.atomic_limit_bytes = 8;
  machine.rdma.header_bytes = 42;
  machine.rdma.read_depth = 16;
  machine.rdma.completion_batch = 1;
  machine.rdma.completion = 37'021_ps;

  machine.matching.attempt = 17'011_ps;
  machine.matching.element = 2'203_ps;
  machine.matching.element_bytes = 128;
  machine.matching.enqueue = 9'041_ps;
  machine.matching.fragment_allocate = 47'017_ps;
  machine.matching.fragment_release = 23'027_ps;
  machine.matching.range = 5'009_ps;
  machine.matching.fragment_bytes = 192;

  machine.software.send_call = 83'023_ps;
  machine.software.send_request = 37'057_ps;
  machine.software.receive_call = 67'033_ps;
  machine.software.request_allocate = 19'073_ps;
  machine.software.deliver = 43'019_ps;
  machine.software.complete = 27'059_ps;
  machine.software.wait_call = 57'037_ps;
  machine.software.wait_request = 6'047_ps;
  machine.software.progress_call = 29'063_ps;
  machine.software.one_sided_call = 213'023_ps;
  machine.software.one_sided_complete = 17'029_ps;
  machine.software.one_sided_synchronize = 53'017_ps;
  machine.software.copy_bytes_per_second = 9.7e9;

  machine.waiting.check = 2'017_ps;
  machine.waiting.request_bytes = 128;
  machine.waiting.detach = 9'011_ps;
  machine.waiting.start = 61'027_ps;
  machine.waiting.query = 41'017_ps;
  machine.waiting.task = 49'003_ps;
  machine.futex.yield_call = 311'009_ps;
  machine.datatype.block = 6'011_ps;
  machine.datatype.l3_bytes = 4 * 1024 * 1024;
  machine.datatype.memory_bytes_per_second = 41e9;

  machine.noise = 0_ps;
  return machine;
}

inline LibraryDesign plain_library() {
  LibraryDesign library;
  library.name = "plain";
  library.instances = {1, "round-robin", "pthread-mutex"};
  library.progress = {"ownership", "pthread-mutex"};
  library.matching = {"ob1", "pthread-mutex"};
  library.protocol.inline_limit_bytes = 256;
  library.protocol.eager_limit_bytes = 8192;
  library.protocol.header_bytes = 40;
  library.protocol.pending_order = "fifo";
  return library;
}

inline PointConfig small_point() {
  PointConfig point;
  point.name = "small";
  point.machine = small_machine();
  point.route.latency = 1'100'003_ps;
  point.route.bytes_per_second = 12.5e9;
  point.library = plain_library();
  point.workload = WorkloadParameters{};
  point.workload.multirate.pattern = "pairwise";
  point.workload.multirate.mode = "thread";
  point.workload.multirate.pairs = 4;
  point.workload.multirate.message_size_bytes = 0;
  point.workload.multirate.window = 16;
  point.workload.multirate.iterations = 3;
  point.workload.multirate.warmup_iterations = 1;
  point.workload.multirate.communicator_per_pair = false;
  point.workload.multirate.allow_overtaking = false;
  point.workload.multirate.any_tag = false;
  point.run.seed = 1;
  point.run.replications = 1;
  point.run.coalesce_idle_polls = true;
  point.workload.kind = "multirate";
  return point;
}

/// Random delays in calls, system calls and back-off, for tests over seeds.
inline void add_jitter(PointConfig& point) {
  point.machine.futex.call_jitter = 211'007_ps;
  point.machine.futex.wake_jitter = 503'017_ps;
  point.machine.locks.backoff_minimum = 31'013_ps;
  point.machine.locks.backoff_maximum = 500'009_ps;
  point.machine.noise = 9'011_ps;
}

} // namespace contend::test
