// One list for all processes of an OS process: a search goes past the operations of all of them.
#pragma once

#include "models/matching/process_queues.hpp"

namespace contend {

class SingleList final : public ProcessQueues {
public:
  SingleList(std::int32_t /*first*/, std::int32_t /*count*/) {}

  [[nodiscard]] std::int64_t bytes() const override { return list_bytes; }

protected:
  OperationList& list_of(std::int32_t /*receiver*/) override { return list_; }

private:
  OperationList list_;
};

} // namespace contend
