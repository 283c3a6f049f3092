#include "primitives/primitive.hpp"

#include "support/statistics.hpp"

#include <algorithm>
#include <utility>

namespace contend::native {

void PrimitiveContext::add_point(const std::string& primitive, const Json::Object& parameters,
                                 const std::function<double()>& measure) {
  hooks.begin_step(steps++);
  std::vector<double> samples;
  for (std::int64_t repetition = 0; repetition < repetitions; ++repetition) {
    meet();
    samples.push_back(measure());
  }
  meet();
  add_samples(primitive, parameters, samples);
}

void PrimitiveContext::add_samples(const std::string& primitive, const Json::Object& parameters,
                                   const std::vector<double>& samples) {
  Json all = Json::object();
  all.set("primitive", primitive);
  for (const auto& [key, value] : parameters) {
    all.set(key, value);
  }
  points.push_back(std::move(Json::object().set("parameters", all).set("time_per_operation", metric(samples, "s"))));
}

void meet() { MPI_Barrier(MPI_COMM_WORLD); }

const std::vector<Primitive>& primitives() {
  // How a team begins is told by the first one of a process only.
  static const std::vector<Primitive> all{{"team_begin", primitive_team_begin},
                                          {"isend", primitive_isend},
                                          {"irecv", primitive_irecv},
                                          {"test_empty", primitive_test_empty},
                                          {"iprobe_empty", primitive_iprobe_empty},
                                          {"latency", primitive_latency},
                                          {"message", primitive_message},
                                          {"match_posted", primitive_match_posted},
                                          {"match_unexpected", primitive_match_unexpected}};
  return all;
}

double half_ping_pong(const PrimitiveContext& context, std::int64_t size, std::int64_t iterations) {
  constexpr std::int64_t batch = 20;
  std::vector<std::byte> buffer(static_cast<std::size_t>(size) + 1);
  const int bytes = static_cast<int>(size);
  const std::int64_t batches = std::max<std::int64_t>(1, iterations / batch);
  std::vector<double> times;
  for (std::int64_t done = 0; done < batches + 1; ++done) {
    const std::int64_t begin = now_ns();
    for (std::int64_t i = 0; i < batch; ++i) {
      if (context.measures()) {
        MPI_Send(buffer.data(), bytes, MPI_BYTE, context.peer(), tags::message, MPI_COMM_WORLD);
        MPI_Recv(buffer.data(), bytes, MPI_BYTE, context.peer(), tags::message, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        MPI_Recv(buffer.data(), bytes, MPI_BYTE, context.peer(), tags::message, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer.data(), bytes, MPI_BYTE, context.peer(), tags::message, MPI_COMM_WORLD);
      }
    }
    if (done > 0) { // the first batch warms up
      times.push_back(seconds(now_ns() - begin) / (2 * static_cast<double>(batch)));
    }
  }
  return median(std::move(times));
}

} // namespace contend::native
