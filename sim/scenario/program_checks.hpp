// Checks of programs of MPI processes that are coroutines: what is wrong with a point, or "". Other workloads pass.
#pragma once

#include "scenario/config.hpp"

#include <string>

namespace contend::scenario {

[[nodiscard]] std::string no_prices_for_processes(const PointConfig& point);
[[nodiscard]] std::string placed_besides_layout(const PointConfig& point);
[[nodiscard]] std::string too_many_processes(const PointConfig& point);
[[nodiscard]] std::string too_many_os_processes(const PointConfig& point);
[[nodiscard]] std::string wrong_number_of_processes(const PointConfig& point);
[[nodiscard]] std::string indivisible_matrix(const PointConfig& point);
[[nodiscard]] std::string program_longer_than_time(const PointConfig& point);

} // namespace contend::scenario
