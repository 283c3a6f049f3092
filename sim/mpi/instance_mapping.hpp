// Which communication resource instance a message goes through, where the message decides that and not the thread.
#pragma once

#include "models/matching/envelope.hpp"
#include "mpi/parameters.hpp"

namespace contend {

/// MPICH ch4: context id, or context id plus tag, modulo the number of VCIs (MPIDI_map_contextid_to_vci,
/// MPIDI_map_contextid_tag_to_vci).
/// By peer: (source rank + destination rank) modulo the number of instances, the same number on both sides; two processes
/// always use one instance, and the processes that send to one spread over its instances (multichannel MPICH2).
class InstanceMapping {
public:
  /// In place of an instance: the message may come to any of them.
  static constexpr int every_instance = -1;
  enum class Direction { send, receive };

  InstanceMapping(const InstancesDesign& design, int rank) : by_(key_of(design)), rank_(rank), count_(design.count) {}

  /// Whether messages decide. If not, threads do (mpi/assignment.hpp).
  [[nodiscard]] bool decides() const { return by_ != By::thread; }
  [[nodiscard]] bool by_communicator() const { return by_ == By::communicator; }
  [[nodiscard]] bool by_tag() const { return by_ == By::tag; }
  [[nodiscard]] bool by_peer() const { return by_ == By::peer; }

  /// Of a message. Requires: decides(), or one instance.
  [[nodiscard]] int of(int communicator, int tag, int peer) const {
    if (by_ == By::peer) {
      return (rank_ + peer) % count_;
    }
    return ((communicator + (by_ == By::tag ? tag : 0)) % count_ + count_) % count_;
  }
  /// Where the message of a receive comes to. Requires: decides().
  [[nodiscard]] int of_receive(int communicator, int tag, int source) const {
    return by_ == By::peer && source == any_source ? every_instance : of(communicator, tag, source);
  }
  /// Of a request, of whose messages there may be more than one; -1: any.
  [[nodiscard]] int of_request(Direction direction, int communicator, int tag, int peer) const {
    if (!decides()) {
      return -1;
    }
    return direction == Direction::send ? of(communicator, tag, peer) : of_receive(communicator, tag, peer);
  }

private:
  enum class By { thread, communicator, tag, peer };

  [[nodiscard]] static By key_of(const InstancesDesign& design) {
    if (design.mapping == "thread") {
      return By::thread;
    }
    if (design.mapping == "peer") {
      return By::peer;
    }
    // With one instance no tag needs to be known.
    return design.mapping == "tag" && design.count > 1 ? By::tag : By::communicator;
  }

  By by_;
  int rank_;
  int count_;
};

} // namespace contend
