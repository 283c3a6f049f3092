// Partitioned communication on persistent point-to-point messages (MPIPCL): each send partition is one message, started when
// it is ready.
//
//   init:        a helper thread of each side negotiates: the sender tells how many messages there will be, the receiver
//                answers; init and start do not wait for it
//   Pready(p):   start message p; if the sides have not agreed yet, the helper thread does it once they have
//   Start (receiver): post a receive for every message
//   Parrived(q): test the receives of all messages that overlap partition q
#include "core/resume_all.hpp"
#include "mpi/partitioned.hpp"
#include "mpi/process.hpp"
#include "mpi/world.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr int first_negotiation_tag = -1000; // negative tags are the library's own
constexpr std::int64_t proposal_bytes = 32;  // partitions, their size, tag and communicator

int proposal_tag(const PartitionedShape& shape) { return first_negotiation_tag - 2 * shape.tag; }
int answer_tag(const PartitionedShape& shape) { return proposal_tag(shape) - 1; }

/// Whether the two sides have agreed, and who waits for that.
class Agreement final : public Waitable {
public:
  Agreement(Engine& engine, const Host& host, const std::string& name)
      : line_(engine, host, name + "/agreement"), name_(name) {}

  /// Any thread looks.
  bool look(SimThread& self) {
    line_.load(self, Category::line_transfer);
    self.settle();
    return reached_;
  }
  void reach(SimThread& self) {
    line_.store(self, Category::line_transfer);
    reached_ = true;
    resume_all(waiting_);
  }
  void wait(SimThread& self) {
    while (!look(self)) {
      waiting_.push_back(&self);
      self.wait(*this, Category::poll_idle);
    }
  }
  [[nodiscard]] std::string describe() const override { return "the other side's number of partitions of " + name_; }

private:
  CacheLine line_;
  std::string name_;
  bool reached_ = false;
  std::vector<SimThread*> waiting_;
};

class PersistentSend final : public PartitionedSend {
public:
  PersistentSend(World& world, const PartitionedShape& shape)
      : PartitionedSend(world.process(shape.sender), shape), world_(world),
        agreement_(world.engine(), process().host(), process().name() + "/partitioned send"),
        requests_(static_cast<std::size_t>(shape.send_partitions)) {}

private:
  void do_init(SimThread& self) override {
    world_.spawn_beside(self, process().rank(), process().name() + " negotiation",
                        [this](SimThread& helper) { negotiate(helper); });
  }

  void negotiate(SimThread& self) {
    process().send(self, shape().communicator, shape().receiver, proposal_tag(shape()), proposal_bytes);
    process().recv(self, shape().communicator, shape().receiver, answer_tag(shape()), proposal_bytes);
    agreement_.reach(self);
    for (const int partition : std::exchange(deferred_, {})) {
      send(self, partition);
    }
    helper_busy_ = false;
    if (SimThread* const waiting = std::exchange(waiting_for_helper_, nullptr); waiting != nullptr) {
      self.settle();
      waiting->resume();
    }
  }

  void do_ready(SimThread& self, int partition) override {
    if (agreement_.look(self)) {
      send(self, partition);
    } else {
      deferred_.push_back(partition);
    }
  }

  void send(SimThread& self, int partition) {
    requests_[static_cast<std::size_t>(partition)] = process().isend(
        self, shape().communicator, shape().receiver, shape().tag + partition, shape().send_partition_bytes());
  }

  bool do_test(SimThread& self) override {
    if (helper_busy_ || !std::all_of(requests_.begin(), requests_.end(),
                                     [&](Request* request) { return process().get_status(self, request); })) {
      return false;
    }
    do_wait(self);
    return true;
  }

  void do_wait(SimThread& self) override {
    agreement_.wait(self);
    if (helper_busy_) {
      waiting_for_helper_ = &self;
      self.wait(agreement_, Category::poll_idle);
    }
    process().waitall(self, requests_);
    std::fill(requests_.begin(), requests_.end(), nullptr);
  }

  World& world_;
  Agreement agreement_;
  std::vector<Request*> requests_; ///< by partition; nullptr: complete at once, or not started
  std::vector<int> deferred_;      ///< ready before the sides had agreed
  bool helper_busy_ = true;
  SimThread* waiting_for_helper_ = nullptr;
};

class PersistentReceive final : public PartitionedReceive {
public:
  PersistentReceive(World& world, const PartitionedShape& shape)
      : PartitionedReceive(world.process(shape.receiver), shape), world_(world),
        agreement_(world.engine(), process().host(), process().name() + "/partitioned receive") {}

private:
  void do_init(SimThread& self) override {
    world_.spawn_beside(self, process().rank(), process().name() + " negotiation",
                        [this](SimThread& helper) { negotiate(helper); });
  }

  void negotiate(SimThread& self) {
    process().recv(self, shape().communicator, shape().sender, proposal_tag(shape()), proposal_bytes);
    process().send(self, shape().communicator, shape().sender, answer_tag(shape()), proposal_bytes);
    self.settle();
    negotiated_ = true;
    if (started_) {
      post_receives(self);
    }
    agreement_.reach(self);
  }

  /// Who of the two comes last posts the receives.
  void do_start(SimThread& self) override {
    agreement_.look(self);
    started_ = true;
    if (negotiated_) {
      post_receives(self);
    }
  }

  void post_receives(SimThread& self) {
    for (int message = 0; message < shape().send_partitions; ++message) {
      requests_.push_back(process().irecv(self, shape().communicator, shape().sender, shape().tag + message,
                                          shape().send_partition_bytes()));
    }
  }

  bool do_arrived(SimThread& self, int partition) override {
    if (!agreement_.look(self)) {
      return false;
    }
    const auto [first, last] = shape().overlapping(partition);
    for (int message = first; message <= last; ++message) {
      if (!process().get_status(self, requests_[static_cast<std::size_t>(message)])) {
        return false;
      }
    }
    return true;
  }

  void do_poll_until_any(SimThread& self) override {
    agreement_.wait(self);
    process().poll_until(self, [this] {
      for (int partition = 0; partition < shape().receive_partitions; ++partition) {
        const auto [first, last] = shape().overlapping(partition);
        if (std::all_of(requests_.begin() + first, requests_.begin() + last + 1,
                        [](const Request* request) { return request->complete; })) {
          return true;
        }
      }
      return false;
    });
  }

  bool do_test(SimThread& self) override {
    if (!agreement_.look(self) || !std::all_of(requests_.begin(), requests_.end(),
                                               [&](Request* request) { return process().get_status(self, request); })) {
      return false;
    }
    do_wait(self);
    return true;
  }

  void do_wait(SimThread& self) override {
    agreement_.wait(self);
    process().waitall(self, requests_);
    requests_.clear();
    started_ = false;
  }

  World& world_;
  Agreement agreement_;
  bool negotiated_ = false;
  bool started_ = false;
  std::vector<Request*> requests_; ///< by message
};

} // namespace

std::unique_ptr<PartitionedOperation> make_persistent_partitioned(const PartitionedParts& parts) {
  return std::make_unique<PartitionedPair<PersistentSend, PersistentReceive>>(
      std::make_unique<PersistentSend>(parts.world, parts.shape),
      std::make_unique<PersistentReceive>(parts.world, parts.shape));
}

} // namespace contend
