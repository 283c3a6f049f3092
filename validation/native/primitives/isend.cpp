// One call of MPI_Isend; the receives are posted before.
#include "primitives/primitive.hpp"
#include "support/statistics.hpp"

#include <algorithm>
#include <utility>

namespace contend::native {

namespace {

constexpr int sends_at_once = 64;

/// Sends windows; between them the receiver empties the transport, so that a call never waits for room.
double send_windows(const PrimitiveContext& context, std::int64_t size) {
  const auto bytes = static_cast<std::size_t>(size);
  std::vector<std::byte> buffer(bytes * sends_at_once + 1);
  std::vector<MPI_Request> requests(sends_at_once, MPI_REQUEST_NULL);
  const std::int64_t windows = std::max<std::int64_t>(1, context.iterations / sends_at_once);
  std::vector<double> times;
  for (std::int64_t done = 0; done < windows + 1; ++done) {
    if (!context.measures()) {
      for (std::size_t k = 0; k < sends_at_once; ++k) {
        MPI_Irecv(buffer.data() + k * bytes, static_cast<int>(size), MPI_BYTE, context.peer(), tags::message,
                  MPI_COMM_WORLD, &requests[k]);
      }
    }
    meet();
    if (context.measures()) {
      const std::int64_t begin = now_ns();
      for (std::size_t k = 0; k < sends_at_once; ++k) {
        MPI_Isend(buffer.data() + k * bytes, static_cast<int>(size), MPI_BYTE, context.peer(), tags::message,
                  MPI_COMM_WORLD, &requests[k]);
      }
      if (done > 0) {
        times.push_back(seconds(now_ns() - begin) / sends_at_once);
      }
    }
    MPI_Waitall(sends_at_once, requests.data(), MPI_STATUSES_IGNORE);
  }
  return median(std::move(times));
}

} // namespace

void primitive_isend(PrimitiveContext& context) {
  for (const std::int64_t size : context.sizes) {
    context.add_point("isend", {{"message_size", size}}, [&] { return send_windows(context, size); });
  }
}

} // namespace contend::native
