// What a lock keeps for each thread that uses it: a node of its queue, a place to sleep.
#pragma once

#include "core/engine.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace contend {

/// Values that stay where they are, made when their thread first asks for one.
template <typename Value>
class ByThread {
public:
  /// The thread's value; `make()` returns a new one in a std::unique_ptr.
  template <typename Make>
  [[nodiscard]] Value& of(const SimThread& self, Make make) {
    const auto id = static_cast<std::size_t>(self.id());
    if (values_.size() <= id) {
      values_.resize(id + 1);
    }
    if (!values_[id]) {
      values_[id] = make();
    }
    return *values_[id];
  }

private:
  std::vector<std::unique_ptr<Value>> values_;
};

} // namespace contend
