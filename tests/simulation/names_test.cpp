// Tools that do not link the engine read the names of its parts from a file: it says what the registries say.
#include "scenario/known_names_file.hpp"
#include "simulation/names.hpp"

#include <catch2/catch.hpp>

using namespace contend;

TEST_CASE("schemas/names.json lists the registered names") {
  const KnownNames file = read_known_names(CONTEND_NAMES_FILE);
  const KnownNames registered = known_names();
  CHECK(file.locks == registered.locks);
  CHECK(file.matching == registered.matching);
  CHECK(file.progress == registered.progress);
  CHECK(file.assignments == registered.assignments);
  CHECK(file.workloads == registered.workloads);
  CHECK(file.transports == registered.transports);
  CHECK(file.notifications == registered.notifications);
  CHECK(file.idling == registered.idling);
  CHECK(file.partitioned == registered.partitioned);
  CHECK(file.schedulers == registered.schedulers);
  CHECK(file.process_queues == registered.process_queues);
  CHECK(file.window_paths == registered.window_paths);
}
