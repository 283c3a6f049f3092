#include "mpi/window_path.hpp"

#include <utility>

namespace contend {

WindowPath::WindowPath(WindowPathParts parts) : parts_(std::move(parts)) {}

WindowPath::~WindowPath() = default;

void WindowPath::attach(std::vector<WindowPath*> sides) {
  sides_ = std::move(sides);
  outstanding_.resize(sides_.size());
  for (std::size_t target = 0; target < sides_.size(); ++target) {
    counter_lines_.push_back(std::make_unique<CacheLine>(process().engine(), process().host(),
                                                         parts_.name + "/outstanding to " + std::to_string(target)));
  }
}

std::unique_ptr<Lock> WindowPath::make_update_lock() const {
  return lock_registry().at(design().update_lock)(process().engine(), process().host(), settings().locks,
                                                  parts_.name + "/accumulate");
}

void WindowPath::count(SimThread& self, int target, Category category) {
  process().update_shared(self, *counter_lines_[static_cast<std::size_t>(target)], category);
}

void WindowPath::note_completion(int target) {
  --outstanding_[static_cast<std::size_t>(target)];
  ++process().counters().one_sided_completed;
  process().engine().note_operation();
}

void WindowPath::progress_until_counted(SimThread& self, int target) {
  for (int peer = 0; peer < static_cast<int>(sides_.size()); ++peer) {
    if (target != all_targets && target != peer) {
      continue;
    }
    CacheLine& line = *counter_lines_[static_cast<std::size_t>(peer)];
    for (line.load(self, Category::poll_idle); outstanding(peer) > 0; line.load(self, Category::poll_idle)) {
      make_progress(self);
    }
  }
}

Registry<WindowPathFactory>& window_path_registry() {
  static Registry<WindowPathFactory> registry{
      {"interface", make_window_by_interface},
      {"memory", make_window_by_memory},
      {"messages", make_window_by_messages},
  };
  return registry;
}

} // namespace contend
