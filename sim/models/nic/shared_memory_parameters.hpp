// Prices of messages through memory that processes share.
#pragma once

#include "core/time.hpp"

#include <cstdint>

namespace contend {

/// Messages between processes of one host through memory that both have mapped: a queue for each receiving process, and
/// fast boxes, rings of small messages, for each connection that is used often (btl/vader and btl/sm of Open MPI, Nemesis
/// of MPICH). Moving the cache lines is modelled and not in these prices.
struct SharedMemoryParameters {
  Duration box_write{};               ///< CPU: put a message into a fast box
  Duration box_read{};                ///< CPU: take one out
  Duration queue_write{};             ///< CPU: take a fragment and enqueue it
  Duration queue_read{};              ///< CPU: dequeue a fragment and give it back
  Duration poll_box{};                ///< CPU: look at a fast box that is empty
  Duration poll_queue{};              ///< CPU: look at a queue that is empty
  Duration copy_call{};               ///< CPU: ask the kernel to copy from the other process (process_vm_readv)
  double copy_bytes_per_second = 1e9; ///< one copy of payload
  std::int64_t box_size = 0;          ///< ring of bytes of a fast box; 0: there are none
  std::int64_t box_bytes = 0;         ///< largest message that goes into one, header included
  int box_threshold = 0;              ///< messages to a peer after which it gets one; 0: never
  std::int64_t box_header = 8;        ///< of each entry of a box, before the message
  std::int64_t box_alignment =
      32;             ///< entries take a multiple of this, and the ring begins so far behind its memory's start
  int box_batch = 0;  ///< entries that one poll takes from a box; 0: all that are there
  int fragments = 0;  ///< of each process, for messages that do not go through boxes
  int poll_batch = 1; ///< fragments that one poll takes from the queue
  /// The slots of a fast box lie one behind the other, and the line that moves is no longer one for all of them: the sender does
  /// not wait for its slot (the store buffer does, the receiver has read it a round of the ring ago), and the messages that lie
  /// behind one another when the receiver looks come with the first one (hardware prefetchers follow lines of a page).
  bool streamed_boxes = false;

  static constexpr std::int64_t pointer_bytes =
      sizeof(std::int64_t); ///< to a fragment, relative to its process's memory

  /// Bytes of entries that a box holds.
  [[nodiscard]] std::int64_t box_room() const { return box_size - box_alignment; }
  /// What a message of `bytes` takes of it.
  [[nodiscard]] std::int64_t box_entry(std::int64_t bytes) const {
    return (box_header + bytes + box_alignment - 1) / box_alignment * box_alignment;
  }
  /// A machine without values for shared memory cannot run designs that use it.
  [[nodiscard]] bool given() const { return fragments > 0; }
};

/// What libraries choose (TransportDesign).
struct SharedMemoryDesign {
  /// What finds its box full waits, and so does what comes after it. Pointers to fragments go through the box too.
  bool box_only = false;
  /// Receivers give fragments back through the queue of their owner.
  bool fragments_returned = false;
};

} // namespace contend
