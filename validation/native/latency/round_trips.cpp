#include "latency/round_trips.hpp"

#include "mpi/mpi.hpp"
#include "support/failure.hpp"

#include <cstring>
#include <string>

namespace contend::native {

RoundTrips::RoundTrips(const LatencyWorkload& workload, int rank, bool verify, std::int64_t corrupt)
    : workload_(workload), rank_(rank), verify_(verify), corrupt_(corrupt),
      threads_(static_cast<std::size_t>(threads())) {
  for (Thread& thread : threads_) {
    thread.sent.resize(static_cast<std::size_t>(workload.message_size));
    thread.received.resize(static_cast<std::size_t>(workload.message_size));
  }
}

void RoundTrips::iterate(int thread, std::int64_t round) {
  Thread& self = threads_[static_cast<std::size_t>(thread)];
  const std::int64_t first = round * workload_.round();
  for (std::int64_t i = thread; i < workload_.round(); i += threads()) {
    rank_ == 0 ? ask(self, first + i) : answer(self, first + i);
  }
}

/// With one sender any receiver takes a message; with several each round trip has a tag of its own, or shares it with others of the
/// same two threads, which come one after the other: tags begin again after whole rounds.
int RoundTrips::tag(std::int64_t round_trip, bool is_answer) const {
  constexpr int there = 1;
  constexpr int back = 2;
  const std::int64_t tags = guaranteed_tags / workload_.round() * workload_.round();
  return workload_.senders > 1 ? static_cast<int>(round_trip % tags) : is_answer ? back : there;
}

void RoundTrips::ask(Thread& self, std::int64_t round_trip) {
  if (verify_ && numbered()) {
    std::memcpy(self.sent.data(), &round_trip, sizeof round_trip);
  }
  MPI_Status status;
  MPI_Send(self.sent.data(), bytes(), MPI_BYTE, 1, tag(round_trip, false), MPI_COMM_WORLD);
  MPI_Recv(self.received.data(), bytes(), MPI_BYTE, 1, tag(round_trip, true), MPI_COMM_WORLD, &status);
  if (verify_) {
    int received = 0;
    MPI_Get_count(&status, MPI_BYTE, &received);
    check(self, round_trip, received);
  }
}

void RoundTrips::answer(Thread& self, std::int64_t round_trip) {
  MPI_Recv(self.received.data(), bytes(), MPI_BYTE, 0, tag(round_trip, false), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::vector<std::byte>& answered = verify_ ? self.received : self.sent;
  if (verify_ && round_trip == corrupt_ && !answered.empty()) {
    answered.front() ^= std::byte{1};
  }
  MPI_Send(answered.data(), bytes(), MPI_BYTE, 0, tag(round_trip, true), MPI_COMM_WORLD);
}

void RoundTrips::check(const Thread& self, std::int64_t round_trip, int received) {
  if (received != bytes() || self.received != self.sent) {
    print_error(ExitCode::incorrect,
                "the answer to round trip " + std::to_string(round_trip) + " is not what was sent");
    ++errors_;
  }
}

} // namespace contend::native
