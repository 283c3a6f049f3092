// A token that goes round all processes.
#pragma once

#include "workloads/programs/program.hpp"

namespace contend {

/// Rank 0 sends the token to its neighbour and waits until it comes back; an operation is one message.
class Ring final : public Program {
public:
  explicit Ring(const RingParameters& parameters) : Program(parameters), parameters_(parameters) {}

protected:
  CoTask iterate(CoProcess& self, int /*iteration*/) override {
    const int size = self.size();
    const int step = parameters_.direction == "forward" ? 1 : size - 1;
    const int next = (self.rank() + step) % size;
    const int previous = (self.rank() + size - step) % size;
    if (self.rank() == 0) {
      co_await self.send(next, 0, parameters_.message_size_bytes);
      co_await self.recv(previous, 0, parameters_.message_size_bytes);
    } else {
      co_await self.recv(previous, 0, parameters_.message_size_bytes);
      co_await self.send(next, 0, parameters_.message_size_bytes);
    }
  }
  [[nodiscard]] std::int64_t operations_per_iteration() const override { return layout().processes(); }

private:
  RingParameters parameters_;
};

} // namespace contend
