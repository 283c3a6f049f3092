// The engines of contend-bench-engine. Each runs one task from start to end and prints the result.
#pragma once

#include "measurement.hpp"

namespace contend::bench {

int run_on_contend(const Task& task);
int run_on_bare_heap(const Task& task);

} // namespace contend::bench
