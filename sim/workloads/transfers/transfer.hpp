// Ways in which a buffer that threads fill piece by piece gets from one process to another.
#pragma once

#include "core/engine.hpp"
#include "models/registry.hpp"
#include "mpi/partitioned.hpp"

#include <cstdint>
#include <memory>

namespace contend {

class World;

/// The sender's side of a buffer that is sent again and again. Calls take the calling thread first and block in simulated
/// time. A thread of each send partition calls ready(), all others are called by one thread.
class SendSide {
public:
  SendSide() = default;
  virtual ~SendSide() = default;
  SendSide(const SendSide&) = delete;
  SendSide& operator=(const SendSide&) = delete;

  /// Before the first start(), and after the last wait().
  virtual void init(SimThread& /*self*/) {}
  virtual void free(SimThread& /*self*/) {}
  /// Before the threads of an iteration begin to fill the buffer.
  virtual void start(SimThread& /*self*/) {}
  /// The calling thread has filled its partition.
  virtual void ready(SimThread& self, int partition) = 0;
  /// Called when all partitions are ready. Returns when the buffer may be written again.
  virtual void wait(SimThread& self) = 0;
};

/// The receiver's side: one thread calls it.
class ReceiveSide {
public:
  ReceiveSide() = default;
  virtual ~ReceiveSide() = default;
  ReceiveSide(const ReceiveSide&) = delete;
  ReceiveSide& operator=(const ReceiveSide&) = delete;

  /// Before the first start(), and after the last wait().
  virtual void init(SimThread& /*self*/) {}
  virtual void free(SimThread& /*self*/) {}
  /// From now on an iteration's buffer may come.
  virtual void start(SimThread& self) = 0;
  /// Returns when a first part of the buffer is there to work on; idle looks may pass at once.
  virtual void poll_until_any(SimThread& self) = 0;
  /// Returns when all of the buffer is there.
  virtual void wait(SimThread& self) = 0;
};

/// What a way of transferring a buffer says of itself. Checks of scenarios ask this instead of its name.
struct BufferTransferTraits {
  /// By the library's partitioned communication (library.partitioned), whose receiver has partitions of its own.
  bool by_partitions = false;
  /// A single thread of the sender calls the library, whatever the number of partitions.
  bool one_thread_sends = false;
};

/// Both sides of one way. Made before the run; lives as long as the threads that use it.
class BufferTransfer {
public:
  /// A class that has something to say declares its own: `static constexpr BufferTransferTraits traits{.one_thread_sends = true};`.
  static constexpr BufferTransferTraits traits{};

  BufferTransfer() = default;
  virtual ~BufferTransfer() = default;
  BufferTransfer(const BufferTransfer&) = delete;
  BufferTransfer& operator=(const BufferTransfer&) = delete;

  [[nodiscard]] virtual SendSide& sender() = 0;
  [[nodiscard]] virtual ReceiveSide& receiver() = 0;
  /// After a run that has sent so many buffers, and nothing else on the communicator but barriers: throws InvariantViolation
  /// if the library has counted something else.
  virtual void check(std::int64_t /*buffers*/) const {}
};

/// What a transfer is made from. Made as communicators are, before the run. The world outlives what is made; the parts live
/// only as long as the call.
struct BufferTransferParts {
  World& world;
  PartitionedShape shape; ///< the receive partitions are for transfers by_partitions
};

using BufferTransferFactory = PartFactory<BufferTransfer, BufferTransferTraits, const BufferTransferParts&>;

/// All ways of transferring a buffer by name (workload.method). The names are those of the benchmark of Dosanjh et al.,
/// Parallel Computing 108, 2021, and of contend-partitioned.
Registry<BufferTransferFactory>& buffer_transfer_registry();

template <typename Kind>
inline constexpr BufferTransferFactory make_buffer_transfer = BufferTransferFactory::of<Kind>();

} // namespace contend
