// What a simulated thread can spend its time on.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace contend {

/// Every picosecond of a thread's life is charged to exactly one category.
enum class Category : std::size_t {
  software,        ///< the library's own code
  lock_wait,       ///< between asking for a lock and having it, asleep or spinning
  line_transfer,   ///< waiting for a cache line of a shared counter or list head
  matching,        ///< searching posted and unexpected queues
  out_of_sequence, ///< keeping messages that arrived before their turn
  nic_post,        ///< work requests and doorbells
  completion,      ///< completion queue entries, completing requests
  poll_idle,       ///< polls that find nothing
  blocked,         ///< asleep until another thread makes progress
  barrier,         ///< waiting for the other threads of the process
  copy,            ///< copying payload
  compute,         ///< the application's own work
  run_queue,       ///< ready to run, while others have the core
  context_switch,  ///< getting onto a shared core, refilling its caches, interrupts of the timer
  count
};

inline constexpr std::size_t category_count = static_cast<std::size_t>(Category::count);

/// Name as it appears in results.
[[nodiscard]] constexpr std::string_view name_of(Category category) {
  constexpr std::array<std::string_view, category_count> names{
      "software",  "lock_wait", "line_transfer", "matching", "out_of_sequence", "nic_post",  "completion",
      "poll_idle", "blocked",   "barrier",       "copy",     "compute",         "run_queue", "context_switch"};
  return names[static_cast<std::size_t>(category)];
}

} // namespace contend
