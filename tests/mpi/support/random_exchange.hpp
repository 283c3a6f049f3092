// random_point() with what lies beyond the eager pairwise exchange: patterns, hybrid modes, rendezvous, credits.
#pragma once

#include "random_point.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend::test {

inline PointConfig random_exchange(std::uint64_t seed) {
  PointConfig point = random_point(seed);
  RandomStream random(seed, "exchange");
  const auto one_of = [&random](const std::vector<std::string>& names) { return names[random.below(names.size())]; };
  const auto number = [&random](int from, int to) {
    return from + static_cast<int>(random.below(static_cast<std::uint64_t>(to - from + 1)));
  };
  MultirateParameters& workload = point.workload.multirate;
  workload.pattern = one_of({"pairwise", "one-to-many", "many-to-one", "many-to-many"});
  workload.mode = one_of({"thread", "process", "process-to-thread", "thread-to-process"});
  if (workload.pattern == "pairwise") {
    workload.pairs = number(1, 6);
    workload.barrier_every_iteration = random.below(2) == 0;
  } else {
    workload.pairs = 1;
    workload.senders = workload.pattern == "one-to-many" ? 1 : number(1, 5);
    workload.receivers = workload.pattern == "many-to-one" ? 1 : number(1, 5);
    workload.window = number(1, 16);
  }
  const std::vector<std::int64_t> sizes{0, 1, 256, 257, 8192, 8193, 70'000, 1'000'000};
  workload.message_size_bytes = sizes[random.below(sizes.size())];

  ProtocolDesign& protocol = point.library.protocol;
  protocol.rendezvous = one_of({"get", "put", "send"});
  protocol.piece_bytes = number(1, 4) * 10'000;
  protocol.pieces_under_way = number(1, 4);
  protocol.registration_cache = random.below(2) == 0;
  protocol.pending_order = one_of({"reversing", "fifo", "at-connection", "behind-others", "in-call"});
  if (protocol.pending_order == "in-call" && traits_of(point.library.progress.engine).own_thread) {
    protocol.pending_order = "fifo"; // a progress thread makes none in the middle of a turn
  }
  point.machine.nic.registration = 3'000'017_ps;
  point.machine.nic.registration_page = 201'011_ps;
  point.machine.nic.registration_hit = 53'003_ps;
  point.machine.nic.packet_bytes = 26;
  if (random.below(2) == 0) {
    point.library.flow_control.kind = "credits";
    CreditParameters& credits = point.library.flow_control.credits;
    credits.buffers = number(1, 40);
    credits.low_watermark = number(0, credits.buffers - 1);
    credits.window = number(1, credits.low_watermark + 1);
    credits.reserve = number(2, 6);
  } else if (random.below(2) == 0) {
    point.library.flow_control.kind = "mailbox";
    MailboxParameters& mailbox = point.library.flow_control.mailbox;
    mailbox.slots = number(1, 40);
    mailbox.returned_at_once = number(1, mailbox.slots);
  }
  return point;
}

inline std::string describe_exchange(const PointConfig& point) {
  const MultirateParameters& workload = point.workload.multirate;
  const CreditParameters& credits = point.library.flow_control.credits;
  return workload.pattern + " " + std::to_string(workload.senders) + " to " + std::to_string(workload.receivers) +
         ", " + std::to_string(workload.message_size_bytes) + " B by " + point.library.protocol.rendezvous +
         ", pending " + point.library.protocol.pending_order + ", " + point.library.flow_control.kind + " " +
         std::to_string(credits.buffers) + "/" + std::to_string(credits.low_watermark) + "/" +
         std::to_string(credits.window) + "/" + std::to_string(credits.reserve) + ", " + describe(point);
}

} // namespace contend::test
