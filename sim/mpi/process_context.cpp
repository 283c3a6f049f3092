#include "mpi/process_context.hpp"

#include "models/locks/no_lock.hpp"

namespace contend {

ProcessContext::ProcessContext(Engine& engine, const Host& host, Transport& transport, const ProcessSettings& settings,
                               int rank, int peers)
    : engine_(engine), host_(host), transport_(transport), settings_(settings), rank_(rank), peers_(peers),
      single_(settings.library.thread_level == "single"), copied_by_transport_(transport.copies_payload()),
      noise_(engine.stream(name() + "/noise")) {
  if (library().progress.yield_when_idle || library().progress.yield_every_turn) {
    settings_.coalesce_idle_polls = false; // there is more to a turn than its period
  }
  if (library().critical_section == "global") {
    global_lock_ = make_lock(library().instances.lock, name() + "/global lock");
    guard_lines(*global_lock_);
  }
}

std::unique_ptr<Lock> ProcessContext::make_lock(const std::string& kind, const std::string& name) const {
  if (single_) {
    return std::make_unique<NoLock>(engine_, name);
  }
  return lock_registry().at(kind)(engine_, host_, settings_.locks, name);
}

std::unique_ptr<Lock> ProcessContext::make_inner_lock(const std::string& kind, const std::string& name) const {
  if (global_lock_) {
    return std::make_unique<NoLock>(engine_, name);
  }
  return make_lock(kind, name);
}

void ProcessContext::guard_lines(Lock& lock) const {
  if (const int lines = library().lines.lock; lines > 0 && !single_) {
    lock.guards(host_, lines);
  }
}

Duration ProcessContext::copy_time(std::int64_t bytes) const {
  return Duration::seconds(static_cast<double>(bytes) / settings_.software.copy_bytes_per_second);
}

void ProcessContext::copy(SimThread& self, std::int64_t bytes) const {
  constexpr auto uninterrupted = Duration::microseconds(10); // slices are a hundred times as long
  const Duration time = copy_time(bytes);
  if (self.shares_core() && time > uninterrupted) {
    self.spend(time, Category::copy);
  } else {
    self.owe(time, Category::copy);
  }
}

} // namespace contend
