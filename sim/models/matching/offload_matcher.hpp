// Hardware tag matching (ConnectX-5 to -7 as UCX uses them; rdma-core, "Hardware tag matching"): the interface holds posted
// receives in a bounded list and matches arriving messages before any thread sees them. Software has the rest.
#pragma once

#include "models/matching/matcher.hpp"
#include "models/matching/queue_reuse.hpp"
#include "models/matching/receive_list.hpp"
#include "models/matching/unexpected_list.hpp"

#include <array>
#include <limits>

namespace contend {

/// Posting a receive, under the domain's lock:
///  1. The unexpected messages are searched by software.
///  2. If none fits, the receive goes to the interface (which costs a command) unless its list is full, or the interface
///     could then match out of order (rules of UCX's ucp_tag_offload_post):
///       - a receive from ANY_SOURCE stays in software;
///       - one from a source with ANY_TAG stays in software while anything else does;
///       - one without wildcards stays in software while a receive with a wildcard or one of its own hash bucket does.
/// A message that reaches the interface takes the first receive of the interface's list that fits: its completion brings
/// the match along, and no thread takes the matching lock or walks a list. Otherwise the message is missed:
///  3. Software searches all posted receives in posting order, withdraws the one it finds from the interface if it is there
///     (another command), or keeps the message as unexpected.
///  4. Receives that go to the interface while missed messages are in completion queues might be theirs: the interface
///     does not match them until software has seen all missed messages. (Driver and interface compare their counts of
///     unexpected messages for this.)
///
/// Simplifications: the list takes effect when the command has been handed over; sizes do not matter (UCX leaves messages
/// below 1 KiB to software by default; use another engine for that); the payload needs a bounce buffer as elsewhere; there
/// is a list per matching domain, and one unit per interface that walks them; receives do not move from software to the
/// interface later (UCX does that above a size limit only). Needs messages in the order of the wire: sequence numbers are
/// unknown to the interface.
class OffloadMatcher final : public Matcher, public HardwareMatcher {
public:
  static constexpr MatcherTraits traits{.in_interface = true};

  explicit OffloadMatcher(const MatcherSetup& setup)
      : host_(setup.host), prices_(setup.prices), reuse_(prices_.element_bytes, prices_.fragment_bytes),
        capacity_(static_cast<std::size_t>(setup.sizes.offload_capacity)) {}

  PostedReceive* arrive(SimThread& self, const Envelope& envelope) override;
  std::optional<Envelope> post(SimThread& self, PostedReceive& receive) override;
  HardwareMatcher* hardware() override { return this; }
  Time reach(Envelope& envelope) override;

  [[nodiscard]] std::int64_t posted() const override {
    return static_cast<std::int64_t>(offloaded_.size() + software_.size());
  }
  [[nodiscard]] std::int64_t unexpected() const override { return static_cast<std::int64_t>(messages_.size()); }
  [[nodiscard]] std::uint64_t visited() const override { return visited_; }
  /// Receives that the interface holds, whether it may match them already or not.
  [[nodiscard]] std::int64_t offloaded() const { return static_cast<std::int64_t>(offloaded_.size()); }
  /// Receives that the interface has visited.
  [[nodiscard]] std::uint64_t visited_by_interface() const { return visited_by_interface_; }

private:
  static constexpr std::size_t buckets = 1021; ///< of UCX's table of expected receives
  static constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();

  void message_seen();
  [[nodiscard]] bool may_offload(const PostedReceive& receive) const;
  [[nodiscard]] int& software_in_bucket(const PostedReceive& receive);

  const Host& host_;
  MatchingParameters prices_;
  QueueReuse reuse_;
  std::size_t capacity_;
  ReceiveList offloaded_; ///< the interface's list, which software sees too
  ReceiveList software_;
  UnexpectedList messages_;
  int wildcards_in_software_ = 0;
  std::array<int, buckets> in_bucket_{}; ///< receives without wildcards in software
  int unseen_ = 0;                       ///< missed messages that software has not seen yet
  std::uint64_t first_inactive_ = all;   ///< the interface does not match receives from this order on
  std::int64_t inactive_ = 0;            ///< how many those are
  std::uint64_t next_order_ = 0;
  std::uint64_t visited_ = 0;
  std::uint64_t visited_by_interface_ = 0;
};

} // namespace contend
