// What the engine needs to know of a machine: its cores, its caches and what the operating system charges for sleeping.
#pragma once

#include "core/time.hpp"

#include <string>

namespace contend {

/// Cores of one host. Hardware thread h of core c has number c * threads_per_core + h; cores are numbered socket by socket.
struct TopologyParameters {
  int sockets = 2;
  int cores_per_socket = 10;
  int threads_per_core = 1;
  /// Cores that share a cache below the socket's (a cluster of Arm cores, an AMD core complex); 0: no such level.
  int cores_per_cluster = 0;

  [[nodiscard]] int hardware_threads() const { return sockets * cores_per_socket * threads_per_core; }
};

/// Cores that are slower than others during a whole run, such as those of a virtual machine whose hardware threads share a core with
/// other tenants. See CorePaces.
struct SlowCoreParameters {
  double share = 0.0;    ///< of a host's cores
  double slowdown = 1.0; ///< time that work takes on a slow core over that on a quick one

  /// All cores are alike.
  [[nodiscard]] bool none() const { return share == 0.0 || share == 1.0 || slowdown == 1.0; }
};

/// Prices of touching one cache line. "Transfer" is the one-way time for a line that another core has modified.
struct CacheParameters {
  Duration hit{};              ///< load or store of a line that this core owns (L1)
  Duration atomic_hit{};       ///< read-modify-write of a line that this core owns
  Duration transfer_smt{};     ///< between hardware threads of one core
  Duration transfer_socket{};  ///< between cores of one socket
  Duration transfer_remote{};  ///< between sockets
  Duration l2_hit{};           ///< dependent load that hits L2
  Duration l3_hit{};           ///< dependent load that hits the shared cache
  std::int64_t l2_bytes = 0;   ///< L2 capacity of one core
  double proximity_bias = 0.0; ///< 0: waiting cores win a line with equal chance; 1: in proportion to 1 / transfer time

  // What not every profile says; the neutral value leaves the effect out.
  Duration transfer_cluster{}; ///< between cores of one cluster, where there are clusters
  Duration
      atomic_arrival{}; ///< read-modify-write of a line that has just arrived from another core; zero: as atomic_hit
  /// The home of a line serves its requests one after another, reads included: a core that is read from has lost its
  /// exclusive copy when the read begins, and a store waits for reads under way. Spinning threads ask for the line again
  /// as soon as it is taken from them, at the end of the turn of their loop that they are in.
  bool home_order = false;
  /// Part of a transfer that passes before the core that has the line alone loses it: the request and the snoop are still
  /// on their way, and accesses of that core that begin until then hit.
  double snoop_share = 0.0;
  /// The same for a request that found no other one at the home, and so has the way there still to go. Zero: as snoop_share.
  double request_share = 0.0;
  /// Requests that meet another one for their line are turned back and tried again. Of those that wait the one whose attempt
  /// comes first gets through: the earliest of as many uniform draws, from zero to twice snoop_share of its transfer.
  bool conflict_retry = false;
  /// A read that has to ask the core which wrote the line is alone at the home until it is over. What it gets goes to the shared
  /// cache of its socket as well, where reads after it find the line: they take l3_hit. False: reads of a line do not wait for
  /// each other, and each has it from the core that wrote it. Needs home_order.
  bool serial_snoops = false;
  /// Atomic operations are pairs of load-exclusive and store-exclusive (Arm before LSE, POWER): a comparison that fails
  /// has only read the line. False: locked instructions, which take the line whatever they find.
  bool load_linked = false;
  /// The plain store that gives a spin lock back waits in the core's store buffer until the line has come; its thread goes on,
  /// and only the core's next access to that line waits for it (x86). Needs home_order.
  bool store_buffer = false;
  /// Compare-and-swap, on a line that this core owns, of a value that it has read or changed just before: the read waits for
  /// the atomic operation before it, and the comparison for the read. Zero: as atomic_hit.
  Duration compare_hit{};
  /// From the start of a locked instruction until it has the line locked: a snoop that arrives before takes the line away,
  /// one that arrives later is turned back. Zero: a line that is there when the instruction starts stays until it is over.
  Duration lock_latency{};
  /// On top of the access that gives a lock back: what this core wrote before has to be visible first. Nothing where stores
  /// become visible in order anyway (x86).
  Duration release{};
};

/// Cost of sleeping and waking through the kernel (futex).
struct FutexParameters {
  Duration wait_call{};       ///< from the decision to sleep until the thread is off the queue of runnable threads
  Duration wake_call{};       ///< paid by the waking thread when it wakes somebody
  Duration empty_wake_call{}; ///< paid by a thread that finds nobody to wake
  Duration call_jitter{};     ///< mean of the exponential delay on top of each call (kernel locks, cache misses)
  Duration wake_latency{};    ///< from the end of the wake call until the sleeper runs again in user space, at best
  Duration wake_jitter{};     ///< mean of the exponential delay on top of wake_latency (idle states, interrupts)

