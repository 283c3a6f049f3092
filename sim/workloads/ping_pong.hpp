// A ping-pong between the communication threads of two processes of a task-based runtime (PaRSEC's remote dependencies):
//
//   sender of a hop                              receiver of a hop
//   send(activate [+ data])                -->   one of its persistent receives is complete:
//   [a persistent receive is complete:     <--     [post a receive for the data; send(get);] start it again
//    isend(data); start it again]          -->   [the receive is complete]
//                                                another thread does the runtime's work; then it is the sender of the next
//
// Each thread has all of its requests in one array, persistent ones first, or attached to one sync object: they are those
// receives and the data's (remote_dep_mpi.c of 2019: activations and gets leave by MPI_Send). As there, a thread that has found
// something complete looks for commands of others when two looks in a row have found nothing more.
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
  enum Slot { data_receive, data_send, slots };
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
    int arrivals = 0; ///< of data
    TimePoint arrived_at;
    int gets = 0; ///< handled: the data is on its way
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
  std::size_t poll(SimThread& self, Side& side);
  bool progress(SimThread& self, Side& side);
  static void arrived(SimThread& self, Side& side);
  void completed(SimThread& self, Side& side, std::size_t index);

  PingPongParameters parameters_;
  int communicator_ = 0;
  std::array<Side, 2> sides_;
  TimePoint timed_start_;
  TimePoint timed_end_;
};

} // namespace contend
