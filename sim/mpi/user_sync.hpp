// MPIX_Sync: a sync object in the hands of the user (D ch. 4). Requests are attached to it with a value each; who completes
// one appends that value to a list, so that asking for what is complete costs the same however many requests are attached:
//
//   attach(request, data): compare-and-swap(request.state, pending, sync); complete already: append(data)
//   complete(request):     swap(request.state, completed); append(data); SYNC_UPDATE(sync)
//   query():               one turn of progress if the list is empty; take the first
//
// A request is attached until it is reported or detached. A reported request is freed, or, if it is persistent, inactive
// and detached: it is attached anew after its next start.
#pragma once

#include "core/cache_line.hpp"
#include "core/ring_queue.hpp"
#include "models/waiting/sync_object.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace contend {

struct Request;

class UserSync {
public:
  UserSync(Engine& engine, const Host& host, std::string_view name)
      : object_(engine, host, name), list_(engine, host, std::string(name) + "/completed") {}

  struct Completion {
    std::uint64_t data;
    Request* request; ///< persistent and inactive, or freed and not to be touched
    bool operator==(const Completion&) const = default;
  };

  /// Head and tail of the list of completions, which is lock-free.
  [[nodiscard]] CacheLine& list() { return list_; }
  /// Puts a complete request last on the list. The caller has changed list().
  void append(Request& request) { completed_.push_back(&request); }

private:
  friend class SyncCalls;

  SyncObject object_; ///< `pending`: attached requests that are not complete
  CacheLine list_;
  RingQueue<Request*> completed_;
  std::size_t attached_ = 0;
  bool waiting_ = false; ///< a thread is in waitall
  int polling_ = 0;      ///< threads that make progress in a query
};

} // namespace contend
