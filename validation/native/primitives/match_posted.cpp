// Matching against a growing posted queue: every message of a ping-pong passes receives that do not fit.
#include "primitives/primitive.hpp"

namespace contend::native {

namespace {

/// Both ranks post the receives, so that both halves of the ping-pong pass them; the messages that end them come afterwards.
double behind_posted(const PrimitiveContext& context, std::int64_t depth) {
  char nothing = 0;
  std::vector<MPI_Request> requests(static_cast<std::size_t>(depth), MPI_REQUEST_NULL);
  int tag = tags::other;
  for (MPI_Request& request : requests) {
    MPI_Irecv(&nothing, 0, MPI_CHAR, context.peer(), tag++, MPI_COMM_WORLD, &request);
  }
  meet();
  const double time = half_ping_pong(context, 0, context.iterations);
  meet();
  for (tag = tags::other; tag < tags::other + static_cast<int>(depth); ++tag) {
    MPI_Send(&nothing, 0, MPI_CHAR, context.peer(), tag, MPI_COMM_WORLD);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return time;
}

} // namespace

void primitive_match_posted(PrimitiveContext& context) {
  for (const std::int64_t depth : context.depths) {
    context.add_point("match_posted", {{"depth", depth}}, [&] { return behind_posted(context, depth); });
  }
}

} // namespace contend::native
