// contend-primitives: what single MPI calls cost in one thread.
#include "mpi/session.hpp"
#include "primitives/primitive.hpp"
#include "support/affinity.hpp"
#include "support/deadline.hpp"

#include <algorithm>

namespace contend::native {

namespace {

std::vector<std::string> primitive_names() {
  std::vector<std::string> names;
  for (const Primitive& primitive : primitives()) {
    names.push_back(primitive.name);
  }
  return names;
}

void run(int argc, char** argv) {
  MpiOptions mpi;
  PrimitiveContext context;
  context.sizes = {0, 8, 1024};
  context.depths = {0, 16, 64, 256, 1024, 4096};
  std::vector<std::string> names = primitive_names();
  std::string level = "multiple";
  Options command_line("contend-primitives", "what single MPI calls cost in one thread");
  command_line.choices("primitive", names, primitive_names(), "what to measure");
  command_line.sizes("message-size", context.sizes, std::int64_t{1} << 24, "payloads");
  command_line.integers("depth", context.depths, 0, 30'000, "depths of the queues");
  command_line.integer("iterations", context.iterations, 1, 100'000'000, "per point and repetition");
  command_line.choice("thread-level", level, thread_level_names(), "thread level to ask for");
  mpi.declare(command_line);
  if (!command_line.parse(argc, argv)) {
    return;
  }
  const Deadline deadline(mpi.common.seconds_limit);
  if (std::find(names.begin(), names.end(), "match_unexpected") != names.end() && !context.depths.empty()) {
    keep_unexpected(*std::max_element(context.depths.begin(), context.depths.end()));
  }
  const Session session(thread_level(level));
  session.require_ranks(2, "contend-primitives");
  const Placement placement = session.place(1);
  if (mpi.bind == "compact") {
    bind_compact(placement.cores, placement.core_of(0));
  }
  context.rank = session.rank();
  context.repetitions = mpi.common.repetitions;
  context.hooks = session.leads() ? mpi.common.hooks : Hooks{};
  const std::int64_t start = now_ns();
  for (const Primitive& primitive : primitives()) {
    if (std::find(names.begin(), names.end(), primitive.name) != names.end()) {
      primitive.run(context);
    }
  }
  Json document = begin_mpi_document(command_line, session, session.describe(placement, mpi.bind));
  document.set("workload", Json::object().set("kind", "primitives").set("iterations", context.iterations));
  document.set("points", std::move(context.points)).set("wall_s", seconds(now_ns() - start));
  if (session.leads()) {
    print_document(document, mpi.common.pretty);
  }
}

} // namespace

} // namespace contend::native

int main(int argc, char** argv) {
  return contend::native::run_mpi_program("contend-primitives", [argc, argv] { contend::native::run(argc, argv); });
}
