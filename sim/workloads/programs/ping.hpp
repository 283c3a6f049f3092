// Ping-pong between halves of the job.
#pragma once

#include "workloads/programs/program.hpp"

namespace contend {

/// Rank r and rank r + size / 2 send a message to and fro; an operation is one message.
class Ping final : public Program {
public:
  explicit Ping(const PingParameters& parameters) : Program(parameters), parameters_(parameters) {}

protected:
  CoTask iterate(CoProcess& self, int /*iteration*/) override {
    const int half = self.size() / 2;
    const bool hands_over = parameters_.transfer == "zero-copy" || parameters_.transfer == "zero-copy-send";
    const bool takes = parameters_.transfer == "zero-copy" || parameters_.transfer == "zero-copy-receive";
    const Transfer sending = hands_over ? Transfer::hand_over : Transfer::copy;
    const Transfer receiving = takes ? Transfer::hand_over : Transfer::copy;
    const std::int64_t bytes = parameters_.message_size_bytes;
    if (self.rank() < half) {
      co_await self.send(self.rank() + half, 0, bytes, sending);
      co_await self.recv(self.rank() + half, 0, bytes, receiving);
    } else if (self.rank() < 2 * half) {
      co_await self.recv(self.rank() - half, 0, bytes, receiving);
      co_await self.send(self.rank() - half, 0, bytes, sending);
    }
  }
  [[nodiscard]] std::int64_t operations_per_iteration() const override {
    return std::int64_t{layout().processes()} / 2 * 2;
  }
  [[nodiscard]] std::int64_t bytes_per_iteration() const override {
    return operations_per_iteration() * parameters_.message_size_bytes;
  }

private:
  PingParameters parameters_;
};

} // namespace contend
