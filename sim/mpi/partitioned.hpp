// MPI 4 partitioned communication: one message between two processes whose pieces threads hand over, and see arrive, one by
// one. How the pieces travel is a design of its own (partitioned_registry).
#pragma once

#include "core/cache_line.hpp"
#include "core/engine.hpp"
#include "models/registry.hpp"
#include "mpi/parameters.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace contend {

class Process;
class World;

/// Both sides of one operation agree on this, but for the number of partitions, which each side chooses.
struct PartitionedShape {
  int communicator = 0;
  int sender = 0;   ///< rank
  int receiver = 0; ///< rank
  int tag = 0;
  int send_partitions = 1;
  int receive_partitions = 1;
  std::int64_t bytes = 0; ///< all partitions together; each side's partitions are equal

  [[nodiscard]] std::int64_t send_partition_bytes() const { return bytes / send_partitions; }
  /// Send partitions that share bytes with a receive partition: first and last.
  [[nodiscard]] std::pair<int, int> overlapping(int receive_partition) const;
};

/// The sender's request. Calls take the calling thread first and block in simulated time; breaking a rule of MPI (a
/// partition that is ready twice, or before the start) throws InvariantViolation. Nothing moves before its partition is ready.
class PartitionedSend : private Waitable {
public:
  PartitionedSend(Process& process, const PartitionedShape& shape);
  ~PartitionedSend() override = default;

  /// MPI_Psend_init and MPI_Request_free: by one thread.
  void init(SimThread& self);
  void free(SimThread& self);
  /// MPI_Start: by one thread, while no other uses the request.
  void start(SimThread& self);
  /// MPI_Pready, MPI_Pready_range (`last` included), MPI_Pready_list: by any thread.
  void ready(SimThread& self, int partition);
  void ready_range(SimThread& self, int first, int last);
  void ready_list(SimThread& self, std::span<const int> partitions);
  /// MPI_Test, MPI_Wait: by one thread. Complete means that the buffer may be written again; the request is inactive then.
  bool test(SimThread& self);
  void wait(SimThread& self);

protected:
  virtual void do_init(SimThread& /*self*/) {}
  virtual void do_free(SimThread& /*self*/) {}
  virtual void do_start(SimThread& /*self*/) {}
  virtual void do_ready(SimThread& self, int partition) = 0;
  /// All partitions are ready.
  virtual bool do_test(SimThread& self) = 0;
  virtual void do_wait(SimThread& self) = 0;

  [[nodiscard]] Process& process() const { return process_; }
  [[nodiscard]] const PartitionedShape& shape() const { return shape_; }

private:
  [[nodiscard]] std::string describe() const override { return "partitions that are not ready"; }
  [[nodiscard]] bool all_ready() const { return done_ == shape_.send_partitions; }

  Process& process_;
  PartitionedShape shape_;
  std::vector<bool> ready_; ///< by partition
  int done_ = 0;            ///< calls of ready() that have returned
  bool active_ = false;
  SimThread* waiting_ = nullptr; ///< for partitions that are not ready
};

/// The receiver's request.
class PartitionedReceive {
public:
  PartitionedReceive(Process& process, const PartitionedShape& shape) : process_(process), shape_(shape) {}
  virtual ~PartitionedReceive() = default;
  PartitionedReceive(const PartitionedReceive&) = delete;
  PartitionedReceive& operator=(const PartitionedReceive&) = delete;

  /// MPI_Precv_init and MPI_Request_free, MPI_Start: by one thread.
  void init(SimThread& self);
  void free(SimThread& self);
  void start(SimThread& self);
  /// MPI_Parrived: by any thread.
  bool arrived(SimThread& self, int partition);
  /// A loop of MPI_Parrived over all partitions until one has arrived; idle calls may pass at once.
  void poll_until_any(SimThread& self);
  /// MPI_Test, MPI_Wait: by one thread.
  bool test(SimThread& self);
  void wait(SimThread& self);

protected:
  virtual void do_init(SimThread& /*self*/) {}
  virtual void do_free(SimThread& /*self*/) {}
  virtual void do_start(SimThread& self) = 0;
  virtual bool do_arrived(SimThread& self, int partition) = 0;
  virtual void do_poll_until_any(SimThread& self) = 0;
  virtual bool do_test(SimThread& self) = 0;
  virtual void do_wait(SimThread& self) = 0;

  [[nodiscard]] Process& process() const { return process_; }
  [[nodiscard]] const PartitionedShape& shape() const { return shape_; }

private:
  void require_active(const char* call) const;

  Process& process_;
  PartitionedShape shape_;
  bool active_ = false;
};

/// Both ends.
class PartitionedOperation {
public:
  virtual ~PartitionedOperation() = default;
  [[nodiscard]] virtual PartitionedSend& sender() = 0;
  [[nodiscard]] virtual PartitionedReceive& receiver() = 0;
};

/// What a design is made from. Made before the run, for all processes, as communicators and windows are. The world owns what is
/// made; the parts live only as long as the call: keep copies of shape and design.
struct PartitionedParts {
  World& world;
  PartitionedShape shape;
  PartitionedDesign design;
};

/// What a design of partitioned communication says of itself. Checks of scenarios ask this instead of its name.
struct PartitionedTraits {
  /// Partitions are put into the receiver's memory (Window), which looks there without making progress.
  bool puts = false;
};

using PartitionedFactory = PartFactory<PartitionedOperation, PartitionedTraits, const PartitionedParts&>;

/// All designs of partitioned communication by name. Adding one: a file with the two sides, and one line in
/// partitioned.cpp (or a call of add() before the first simulation).
Registry<PartitionedFactory>& partitioned_registry();

// One file each.
std::unique_ptr<PartitionedOperation> make_persistent_partitioned(const PartitionedParts& parts);
std::unique_ptr<PartitionedOperation> make_rma_partitioned(const PartitionedParts& parts);
std::unique_ptr<PartitionedOperation> make_aggregating_partitioned(const PartitionedParts& parts);
std::unique_ptr<PartitionedOperation> make_whole_buffer_partitioned(const PartitionedParts& parts);

/// For designs whose sides make something together on a communicator of their own: nobody goes on before `peer` is there.
void meet_peer(SimThread& self, Process& process, int communicator, int peer);

/// Two sides of the given kinds.
template <typename Send, typename Receive>
class PartitionedPair final : public PartitionedOperation {
public:
  PartitionedPair(std::unique_ptr<Send> send, std::unique_ptr<Receive> receive)
      : send_(std::move(send)), receive_(std::move(receive)) {}
  [[nodiscard]] PartitionedSend& sender() override { return *send_; }
  [[nodiscard]] PartitionedReceive& receiver() override { return *receive_; }

private:
  std::unique_ptr<Send> send_;
  std::unique_ptr<Receive> receive_;
};

} // namespace contend
