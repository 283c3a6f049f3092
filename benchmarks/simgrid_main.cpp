// contend-bench-simgrid WORKLOAD EVENTS: the workloads on SimGrid S4U actors.
//
// One simulated second means one picosecond: dates are integers, which doubles represent exactly, and SimGrid's time
// precision (1e-9 s) is out of the way. Actors sleep with sleep_for; the mutex is s4u::Mutex, which is FIFO.
#include "measurement.hpp"

#include <simgrid/s4u.hpp>

#include <cmath>
#include <string>

namespace s4u = simgrid::s4u;
using namespace contend::bench;

namespace {

std::int64_t now_ps() { return std::llround(s4u::Engine::get_clock()); }

void hold(int process, Recorder& recorder) {
  Delays delays(process, false);
  s4u::this_actor::sleep_for(process);
  do {
    s4u::this_actor::sleep_for(static_cast<double>(delays.next()));
  } while (recorder.add(now_ps(), process));
}

void lock(int process, s4u::Mutex& mutex, Recorder& recorder) {
  for (;;) {
    mutex.lock();
    if (!recorder.add(now_ps(), process)) {
      mutex.unlock();
      return;
    }
    s4u::this_actor::sleep_for(static_cast<double>(Lock::held_ps));
    mutex.unlock();
    s4u::this_actor::sleep_for(static_cast<double>(Lock::away_ps));
  }
}

} // namespace

int main(int argc, char** argv) {
  int simgrid_argc = 1;
  s4u::Engine engine(&simgrid_argc, argv);
  const auto task = parse_task(argc, argv, 1);
  if (!task || task->ties) {
    std::fprintf(stderr, "usage: %s hold|lock EVENTS\n", argv[0]);
    return 2;
  }
  auto* zone = s4u::create_full_zone("zone");
  auto* host = zone->create_host("host", 1e9);
  zone->seal();
  Recorder recorder(task->events);
  const auto mutex = s4u::Mutex::create();
  for (int p = 0; p < (task->lock ? Lock::processes : Hold::processes); ++p) {
    s4u::Actor::create("process " + std::to_string(p), host, [&, p] {
      if (task->lock) {
        lock(p, *mutex, recorder);
      } else {
        hold(p, recorder);
      }
    });
  }
  const Stopwatch stopwatch;
  engine.run();
  return print_result(*task, recorder, stopwatch.cpu_s(), stopwatch.wall_s());
}
