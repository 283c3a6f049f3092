#include "mpi/coroutines/communicators.hpp"

#include "mpi/coroutines/collectives.hpp"
#include "mpi/coroutines/memory_account.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace contend {

namespace {

constexpr std::int64_t entry_bytes = 24;   ///< colour, key, leaderships, free bit
constexpr std::int64_t place_bytes = 20;   ///< leader, bit, rank, size, inserts
constexpr std::int64_t bitmap_bytes = 256; ///< 2048 bits
constexpr std::int64_t rank_bytes = 4;     ///< an entry of a map on its way
constexpr int map_tag = 16;

} // namespace

CoCommunicators::CoCommunicators(CoWorld& world)
    : world_(world), by_leader_(world.settings().library.coroutines.context_ids == "leader"),
      shared_(world.settings().library.coroutines.maps == "shared"),
      calls_(static_cast<std::size_t>(world.layout().processes())), leads_(calls_.size()),
      map_bytes_(static_cast<std::size_t>(world.layout().os_processes())) {
  leads_.front() = (std::uint64_t{1} << reserved_numbers) - 1;
}

/// What the root does between collecting and answering.
void CoCommunicators::decide(CoProcess& root, Split& split) {
  std::map<int, std::vector<int>> by_colour;
  for (std::size_t rank = 0; rank < split.members.size(); ++rank) {
    by_colour[split.members[rank].colour].push_back(static_cast<int>(rank));
  }
  // Sorting takes as many comparisons as elements times their logarithm, each a visit of a queue's element.
  const auto count = static_cast<std::uint64_t>(split.members.size());
  root.thread().owe(world_.settings().matching.element * static_cast<std::int64_t>(count * std::bit_width(count)),
                    Category::software);
  const int bitmap_number = next_bitmap_number_++;
  if (!by_leader_ && bitmap_number >= bitmap_numbers) {
    throw InvariantViolation("no bit is left for a communicator: all " + std::to_string(bitmap_numbers) +
                             " are in use");
  }
  for (auto& [colour, ranks] : by_colour) {
    std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
      return split.members[static_cast<std::size_t>(a)].key < split.members[static_cast<std::size_t>(b)].key;
    });
    const int leader = *std::min_element(ranks.begin(), ranks.end(), [&](int a, int b) {
      return std::pair(std::popcount(leads_[static_cast<std::size_t>(a)]), a) <
             std::pair(std::popcount(leads_[static_cast<std::size_t>(b)]), b);
    });
    std::uint64_t& bits = leads_[static_cast<std::size_t>(leader)];
    const int bit = std::countr_one(bits);
    if (by_leader_ && bit >= leaderships) {
      throw InvariantViolation("rank " + std::to_string(leader) + " leads " + std::to_string(leaderships) +
                               " communicators already");
    }
    bits |= by_leader_ ? std::uint64_t{1} << static_cast<unsigned>(bit) : 0;
    const std::vector<int>& map = split.map_of_colour[colour] = std::move(ranks);
    std::map<int, bool> seen; // OS processes
    for (std::size_t rank = 0; rank < map.size(); ++rank) {
      Member& member = split.members[static_cast<std::size_t>(map[rank])];
      member.result = {by_leader_ ? leader * leaderships + bit : bitmap_number, static_cast<int>(rank),
                       static_cast<int>(map.size()), &map};
    }
    for (std::size_t rank = 0; rank < split.members.size(); ++rank) { // in order of world ranks
      Member& member = split.members[rank];
      if (member.colour == colour) {
        member.inserts = !std::exchange(seen[world_.layout().os_process_of(static_cast<int>(rank))], true);
      }
    }
  }
}

CoTask CoCommunicators::split(CoProcess& self, int colour, int key, CoCommunicator& result) {
  const auto rank = static_cast<std::size_t>(self.rank());
  const auto call = static_cast<std::size_t>(calls_[rank]++);
  if (call == splits_.size()) {
    splits_.emplace_back().members.resize(static_cast<std::size_t>(self.size()));
  }
  Split& split = splits_[call];
  Member& member = split.members[rank];
  member.colour = colour;
  member.key = key;
  const ProcessGroup all = ProcessGroup::world(self);
  co_await gather(self, all, 0, entry_bytes);
  if (!by_leader_) {
    co_await all_reduce(self, all, bitmap_bytes);
  }
  if (self.rank() == 0) {
    decide(self, split);
  }
  co_await scatter(self, all, 0, place_bytes);
  result = member.result;

  // The map: to the first member in each OS process, which shares it, or to everybody.
  const auto gets_map = [&](const Member& one) { return one.inserts || !shared_; };
  if (self.rank() == 0) {
    for (int other = 1; other < self.size(); ++other) {
      const Member& one = split.members[static_cast<std::size_t>(other)];
      if (gets_map(one)) {
        co_await self.send(other, map_tag, one.result.size * rank_bytes, Transfer::copy, collective_context);
      }
    }
  } else if (gets_map(member)) {
    co_await self.recv(0, map_tag, result.size * rank_bytes, Transfer::copy, collective_context);
  }
  const int os = self.os().number();
  if (gets_map(member)) {
    map_bytes_[static_cast<std::size_t>(os)] += map_bytes(world_.layout(), result.size);
  }
  std::int64_t& inserted = split.inserted[{os, colour}];
  if (member.inserts) {
    inserted = 1;
    for (std::int64_t i = 0; i < self.os().processes(); ++i) {
      self.os().notify(self.os().process(self.os().first_rank() + static_cast<int>(i)));
    }
  } else if (shared_) {
    co_await self.until(inserted, 1);
  }
}

} // namespace contend
