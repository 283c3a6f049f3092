// Persistent requests: made once, started again and again.
#include "core/trace_scope.hpp"
#include "mpi/process.hpp"

#include <stdexcept>

namespace contend {

Request* Process::new_persistent(SimThread& self, Request::Persistent kind, int communicator, int peer, int tag,
                                 std::int64_t bytes) {
  check_tag(tag);
  context_.enter_call(self);
  context_.software(self, settings().software.receive_call);
  communicators_.count_reference(self, communicator);
  const bool sends = kind == Request::Persistent::send;
  Request* const request = new_request(
      self, sends ? InstanceMapping::Direction::send : InstanceMapping::Direction::receive, communicator, tag, peer);
  request->complete = true;
  request->active = false;
  request->persistent = kind;
  request->communicator = communicator;
  request->peer = peer;
  request->wanted_tag = tag;
  request->buffer_bytes = bytes;
  context_.leave_call(self);
  return request;
}

Request* Process::send_init(SimThread& self, int communicator, int destination, int tag, std::int64_t bytes) {
  const TraceScope scope(self, rank(), "MPI_Send_init");
  return new_persistent(self, Request::Persistent::send, communicator, destination, tag, bytes);
}

Request* Process::recv_init(SimThread& self, int communicator, int source, int tag, std::int64_t bytes) {
  const TraceScope scope(self, rank(), "MPI_Recv_init");
  return new_persistent(self, Request::Persistent::receive, communicator, source, tag, bytes);
}

void Process::start(SimThread& self, Request& request) {
  const TraceScope scope(self, rank(), "MPI_Start");
  if (request.persistent == Request::Persistent::no || request.active) {
    throw std::logic_error(name() + " starts a request that is not persistent, or under way");
  }
  const bool sends = request.persistent == Request::Persistent::send;
  request.complete = false;
  request.active = true;
  request.received_tag = any_tag;
  request.received_source = any_source;
  if (commands_) {
    self.owe(settings().waiting.start, Category::software);
    const Command command{sends ? Command::Kind::send : Command::Kind::receive,
                          request.communicator,
                          request.peer,
                          request.wanted_tag,
                          request.buffer_bytes,
                          &request};
    push(self, command);
    return;
  }
  context_.enter_call(self);
  context_.software(self, settings().waiting.start);
  if (sends) {
    sends_.start(self, request.communicator, request.peer, request.wanted_tag, request.buffer_bytes, &request);
  } else {
    communicators_.count_reference(self, request.communicator);
    receives_.start(self, request, request.communicator, request.peer, request.wanted_tag, request.buffer_bytes);
  }
  context_.leave_call(self);
}

void Process::request_free(SimThread& self, Request* request) {
  if (request->persistent == Request::Persistent::no || request->active) {
    throw std::logic_error(name() + " frees a request that is not persistent, or under way");
  }
  context_.enter_call(self);
  communicators_.count_reference(self, request->communicator);
  requests_.free(self, request);
  context_.leave_call(self);
}

} // namespace contend
