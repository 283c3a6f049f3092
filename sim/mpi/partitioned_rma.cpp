// Partitioned communication on one-sided operations: a window for the data and one for completion flags, on a communicator
// of their own.
//
//   flags = gcd(send partitions, receive partitions)
//   init:      both sides make the windows together: it blocks
//   Pready(p): put(data of p); f = flag of p
//              if fetch_add(counter[f], 1) + 1 == send partitions / flags:
//                flush(data); put(flag f); flush(flags)
//   Parrived(q): read the flag of q
//
// Nothing tells the sender that the receiver has started: the application sees to it, as with any put.
#include "mpi/arrival_board.hpp"
#include "mpi/partitioned.hpp"
#include "mpi/process.hpp"
#include "mpi/world.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr std::int64_t flag_bytes = 8;

int flags_of(const PartitionedShape& shape) { return std::gcd(shape.send_partitions, shape.receive_partitions); }

struct Windows {
  int communicator;
  int data;
  int flags;
};

class RmaReceive final : public BoardReceive {
public:
  RmaReceive(World& world, const PartitionedShape& shape, const Windows& windows)
      : BoardReceive(world.process(shape.receiver), shape, windows.communicator, flags_of(shape), flag_bytes),
        partitions_per_flag_(shape.receive_partitions / flags_of(shape)) {}

private:
  [[nodiscard]] std::pair<int, int> places_of(int partition) const override {
    const int flag = partition / partitions_per_flag_;
    return {flag, flag};
  }

  int partitions_per_flag_;
};

class RmaSend final : public PartitionedSend {
public:
  RmaSend(World& world, const PartitionedShape& shape, const Windows& windows, ArrivalBoard& board)
      : PartitionedSend(world.process(shape.sender), shape), windows_(windows),
        sends_per_flag_(shape.send_partitions / flags_of(shape)), board_(board) {
    for (int flag = 0; flag < flags_of(shape); ++flag) {
      counter_lines_.push_back(std::make_unique<CacheLine>(
          world.engine(), process().host(), process().name() + "/partitions of flag " + std::to_string(flag)));
    }
    counters_.resize(counter_lines_.size());
  }

private:
  [[nodiscard]] Window& data() const { return process().window(windows_.data); }
  [[nodiscard]] Window& flags() const { return process().window(windows_.flags); }

  void do_init(SimThread& self) override {
    meet_peer(self, process(), windows_.communicator, shape().receiver);
    data().lock(self, shape().receiver, WindowLock::shared);
    flags().lock(self, shape().receiver, WindowLock::shared);
  }
  void do_free(SimThread& self) override {
    data().unlock(self, shape().receiver);
    flags().unlock(self, shape().receiver);
  }
  void do_start(SimThread& /*self*/) override { std::fill(counters_.begin(), counters_.end(), 0); }

  void do_ready(SimThread& self, int partition) override {
    const int target = shape().receiver;
    data().put(self, target, shape().send_partition_bytes());
    const int flag = partition / sends_per_flag_;
    const auto place = static_cast<std::size_t>(flag);
    counter_lines_[place]->atomic(self, Category::line_transfer);
    if (++counters_[place] == sends_per_flag_) {
      data().flush(self, target);
      flags().put(self, target, flag_bytes, &board_, flag);
      flags().flush(self, target);
    }
  }

  bool do_test(SimThread& self) override {
    do_wait(self);
    return true;
  }
  /// The last partition's call has flushed everything.
  void do_wait(SimThread& self) override { self.spend(process().settings().software.wait_call, Category::software); }

  Windows windows_;
  int sends_per_flag_;
  ArrivalBoard& board_;
  std::vector<std::unique_ptr<CacheLine>> counter_lines_; ///< by flag
  std::vector<int> counters_;                             ///< by flag: partitions whose puts are posted
};

} // namespace

std::unique_ptr<PartitionedOperation> make_rma_partitioned(const PartitionedParts& parts) {
  World& world = parts.world;
  Windows windows{};
  windows.communicator = world.create_communicator(false);
  windows.data = world.create_window(windows.communicator);
  windows.flags = world.create_window(windows.communicator);
  auto receive = std::make_unique<RmaReceive>(world, parts.shape, windows);
  auto send = std::make_unique<RmaSend>(world, parts.shape, windows, receive->board());
  return std::make_unique<PartitionedPair<RmaSend, RmaReceive>>(std::move(send), std::move(receive));
}

} // namespace contend
