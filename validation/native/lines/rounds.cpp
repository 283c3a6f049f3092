#include "lines/rounds.hpp"

#include "lines/marks.hpp"
#include "mpi/mpi.hpp"

#include <array>

namespace contend::native {

namespace {

constexpr int ready_tag = 30'000;
constexpr int never_tag = 30'001;
constexpr std::int64_t idle_turns = 8; ///< of each thread

/// All that calls write for the program.
struct alignas(4096) Own {
  char first = 0;
  std::array<MPI_Request, most_requests> requests{};
  MPI_Request never = MPI_REQUEST_NULL;
  MPI_Status status{};
  std::array<char, 64> payload{};
  int flag = 0;
  char last = 0;
};
Own own;

void exchange_ready(int other, bool sends) {
  if (sends) {
    MPI_Send(own.payload.data(), 1, MPI_BYTE, other, ready_tag, MPI_COMM_WORLD);
  } else {
    MPI_Recv(own.payload.data(), 1, MPI_BYTE, other, ready_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

void post(std::int64_t index, int other, bool sends) {
  MPI_Request& request = own.requests[static_cast<std::size_t>(index)];
  if (sends) {
    MPI_Isend(own.payload.data(), 0, MPI_BYTE, other, static_cast<int>(index), MPI_COMM_WORLD, &request);
  } else {
    MPI_Irecv(own.payload.data(), 0, MPI_BYTE, other, static_cast<int>(index), MPI_COMM_WORLD, &request);
  }
}

std::int64_t completed(std::int64_t requests) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < requests; ++i) {
    MPI_Request_get_status(own.requests[static_cast<std::size_t>(i)], &own.flag, MPI_STATUS_IGNORE);
    count += own.flag != 0 ? 1 : 0;
  }
  return count;
}

void make_progress(std::int64_t turns) {
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    MPI_Test(&own.never, &own.flag, MPI_STATUS_IGNORE);
  }
}

} // namespace

double run_traced_side(const Rounds& rounds) {
  constexpr int other = 1;
  Marks::announce(own.first, own.last);
  std::int64_t complete = 0;
  const auto thread_of = [&](std::int64_t index) { return 1 + index % rounds.threads; };
  MPI_Irecv(own.payload.data(), 1, MPI_BYTE, other, never_tag, MPI_COMM_WORLD, &own.never);
  for (std::int64_t round = 0; round < rounds.rounds; ++round) {
    if (rounds.sends) {
      exchange_ready(other, false);
    }
    Marks::begin_round();
    for (std::int64_t i = 0; i < rounds.requests; ++i) {
      Marks::begin(Phase::post, thread_of(i));
      post(i, other, rounds.sends);
    }
    Marks::begin(Phase::none, 1);
    if (!rounds.sends) {
      exchange_ready(other, true);
    }
    Marks::begin(Phase::progress, 1);
    make_progress(rounds.turns);
    Marks::begin(Phase::none, 1);
    complete += completed(rounds.requests);
    for (std::int64_t i = 0; i < rounds.requests; ++i) {
      Marks::begin(Phase::wait, thread_of(i));
      MPI_Wait(&own.requests[static_cast<std::size_t>(i)], MPI_STATUS_IGNORE);
    }
    for (std::int64_t turn = 0; turn < idle_turns * rounds.threads; ++turn) {
      Marks::begin(Phase::idle, thread_of(turn));
      make_progress(1);
    }
    Marks::begin(Phase::none, 1);
    exchange_ready(other, true);
  }
  MPI_Wait(&own.never, MPI_STATUS_IGNORE);
  return static_cast<double>(complete) / static_cast<double>(rounds.rounds * rounds.requests);
}

double run_other_side(const Rounds& rounds) {
  constexpr int other = 0;
  for (std::int64_t round = 0; round < rounds.rounds; ++round) {
    if (!rounds.sends) {
      exchange_ready(other, false);
    }
    for (std::int64_t i = 0; i < rounds.requests; ++i) {
      post(i, other, !rounds.sends);
    }
    if (rounds.sends) {
      exchange_ready(other, true);
    }
    MPI_Waitall(static_cast<int>(rounds.requests), own.requests.data(), MPI_STATUSES_IGNORE);
    exchange_ready(other, false);
  }
  MPI_Send(own.payload.data(), 1, MPI_BYTE, other, never_tag, MPI_COMM_WORLD);
  return 0;
}

} // namespace contend::native
