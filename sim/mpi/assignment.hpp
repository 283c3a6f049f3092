// Which communication resource instance a thread uses for its next operation.
#pragma once

#include "core/cache_line.hpp"
#include "core/engine.hpp"
#include "core/host.hpp"
#include "models/registry.hpp"

#include <memory>
#include <string_view>

namespace contend {

/// What an assignment says of itself. Checks of scenarios and the library ask this instead of its name.
struct AssignmentTraits {
  bool by_thread = false; ///< a thread always picks the same instance
};

class Assignment {
public:
  /// A class that has something to say declares its own: `static constexpr AssignmentTraits traits{.by_thread = true};`.
  static constexpr AssignmentTraits traits{};

  virtual ~Assignment() = default;
  /// Index of the instance, 0 .. count-1.
  virtual int pick(SimThread& self) = 0;
};

/// Arguments: engine, host, number of instances, name of the process. Engine and host outlive the assignment; the name lives
/// only as long as the call.
using AssignmentFactory = PartFactory<Assignment, AssignmentTraits, Engine&, const Host&, int, std::string_view>;

/// All assignment policies by name.
Registry<AssignmentFactory>& assignment_registry();

template <typename Kind>
inline constexpr AssignmentFactory make_assignment = AssignmentFactory::of<Kind>();

} // namespace contend
