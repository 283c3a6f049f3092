// Waiting for many messages: by one process that waits for any of them, or by a process for each.
#pragma once

#include "workloads/programs/program.hpp"

namespace contend {

/// In each OS process the first process sends, the last one computes, and those between receive one message each from the first
/// process of the next OS process. With "waitany" the second process receives all of them. The computing process yields
/// after its work; at the end of an iteration all meet. An operation is one message.
class Receivers final : public Program {
public:
  explicit Receivers(const ReceiversParameters& parameters) : Program(parameters), parameters_(parameters) {}

protected:
  CoTask iterate(CoProcess& self, int iteration) override;
  [[nodiscard]] std::int64_t operations_per_iteration() const override {
    return std::int64_t{parameters_.processes_per_os_process - 2} * layout().os_processes();
  }

private:
  CoTask receive_any(CoProcess& self, int sender) const;

  ReceiversParameters parameters_;
};

} // namespace contend
