// A message of a stream, in which the costs of sender, transport and receiver overlap: the slowest of them.
#include "primitives/primitive.hpp"
#include "support/statistics.hpp"

#include <algorithm>
#include <utility>

namespace contend::native {

namespace {

constexpr int messages_at_once = 128;

double stream(const PrimitiveContext& context, std::int64_t size) {
  const auto bytes = static_cast<std::size_t>(size);
  std::vector<std::byte> buffer(bytes * messages_at_once + 1);
  std::vector<MPI_Request> requests(messages_at_once, MPI_REQUEST_NULL);
  const std::int64_t windows = std::max<std::int64_t>(5, context.iterations / messages_at_once);
  std::vector<double> times;
  char word = 0;
  for (std::int64_t done = 0; done < windows + 1; ++done) {
    if (context.measures()) {
      MPI_Recv(&word, 1, MPI_CHAR, context.peer(), tags::word, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      for (std::size_t k = 0; k < messages_at_once; ++k) {
        MPI_Irecv(buffer.data() + k * bytes, static_cast<int>(size), MPI_BYTE, context.peer(), tags::message,
                  MPI_COMM_WORLD, &requests[k]);
      }
      MPI_Send(&word, 1, MPI_CHAR, context.peer(), tags::word, MPI_COMM_WORLD);
    }
    const std::int64_t begin = now_ns();
    if (context.measures()) {
      for (std::size_t k = 0; k < messages_at_once; ++k) {
        MPI_Isend(buffer.data() + k * bytes, static_cast<int>(size), MPI_BYTE, context.peer(), tags::message,
                  MPI_COMM_WORLD, &requests[k]);
      }
    }
    MPI_Waitall(messages_at_once, requests.data(), MPI_STATUSES_IGNORE);
    if (context.measures()) { // the acknowledgement: all have arrived
      MPI_Recv(&word, 1, MPI_CHAR, context.peer(), tags::word, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(&word, 1, MPI_CHAR, context.peer(), tags::word, MPI_COMM_WORLD);
    }
    if (done > 0) {
      times.push_back(seconds(now_ns() - begin) / messages_at_once);
    }
  }
  return median(std::move(times));
}

} // namespace

void primitive_message(PrimitiveContext& context) {
  for (const std::int64_t size : context.sizes) {
    context.add_point("message", {{"message_size", size}}, [&] { return stream(context, size); });
  }
}

} // namespace contend::native
