// One call of MPI_Irecv that finds no message and is queued.
#include "primitives/primitive.hpp"
#include "support/statistics.hpp"

#include <algorithm>
#include <utility>

namespace contend::native {

namespace {

constexpr int window = 64;

double post_windows(const PrimitiveContext& context) {
  char nothing = 0;
  std::vector<MPI_Request> requests(window, MPI_REQUEST_NULL);
  const std::int64_t windows = std::max<std::int64_t>(1, context.iterations / window);
  std::vector<double> times;
  for (std::int64_t done = 0; done < windows + 1; ++done) {
    if (context.measures()) {
      const std::int64_t begin = now_ns();
      for (MPI_Request& request : requests) {
        MPI_Irecv(&nothing, 0, MPI_CHAR, context.peer(), tags::message, MPI_COMM_WORLD, &request);
      }
      if (done > 0) {
        times.push_back(seconds(now_ns() - begin) / window);
      }
    }
    meet(); // now the receives may be matched
    if (!context.measures()) {
      for (MPI_Request& request : requests) {
        MPI_Isend(&nothing, 0, MPI_CHAR, context.peer(), tags::message, MPI_COMM_WORLD, &request);
      }
    }
    MPI_Waitall(window, requests.data(), MPI_STATUSES_IGNORE);
  }
  return median(std::move(times));
}

} // namespace

void primitive_irecv(PrimitiveContext& context) {
  context.add_point("irecv", {}, [&] { return post_windows(context); });
}

} // namespace contend::native
