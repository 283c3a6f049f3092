// Designs, loads and machines drawn at random. Every kind of part is drawn from its registry.
#pragma once

#include "core/random.hpp"
#include "engines.hpp"
#include "models/locks/lock.hpp"
#include "models/matching/matcher.hpp"
#include "models/progress/progress_engine.hpp"
#include "models/waiting/idling.hpp"
#include "mpi/assignment.hpp"
#include "point.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace contend::test {

/// How threads wait, where the progress engine leaves a choice.
inline void draw_waiting(PointConfig& point, std::uint64_t seed) {
  RandomStream random(seed, "waiting");
  LibraryDesign& library = point.library;
  const std::string& engine = library.progress.engine;
  if (traits_of(engine).threads_idle) {
    const std::vector<std::string> kinds = idling_registry().names();
    library.waiting.idle = kinds[random.below(kinds.size())];
    library.tasks.matching =
        idling_registry().at(library.waiting.idle).traits().takes_tasks && !library.matching.ordered_by_transport() &&
        !matcher_registry().at(library.matching.engine).traits().in_interface && random.below(2) == 0;
  } else if (traits_of(engine).reads_flags) {
    library.waiting.notification = random.below(2) == 0 ? "sync-object" : "request-flags";
  }
  library.progress.yield_when_idle = random.below(4) == 0;
}

/// Any matching engine on any queues, with what it needs to keep messages in order.
inline void draw_matching(PointConfig& point, std::uint64_t seed) {
  RandomStream random(seed, "matching");
  MatchingDesign& matching = point.library.matching;
  std::vector<std::string> engines = matcher_registry().names();
  std::erase(engines, "spy"); // of test_order.cpp, if that ran before
  matching.engine = engines[random.below(engines.size())];
  matching.domain = random.below(2) == 0 ? "communicator" : "global";
  matching.bins = static_cast<int>(1 + random.below(20));
  matching.vector_width = static_cast<int>(1 + random.below(16));
  matching.offload_capacity = static_cast<int>(1 + random.below(100));
  if (matcher_registry().at(matching.engine).traits().in_interface || random.below(3) == 0) {
    matching.ordering = "transport";
    point.library.protocol.pending_order = "fifo";
    point.library.instances.assignment = "dedicated";
  }
}

/// Whether found messages are handled under the lock of the instance, where the design leaves a choice.
inline void draw_handler_lock(PointConfig& point, std::uint64_t seed) {
  RandomStream random(seed, "handler lock");
  const MatchingDesign& matching = point.library.matching;
  if (!matching.ordered_by_transport() && matching.guard == "lock" && point.library.transport.kind == "interface" &&
      random.below(2) == 0) {
    point.library.transport.handler_lock = "none";
  }
}

/// Messages whose payload the interface fetches, and which others pass meanwhile.
inline void draw_fetching(PointConfig& point, std::uint64_t seed) {
  RandomStream random(seed, "fetching");
  if (random.below(2) == 0) {
    NicParameters& nic = point.machine.nic;
    nic.inline_bytes = static_cast<std::int64_t>(random.below(100));
    nic.payload_fetch = Duration::picoseconds(static_cast<std::int64_t>(random.below(2'000'000)));
    nic.bus_bytes_per_second = random.below(3) == 0 ? 0.0 : 1e9 + 1e9 * static_cast<double>(random.below(15));
  }
}

/// Kinds of locks that designs may use anywhere. Left out are locks that whoever is back first gets again, without backing
/// off: pollers that never pause keep the others from them for ever, see test_starvation.cpp.
inline std::vector<std::string> patient_locks() {
  std::vector<std::string> names = lock_registry().names();
  std::erase(names, "tas");
  std::erase(names, "tas-bit");
  std::erase(names, "ttas-eager");
  std::erase(names, "ttas-futex");
  std::erase(names, "ttas-yield");
  return names;
}

