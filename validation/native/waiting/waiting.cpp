#include "waiting/waiting.hpp"

#include "mpi/mpi.hpp"
#include "support/clock.hpp"
#include "support/statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace contend::native {

namespace {

constexpr int word = 30'000; ///< tag; those of the receives are their positions

using Requests = std::vector<MPI_Request>;
using Call = void (*)(Requests&, std::vector<int>& indices);

int count(const Requests& requests) { return static_cast<int>(requests.size()); }

const std::map<std::string, Call>& registry() {
  static const std::map<std::string, Call> calls{
      {"testsome",
       [](Requests& requests, std::vector<int>& indices) {
         int done = 0;
         MPI_Testsome(count(requests), requests.data(), &done, indices.data(), MPI_STATUSES_IGNORE);
       }},
      {"testany",
       [](Requests& requests, std::vector<int>& indices) {
         int flag = 0;
         MPI_Testany(count(requests), requests.data(), indices.data(), &flag, MPI_STATUS_IGNORE);
       }},
      {"testall",
       [](Requests& requests, std::vector<int>& /*indices*/) {
         int flag = 0;
         MPI_Testall(count(requests), requests.data(), &flag, MPI_STATUSES_IGNORE);
       }},
      {"waitsome",
       [](Requests& requests, std::vector<int>& indices) {
         int done = 0;
         MPI_Waitsome(count(requests), requests.data(), &done, indices.data(), MPI_STATUSES_IGNORE);
       }},
      {"waitany",
       [](Requests& requests, std::vector<int>& indices) {
         MPI_Waitany(count(requests), requests.data(), indices.data(), MPI_STATUS_IGNORE);
       }},
      {"waitall", [](Requests& requests, std::vector<int>& /*indices*/) {
         MPI_Waitall(count(requests), requests.data(), MPI_STATUSES_IGNORE);
       }}};
  return calls;
}

void send_word(int to) { MPI_Send(nullptr, 0, MPI_CHAR, to, word, MPI_COMM_WORLD); }
void receive_word(int from) { MPI_Recv(nullptr, 0, MPI_CHAR, from, word, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

/// Positions of the receives that complete, spread evenly over all.
std::vector<int> positions(const WaitingPoint& point) {
  std::vector<int> result;
  for (std::int64_t i = 0; i < point.complete; ++i) {
    result.push_back(static_cast<int>((2 * i + 1) * point.requests / (2 * point.complete)));
  }
  return result;
}

/// Rank 1 sends what completes, then a word: one channel keeps order, so that all is there when the word is.
void serve(const WaitingPoint& point, std::int64_t rounds) {
  const std::vector<int> hot = positions(point);
  for (std::int64_t round = 0; round < rounds; ++round) {
    receive_word(0);
    for (const int position : hot) {
      MPI_Send(nullptr, 0, MPI_CHAR, 0, position, MPI_COMM_WORLD);
    }
    send_word(0);
  }
  receive_word(0); // or what ends the others would come into the last round's calls
  for (int position = 0; position < point.requests; ++position) {
    if (!std::binary_search(hot.begin(), hot.end(), position)) {
      MPI_Send(nullptr, 0, MPI_CHAR, 0, position, MPI_COMM_WORLD);
    }
  }
}

void post(MPI_Request& request, int position) {
  MPI_Irecv(nullptr, 0, MPI_CHAR, 1, position, MPI_COMM_WORLD, &request);
}

double call_rounds(const WaitingPoint& point, std::int64_t rounds, std::int64_t calls) {
  const Call call = registry().at(point.call);
  const std::vector<int> hot = positions(point);
  Requests requests(static_cast<std::size_t>(point.requests), MPI_REQUEST_NULL);
  std::vector<int> indices(requests.size());
  std::vector<double> times;
  for (int position = 0; position < count(requests); ++position) {
    post(requests[static_cast<std::size_t>(position)], position);
  }
  for (std::int64_t round = 0; round < rounds; ++round) {
    send_word(1);
    receive_word(1);
    const std::int64_t begin = now_ns();
    for (std::int64_t i = 0; i < calls; ++i) {
      call(requests, indices);
    }
    const std::int64_t end = now_ns();
    if (round > 0) {
      times.push_back(seconds(end - begin) / static_cast<double>(calls));
    }
    for (const int position : hot) { // complete those that the call has left, post them again
      MPI_Request& request = requests[static_cast<std::size_t>(position)];
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (round + 1 < rounds) {
        post(request, position);
      }
    }
  }
  send_word(1);
  MPI_Waitall(count(requests), requests.data(), MPI_STATUSES_IGNORE);
  return median(std::move(times));
}

} // namespace

const std::vector<std::string>& waiting_calls() {
  static const std::vector<std::string> names{"testsome", "testany", "testall", "waitsome", "waitany", "waitall"};
  return names;
}

bool returns(const WaitingPoint& point) {
  if (point.call == "waitall") {
    return point.complete == point.requests;
  }
  return point.complete > 0 || point.call.rfind("wait", 0) != 0;
}

double measure_waiting(const WaitingPoint& point, int rank) {
  constexpr std::int64_t most_messages = 200'000; // per point: many complete requests need many messages
  constexpr std::int64_t calls_that_change_nothing = 20;
  const std::int64_t calls = point.complete == 0 ? calls_that_change_nothing : 1;
  const std::int64_t rounds =
      std::clamp<std::int64_t>(point.iterations / calls, 3, most_messages / std::max<std::int64_t>(1, point.complete)) +
      1;
  if (rank != 0) {
    serve(point, rounds);
    return 0;
  }
  return call_rounds(point, rounds, calls);
}

} // namespace contend::native
