// Persistent requests: made once, started again and again.
#include "core/trace_scope.hpp"
#include "mpi/process.hpp"

#include <stdexcept>

namespace contend {

Request* Process::new_persistent(SimThread& self, Request::Persistent kind, int communicator, int peer, int tag,
                                 std::int64_t bytes) {
  if (mapping_.by_tag() && tag == any_tag) {
    throw std::invalid_argument(name() + " receives with any tag, but tags decide on the instance");
  }
  enter_call(self);
  software(self, settings_.software.receive_call);
  count_reference(self, communicator);
  const Direction direction = kind == Request::Persistent::send ? Direction::send : Direction::receive;
  Request* const request = new_request(self, mapping_.of_request(direction, communicator, tag, peer));
  request->owner = self.id();
  request->complete = true;
  request->active = false;
  request->persistent = kind;
  request->communicator = communicator;
  request->peer = peer;
  request->wanted_tag = tag;
  request->buffer_bytes = bytes;
  leave_call(self);
  return request;
}

Request* Process::send_init(SimThread& self, int communicator, int destination, int tag, std::int64_t bytes) {
  const TraceScope scope(self, rank_, "MPI_Send_init");
  return new_persistent(self, Request::Persistent::send, communicator, destination, tag, bytes);
}

Request* Process::recv_init(SimThread& self, int communicator, int source, int tag, std::int64_t bytes) {
  const TraceScope scope(self, rank_, "MPI_Recv_init");
  return new_persistent(self, Request::Persistent::receive, communicator, source, tag, bytes);
}

void Process::start(SimThread& self, Request& request) {
  const TraceScope scope(self, rank_, "MPI_Start");
  if (request.persistent == Request::Persistent::no || request.active) {
    throw std::logic_error(name() + " starts a request that is not persistent, or under way");
  }
  const bool sends = request.persistent == Request::Persistent::send;
  request.complete = false;
  request.active = true;
  request.received_tag = any_tag;
  if (commands_) {
    self.owe(settings_.waiting.start, Category::software);
    const Command command{sends ? Command::Kind::send : Command::Kind::receive,
                          request.communicator,
                          request.peer,
                          request.wanted_tag,
                          request.buffer_bytes,
                          &request};
    commands_->push(self, command, Category::line_transfer, [this] { end_rests(); });
    return;
  }
  enter_call(self);
  software(self, settings_.waiting.start);
  if (sends) {
    start_send(self, request.communicator, request.peer, request.wanted_tag, request.buffer_bytes, &request);
  } else {
    count_reference(self, request.communicator);
    start_receive(self, request, request.communicator, request.peer, request.wanted_tag, request.buffer_bytes);
  }
  leave_call(self);
}

void Process::request_free(SimThread& self, Request* request) {
  if (request->persistent == Request::Persistent::no || request->active) {
    throw std::logic_error(name() + " frees a request that is not persistent, or under way");
  }
  enter_call(self);
  count_reference(self, request->communicator);
  free_request(self, request);
  leave_call(self);
}

} // namespace contend
