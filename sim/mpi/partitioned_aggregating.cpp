// Partitioned communication that lets ready partitions leave together: fewer operations when many threads are ready at the
// same time, and none of them waits for the late one.
//
//   Pready(p): join the open group (one atomic)
//              if it has come to aggregate_size, or p was the last partition: close it
//              else if p opened it: wait aggregate_age at most for others, then close it
//   close:     take the group (one atomic); put each run of neighbouring partitions, with a notification
//   Wait:      flush
//   Parrived(q): look at what notifications have said
//
// A notification is what the target's interface tells when a put is complete there (Aries: remote event; InfiniBand: write with
// immediate): no flush and no flag have to follow the data.
//
// A limitation: once all partitions are ready, Test flushes like Wait, and so waits until all puts are complete. MPI_Test would
// return at once.
#include "core/wait_scope.hpp"
#include "mpi/arrival_board.hpp"
#include "mpi/partitioned.hpp"
#include "mpi/process.hpp"
#include "mpi/world.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace contend {

namespace {

class AggregatingReceive final : public BoardReceive {
public:
  AggregatingReceive(World& world, const PartitionedShape& shape, int communicator)
      : BoardReceive(world.process(shape.receiver), shape, communicator, shape.send_partitions,
                     shape.send_partition_bytes()) {}

private:
  [[nodiscard]] std::pair<int, int> places_of(int partition) const override { return shape().overlapping(partition); }
};

class AggregatingSend final : public PartitionedSend {
public:
  AggregatingSend(World& world, const PartitionedShape& shape, PartitionedDesign design, int communicator, int window,
                  ArrivalBoard& board)
      : PartitionedSend(world.process(shape.sender), shape), design_(std::move(design)), communicator_(communicator),
        window_(window), board_(board),
        line_(world.engine(), process().host(), process().name() + "/group of ready partitions"),
        label_(process().name() + "/open group of partitions") {}

private:
  /// Wakes the thread that opened a group when the group is old enough.
  class Expiry final : public Event {
  public:
    Expiry(Engine& engine, AggregatingSend& owner) : Event(engine), owner_(owner) {}
    void fire() override { owner_.expired(*this); }
    std::uint64_t group = 0;

  private:
    AggregatingSend& owner_;
  };

  /// What the thread that opened a group waits for.
  struct Company final : contend::Waitable {
    [[nodiscard]] std::string describe() const override { return "more ready partitions"; }
  };

  [[nodiscard]] Window& window() const { return process().window(window_); }

  void do_init(SimThread& self) override {
    meet_peer(self, process(), communicator_, shape().receiver);
    window().lock(self, shape().receiver, WindowLock::shared);
  }
  void do_free(SimThread& self) override { window().unlock(self, shape().receiver); }
  void do_start(SimThread& /*self*/) override { joined_ = 0; }

  void do_ready(SimThread& self, int partition) override {
    line_.atomic(self, Category::line_transfer);
    const bool opens = group_.empty();
    group_.push_back(partition);
    ++joined_;
    const auto size = static_cast<std::int64_t>(group_.size()) * shape().send_partition_bytes();
    if (size >= design_.aggregate_bytes || joined_ == shape().send_partitions) {
      close(self);
    } else if (opens) {
      linger(self);
    }
  }

  /// Returns when the group is closed: by this thread once it is old enough, or by another one before.
  void linger(SimThread& self) {
    const std::uint64_t mine = number_;
    if (design_.aggregate_age > Duration{}) {
      opener_ = &self;
      Expiry& expiry = take_expiry();
      expiry.group = mine;
      self.engine().schedule(expiry, self.engine().now() + design_.aggregate_age);
      const WaitScope scope(self, label_);
      self.wait(company_, Category::blocked, Waiting::asleep);
    }
    if (number_ == mine) {
      close(self);
    }
  }

  Expiry& take_expiry() {
    if (free_expiries_.empty()) {
      expiries_.push_back(std::make_unique<Expiry>(process().engine(), *this));
      free_expiries_.push_back(expiries_.back().get());
    }
    Expiry& expiry = *free_expiries_.back();
    free_expiries_.pop_back();
    return expiry;
  }

  void expired(Expiry& expiry) {
    free_expiries_.push_back(&expiry);
    if (expiry.group == number_ && opener_ != nullptr) {
      std::exchange(opener_, nullptr)->resume();
    }
  }

  /// Who closes a group sends it. Others may open the next one meanwhile.
  void close(SimThread& self) {
    ++number_; // nobody else closes it from here on
    std::vector<int> group = std::exchange(group_, {});
    if (SimThread* const opener = std::exchange(opener_, nullptr); opener != nullptr) {
      WaitScope::answer(label_, opener->id(), self, "closed the group", self.now());
      opener->resume();
    }
    line_.atomic(self, Category::line_transfer);
    std::sort(group.begin(), group.end());
    for (auto first = group.begin(); first != group.end();) {
      auto end = std::next(first);
      while (end != group.end() && *end == *std::prev(end) + 1) {
        ++end;
      }
      window().put(self, shape().receiver, (end - first) * shape().send_partition_bytes(), &board_, *first);
      first = end;
    }
  }

  bool do_test(SimThread& self) override {
    do_wait(self);
    return true;
  }
  void do_wait(SimThread& self) override { window().flush(self, shape().receiver); }

  PartitionedDesign design_;
  int communicator_;
  int window_;
  ArrivalBoard& board_;
  CacheLine line_;         ///< where the group is kept
  std::vector<int> group_; ///< the open group
  std::uint64_t number_ = 0;
  int joined_ = 0;              ///< partitions of this round that have joined a group
  SimThread* opener_ = nullptr; ///< waits for more partitions
  Company company_;
  TraceLabel label_; ///< of where that thread waits
  std::vector<std::unique_ptr<Expiry>> expiries_;
  std::vector<Expiry*> free_expiries_;
};

} // namespace

std::unique_ptr<PartitionedOperation> make_aggregating_partitioned(const PartitionedParts& parts) {
  World& world = parts.world;
  const int communicator = world.create_communicator(false);
  const int window = world.create_window(communicator);
  auto receive = std::make_unique<AggregatingReceive>(world, parts.shape, communicator);
  auto send =
      std::make_unique<AggregatingSend>(world, parts.shape, parts.design, communicator, window, receive->board());
  return std::make_unique<PartitionedPair<AggregatingSend, AggregatingReceive>>(std::move(send), std::move(receive));
}

} // namespace contend
