// Many short doubly linked lists whose nodes share one pool: nothing is allocated once the pool has grown.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace contend {

/// Lists are numbered from 0. Nodes are handles that stay valid until they are erased.
template <typename Value>
class LinkedLists {
public:
  using Node = std::int32_t;
  static constexpr Node none = -1;

  explicit LinkedLists(std::size_t lists) : ends_(lists) {}

  [[nodiscard]] Node front(std::size_t list) const { return ends_[list].first; }
  [[nodiscard]] Node next(Node node) const { return at(node).next; }
  [[nodiscard]] Value& operator[](Node node) { return links_[static_cast<std::size_t>(node)].value; }
  [[nodiscard]] const Value& operator[](Node node) const { return at(node).value; }

  Node push_back(std::size_t list, Value value) {
    if (free_.empty()) {
      free_.push_back(static_cast<Node>(links_.size()));
      links_.emplace_back();
    }
    const Node node = free_.back();
    free_.pop_back();
    auto& [first, last] = ends_[list];
    links_[static_cast<std::size_t>(node)] = {std::move(value), last, none};
    (last == none ? first : links_[static_cast<std::size_t>(last)].next) = node;
    last = node;
    return node;
  }

  /// `node` is in `list`.
  void erase(std::size_t list, Node node) {
    auto& [first, last] = ends_[list];
    const Link& link = at(node);
    (link.previous == none ? first : links_[static_cast<std::size_t>(link.previous)].next) = link.next;
    (link.next == none ? last : links_[static_cast<std::size_t>(link.next)].previous) = link.previous;
    free_.push_back(node);
  }

private:
  struct Link {
    Value value{};
    Node previous = none;
    Node next = none;
  };
  struct Ends {
    Node first = none;
    Node last = none;
  };
  [[nodiscard]] const Link& at(Node node) const { return links_[static_cast<std::size_t>(node)]; }

  std::vector<Ends> ends_; ///< by list
  std::vector<Link> links_;
  std::vector<Node> free_;
};

} // namespace contend
