// CoCommunicators of coroutine processes: their maps, their numbers, and MPI_Comm_split.
#pragma once

#include "mpi/coroutines/process.hpp"
#include "mpi/coroutines/world.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace contend {

/// A communicator as one process sees it. The map belongs to the OS process, or to the process, see CoroutineDesign::maps.
struct CoCommunicator {
  std::int32_t context = 0; ///< number: unique among all communicators that have a process in common
  int rank = -1;
  int size = 0;
  const std::vector<int>* map = nullptr; ///< rank -> world rank
};

/// The communicators of a job.
///
/// With context_ids "leader", a number is the world rank of the communicator's leader and the index of a bit that the
/// leader has free: no agreement of all processes is needed, and a process can lead 64. Two bits of rank 0 are the
/// predefined communicator's. Root collects colour, key and the leader's bits; it sorts, picks as leader of each colour
/// who leads fewest, and sends each process its place, and the map to the first member in each OS process; that one
/// puts it into the OS process's table, where the others wait for it.
/// With "bitmap", all processes agree on a bit that everybody has free, of 2048, of which two are the predefined one's.
class CoCommunicators {
public:
  explicit CoCommunicators(CoWorld& world);

  /// MPI_Comm_split of the predefined communicator. All processes call it, in the same order.
  CoTask split(CoProcess& self, int colour, int key, CoCommunicator& result);

  /// Bytes of all maps that OS process `number` keeps.
  [[nodiscard]] std::int64_t map_bytes_of(int number) const { return map_bytes_[static_cast<std::size_t>(number)]; }

private:
  static constexpr int leaderships = 64;
  static constexpr int bitmap_numbers = 2048;
  /// Numbers of the predefined communicator: of its messages, and of its collective operations.
  static constexpr int reserved_numbers = 2;
  static_assert(world_context < reserved_numbers && collective_context < reserved_numbers);

  struct Member {
    int colour = 0;
    int key = 0;
    CoCommunicator result;
    bool inserts = false; ///< the first member in its OS process
  };
  /// One call of split by all processes.
  struct Split {
    std::vector<Member> members; ///< by world rank
    std::map<int, std::vector<int>> map_of_colour;
    std::map<std::pair<int, int>, std::int64_t> inserted; ///< by OS process and colour: 1 when the map is in the table
  };

  void decide(CoProcess& root, Split& split);

  CoWorld& world_;
  bool by_leader_;
  bool shared_;
  std::vector<int> calls_;           ///< of split, by rank
  std::vector<std::uint64_t> leads_; ///< bits in use, by rank
  int next_bitmap_number_ = reserved_numbers;
  std::deque<Split> splits_;
  std::vector<std::int64_t> map_bytes_; ///< by OS process
};

} // namespace contend
