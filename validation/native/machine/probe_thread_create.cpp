// Creating a thread and waiting for its end.
#include "machine/probe.hpp"

#include <thread>

namespace contend::native {

void probe_thread_create(ProbeContext& context) {
  constexpr std::int64_t most = 1000;
  context.add_point("thread_create", {},
                    [&context] { return time_each(context.at_most(most), [] { std::thread([] {}).join(); }); });
}

} // namespace contend::native
