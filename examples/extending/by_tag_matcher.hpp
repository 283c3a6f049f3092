// A list of receives per tag and one for ANY_TAG, merged by posting order: ob1's idea, applied to tags.
#pragma once

#include "models/matching/receive_list.hpp"
#include "models/matching/unexpected_list.hpp"

#include <map>

namespace contend::example {

class ByTagMatcher final : public Matcher {
public:
  explicit ByTagMatcher(const MatcherSetup& setup) : host_(setup.host), prices_(setup.prices) {}

  PostedReceive* arrive(SimThread& self, const Envelope& envelope) override {
    QueueWalk walk(host_, prices_.element, self.core());
    const ListPlace match = find_in_both(by_tag_[envelope.tag], any_tag_, envelope, walk);
    charge(self, walk);
    if (match.list == nullptr) {
      self.owe(prices_.fragment_for(envelope) + prices_.enqueue, Category::matching);
      messages_.append(envelope);
      return nullptr;
    }
    --posted_;
    return match.list->take(match.index);
  }

  std::optional<Envelope> post(SimThread& self, PostedReceive& receive) override {
    receive.order = next_order_++; // merging and results rely on it
    QueueWalk walk(host_, prices_.element, self.core());
    const std::size_t found = messages_.find(receive, walk);
    charge(self, walk);
    if (found != UnexpectedList::none) {
      self.owe(prices_.fragment_release, Category::matching);
      return messages_.take(found);
    }
    self.owe(prices_.enqueue, Category::matching);
    (receive.tag == any_tag ? any_tag_ : by_tag_[receive.tag]).append(receive, self.core());
    ++posted_;
    return std::nullopt;
  }

  [[nodiscard]] std::int64_t posted() const override { return posted_; }
  [[nodiscard]] std::int64_t unexpected() const override { return static_cast<std::int64_t>(messages_.size()); }
  [[nodiscard]] std::uint64_t visited() const override { return visited_; }

private:
  void charge(SimThread& self, const QueueWalk& walk) {
    const std::int64_t footprint = posted_ * prices_.element_bytes + unexpected() * prices_.fragment_bytes;
    self.owe(prices_.attempt + walk.price(footprint), Category::matching);
    visited_ += static_cast<std::uint64_t>(walk.visited());
  }

  const Host& host_;
  MatchingParameters prices_;
  std::map<int, ReceiveList> by_tag_;
  ReceiveList any_tag_;
  UnexpectedList messages_;
  std::uint64_t next_order_ = 0;
  std::int64_t posted_ = 0;
  std::uint64_t visited_ = 0;
};

} // namespace contend::example
