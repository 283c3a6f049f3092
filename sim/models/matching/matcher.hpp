// Matching: which posted receive an arriving message belongs to, and which arrived message a new receive takes.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"
#include "models/locks/lock.hpp"
#include "models/matching/envelope.hpp"
#include "models/matching/parameters.hpp"
#include "models/matching/queue_walk.hpp"
#include "models/registry.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

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
  [[nodiscard]] bool has_wildcard() const { return source == any_source || tag == any_tag; }
};

/// Matching in the network interface, before any thread sees the message.
class HardwareMatcher {
public:
  /// How long the interface is busy with a message: a latency that may overlap with other messages, and its own work,
  /// one message at a time.
  struct Time {
    Duration latency{};
    Duration work{};
  };

  virtual ~HardwareMatcher() = default;
  /// A message has reached the interface: sets `matched` or `missed`. Runs in an event. Software must see a message that
  /// was missed (Matcher::arrive), and messages in the order in which they came here.
  virtual Time reach(Envelope& envelope) = 0;
};

/// What a matching engine says of itself. Checks of scenarios ask this instead of its name.
struct MatcherTraits {
  /// Every source has queues of its own, so that several instances can feed them at the same time, each under its own lock:
  /// given MatcherSetup::make_lock, the engine locks itself (Matcher::locks_itself).
  bool queues_by_source = false;
  /// Matching is done in the network interface, which knows no sequence numbers (Matcher::hardware).
  bool in_interface = false;
};

/// The queues of one matching domain. The caller holds the domain's lock. Walks are charged to Category::matching.
class Matcher {
public:
  /// A class that has something to say declares its own: `static constexpr MatcherTraits traits{.queues_by_source = true};`.
  static constexpr MatcherTraits traits{};

  virtual ~Matcher() = default;

  /// A message, in sequence, has arrived: unlinks and returns the receive that takes it, or keeps it as unexpected and
  /// returns nullptr.
  virtual PostedReceive* arrive(SimThread& self, const Envelope& envelope) = 0;
  /// A receive is posted: takes the first unexpected message that fits, or links the receive in.
  virtual std::optional<Envelope> post(SimThread& self, PostedReceive& receive) = 0;
  /// The caller need not hold the domain's lock, but sees to it that nobody else handles messages and receives of the same
  /// source at the same time, and that a receive from any source has the domain for itself. To be stated
  /// (MatcherTraits::queues_by_source).
  [[nodiscard]] virtual bool locks_itself() const { return false; }
  /// The part of the engine that is in the interface; nullptr: software does everything. To be stated
  /// (MatcherTraits::in_interface).
  [[nodiscard]] virtual HardwareMatcher* hardware() { return nullptr; }

  [[nodiscard]] virtual std::int64_t posted() const = 0;
  [[nodiscard]] virtual std::int64_t unexpected() const = 0;
  /// Steps of all walks by software so far: elements visited, or blocks where an engine compares a block at once.
  [[nodiscard]] virtual std::uint64_t visited() const = 0;
};

/// What an engine is made from. Host and simulation engine outlive it; the setup itself lives only as long as the call: keep
/// copies, and make locks during it.
struct MatcherSetup {
  const Host& host;
  MatchingParameters prices;
  MatchingSizes sizes;
  int peers = 0; ///< ranks that messages come from: 0 to peers - 1

  // For engines that can lock themselves, when they have to (Matcher::locks_itself); else not given.
  Engine* engine = nullptr;
  std::function<std::unique_ptr<Lock>(std::string_view name)> make_lock = {};
  std::string name = {};
};

using MatcherFactory = PartFactory<Matcher, MatcherTraits, const MatcherSetup&>;

/// All matching engines by name. Adding one: a new file with a class derived from Matcher, and one line in registry.cpp
/// (or a call of add() before the first simulation).
Registry<MatcherFactory>& matcher_registry();

template <typename Kind>
inline constexpr MatcherFactory make_matcher = MatcherFactory::of<Kind>();

} // namespace contend
