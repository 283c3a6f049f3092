// Which communication resource instance a thread uses for its next operation.
#pragma once

#include "core/cache_line.hpp"
#include "core/engine.hpp"
#include "core/host.hpp"
#include "models/registry.hpp"

#include <memory>
#include <string_view>

namespace contend {

class Assignment {
public:
  virtual ~Assignment() = default;
  /// Index of the instance, 0 .. count-1.
  virtual int pick(SimThread& self) = 0;
  /// A thread always picks the same one.
  [[nodiscard]] virtual bool by_thread() const { return false; }
};

using AssignmentFactory = std::unique_ptr<Assignment> (*)(Engine&, const Host&, int count, std::string_view name);

/// All assignment policies by name.
Registry<AssignmentFactory>& assignment_registry();

} // namespace contend
