// contend-bench-engine ENGINE WORKLOAD EVENTS [ties]
#include "engines.hpp"

#include <string>

int main(int argc, char** argv) {
  using namespace contend::bench;
  const std::string engine = argc > 1 ? argv[1] : "";
  const auto task = parse_task(argc, argv, 2);
  if (!task || (engine != "contend" && engine != "bare_heap")) {
    std::fprintf(stderr, "usage: %s contend|bare_heap hold|lock EVENTS [ties]\n", argv[0]);
    return 2;
  }
  return engine == "contend" ? run_on_contend(*task) : run_on_bare_heap(*task);
}
