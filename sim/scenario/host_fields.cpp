#include "scenario/host_fields.hpp"

#include "scenario/section_builder.hpp"

namespace contend::scenario {

namespace {

constexpr SizeRule size_or_none{0, std::int64_t{1} << 40};

} // namespace

Section topology_fields() {
  using P = TopologyParameters;
  auto s = declare<P>("topology", "Cores of one host, numbered socket by socket.", Presence::required,
                      [](auto& point) -> auto& { return point.machine.topology; });
  s.field("sockets", &P::sockets, CountRule{1, 64}, "processor sockets of one host");
  s.field("cores_per_socket", &P::cores_per_socket, CountRule{1, 1024}, "cores of one socket");
  s.field("threads_per_core", &P::threads_per_core, CountRule{1, 16}, "hardware threads of one core that are used");
  s.presence(Presence::defaulted);
  s.field("cores_per_cluster", &P::cores_per_cluster, CountRule{0, 1024},
          "cores that share a cache below the socket's (Arm cluster, AMD core complex); 0: no such level");
  return s.finish();
}

Section slow_core_fields() {
  using P = SlowCoreParameters;
  auto s = declare<P>(
      "slow_cores",
      "Cores that are slower than others during a whole run, such as those of a virtual machine that share a "
      "core with other tenants. Prices are means over quick and slow cores.",
      Presence::known, [](auto& point) -> auto& { return point.machine.slow_cores; });
  s.field("share", &P::share, RealRule{0.0, 1.0},
          "each core of a host is slow with this probability, drawn anew for each replication");
  s.field("slowdown", &P::slowdown, RealRule{1.0, 1e3},
          "time that work takes on a slow core over that on a quick one; ways of cache lines, PAUSE and "
          "compute times of partitioned communication are the same everywhere");
  return s.finish();
}

Section cache_fields() {
  using P = CacheParameters;
  auto s = declare<P>("cache", "Prices of touching one cache line.", Presence::measured,
                      [](auto& point) -> auto& { return point.machine.cache; });
  s.field("hit", &P::hit, positive_time, "load or store of a line that this core owns (L1)");
  s.field("atomic_hit", &P::atomic_hit, positive_time, "read-modify-write of a line that this core owns");
  s.field("transfer_smt", &P::transfer_smt, positive_time, "line transfer between hardware threads of one core");
  s.field("transfer_socket", &P::transfer_socket, positive_time, "line transfer between cores of one socket");
  s.field("transfer_remote", &P::transfer_remote, positive_time, "line transfer between sockets");
  s.field("l2_hit", &P::l2_hit, positive_time, "dependent load that hits L2");
  s.baseline();
  s.field("l3_hit", &P::l3_hit, positive_time, "dependent load that hits the shared cache");
  s.field("l2_size", &P::l2_bytes, footprint, "L2 capacity of one core");
  s.field("proximity_bias", &P::proximity_bias, RealRule{0.0, 1.0},
          "0: waiting cores win a line with equal chance; 1: in proportion to 1 / transfer time");
  s.presence(Presence::known);
  s.field("transfer_cluster", &P::transfer_cluster, any_time, "line transfer between cores of one cluster");
  s.field("atomic_arrival", &P::atomic_arrival, any_time,
          "read-modify-write of a line that has just arrived from another core; 0 ns: as atomic_hit");
  s.another_at_zero();
  s.field(
      "home_order", &P::home_order, FlagRule{},
      "requests for a line, reads included, are served one after another, and spinning threads ask again as soon as "
      "they lose their copy");
  s.field("snoop_share", &P::snoop_share, RealRule{0.0, 0.9},
          "part of a transfer that passes before the core that has the line alone loses it");
  s.field("request_share", &P::request_share, RealRule{0.0, 0.9},
          "the same for a request that found no other one at the line's home; 0: as snoop_share");
  s.field("conflict_retry", &P::conflict_retry, FlagRule{},
          "requests for one line are turned back while one of them is served: which gets through next, and when, is "
          "chance; with home_order");
  s.field("serial_snoops", &P::serial_snoops, FlagRule{},
          "a read that has to ask the core which wrote the line is alone until it is over, and reads after it find the "
          "line "
          "in the shared cache; with home_order");
  s.field("load_linked", &P::load_linked, FlagRule{},
          "atomics are pairs of load-exclusive and store-exclusive: a comparison that fails has only read the line");
  s.field("store_buffer", &P::store_buffer, FlagRule{},
          "a thread that gives a spin lock back does not wait for its line: the store waits in the core's store "
          "buffer; with "
          "home_order");
  s.field("compare_hit", &P::compare_hit, any_time,
          "compare-and-swap of a value just read, on a line that this core owns; 0 ns: as atomic_hit");
  s.another_at_zero();
  s.field("lock_latency", &P::lock_latency, any_time,
          "from the start of a locked instruction until it keeps the line: a snoop that arrives before takes it away");
  s.field("release", &P::release, any_time,
          "on top of the access that gives a lock back, for what was written before to become visible");
  return s.finish();
}

Section futex_fields() {
  using P = FutexParameters;
  auto s = declare<P>("futex", "Cost of sleeping and waking through the kernel.", Presence::measured,
                      [](auto& point) -> auto& { return point.machine.futex; });
  s.field("wait_call", &P::wait_call, any_time, "from the decision to sleep until the thread is off its core");
  s.field("wake_call", &P::wake_call, any_time, "paid by the waking thread when it wakes somebody");
  s.field("empty_wake_call", &P::empty_wake_call, any_time, "paid by a thread that finds nobody to wake");
  s.field("call_jitter", &P::call_jitter, any_time, "mean of the exponential delay on top of each call");
  s.field("wake_latency", &P::wake_latency, any_time, "from the end of the wake call until the sleeper runs, at best");
  s.field("wake_jitter", &P::wake_jitter, any_time, "mean of the exponential delay on top of wake_latency");
  s.presence(Presence::known);
  s.field(
      "vain_call", &P::vain_call, any_time,
      "a call to sleep that finds the word changed, alone; 0 ns: calls of several threads on one word do not hold each "
      "other up, and they compare when wait_call is over");
  s.another_at_zero();
  s.field("bucket_move", &P::bucket_move, any_time, "on top of a call after one from another core on the same word");
  s.field("bucket_turn", &P::bucket_turn, any_time,
          "from one call to the next where several wait for the lock of the word's bucket in the kernel");
  s.another_at_zero();
  s.field("wake_further", &P::wake_further, any_time, "paid for each further sleeper that one call wakes");
  s.field("yield_call", &P::yield_call, any_time,
          "sched_yield with nothing else to run on the core; 0 ns: that of a lock takes as long as locks.pause");
  s.another_at_zero();
  s.field(
      "shallow_latency", &P::shallow_latency, any_time,
      "in place of wake_latency for a thread that has slept for less than deep_after, whose core is not in a deep idle "
      "state");
  s.another_at_zero();
  s.field("deep_after", &P::deep_after, any_time, "sleeps from which on a deep idle state pays off; 0 ns: all");
  s.threshold();
  return s.finish();
}

Section scheduler_fields() {
  using P = SchedulerParameters;
  auto s = declare<P>("scheduler", "How the operating system shares cores among threads; needed only where it does.",
                      Presence::known, [](auto& point) -> auto& { return point.machine.scheduler; });
  s.field(
      "policy", &P::policy, ChoiceRule{{"cfs", "eevdf"}},
      "Linux's completely fair scheduler (2.6.23 to 6.5), or earliest eligible virtual deadline first (from 6.6 on)");
  s.field("latency", &P::latency, any_time,
          "cfs: within this time every thread of a core has a turn, while slices are not too short");
  s.threshold();
  s.field("slice", &P::slice, any_time, "cfs: the shortest slice; eevdf: every slice; 0 ns: not known");
  s.threshold();
  s.field("wakeup_granularity", &P::wakeup_granularity, any_time,
          "cfs: a thread that wakes up takes the core from one that has had so much more of it");
  s.threshold();
  s.field("short_sleep", &P::short_sleep, any_time,
          "eevdf: who slept no longer takes the core on waking up, others wait for the end of the slice; 0 ns: a slice "
          "protects its thread from all of them, and nothing does afterwards");
  s.threshold();
  s.field("preemption", &P::preemption, ChoiceRule{{"immediate", "lazy"}},
          "eevdf: a thread that wakes up takes a busy core at once or at the slice's end; or, lazily, from a thread "
          "that has "
          "had its share when that one returns from the kernel: from the call that wakes, a system call or a timer "
          "interrupt");
  s.field("tick", &P::tick, any_time,
          "slices end at interrupts of the timer, one in so much time; 0 ns: exactly, and there is no such interrupt");
  s.threshold();
  s.field("tick_cost", &P::tick_cost, any_time, "what an interrupt of the timer takes from the thread that runs");
  s.field("wake_call", &P::wake_call, any_time,
          "paid instead of futex.wake_call when the sleeper's core needs no interrupt from another one; under cfs a "
          "busy core never does");
  s.field("context_switch", &P::context_switch, any_time, "from one thread to another of the same process");
  s.field("process_switch", &P::process_switch, any_time, "on top when the other one belongs to another process");
  s.field("switch_jitter", &P::switch_jitter, any_time, "mean of the exponential delay on top of each switch");
  s.field(
      "cache_refill", &P::cache_refill, any_time,
      "refilling a thread's caches after others used its core, at most as long as they used it; where working_set is "
      "not known");
  s.field(
      "working_set", &P::working_set_bytes, size_or_none,
      "what a process keeps in a core's L2: other processes evict it, each as much of it as its own working set is of "
      "the cache; 0 B: not known");
  s.field(
      "kin_refill", &P::kin_refill, any_time,
      "with working_set: refilling a thread's own lines after others used its core, threads of its process included");
  s.field("refills_at_once", &P::refills_at_once, RealRule{1.0, 64.0},
          "with working_set: lines of it that are fetched from the shared cache at a time");
  s.field("waker_affinity", &P::waker_affinity, RealRule{0.0, 1.0},
          "share of wake-ups that go to the waker's core although it is busy, others go back to the thread's last "
          "core; under "
          "eevdf only where processes have shares, elsewhere loads decide");
  s.field("cache_hot", &P::cache_hot, any_time,
          "a thread that ran so short ago stays on its core when another one looks for threads; under cfs a core that "
          "idles for less in the mean does not look when it falls idle");
  s.threshold();
  s.field("newidle_ratio", &P::newidle_ratio, RealRule{0.0, 1.0},
          "eevdf: in which share of cases a core that falls idle beside threads that wait looks for one, when a run "
          "begins: it "
          "changes with what looks find (Linux from 6.18.5 on); 1: always, as before");
  s.field(
      "balance_period", &P::balance_period, any_time,
      "how often an idle core looks for threads that wait on other cores of a domain (core, cluster, socket, host), "
      "for each hardware thread of the domain; 0 ns: load is never balanced");
  s.threshold();
  s.field("busy_factor", &P::busy_factor, CountRule{1, 1024}, "how many times less often a busy core does");
  s.field("thread_create", &P::thread_create, any_time,
          "what the first thread of a process takes to create another one; 0 ns, as process_skew: all "
          "threads begin at once");
  s.threshold();
  s.field("thread_begin", &P::thread_begin, any_time,
          "mean of the exponential time that a new thread takes to its first call: page faults, its allocator");
  s.field("process_skew", &P::process_skew, any_time,
          "mean of the exponential delay with which the first thread of each process begins");
  s.threshold();
  return s.finish();
}

Section lock_fields() {
  using P = LockParameters;
  auto s = declare<P>("locks", "Tunables of the lock algorithms.", Presence::measured,
                      [](auto& point) -> auto& { return point.machine.locks; });
  s.field("pause", &P::pause, positive_time, "one turn of a spin loop");
  s.field("backoff_minimum", &P::backoff_minimum, any_time, "first back-off of a TTAS lock; 0 ns: no back-off");
  s.threshold();
  s.field("backoff_maximum", &P::backoff_maximum, any_time, "back-off doubles up to this value");
  s.threshold();
  s.presence(Presence::known);
  s.field("adaptive_spins", &P::adaptive_spins, CountRule{0, 1'000'000},
          "adaptive: most attempts before a thread sleeps; ttas-futex: looks before it sleeps");
  s.field(
      "nap_after", &P::nap_after, CountRule{0, 1'000'000},
      "tas, tas-bit, ttas, ttas-eager, ttas-yield and distributed-mutex: turns after which a thread sleeps between its "
      "looks; 0: never");
  s.field("nap", &P::nap, any_time, "length of such a sleep");
  s.threshold();
  s.field(
      "ticket_lines", &P::ticket_lines, CountRule{1, 2},
      "ticket and ticket-yield: cache lines that hold the two counters; ticket-blocking always has one, priority two "
      "for each of its three tickets");
  s.field("mutex_reads_kind", &P::mutex_reads_kind, FlagRule{},
          "a call of a pthread mutex reads the mutex's kind, on the line of its word, before it touches the word");
  s.field("mutex_tests_first", &P::mutex_tests_first, FlagRule{},
          "pthread_mutex_trylock reads the word, and makes no attempt where the mutex is taken");
  return s.finish();
}

Section memory_fields() {
  using P = MemoryParameters;
  auto s = declare<P>("memory", "What copying costs, and computing on data, by where the data is.", Presence::known,
                      [](auto& point) -> auto& { return point.machine.memory; });
  s.field("l1_size", &P::l1_bytes, size_or_none, "first-level data cache of one core");
  s.field("ways", &P::ways, CountRule{0, 1024}, "associativity of L1 and L2; 0: any line fits anywhere");
  s.field("l3_size", &P::l3_bytes, size_or_none, "last-level cache of one socket, shared by its busy cores");
  s.field("latency", &P::latency, any_time, "dependent load that misses all caches");
  s.field("copy_start", &P::copy_start, any_time, "a copy besides its bytes");
  s.field("copy_bandwidth", &P::copy_bytes_per_second, rate_or_none, "copying what fits into L2");
  s.field("copy_bandwidth_l3", &P::copy_l3_bytes_per_second, rate_or_none,
          "copying what fits into the last-level cache only");
  s.field("copy_bandwidth_far", &P::copy_far_bytes_per_second, rate_or_none, "copying from memory to memory");
  s.field("socket_bandwidth", &P::socket_bytes_per_second, rate_or_none,
          "what the memory of one socket delivers to its cores together");
  s.field("exposed", &P::exposed, RealRule{0.0, 1.0}, "share of a cache miss that computation waits for");
  s.field("tlb_size", &P::tlb_bytes, size_or_none, "memory that the second-level translation buffer covers");
  s.field("tlb_miss", &P::tlb_miss, any_time, "walking the page table");
  return s.finish();
}

Section compute_fields() {
  using P = ComputeParameters;
  auto s = declare<P>("compute", "What computing costs while data is in L1.", Presence::known,
                      [](auto& point) -> auto& { return point.machine.compute; });
  s.field("multiply_add", &P::multiply_add, any_time, "one step of a loop that adds products up");
  s.field("loop_exit", &P::loop_exit, any_time, "leaving an inner loop");
  s.field("kernel_rate", &P::kernel_flops, RealRule{1e3, 1e15},
          "a tuned matrix product of large blocks, floating-point operations per second");
  s.field("kernel_element", &P::kernel_element, any_time, "the same, for each element of a block");
  s.field("kernel_call", &P::kernel_call, any_time, "the same, each call");
  return s.finish();
}

} // namespace contend::scenario
