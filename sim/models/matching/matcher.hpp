// Matching: which posted receive an arriving message belongs to, and which arrived message a new receive takes.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"
#include "models/matching/envelope.hpp"
#include "models/matching/parameters.hpp"
#include "models/matching/queue_walk.hpp"
#include "models/registry.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace contend {

/// A receive that waits for its message; the owner of the memory is the request it belongs to.
struct PostedReceive {
  int communicator = 0;
  int source = any_source; ///< rank or any_source
  int tag = any_tag;       ///< tag or any_tag
  std::uint64_t order = 0; ///< position among all receives of this matcher

  [[nodiscard]] bool accepts(const Envelope& envelope) const {
    return (tag == envelope.tag || (tag == any_tag && envelope.tag >= 0)) &&
           (source == any_source || source == envelope.source) && communicator == envelope.communicator;
  }
};

/// The queues of one matching domain. The caller holds the domain's lock. Walks are charged to Category::matching.
class Matcher {
public:
  virtual ~Matcher() = default;

  /// A message, in sequence, has arrived: unlinks and returns the receive that takes it, or keeps it as unexpected and
  /// returns nullptr.
  virtual PostedReceive* arrive(SimThread& self, const Envelope& envelope) = 0;
  /// A receive is posted: takes the first unexpected message that fits, or links the receive in.
  virtual std::optional<Envelope> post(SimThread& self, PostedReceive& receive) = 0;

  [[nodiscard]] virtual std::int64_t posted() const = 0;
  [[nodiscard]] virtual std::int64_t unexpected() const = 0;
  /// Elements visited by all walks so far.
  [[nodiscard]] virtual std::uint64_t visited() const = 0;
};

using MatcherFactory = std::unique_ptr<Matcher> (*)(const Host&, const MatchingParameters&, int peers);

/// All matching engines by name.
Registry<MatcherFactory>& matcher_registry();

} // namespace contend
