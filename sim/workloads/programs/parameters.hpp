// What the programs of MPI processes are told.
#pragma once

#include "core/time.hpp"

#include <cstdint>
#include <string>

namespace contend {

/// A bound of what a program does in an iteration, coarse but above it.
struct ProgramLoad {
  double messages = 0;
  double bytes = 0;        ///< of a message
  double work_seconds = 0; ///< of a core
};

// Each program says besides what it is told:
//   misfit():  what is wrong with its number of processes, or "";
//   at_most(): a bound of its load.

/// Common to all programs: where the processes are (see ProcessLayout), and how often the program does what it does.
struct ProgramParameters {
  int processes_per_os_process = 1;
  int os_processes_per_node = 1;
  int nodes = 1;
  int iterations = 10;
  int warmup_iterations = 1;

  [[nodiscard]] std::int64_t os_processes() const { return std::int64_t{os_processes_per_node} * nodes; }
  [[nodiscard]] std::int64_t processes() const { return processes_per_os_process * os_processes(); }
  /// The number of processes, and how it comes about.
  [[nodiscard]] std::string layout() const;
};

/// Ping-pong: rank r and rank r + size / 2 send a message to and fro.
struct PingParameters : ProgramParameters {
  std::int64_t message_size_bytes = 0;
  std::string transfer =
      "copy"; ///< copy, zero-copy (both sides hand the buffer over), zero-copy-send, zero-copy-receive

  [[nodiscard]] std::string misfit() const;
  [[nodiscard]] ProgramLoad at_most() const;
};

/// A token goes once round all processes.
struct RingParameters : ProgramParameters {
  std::string direction = "forward"; ///< forward: to the next higher rank; backward
  std::int64_t message_size_bytes = 0;

  [[nodiscard]] std::string misfit() const;
  [[nodiscard]] ProgramLoad at_most() const;
};

/// A collective operation of all processes.
struct CollectiveParameters : ProgramParameters {
  /// barrier, broadcast, reduce, all-reduce; pi: a broadcast, each process's part of a sum, a reduction
  std::string operation = "barrier";
  std::int64_t message_size_bytes = 8;
  Duration work{}; ///< pi: of each process

  [[nodiscard]] std::string misfit() const;
  [[nodiscard]] ProgramLoad at_most() const;
};

/// Each process computes, and exchanges messages with one of the other half of the job.
struct ExchangeParameters : ProgramParameters {
  std::int64_t volume_bytes = 1 << 20; ///< all messages of one direction together
  Duration work{};                     ///< computation of one half of the job, all its processes together

  [[nodiscard]] std::string misfit() const;
  [[nodiscard]] ProgramLoad at_most() const;
};

/// S x S matrices multiplied by blocks on a square grid of processes (Cannon).
struct MatrixProductParameters : ProgramParameters {
  int matrix_size = 2048;
  std::string multiply = "loops"; ///< a block by three nested loops, or by a tuned library

  [[nodiscard]] std::string misfit() const;
  [[nodiscard]] ProgramLoad at_most() const;
  /// Rows and columns of the grid of processes.
  [[nodiscard]] std::int64_t grid() const;
};

/// A sieve: process p keeps the p-th prime of a stream of numbers, and passes on what it does not divide.
struct PipelineParameters : ProgramParameters {
  std::string mapping =
      "sequential";   ///< of places in the pipeline to ranks: sequential, shuffled (dealt to OS processes)
  int numbers = 1000; ///< in the stream: 2, 3, ...
  Duration work{};    ///< dividing one number

  [[nodiscard]] std::string misfit() const;
  [[nodiscard]] ProgramLoad at_most() const;
};

/// One process of each OS process sends, one computes, the others receive one message each; or one process receives all.
struct ReceiversParameters : ProgramParameters {
  std::string receivers = "processes"; ///< processes: each of them receives; waitany: one does, with a request for each
  std::int64_t message_size_bytes = 8;
  Duration work{}; ///< of the process that computes, in each iteration

  [[nodiscard]] std::string misfit() const;
  [[nodiscard]] ProgramLoad at_most() const;
};

/// Birds over a torus of cells; each cell has two processes, all others are birds.
struct FlockingParameters : ProgramParameters {
  int grid = 15;                ///< cells in a row
  std::int64_t bird_bytes = 32; ///< position and direction of a bird, in messages
  Duration work{};              ///< of a bird, in each step

  [[nodiscard]] std::string misfit() const;
  [[nodiscard]] ProgramLoad at_most() const;
};

/// Skeletons of the NAS parallel benchmarks: their decomposition, messages and amounts of work. An iteration is an inner
/// iteration of CG, a time step of BT and LU, a V-cycle of MG.
struct NasParameters : ProgramParameters {
  std::string benchmark = "CG";    ///< BT, CG, LU, MG
  std::string problem_class = "C"; ///< B, C, D
  double flops = 1e9;              ///< floating-point operations per second of one core while its data is in L1

  [[nodiscard]] std::string misfit() const;
  [[nodiscard]] ProgramLoad at_most() const;
};

} // namespace contend
