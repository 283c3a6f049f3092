// A ping-pong between the communication threads of two processes of a task-based runtime (PaRSEC's remote dependencies):
//
//   sender of a hop                              receiver of a hop
//   send(activate [+ data])                -->   one of its persistent receives is complete: start it again
//   [a persistent receive is complete:     <--   [post a receive for the data; send(get)]
//    start it again; send(data)]           -->   [the receive is complete]
//                                                the runtime's work; then it is the sender of the next hop
//
// Each thread has all of its requests in one array, persistent ones first, or attached to one sync object.
#pragma once

#include "workloads/workload.hpp"

#include <array>
#include <utility>
#include <vector>

namespace contend {

class PingPong final : public Workload {
public:
  explicit PingPong(PingPongParameters parameters) : parameters_(std::move(parameters)) {}

  [[nodiscard]] std::vector<int> host_of_rank() const override { return {0, 1}; }
  [[nodiscard]] Role role_of_rank(int rank) const override { return rank == 0 ? Role::sender : Role::receiver; }
  [[nodiscard]] std::uint64_t planned_operations() const override;
  void start(World& world) override;
  [[nodiscard]] WorkloadResult result(const World& world) const override;

private:
  /// Places in the array of requests after the persistent receives.
  enum Slot { data_receive, message_send, data_send, slots };
  static constexpr int activate_tag = 0;
  static constexpr int get_tag = 1;
  static constexpr int data_tag = 2;

  /// One communication thread.
  struct Side {
    Process* process = nullptr;
    SimThread* thread = nullptr;
    int peer = 0;
    std::vector<Request*> requests;
    UserSync* sync = nullptr;
    int activations = 0; ///< that have arrived and are not handled yet
    int gets = 0;
    int hops = 0; ///< received
  };

  [[nodiscard]] int all_iterations() const { return parameters_.warmup_iterations + parameters_.iterations; }
  [[nodiscard]] bool data_apart() const { return parameters_.message_size_bytes > parameters_.short_limit_bytes; }
  [[nodiscard]] std::size_t place(Slot slot) const {
    return static_cast<std::size_t>(parameters_.persistent_receives) + static_cast<std::size_t>(slot);
  }

  void run(SimThread& self, int rank);
  void send_hop(SimThread& self, Side& side);
  void receive_hop(SimThread& self, Side& side);
  void track(SimThread& self, Side& side, Slot slot, Request* request);
  static void start_receive(SimThread& self, Side& side, std::size_t index);
  void poll(SimThread& self, Side& side);
  void completed(SimThread& self, Side& side, std::size_t index);

  PingPongParameters parameters_;
  int communicator_ = 0;
  std::array<Side, 2> sides_;
  TimePoint timed_start_;
  TimePoint timed_end_;
};

} // namespace contend
