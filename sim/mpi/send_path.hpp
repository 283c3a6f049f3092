// From MPI_Isend to the doorbell.
#pragma once

#include "models/nic/transport.hpp"
#include "mpi/communicators.hpp"
#include "mpi/completion_path.hpp"
#include "mpi/instances.hpp"
#include "mpi/pending_sends.hpp"
#include "mpi/postponed_sends.hpp"
#include "mpi/process_context.hpp"
#include "mpi/rendezvous_path.hpp"
#include "mpi/request_pool.hpp"

#include <cstdint>

namespace contend {

class SendPath {
public:
  SendPath(ProcessContext& process, Instances& instances, Communicators& communicators, RequestPool& requests,
           CompletionPath& completion, RendezvousPath& rendezvous, PendingSends& pending, PostponedSends& postponed,
           CompletionHandler& handler);

  /// Sends a message. The caller is inside a call. `handle`: the request that the caller has been given already, if any.
  /// Returns the request, or nullptr if the message is complete and had none.
  Request* start(SimThread& self, int communicator, int destination, int tag, std::int64_t bytes, Request* handle);

private:
  [[nodiscard]] bool is_packed(const Envelope& envelope) const {
    return envelope.header == Header::eager && !process_.copied_by_transport();
  }
  Request* announce(SimThread& self, Envelope& envelope, int destination, Request* handle);
  [[nodiscard]] bool post_at_once(SimThread& self, int instance, int destination, const Envelope& envelope);
  [[nodiscard]] Request* finish_eager(SimThread& self, const Envelope& envelope, int instance, Request* handle,
                                      bool sent);
  Request* deliver_to_self(SimThread& self, const Envelope& envelope, Request* handle);

  ProcessContext& process_;
  Instances& instances_;
  Communicators& communicators_;
  RequestPool& requests_;
  CompletionPath& completion_;
  RendezvousPath& rendezvous_;
  PendingSends& pending_;
  PostponedSends& postponed_;
  CompletionHandler& handler_;
  bool postpones_;           ///< what finds no room waits at its interface
  bool calls_hold_instance_; ///< LibraryDesign::critical_section
};

} // namespace contend
