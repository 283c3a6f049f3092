// A spread of small designs on a made-up machine, for tests that compare whole runs.
#pragma once

#include "simulation/simulation.hpp"

#include <string>
#include <vector>

namespace contend::test {

struct Design {
  std::string name;
  PointConfig config;
};

/// Prices are round numbers near those of a two-socket server: these tests are about sameness, not truth.
inline PointConfig small_point() {
  PointConfig point;
  MachineConfig& machine = point.machine;
  machine.topology = {2, 4, 1};
  machine.cache = {2_ns, 8_ns, 9_ns, 45_ns, 120_ns, 5_ns, 20_ns, 256 * 1024, 0.0};
  machine.futex.wait_call = 700_ns;
  machine.futex.wake_call = 1200_ns;
  machine.futex.empty_wake_call = 250_ns;
  machine.futex.call_jitter = 100_ns;
  machine.futex.wake_latency = 3_us;
  machine.futex.wake_jitter = 1500_ns;
  machine.locks.pause = 20_ns;
  machine.nic.post = 50_ns;
  machine.nic.doorbell = 40_ns;
  machine.nic.wqe_fetch = 350_ns;
  machine.nic.context_gap = 100_ns;
  machine.nic.nic_gap = 7_ns;
  machine.nic.completion = 30_ns;
  machine.nic.empty_poll = 25_ns;
  machine.nic.max_contexts = 64;
  machine.nic.send_queue_depth = 256;
  machine.nic.send_completion_batch = 64;
  machine.nic.flow_control_window = 512;
  machine.nic.poll_batch = 1;
  machine.matching.attempt = 10_ns;
  machine.matching.element = 3_ns;
  machine.matching.element_bytes = 128;
  machine.matching.enqueue = 8_ns;
  machine.matching.fragment_allocate = 100_ns;
  machine.matching.fragment_release = 50_ns;
  machine.matching.range = 6_ns;
  machine.matching.fragment_bytes = 256;
  machine.matching.hash = 5_ns;
  machine.matching.vector_step = 6_ns;
  machine.matching.offload_command = 100_ns;
  machine.matching.offload_latency = 250_ns;
  machine.matching.offload_element = 7_ns;
  machine.software = {200_ns, 100_ns, 150_ns, 25_ns, 100_ns, 60_ns, 40_ns, 10_ns, 100_ns, 8e9};
  machine.software.one_sided_call = 210_ns;
  machine.software.one_sided_complete = 15_ns;
  machine.software.one_sided_synchronize = 55_ns;
  machine.rdma.store_limit_bytes = 512;
  machine.rdma.store_post = 95_ns;
  machine.rdma.store_bytes_per_second = 5e9;
  machine.rdma.store_start = 120_ns;
  machine.rdma.offload_post = 110_ns;
  machine.rdma.offload_start = 650_ns;
  machine.rdma.offload_gap = 30_ns;
  machine.rdma.read_response = 330_ns;
  machine.rdma.atomic_response = 410_ns;
  machine.rdma.atomic_gap = 90_ns;
  machine.rdma.atomic_limit_bytes = 8;
  machine.rdma.header_bytes = 42;
  machine.rdma.read_depth = 16;
  machine.rdma.completion_batch = 8;
  machine.rdma.completion = 35_ns;
  machine.waiting = {2_ns, 128, 1, 10_ns, 60_ns, 40_ns, 50_ns};
  machine.futex.yield_call = 300_ns;
  machine.datatype = {6_ns, 4 * 1024 * 1024, 40e9};
  machine.noise = 10_ns;
  point.route = {700_ns, 12.5e9};
  point.workload.multirate.pairs = 4;
  point.workload.multirate.window = 32;
  point.workload.multirate.iterations = 2;
  point.workload.multirate.warmup_iterations = 1;
  return point;
}

inline std::vector<Design> small_designs() {
  std::vector<Design> designs;
  const auto add = [&](std::string name, auto change) {
    designs.push_back({std::move(name), small_point()});
    change(designs.back().config);
  };
  add("base", [](PointConfig&) {});
  add("one pair", [](PointConfig& point) { point.workload.multirate.pairs = 1; });
  add("four instances, dedicated", [](PointConfig& point) {
    point.library.instances.count = 4;
    point.library.instances.assignment = "dedicated";
  });
  add("two instances, round-robin, ttas", [](PointConfig& point) {
    point.library.instances.count = 2;
    point.library.instances.lock = "ttas";
  });
  add("serial progress, blocking lock", [](PointConfig& point) { point.library.progress.engine = "serial-blocking"; });
  add("serial progress, try-lock, mcs", [](PointConfig& point) {
    point.library.progress.engine = "serial-try-lock";
    point.library.progress.lock = "mcs";
  });
  add("overtaking, any tag", [](PointConfig& point) {
    point.workload.multirate.allow_overtaking = true;
    point.workload.multirate.any_tag = true;
  });
  add("communicator per pair, ticket locks, 1 KiB", [](PointConfig& point) {
    point.workload.multirate.communicator_per_pair = true;
    point.workload.multirate.message_size_bytes = 1024;
    point.library.matching.lock = "ticket";
  });
  add("process mode", [](PointConfig& point) { point.workload.multirate.mode = "process"; });
  add("scarce send queue and credits", [](PointConfig& point) {
    point.machine.nic.send_queue_depth = 16;
    point.machine.nic.send_completion_batch = 4;
    point.machine.nic.flow_control_window = 24;
  });
  add("many to one, process mode", [](PointConfig& point) {
    point.workload.multirate.pattern = "many-to-one";
    point.workload.multirate.mode = "process";
    point.workload.multirate.pairs = 1;
    point.workload.multirate.senders = 5;
  });
  add("one to many, one thread to processes, 1 KiB", [](PointConfig& point) {
    point.workload.multirate.pattern = "one-to-many";
    point.workload.multirate.mode = "thread-to-process";
    point.workload.multirate.pairs = 1;
    point.workload.multirate.receivers = 4;
    point.workload.multirate.message_size_bytes = 1024;
  });
  add("many to many, processes to threads", [](PointConfig& point) {
    point.workload.multirate.pattern = "many-to-many";
    point.workload.multirate.mode = "process-to-thread";
    point.workload.multirate.pairs = 1;
    point.workload.multirate.senders = 3;
    point.workload.multirate.receivers = 4;
    point.workload.multirate.window = 8;
  });
  for (const std::string protocol : {"get", "put", "send"}) {
    add("100 kB by " + protocol, [&](PointConfig& point) {
      point.workload.multirate.message_size_bytes = 100'000;
      point.workload.multirate.window = 8;
      point.library.protocol.rendezvous = protocol;
      point.library.protocol.piece_bytes = 30'000;
      point.machine.nic.send_queue_depth = 8;
      point.machine.nic.packet_bytes = 26;
      point.machine.nic.registration = 16_us;
      point.machine.nic.registration_page = 246_ns;
      point.machine.nic.registration_hit = 90_ns;
    });
  }
  add("no barriers between iterations, process mode", [](PointConfig& point) {
    point.workload.multirate.mode = "process";
    point.workload.multirate.barrier_every_iteration = false;
    point.workload.multirate.iterations = 5;
  });
  add("few credits", [](PointConfig& point) {
    point.library.flow_control.kind = "credits";
    point.library.flow_control.credits = {8, 6, 4, 4};
    point.library.protocol.pending_order = "at-connection";
  });
  for (const char* engine : {"list", "hash-bins", "vector"}) {
    add(std::string("one global queue, ") + engine, [&](PointConfig& point) {
      point.library.matching.engine = engine;
      point.library.matching.domain = "global";
      point.library.instances.count = 2;
      point.workload.multirate.communicator_per_pair = true;
    });
  }
  add("matching in the interface, short list", [](PointConfig& point) {
    point.library.matching.engine = "offload";
    point.library.matching.domain = "global";
    point.library.matching.ordering = "transport";
    point.library.matching.offload_capacity = 100;
    point.library.protocol.pending_order = "fifo";
  });
  add("order by transport, dedicated instances, scarce send queue", [](PointConfig& point) {
    point.library.matching.ordering = "transport";
    point.library.protocol.pending_order = "fifo";
    point.library.instances.count = 4;
    point.library.instances.assignment = "dedicated";
    point.machine.nic.send_queue_depth = 8;
    point.machine.nic.send_completion_batch = 4;
  });
  for (const char* assignment : {"dedicated", "round-robin"}) {
    add(std::string("concurrent progress, three instances, ") + assignment, [&](PointConfig& point) {
      point.library.progress.engine = "concurrent";
      point.library.instances.count = 3;
      point.library.instances.assignment = assignment;
    });
  }
  add("two threads in progress", [](PointConfig& point) {
    point.library.progress.threads_in_progress = 2;
    point.library.instances.count = 2;
  });
  add("progress thread", [](PointConfig& point) {
    point.library.progress.engine = "offload-thread";
    point.library.progress.queue_slots = 8;
    point.library.instances.count = 2;
  });
  for (const char* mapping : {"communicator", "tag"}) {
    add(std::string("VCIs by ") + mapping, [&](PointConfig& point) {
      point.library.instances.count = 3;
      point.library.instances.mapping = mapping;
      point.library.matching.domain = "instance";
      point.library.matching.guard = "instance";
      point.library.matching.ordering = "transport";
      point.library.protocol.pending_order = "fifo";
      point.library.progress.engine = "per-target";
      point.library.progress.global_every = 16;
      point.workload.multirate.communicator_per_pair = true;
    });
  }
  add("one global critical section", [](PointConfig& point) {
    point.library.critical_section = "global";
    point.library.matching.domain = "global";
    point.library.progress.engine = "per-target";
  });
  add("thread level single", [](PointConfig& point) {
    point.library.thread_level = "single";
    point.workload.multirate.mode = "process";
  });
  const auto add_one_sided = [&](std::string name, auto change) {
    add(std::move(name), [&](PointConfig& point) {
      point.workload.kind = "rma-mt";
      point.workload.rma_mt.threads = 4;
      point.workload.rma_mt.operations = 60;
      point.workload.rma_mt.iterations = 2;
      point.library.instances.count = 4;
      point.library.instances.assignment = "dedicated";
      point.library.instances.lock = "ttas";
      change(point);
    });
  };
  add_one_sided("puts, flush", [](PointConfig&) {});
  add_one_sided("puts, one round-robin instance in two, flush-all by one thread", [](PointConfig& point) {
    point.library.instances.count = 2;
    point.library.instances.assignment = "round-robin";
    point.library.instances.lock = "pthread-mutex";
    point.workload.rma_mt.synchronisation = "flush-all";
    point.workload.rma_mt.synchronised_by = "one-thread";
    point.workload.rma_mt.message_size_bytes = 4096;
  });
  add_one_sided("puts, one instance, flush by turns", [](PointConfig& point) {
    point.library.instances.count = 1;
    point.library.one_sided.completion = "instance-turns";
  });
  add_one_sided("gets, counter, flush", [](PointConfig& point) {
    point.library.one_sided.completion = "counter";
    point.workload.rma_mt.operation = "get";
    point.workload.rma_mt.message_size_bytes = 64;
  });
  add_one_sided("fetch-and-op, hardware, lock-all, window per thread", [](PointConfig& point) {
    point.workload.rma_mt.operation = "fetch-and-op";
    point.workload.rma_mt.message_size_bytes = 8;
    point.workload.rma_mt.synchronisation = "lock-all";
    point.workload.rma_mt.window_per_thread = true;
  });
  add_one_sided("accumulate under a lock, lock", [](PointConfig& point) {
    point.library.one_sided.atomics = "lock";
    point.workload.rma_mt.operation = "accumulate";
    point.workload.rma_mt.operations = 5;
    point.workload.rma_mt.message_size_bytes = 256;
    point.workload.rma_mt.synchronisation = "lock";
  });
  add_one_sided("puts, fence", [](PointConfig& point) { point.workload.rma_mt.synchronisation = "fence"; });
  add_one_sided("puts, flush-local, scarce queue", [](PointConfig& point) {
    point.machine.nic.send_queue_depth = 6;
    point.workload.rma_mt.synchronisation = "flush-local";
    point.workload.rma_mt.message_size_bytes = 2048;
  });
  add("legacy wait: flags, one progress lock", [](PointConfig& point) {
    point.library.waiting.notification = "request-flags";
    point.library.progress.engine = "serial-blocking";
  });
  for (const char* idle : {"spin", "steal"}) {
    add(std::string("waiting threads ") + idle, [&](PointConfig& point) { point.library.waiting.idle = idle; });
  }
  add("matching as a task, two instances", [](PointConfig& point) {
    point.library.waiting.idle = "steal";
    point.library.tasks.matching = true;
    point.library.instances.count = 2;
  });
  add("yield when idle", [](PointConfig& point) { point.library.progress.yield_when_idle = true; });
  for (const char* call : {"testsome", "waitsome", "waitany", "sync-query-bulk"}) {
    add(std::string("8 of 60 complete, ") + call, [&](PointConfig& point) {
      point.workload.kind = "waiting";
      point.workload.waiting.call = call;
      point.workload.waiting.requests = 60;
      point.workload.waiting.complete = 8;
      point.workload.waiting.iterations = 5;
    });
  }
  for (const char* completion : {"testsome", "sync-query"}) {
    add(std::string("ping-pong of 40 kB, ") + completion, [&](PointConfig& point) {
      point.workload.kind = "ping-pong";
      point.workload.ping_pong.completion = completion;
      point.workload.ping_pong.message_size_bytes = 40'000;
      point.workload.ping_pong.iterations = 10;
    });
  }
  for (const int senders : {1, 3}) {
    add("latency, senders: " + std::to_string(senders), [&](PointConfig& point) {
      point.workload.kind = "latency";
      point.workload.latency.senders = senders;
      point.workload.latency.receivers = 3;
      point.workload.latency.iterations = 60;
    });
  }
  add("pack with five helpers", [](PointConfig& point) {
    point.workload.kind = "pack";
    point.workload.pack.helpers = 5;
    point.workload.pack.iterations = 3;
    point.library.waiting.idle = "steal";
  });
  return designs;
}

/// Designs of other workloads, and of large transfers as flows.
inline std::vector<Design> more_designs() {
  std::vector<Design> designs;
  const auto add = [&](std::string name, auto change) {
    designs.push_back({std::move(name), small_point()});
    change(designs.back().config);
  };
  add("100 kB by get, flows", [](PointConfig& point) {
    point.workload.multirate.message_size_bytes = 100'000;
    point.workload.multirate.window = 8;
    point.route.sharing = "flows";
  });
  add("gets of 64 KiB, flows", [](PointConfig& point) {
    point.workload.kind = "rma-mt";
    point.workload.rma_mt.threads = 4;
    point.workload.rma_mt.operations = 60;
    point.workload.rma_mt.iterations = 2;
    point.library.instances.count = 4;
    point.library.instances.assignment = "dedicated";
    point.workload.rma_mt.operation = "get";
    point.workload.rma_mt.message_size_bytes = 64 * 1024;
    point.route.sharing = "flows";
  });
  const auto add_partitioned = [&](std::string name, auto change) {
    add(std::move(name), [&](PointConfig& point) {
      point.workload.kind = "partitioned";
      point.workload.partitioned.partitions = 6;
      point.workload.partitioned.buffer_size_bytes = 6 * 65536;
      point.workload.partitioned.compute_time = 100_us;
      point.workload.partitioned.noise_pct = 10;
      point.workload.partitioned.iterations = 3;
      point.workload.partitioned.warmup_iterations = 1;
      point.library.instances.count = 3;
      point.library.instances.assignment = "dedicated";
      change(point);
    });
  };
  for (const char* engine : {"persistent", "rma", "aggregating", "whole-buffer"}) {
    for (const char* sharing : {"bursts", "flows"}) {
      add_partitioned(std::string("partitioned, ") + engine + ", " + sharing, [&](PointConfig& point) {
        point.library.partitioned.engine = engine;
        point.library.partitioned.aggregate_bytes = 3 * 65536;
        point.route.sharing = sharing;
      });
    }
    add_partitioned(std::string("partitioned, ") + engine + ", receiver polls, uneven", [&](PointConfig& point) {
      point.library.partitioned.engine = engine;
      point.workload.partitioned.receive_partitions = 4;
      point.workload.partitioned.receiver_polls = true;
    });
  }
  for (const char* method : {"single-send", "multi-send", "persistent"}) {
    add_partitioned(method, [&](PointConfig& point) { point.workload.partitioned.method = method; });
  }
  add_partitioned("persistent, receiver polls", [&](PointConfig& point) {
    point.workload.partitioned.method = "persistent";
    point.workload.partitioned.receiver_polls = true;
  });
  const auto add_neighbour = [&](std::string name, auto change) {
    add(std::move(name), [&](PointConfig& point) {
      point.workload.kind = "neighbour";
      point.workload.neighbour.threads = 4;
      point.workload.neighbour.iterations = 10;
      point.workload.neighbour.warmup_iterations = 1;
      point.library.instances.count = 4;
      point.library.instances.mapping = "peer";
      point.library.matching.engine = "per-source";
      point.library.matching.domain = "global";
      point.library.matching.guard = "instance";
      point.library.matching.ordering = "transport";
      point.library.protocol.pending_order = "fifo";
      point.library.progress.engine = "every-nth";
      point.library.progress.global_every = 8;
      change(point);
    });
  };
  add_neighbour("neighbours, channels", [](PointConfig&) {});
  add_neighbour("neighbours, two root processes, few FIFOs", [](PointConfig& point) {
    point.workload.neighbour.root_processes = 2;
    point.workload.neighbour.threads = 2;
    point.library.instances.count = 2;
    point.machine.nic.injection_fifos = 2;
  });
  add_neighbour("neighbours, from any source", [](PointConfig& point) {
    point.workload.neighbour.threads = 1;
    point.workload.neighbour.any_source = true;
  });
  add_neighbour("neighbours, from any source, told apart by tags",
                [](PointConfig& point) { point.workload.neighbour.any_source = true; });
  add_neighbour("neighbours, any tag", [](PointConfig& point) { point.workload.neighbour.any_tag = true; });
  add("many to one, from any source", [](PointConfig& point) {
    point.workload.multirate.pattern = "many-to-one";
    point.workload.multirate.mode = "process";
    point.workload.multirate.pairs = 1;
    point.workload.multirate.senders = 5;
    point.workload.multirate.any_source = true;
  });
  add("latency, any source, any tag", [](PointConfig& point) {
    point.workload.kind = "latency";
    point.workload.latency = {3, 2, 8, 60, 12, "senders", true, true};
  });
  add_neighbour("neighbours, active messages",
                [](PointConfig& point) { point.workload.neighbour.interface = "active-messages"; });
  add_neighbour("neighbours, one global critical section", [](PointConfig& point) {
    point.library.critical_section = "global";
    point.library.instances.count = 1;
    point.library.instances.mapping = "thread";
    point.library.matching.engine = "list";
    point.library.matching.guard = "lock";
    point.library.progress.engine = "per-target";
  });
  return designs;
}

inline std::vector<Design> all_designs() {
  std::vector<Design> designs = small_designs();
  const std::vector<Design> more = more_designs();
  designs.insert(designs.end(), more.begin(), more.end());
  return designs;
}

} // namespace contend::test
