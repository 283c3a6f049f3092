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
  CHECK(file.buffer_transfers == registered.buffer_transfers);
}

TEST_CASE("schemas/names.json lists what the registered parts say of themselves") {
  const StatedTraits file = read_known_names(CONTEND_NAMES_FILE).traits;
  const StatedTraits registered = known_names().traits;
  CHECK(file.own_thread == registered.own_thread);
  CHECK(file.limits_pollers == registered.limits_pollers);
  CHECK(file.threads_idle == registered.threads_idle);
  CHECK(file.threads_idle_beyond_limit == registered.threads_idle_beyond_limit);
  CHECK(file.reads_flags == registered.reads_flags);
  CHECK(file.locks_requests == registered.locks_requests);
  CHECK(file.queues_by_source == registered.queues_by_source);
  CHECK(file.in_interface == registered.in_interface);
  CHECK(file.by_thread == registered.by_thread);
  CHECK(file.request_flags == registered.request_flags);
  CHECK(file.takes_tasks == registered.takes_tasks);
  CHECK(file.puts == registered.puts);
  CHECK(file.by_partitions == registered.by_partitions);
  CHECK(file.one_thread_sends == registered.one_thread_sends);
}
