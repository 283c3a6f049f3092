// Prices of shared memory for tests of when things happen.
#pragma once

#include "models/nic/shared_memory.hpp"

namespace contend::test {

/// Times that are no multiples of each other: what happens at one moment does so by design, not by chance.
inline SharedMemoryParameters odd_shared_memory() {
  SharedMemoryParameters memory;
  memory.box_write = 11'003_ps;
  memory.box_read = 13'007_ps;
  memory.queue_write = 41'011_ps;
  memory.queue_read = 37'003_ps;
  memory.poll_queue = 3'001_ps;
  memory.copy_bytes_per_second = 10e9;
  memory.box_size = 4096;
  memory.box_bytes = 128;
  memory.box_threshold = 16;
  memory.fragments = 64;
  memory.poll_batch = 1;
  return memory;
}

} // namespace contend::test
