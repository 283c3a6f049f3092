// Rank 0 pauses in two of its sends, as if the machine had taken its core away: in the warm-up's first iteration and in
// the first iteration after it. The environment variable CONTEND_TEST_WINDOW says how many sends an iteration has.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mpi.h>
#include <thread>

namespace {

constexpr auto taken_away = std::chrono::milliseconds(60);
std::atomic<long> sends{0};

} // namespace

extern "C" {

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  static const long window = std::atol(std::getenv("CONTEND_TEST_WINDOW"));
  const long before = sends++;
  if (before == window / 2 || before == window + window / 2) {
    std::this_thread::sleep_for(taken_away);
  }
  return PMPI_Isend(buffer, count, type, destination, tag, communicator, request);
}
}
