// Matching against a growing unexpected queue: a receive passes messages that do not fit before it finds its own.
#include "primitives/primitive.hpp"
#include "support/statistics.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

namespace contend::native {

namespace {

constexpr std::size_t per_reading = 16; ///< receives between two readings of the clock

double behind_unexpected(const PrimitiveContext& context, std::int64_t depth) {
  char nothing = 0;
  const int others_end = tags::other + static_cast<int>(depth);
  const std::int64_t batches = std::max<std::int64_t>(1, context.iterations / static_cast<std::int64_t>(per_reading));
  std::vector<MPI_Request> requests(per_reading, MPI_REQUEST_NULL);
  std::vector<double> times;
  // the messages that do not fit: sent now, received at the very end
  std::vector<MPI_Request> others(static_cast<std::size_t>(depth), MPI_REQUEST_NULL);
  if (!context.measures()) {
    for (int tag = tags::other; tag < others_end; ++tag) {
      MPI_Isend(&nothing, 0, MPI_CHAR, context.peer(), tag, MPI_COMM_WORLD,
                &others[static_cast<std::size_t>(tag - tags::other)]);
    }
  }
  for (std::int64_t done = 0; done < batches + 1; ++done) {
    if (!context.measures()) {
      MPI_Recv(&nothing, 0, MPI_CHAR, context.peer(), tags::word, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (std::size_t k = 0; k < per_reading; ++k) {
        MPI_Send(&nothing, 0, MPI_CHAR, context.peer(), tags::message, MPI_COMM_WORLD);
      }
      MPI_Send(&nothing, 0, MPI_CHAR, context.peer(), tags::word, MPI_COMM_WORLD);
      continue;
    }
    MPI_Send(&nothing, 0, MPI_CHAR, context.peer(), tags::word, MPI_COMM_WORLD);
    // one channel keeps order: when the word has come, so have the messages
    MPI_Recv(&nothing, 0, MPI_CHAR, context.peer(), tags::word, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const std::int64_t begin = now_ns();
    for (std::size_t k = 0; k < per_reading; ++k) {
      MPI_Irecv(&nothing, 0, MPI_CHAR, context.peer(), tags::message, MPI_COMM_WORLD, &requests[k]);
    }
    MPI_Waitall(static_cast<int>(per_reading), requests.data(), MPI_STATUSES_IGNORE);
    if (done > 0) {
      times.push_back(seconds(now_ns() - begin) / static_cast<double>(per_reading));
    }
  }
  if (context.measures()) {
    for (int tag = tags::other; tag < others_end; ++tag) {
      MPI_Recv(&nothing, 0, MPI_CHAR, context.peer(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Waitall(static_cast<int>(others.size()), others.data(), MPI_STATUSES_IGNORE);
  return median(std::move(times));
}

} // namespace

void keep_unexpected(std::int64_t depth) {
  constexpr std::int64_t others = 1000; // the messages that do fit, and the words
  setenv("FI_TCP_MAX_SAVED", std::to_string(depth + others).c_str(), 0);
}

void primitive_match_unexpected(PrimitiveContext& context) {
  for (const std::int64_t depth : context.depths) {
    context.add_point("match_unexpected", {{"depth", depth}}, [&] { return behind_unexpected(context, depth); });
  }
}

} // namespace contend::native
