// An MPI_Irecv for each message of each buffer.
#pragma once

#include "workloads/transfers/message_receive.hpp"

namespace contend {

class NonblockingReceive final : public MessageReceive {
public:
  using MessageReceive::MessageReceive;

  void start(SimThread& self) override {
    for (int message = 0; message < end().messages; ++message) {
      requests().push_back(end().process.irecv(self, end().communicator, end().peer, message, end().bytes));
    }
  }
  void wait(SimThread& self) override {
    MessageReceive::wait(self);
    requests().clear(); // it has freed them
  }
};

} // namespace contend
