// A list for each receiver, found by its rank: a search visits that process's operations only, whatever the source.
#pragma once

#include "models/matching/process_queues.hpp"

#include <cstddef>
#include <vector>

namespace contend {

class ArrayByReceiver final : public ProcessQueues {
public:
  ArrayByReceiver(std::int32_t first, std::int32_t count) : first_(first), lists_(static_cast<std::size_t>(count)) {}

  [[nodiscard]] std::int64_t bytes() const override { return static_cast<std::int64_t>(lists_.size()) * list_bytes; }

protected:
  OperationList& list_of(std::int32_t receiver) override { return lists_[static_cast<std::size_t>(receiver - first_)]; }

private:
  std::int32_t first_;
  std::vector<OperationList> lists_;
};

} // namespace contend
