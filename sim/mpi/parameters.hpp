// A library design is data: which part of each kind, how many, and what the library's own code costs.
#pragma once

#include "core/time.hpp"

#include <cstdint>
#include <string>

namespace contend {

/// CPU cost of the library's code on the critical paths, without locks, queues and the NIC (those are modelled).
struct SoftwareParameters {
  Duration send_call{};                ///< MPI_Isend: argument checks, request or inline path, header
  Duration send_request{};             ///< extra when the message cannot go inline: request and descriptor
  Duration receive_call{};             ///< MPI_Irecv: argument checks, request set-up
  Duration request_allocate{};         ///< taking a request from the shared free list, besides its contended head
  Duration deliver{};                  ///< active-message dispatch and communicator look-up per arriving message
  Duration complete{};                 ///< completing a request (status, state)
  Duration wait_call{};                ///< MPI_Wait family: entry and exit
  Duration wait_request{};             ///< per request in a Waitall: check, status, free
  Duration progress_call{};            ///< one turn of the progress loop besides what it polls
  double copy_bytes_per_second = 10e9; ///< memory copy into and out of bounce buffers
};

struct InstancesDesign {
  int count = 1;
  std::string assignment = "round-robin"; ///< key in the assignment registry
  std::string lock = "pthread-mutex";     ///< key in the lock registry
};

struct ProgressDesign {
  std::string engine = "ownership";   ///< key in the progress registry
  std::string lock = "pthread-mutex"; ///< lock kind of the engine's own lock
};

struct MatchingDesign {
  std::string engine = "ob1";         ///< key in the matching registry
  std::string lock = "pthread-mutex"; ///< lock kind of the matching lock
  /// Which communicators share one set of queues and one lock: communicator (each has its own, as ob1), global (all
  /// together, as MPICH and UCX).
  std::string domain = "communicator";
  /// What keeps messages in order: sequence-numbers (checked by the receiver, as ob1), transport (the connection keeps
  /// the order in which a thread sends; nothing is checked, as MPICH and UCX).
  std::string ordering = "sequence-numbers";
  int bins = 256;              ///< see MatchingSizes
  int vector_width = 8;        ///< see MatchingSizes
  int offload_capacity = 1024; ///< see MatchingSizes

  [[nodiscard]] bool ordered_by_transport() const { return ordering == "transport"; }
};

struct ProtocolDesign {
  std::int64_t inline_limit_bytes = 256;
  std::int64_t eager_limit_bytes = 8192;
  std::int64_t header_bytes = 40;          ///< bytes on the wire in front of the payload
  std::string pending_order = "reversing"; ///< what a failed retry does to the list of delayed sends: reversing, fifo
};

/// One MPI library, as a composition.
struct LibraryDesign {
  std::string name = "unnamed";
  InstancesDesign instances;
  ProgressDesign progress;
  MatchingDesign matching;
  ProtocolDesign protocol;
};

} // namespace contend
