// How the threads of a process begin: what the first one pays to create another, and what a new one pays until it could make
// its first call of the library.
#include "primitives/primitive.hpp"
#include "support/thread_barrier.hpp"
#include "support/thread_team.hpp"

#include <ctime>
#include <utility>

namespace contend::native {

namespace {

// As many as on one side of the larger points of contend-multirate's usual sweeps. The price of one hardly depends on it.
constexpr int team_size = 8;
// Requests that a thread has memory for before it calls the library, as a thread of contend-multirate does.
constexpr std::size_t requests_of_thread = 128;

/// Processor time of the calling thread: waiting for a core is not in it.
double processor_seconds() {
  std::timespec now{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) {
    return 0;
  }
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Beginning {
  std::vector<double> create_s;
  std::vector<double> begin_s;
};

/// The first team of the process: a later one would find stacks and heaps of the threads before it.
Beginning begin_team() {
  Beginning beginning{.create_s = {}, .begin_s = std::vector<double>(team_size)};
  ThreadBarrier all_begun(team_size);
  double before = processor_seconds();
  run_team(
      team_size,
      [&](int thread) {
        const std::vector<MPI_Request> requests(requests_of_thread, MPI_REQUEST_NULL);
        beginning.begin_s[static_cast<std::size_t>(thread)] = processor_seconds();
        all_begun.wait(); // the next thread would have the memory of one that ended
      },
      [&] { beginning.create_s.push_back(processor_seconds() - std::exchange(before, processor_seconds())); });
  beginning.begin_s.erase(beginning.begin_s.begin()); // of the thread that created the others
  return beginning;
}

} // namespace

void primitive_team_begin(PrimitiveContext& context) {
  meet();
  const Beginning beginning = begin_team();
  context.add_samples("team_begin", {{"part", "create"}}, beginning.create_s);
  context.add_samples("team_begin", {{"part", "first_call"}}, beginning.begin_s);
}

} // namespace contend::native
