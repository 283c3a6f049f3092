// How the operations of a window reach the memory of another process: by an interface, by the calling thread, or by
// messages.
#pragma once

#include "core/cache_line.hpp"
#include "models/nic/rdma.hpp"
#include "models/registry.hpp"
#include "mpi/one_sided_parts.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace contend {

/// What a path is built from: one process's side of a window.
struct WindowPathParts {
  OneSidedParts library;
  int communicator = 0;
  std::string name;      ///< of the window's side
  CacheLine& words_line; ///< of this side's lock words
};

/// One process's side of a window, as its operations see it. Targets are never the own rank: what a process does to its own
/// memory it does itself. Calls take the calling thread first and block in simulated time.
class WindowPath {
public:
  static constexpr int all_targets = -1;

  explicit WindowPath(WindowPathParts parts);
  virtual ~WindowPath();
  WindowPath(const WindowPath&) = delete;
  WindowPath& operator=(const WindowPath&) = delete;

  /// Connects this side with the others; by rank. Called once, before the first operation.
  void attach(std::vector<WindowPath*> sides);

  /// Starts an operation.
  virtual void start(SimThread& self, const RdmaRequest& request) = 0;
  /// Returns when it is complete, and its result known.
  virtual void start_and_wait(SimThread& self, const RdmaRequest& request) = 0;
  /// Returns when all operations of the process that were started before, to one target or to all, are complete there; an
  /// operation that nobody answers is when the transport has it.
  virtual void complete(SimThread& self, int target) = 0;
  /// Returns when the buffers at the origin may be reused.
  virtual void complete_locally(SimThread& self, int target) { complete(self, target); }
  /// Whether an accumulate or a fetch-and-op of so many bytes is an operation that start() takes, of the kind fetch_add.
  [[nodiscard]] virtual bool updates_at_target(std::int64_t bytes) const = 0;
  [[nodiscard]] int rank() const { return process().rank(); }
  /// Operations to the target that are started and not known to be complete.
  [[nodiscard]] std::int64_t outstanding(int target) const { return outstanding_[static_cast<std::size_t>(target)]; }

protected:
  [[nodiscard]] ProcessContext& process() const { return parts_.library.process; }
  [[nodiscard]] const ProcessSettings& settings() const { return process().settings(); }
  [[nodiscard]] const OneSidedDesign& design() const { return settings().library.one_sided; }
  [[nodiscard]] CacheLine& words_line() const { return parts_.words_line; }
  [[nodiscard]] CacheLine& words_line_of(int rank) const { return side(rank).words_line(); }
  [[nodiscard]] WindowPath& side(int rank) const { return *sides_[static_cast<std::size_t>(rank)]; }

  // What the library does for its paths.
  [[nodiscard]] Instances& instances() const { return parts_.library.instances; }
  [[nodiscard]] ActiveMessages& active() const { return parts_.library.active; }
  [[nodiscard]] int pick_instance(SimThread& self, int target) const {
    return instances().of_message(self, parts_.communicator, 0, target);
  }
  void poll(SimThread& self, const Instance& instance) const { instance.interface->poll(self, parts_.library.handler); }
  void poll_until_report(SimThread& self, const Instance& instance) const {
    instance.interface->poll_until_report(self, parts_.library.handler);
  }
  [[nodiscard]] std::unique_ptr<Lock> make_update_lock() const;
  void charge_call(SimThread& self) const { process().software(self, settings().software.one_sided_call); }
  void make_progress(SimThread& self) const { parts_.library.turns.progress(self, ProgressSource::Noise::always); }

  void note_start(int target) { ++outstanding_[static_cast<std::size_t>(target)]; }
  /// One operation is complete and the origin knows.
  void note_completion(int target);
  /// Makes progress until nothing is outstanding, to one target or to all, as the counters say that count() changes.
  void progress_until_counted(SimThread& self, int target);
  /// Changes the counter of operations to a target: a cache line that the threads of the process share.
  void count(SimThread& self, int target, Category category);

private:
  WindowPathParts parts_;
  std::vector<WindowPath*> sides_;                        ///< by rank; this one too
  std::vector<std::unique_ptr<CacheLine>> counter_lines_; ///< by target
  std::vector<std::int64_t> outstanding_;                 ///< by target
};

using WindowPathFactory = std::function<std::unique_ptr<WindowPath>(const WindowPathParts& parts)>;

std::unique_ptr<WindowPath> make_window_by_interface(const WindowPathParts& parts);
std::unique_ptr<WindowPath> make_window_by_memory(const WindowPathParts& parts);
std::unique_ptr<WindowPath> make_window_by_messages(const WindowPathParts& parts);

/// All paths by name (library.one_sided.path).
Registry<WindowPathFactory>& window_path_registry();

} // namespace contend
