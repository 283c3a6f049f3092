// Where the MPI processes of a job are.
#pragma once

namespace contend {

/// [P; O; M]: P processes in each OS process, O OS processes on each node, M nodes. OS process j has the ranks j P to
/// (j + 1) P - 1 and is on node j / O. P = 1 is an MPI library without coroutines.
struct ProcessLayout {
  int processes_per_os_process = 1;
  int os_processes_per_node = 1;
  int nodes = 1;

  [[nodiscard]] int os_processes() const { return os_processes_per_node * nodes; }
  [[nodiscard]] int processes() const { return processes_per_os_process * os_processes(); }
  [[nodiscard]] int os_process_of(int rank) const { return rank / processes_per_os_process; }
  [[nodiscard]] int node_of(int os_process) const { return os_process / os_processes_per_node; }
};

} // namespace contend
