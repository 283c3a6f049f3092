// Ways in which the partitions of a buffer get from rank 0 to rank 1.
#pragma once

#include "mpi/mpi.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace contend::native {

struct PartitionedWorkload;

/// The send side. `ready` is called by the thread of the partition, the others by one thread.
class SendSide {
public:
  SendSide() = default;
  SendSide(const SendSide&) = delete;
  SendSide& operator=(const SendSide&) = delete;
  virtual ~SendSide() = default;

  virtual void start() = 0;
  virtual void ready(int partition) = 0;
  /// All threads are done computing and have said ready.
  virtual void wait() = 0;
};

/// The receive side: one thread.
class ReceiveSide {
public:
  ReceiveSide() = default;
  ReceiveSide(const ReceiveSide&) = delete;
  ReceiveSide& operator=(const ReceiveSide&) = delete;
  virtual ~ReceiveSide() = default;

  virtual void start() = 0;
  /// Until something can be used.
  virtual void wait_first() = 0;
  virtual void wait() = 0;
};

[[nodiscard]] const std::vector<std::string>& transfer_names();

/// Whether the library that this was built with has partitioned communication.
[[nodiscard]] bool has_partitioned();

[[nodiscard]] std::unique_ptr<SendSide> make_send_side(const PartitionedWorkload& workload,
                                                       std::span<std::byte> buffer);
[[nodiscard]] std::unique_ptr<ReceiveSide> make_receive_side(const PartitionedWorkload& workload,
                                                             std::span<std::byte> buffer);

// One file each.
[[nodiscard]] std::unique_ptr<SendSide> make_partitioned_send(const PartitionedWorkload&, std::span<std::byte>);
[[nodiscard]] std::unique_ptr<ReceiveSide> make_partitioned_receive(const PartitionedWorkload&, std::span<std::byte>);
[[nodiscard]] std::unique_ptr<SendSide> make_persistent_send(const PartitionedWorkload&, std::span<std::byte>);
[[nodiscard]] std::unique_ptr<SendSide> make_multi_send(const PartitionedWorkload&, std::span<std::byte>);
[[nodiscard]] std::unique_ptr<SendSide> make_single_send(const PartitionedWorkload&, std::span<std::byte>);
/// Persistent receives of `messages` equal parts, for all methods but partitioned.
[[nodiscard]] std::unique_ptr<ReceiveSide> make_message_receive(std::span<std::byte> buffer, std::int64_t messages);

} // namespace contend::native