  // What not every profile says.
  /// FUTEX_WAIT that finds the word changed, alone. Zero: nothing is known of calls that several threads make on one word; they do not
  /// hold each other up, and one that is to sleep compares when wait_call is over.
  Duration vain_call{};
  Duration bucket_move{};  ///< on top of a call after one from another core on the same word
  Duration bucket_turn{};  ///< from one call to the next where several wait for the lock of the word's bucket
  Duration wake_further{}; ///< paid by the waking thread for each further sleeper that one call wakes
  Duration yield_call{};   ///< sched_yield with nothing else to run on the core
  /// In place of wake_latency for a thread that has slept for less than deep_after: its core is in a shallow idle state, because
  /// a deeper one would not have paid off. Zero: one latency for all.
  Duration shallow_latency{};
  Duration deep_after{};
};

/// How the operating system shares cores among threads, and what that costs. Only where cores are shared, see Scheduler.
struct SchedulerParameters {
  /// cfs: Linux's completely fair scheduler (2.6.23 to 6.5); eevdf: its successor (from 6.6 on)
  std::string policy = "cfs";
  Duration latency{}; ///< cfs: within this time every thread of a core has a turn, while slices are not too short
  Duration slice{};   ///< cfs: the shortest slice; eevdf: every slice. Zero: nothing is known of the scheduler
  Duration
      wakeup_granularity{}; ///< cfs: a thread that wakes up takes the core from one that has had so much more of it
  Duration
      short_sleep{}; ///< eevdf: who slept no longer takes the core on waking up, others wait for the slice's end; zero:
                     ///< a slice protects its thread from all of them, and nothing does afterwards
  /// eevdf: when a thread that wakes up takes a busy core. immediate: at once or at the slice's end, see short_sleep. lazy (Linux
  /// 6.13 on, CONFIG_PREEMPT_LAZY): it takes the core if the running thread has had more than its share, or its slice and a later
  /// deadline, but only when that thread returns from the kernel: the waker itself from the call that wakes, another one
  /// from its next system call or timer interrupt. Who slept no longer than short_sleep interrupts at once, and who wakes up on
  /// its waker's core takes it if it has had no more than its share itself. From neither is a thread's slice taken that has had
  /// less than its own share.
  std::string preemption = "immediate";
  Duration tick{};      ///< slices end at timer interrupts, one in so much time; zero: exactly
  Duration tick_cost{}; ///< what a timer interrupt takes from the thread that runs
  /// Paid instead of futex.wake_call when the sleeper's core needs no interrupt from another one; under cfs a busy core never does.
  Duration wake_call{};
  Duration context_switch{}; ///< from one thread to another of the same process
  Duration process_switch{}; ///< on top when the other one belongs to another process
  Duration switch_jitter{};  ///< mean of the exponential delay on top of each switch (kernel locks, cache misses)
  /// A thread's caches after others have used its core, whoever they were, at most as long as they used it. Where working_set is
  /// not known.
  Duration cache_refill{};
  /// What a process keeps in the L2 of a core. A thread that gets a core again refills its own lines, and what other processes
  /// have evicted of this, at most as long as it was away. Zero: not known.
  std::int64_t working_set_bytes = 0;
  Duration kin_refill{};        ///< a thread's own lines, which threads of the same process take from it as others do
  double refills_at_once = 4.0; ///< lines of the working set that are fetched from the shared cache at a time
  /// Share of wake-ups that go to the waker's core although it is busy. Under eevdf only where groups compete: else loads decide.
  double waker_affinity = 0.0;
  /// A thread that ran so short ago stays on its core when others look for one (sysctl_sched_migration_cost of Linux). Under cfs a core
  /// that idles for less in the mean does not look when it falls idle.
  Duration cache_hot{};
  /// eevdf: in which share of cases a core that falls idle beside threads that wait looks for one, when a run begins (NI_RANDOM of Linux,
  /// from 6.18.5 on, see NewlyIdleRatio). 1: always.
  double newidle_ratio = 1.0;
  /// How often an idle core looks for threads that wait on other cores of a domain (core, cluster, socket, host), for each
  /// hardware thread of the domain. Zero: load is never balanced.
  Duration balance_period{};
  int busy_factor = 16; ///< how many times less often a busy core does
  /// What the first thread of a process takes to create another one; those begin near it, unless others have less to do. Zero, as
  /// process_skew is: all threads of a run begin at once, at its beginning.
  Duration thread_create{};
  Duration thread_begin{}; ///< mean of the exponential time that a new thread takes to its first call: page faults
  Duration process_skew{}; ///< mean of the exponential delay with which the first thread of each process begins
};

} // namespace contend
