// Queues of posted receives, or of messages without one, that several MPI processes of one OS process share.
#pragma once

#include "models/registry.hpp"

#include <cstdint>
#include <memory>

namespace contend {

/// What a receive and a message are compared by. Four words, since a connection says only which OS process a message comes
/// from and goes to. A receive may have any_source and any_tag (envelope.hpp); a message never has.
struct ProcessEnvelope {
  std::int32_t context = 0;  ///< number of the communicator
  std::int32_t source = 0;   ///< rank of the sender in it, or any_source
  std::int32_t tag = 0;      ///< or any_tag
  std::int32_t receiver = 0; ///< world rank of the receiver

  /// Whether a receive and a message belong together, whichever of the two this is.
  [[nodiscard]] bool fits(const ProcessEnvelope& other) const {
    return receiver == other.receiver && context == other.context &&
           (source == other.source || source == -1 || other.source == -1) &&
           (tag == other.tag || tag == -1 || other.tag == -1);
  }
};

/// An element of a queue; its owner keeps it alive while it is linked.
struct QueuedOperation {
  ProcessEnvelope envelope;
  QueuedOperation* next = nullptr;
};

/// A singly linked list with append and search in order, one visit an element.
class OperationList {
public:
  void append(QueuedOperation& operation) {
    operation.next = nullptr;
    (head_ == nullptr ? head_ : tail_->next) = &operation;
    tail_ = &operation;
  }
  /// Unlinks and returns the first that fits, or nullptr; adds the visited ones to `visited`.
  QueuedOperation* take(const ProcessEnvelope& wanted, std::int64_t& visited) {
    QueuedOperation* previous = nullptr;
    for (QueuedOperation* one = head_; one != nullptr; previous = one, one = one->next) {
      ++visited;
      if (one->envelope.fits(wanted)) {
        (previous == nullptr ? head_ : previous->next) = one->next;
        tail_ = tail_ == one ? previous : tail_;
        return one;
      }
    }
    return nullptr;
  }

private:
  QueuedOperation* head_ = nullptr;
  QueuedOperation* tail_ = nullptr;
};

/// One of the two queues of an OS process: posted receives, or messages that arrived before their receive.
class ProcessQueues {
public:
  virtual ~ProcessQueues() = default;

  void append(QueuedOperation& operation) {
    list_of(operation.envelope.receiver).append(operation);
    ++size_;
  }
  /// What a search did.
  struct Found {
    QueuedOperation* operation; ///< unlinked; nullptr: none fits
    std::int64_t visited;       ///< elements compared
  };
  Found take(const ProcessEnvelope& wanted) {
    Found found{nullptr, 0};
    found.operation = list_of(wanted.receiver).take(wanted, found.visited);
    size_ -= found.operation == nullptr ? 0 : 1;
    visited_ += found.visited;
    return found;
  }

  [[nodiscard]] std::int64_t size() const { return size_; }
  /// By all searches so far.
  [[nodiscard]] std::int64_t visited() const { return visited_; }
  /// Memory of the queue itself, elements not counted, as a C library would lay it out.
  [[nodiscard]] virtual std::int64_t bytes() const = 0;

protected:
  /// Where operations of one receiver are, possibly among others'.
  virtual OperationList& list_of(std::int32_t receiver) = 0;
  static constexpr std::int64_t list_bytes = 16; ///< head and tail

private:
  std::int64_t size_ = 0;
  std::int64_t visited_ = 0;
};

/// The OS process has the receivers `first` to `first + count - 1`.
using ProcessQueuesFactory = std::unique_ptr<ProcessQueues> (*)(std::int32_t first, std::int32_t count);

/// All kinds by name.
Registry<ProcessQueuesFactory>& process_queues_registry();

template <typename Kind>
std::unique_ptr<ProcessQueues> make_process_queues(std::int32_t first, std::int32_t count) {
  return std::make_unique<Kind>(first, count);
}

} // namespace contend