inline PointConfig random_point(std::uint64_t seed) {
  RandomStream random(seed, "point");
  const auto one_of = [&random](const std::vector<std::string>& names) { return names[random.below(names.size())]; };
  const auto number = [&random](int from, int to) {
    return from + static_cast<int>(random.below(static_cast<std::uint64_t>(to - from + 1)));
  };
  const auto flag = [&random] { return random.below(2) == 0; };

  PointConfig point = small_point();
  const bool jitter = flag();
  point.library.progress.engine = one_of(progress_registry().names());
  if (!traits_of(point.library.progress.engine).threads_idle) {
    add_jitter(point); // threads that poll in exact step can keep one of them from a lock for ever
  }
  point.library.progress.lock = one_of(patient_locks());
  if (point.library.progress.engine == "serial-blocking" && point.library.progress.lock == "ttas") {
    point.library.progress.lock = "ticket"; // who polls again at once starves the others, see test_starvation.cpp
  }
  point.library.instances.count = number(1, 5);
  point.library.instances.assignment = one_of(assignment_registry().names());
  point.library.instances.lock = one_of(patient_locks());
  point.library.matching.lock = one_of(patient_locks());
  point.library.protocol.pending_order = flag() ? "fifo" : "reversing";
  // Without jitter, threads that all poll can fall into step with a lock that is not fair, and one of them never gets it.
  const bool may_starve = !traits_of(point.library.progress.engine).threads_idle;
  if (jitter || may_starve) {
    add_jitter(point);
  }

  point.machine.nic.send_completion_batch = number(1, 4);
  point.machine.nic.send_queue_depth = point.machine.nic.send_completion_batch * number(1, 10);
  point.machine.nic.flow_control_window = flag() ? 0 : number(1, 40);
  point.machine.nic.poll_batch = number(1, 16);

  point.workload.multirate.mode = flag() ? "thread" : "process";
  point.workload.multirate.pairs = number(1, 8);
  point.workload.multirate.window = number(1, 40);
  point.workload.multirate.iterations = number(1, 3);
  point.workload.multirate.warmup_iterations = 0; // so that threads' accounts cover their whole life
  point.workload.multirate.message_size_bytes = std::vector<std::int64_t>{0, 1, 200, 4096}[random.below(4)];
  point.workload.multirate.communicator_per_pair = flag();
  point.workload.multirate.allow_overtaking = flag();
  point.workload.multirate.any_tag = flag();
  point.workload.multirate.any_source = RandomStream(seed, "any source").below(2) == 0;
  point.run.coalesce_idle_polls = random.below(4) != 0;
  point.workload.multirate.handshake = RandomStream(seed, "handshake").below(2) == 0 ? "pair" : "world";
  point.workload.multirate.tags = RandomStream(seed, "tags").below(2) == 0 ? "window" : "pair";
  draw_matching(point, seed);
  draw_waiting(point, seed);
  draw_handler_lock(point, seed);
  draw_fetching(point, seed);
  return point;
}

/// What a failed check shows.
inline std::string describe(const PointConfig& point) {
  return point.workload.multirate.mode + " pairs " + std::to_string(point.workload.multirate.pairs) + " window " +
         std::to_string(point.workload.multirate.window) + " progress " + point.library.progress.engine + " (" +
         point.library.progress.lock + ") instances " + std::to_string(point.library.instances.count) + " " +
         point.library.instances.assignment + " " + point.library.instances.lock + " matching " +
         point.library.matching.engine + " " + point.library.matching.domain + " " + point.library.matching.ordering +
         " " + point.library.matching.lock + " depth " + std::to_string(point.machine.nic.send_queue_depth) +
         " batch " + std::to_string(point.machine.nic.send_completion_batch) + " credits " +
         std::to_string(point.machine.nic.flow_control_window) +
         (point.workload.multirate.allow_overtaking ? " overtaking" : "") +
         (point.workload.multirate.any_source ? " any source" : "") +
         (point.workload.multirate.any_tag ? " any tag" : "") +
         (point.workload.multirate.communicator_per_pair ? " own communicators" : "") + " handshake " +
         point.workload.multirate.handshake + " tags " + point.workload.multirate.tags + " waiting " +
         point.library.waiting.notification + " " + point.library.waiting.idle +
         (point.library.progress.yield_when_idle ? " yields" : "") +
         (point.library.tasks.matching ? " matching tasks" : "") + (point.run.coalesce_idle_polls ? "" : " every poll");
}

} // namespace contend::test
