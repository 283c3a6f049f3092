#include "mpi/usage.hpp"

#include "mpi/mpi.hpp"

#include <sys/resource.h>

namespace contend::native {

namespace {

double in_seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

} // namespace

Usage Usage::now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {in_seconds(usage.ru_utime), in_seconds(usage.ru_stime), static_cast<double>(usage.ru_nvcsw),
          static_cast<double>(usage.ru_nivcsw)};
}

Usage Usage::since(const Usage& earlier) const {
  return {user_s - earlier.user_s, system_s - earlier.system_s, voluntary_switches - earlier.voluntary_switches,
          involuntary_switches - earlier.involuntary_switches};
}

Json gather_usage(const Usage& mine, int side) {
  Json result = Json::object();
  for (const int which : {0, 1}) {
    const std::array<double, 4> own{mine.user_s, mine.system_s, mine.voluntary_switches, mine.involuntary_switches};
    const std::array<double, 4> none{};
    std::array<double, 4> sum{};
    MPI_Reduce(which == side ? own.data() : none.data(), sum.data(), 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    result.set(which == 0 ? "sender" : "receiver", Json::object()
                                                       .set("user_s", sum[0])
                                                       .set("system_s", sum[1])
                                                       .set("voluntary_switches", sum[2])
                                                       .set("involuntary_switches", sum[3]));
  }
  return result;
}

} // namespace contend::native
