// Receives the messages that make up a buffer: how their requests come about is the derived class's.
#pragma once

#include "workloads/transfers/message_transfer.hpp"

#include <algorithm>
#include <vector>

namespace contend {

class MessageReceive : public ReceiveSide {
public:
  explicit MessageReceive(const MessageEnd& end) : end_(end) {}

  void poll_until_any(SimThread& self) override {
    end_.process.poll_until(self, [this] {
      return std::any_of(requests_.begin(), requests_.end(), [](const Request* request) { return request->complete; });
    });
  }
  void wait(SimThread& self) override { end_.process.waitall(self, requests_); }

protected:
  [[nodiscard]] const MessageEnd& end() const { return end_; }
  /// One for each message, from start() on.
  [[nodiscard]] std::vector<Request*>& requests() { return requests_; }

private:
  MessageEnd end_;
  std::vector<Request*> requests_;
};

} // namespace contend
