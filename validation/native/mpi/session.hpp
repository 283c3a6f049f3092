// One run of a program that uses MPI: start, end, exit codes.
#pragma once

#include "mpi/mpi.hpp"
#include "support/json.hpp"
#include "support/options.hpp"
#include "support/program.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace contend::native {

/// Options of all MPI programs.
struct MpiOptions {
  CommonOptions common;
  std::string bind = "none";
  bool counters = true;
  std::string counter_filter = "spc,recvq,matching";

  void declare(Options& options);
};

/// Thread levels by name: "single", "funneled", "serialized", "multiple".
[[nodiscard]] const std::vector<std::string>& thread_level_names();
[[nodiscard]] int thread_level(const std::string& name);

/// Where this process is among those of its host.
struct Placement {
  std::vector<int> cores; ///< that this process may use
  int hosts = 1;
  int first_entity = 0; ///< threads that ranks before this one run on the same host

  /// For bind_compact: a thread's position among all threads of the host.
  [[nodiscard]] std::size_t core_of(int thread) const {
    return static_cast<std::size_t>(first_entity) + static_cast<std::size_t>(thread);
  }
};

/// MPI between initialisation and finalisation. Errors of calls end the job: the library's default.
class Session {
public:
  /// Throws Failure(not_supported) if the library grants less than `wanted_level`.
  explicit Session(int wanted_level);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// Shuts the library down, unless an error is on its way: then run_mpi_program does.
  ~Session();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool leads() const { return rank_ == 0; }
  /// Throws Failure(bad_options) on every rank unless there are that many.
  void require_ranks(int ranks, const std::string& why) const;
  /// Collective.
  [[nodiscard]] Placement place(int threads) const;
  /// {"name", "version", "text", "mpi", "thread_level"}
  [[nodiscard]] Json library() const;
  /// {"ranks", "hosts", "cores_allowed", "bind"}. Collective.
  [[nodiscard]] Json describe(const Placement& placement, const std::string& bind) const;

private:
  int rank_ = 0;
  int size_ = 0;
  int granted_level_ = 0;
  int exceptions_ = 0;
};

/// Parts of a document that all MPI programs share.
[[nodiscard]] Json begin_mpi_document(const Options& options, const Session& session, const Json& placement);

/// The body of a main function with MPI. A failure that only this rank has found ends the whole job.
[[nodiscard]] int run_mpi_program(const std::string& name, const std::function<void()>& body);

} // namespace contend::native
