// A doubly linked list of posted receives in posting order.
#pragma once

#include "models/matching/matcher.hpp"

namespace contend {

class ReceiveList {
public:
  void append(PostedReceive& receive) {
    receive.next = nullptr;
    receive.previous = tail_;
    (tail_ == nullptr ? head_ : tail_->next) = &receive;
    tail_ = &receive;
  }

  void unlink(PostedReceive& receive) {
    (receive.previous == nullptr ? head_ : receive.previous->next) = receive.next;
    (receive.next == nullptr ? tail_ : receive.next->previous) = receive.previous;
  }

  [[nodiscard]] PostedReceive* head() const { return head_; }
  [[nodiscard]] PostedReceive* tail() const { return tail_; }

private:
  PostedReceive* head_ = nullptr;
  PostedReceive* tail_ = nullptr;
};

} // namespace contend
