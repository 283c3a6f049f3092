// The workloads on contend's engine, written as any model is: threads that run blocking code.
#include "core/engine.hpp"
#include "core/fifo_mutex.hpp"
#include "engines.hpp"

#include <string>

namespace contend::bench {

namespace {

void hold(SimThread& self, int process, bool ties, Recorder& recorder) {
  Engine& engine = self.engine();
  Delays delays(process, ties);
  self.spend(Duration::picoseconds(process), Category::software);
  do {
    self.spend(Duration::picoseconds(delays.next()), Category::software);
  } while (recorder.add(engine.now().since_start().count(), process));
}

void lock(SimThread& self, int process, FifoMutex& mutex, Recorder& recorder) {
  Engine& engine = self.engine();
  for (;;) {
    mutex.lock(self);
    if (!recorder.add(engine.now().since_start().count(), process)) {
      mutex.unlock(self);
      return;
    }
    self.spend(Duration::picoseconds(Lock::held_ps), Category::software);
    mutex.unlock(self);
    self.spend(Duration::picoseconds(Lock::away_ps), Category::software);
  }
}

} // namespace

int run_on_contend(const Task& task) {
  Engine engine(1);
  Recorder recorder(task.events);
  FifoMutex mutex("mutex");
  for (int p = 0; p < (task.lock ? Lock::processes : Hold::processes); ++p) {
    engine.spawn("process " + std::to_string(p), 0, p, [&, p](SimThread& self) {
      if (task.lock) {
        lock(self, p, mutex, recorder);
      } else {
        hold(self, p, task.ties, recorder);
      }
    });
  }
  const Stopwatch stopwatch;
  engine.run();
  return print_result(task, recorder, stopwatch.cpu_s(), stopwatch.wall_s());
}

} // namespace contend::bench
