// Calls that look for something and find nothing: each is a turn of the library's progress engine.
#include "primitives/primitive.hpp"
#include "support/statistics.hpp"

#include <algorithm>
#include <utility>

namespace contend::native {

namespace {

/// Median time of one `call` on rank 0.
template <typename Call>
double time_calls(const PrimitiveContext& context, Call call) {
  constexpr std::int64_t batch = 100;
  if (!context.measures()) {
    return 0;
  }
  std::vector<double> times;
  for (std::int64_t done = 0; done < std::max<std::int64_t>(1, context.iterations / batch) + 1; ++done) {
    const std::int64_t begin = now_ns();
    for (std::int64_t i = 0; i < batch; ++i) {
      call();
    }
    if (done > 0) {
      times.push_back(seconds(now_ns() - begin) / static_cast<double>(batch));
    }
  }
  return median(std::move(times));
}

double time_test(const PrimitiveContext& context) {
  char nothing = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  if (context.measures()) {
    MPI_Irecv(&nothing, 0, MPI_CHAR, context.peer(), tags::never, MPI_COMM_WORLD, &request);
  }
  const double time = time_calls(context, [&request] {
    int flag = 0;
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  });
  meet();
  if (!context.measures()) { // ends the receive; cancelling is not something every library does well
    MPI_Send(&nothing, 0, MPI_CHAR, context.peer(), tags::never, MPI_COMM_WORLD);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return time;
}

double time_iprobe(const PrimitiveContext& context) {
  return time_calls(context, [&context] {
    int flag = 0;
    MPI_Iprobe(context.peer(), tags::never, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  });
}

} // namespace

void primitive_test_empty(PrimitiveContext& context) {
  context.add_point("test_empty", {}, [&] { return time_test(context); });
}

void primitive_iprobe_empty(PrimitiveContext& context) {
  context.add_point("iprobe_empty", {}, [&] { return time_iprobe(context); });
}

} // namespace contend::native
