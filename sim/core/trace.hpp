// Where a run can be watched: what threads do, which locks they hold and wait for, how long queues are, and where
// messages are. The engine and the models report; a sink makes a trace file or sums of it.
#pragma once

#include "core/category.hpp"
#include "core/time.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace contend {

class SimThread;

/// The name of something that is watched and is not a thread: a lock, a queue, a barrier, a part of a network
/// interface. Its address is its identity, so it lives as long as the thing.
struct TraceLabel {
  TraceLabel() = default;
  ~TraceLabel() = default;
  explicit TraceLabel(std::string text, int number = -1) : name(std::move(text)), owner(number) {}
  TraceLabel(const TraceLabel&) = delete;
  TraceLabel& operator=(const TraceLabel&) = delete;

  std::string name;
  int owner = -1; ///< number of the process of a queue, or of the host of an interface; -1: not told
};

/// Number of a message within a run, from 1 on; 0: the message is not traced.
using MessageNumber = std::uint32_t;

/// A message as it is handed to a network interface. The three stages serve one message at a time each: the interface
/// from `served`, the context from `departure`, and the wire for `on_wire` of it.
struct PostedMessage {
  const TraceLabel& interface;
  const TraceLabel& context;
  std::int64_t bytes = 0;  ///< on the wire
  TimePoint called;        ///< when the thread began to post it
  TimePoint fetched;       ///< the interface has its work request
  TimePoint served;        ///< the interface turns to it
  TimePoint loaded;        ///< the interface has its payload
  TimePoint departure;     ///< its context turns to it, too
  TimePoint arrival;       ///< its last byte is at the other end
  Duration interface_busy; ///< until the interface can serve the next message
  Duration context_busy;   ///< until the context can
  Duration on_wire;        ///< time between its first and its last byte
};

/// Receives what happens in simulated time. Spans and scopes of a thread come in order of time, and nest. Between threads
/// the order of calls is that of simulated time but for time a thread owes (SimThread::owe), which lies ahead. Sinks must not
/// throw, nor touch the simulation.
class TraceSink {
public:
  virtual ~TraceSink() = default;

  /// `thread` spent the time from `begin` to `end` on `category`. The spans of a thread follow each other without a gap.
  virtual void span(const SimThread& thread, Category category, TimePoint begin, TimePoint end) = 0;
  /// `span` of what was reported as `from` belongs to `to`.
  virtual void reclassified(const SimThread& /*thread*/, Duration /*span*/, Category /*from*/, Category /*to*/) {}
  /// `thread` begins to wait. The span comes when that is over, so a trace that ends before has to make its own.
  virtual void waits(const SimThread& /*thread*/, Category /*category*/, TimePoint /*time*/) {}
  /// `thread` begins something that has a name (a call of the library) and contains the spans until it leaves.
  virtual void enter(const SimThread& /*thread*/, std::string_view /*what*/, TimePoint /*time*/) {}
  virtual void leave(const SimThread& /*thread*/, TimePoint /*time*/) {}
  /// The accounts of `thread` start afresh: its warm-up is over.
  virtual void restart(const SimThread& /*thread*/, TimePoint /*time*/) {}

  /// `thread` asks for `lock` and waits as long as it takes.
  virtual void lock_requested(const SimThread& /*thread*/, const TraceLabel& /*lock*/, TimePoint /*time*/) {}
  /// It holds the lock from now on, after lock_requested or a successful attempt.
  virtual void lock_acquired(const SimThread& /*thread*/, const TraceLabel& /*lock*/, Category /*charged_to*/,
                             TimePoint /*time*/) {}
  /// Another thread that had the lock has done for it, since lock_requested, what it wanted the lock for.
  virtual void lock_delegated(const SimThread& /*thread*/, const TraceLabel& /*lock*/, Category /*charged_to*/,
                              TimePoint /*time*/) {}
  /// An attempt that does not wait has failed.
  virtual void lock_refused(const SimThread& /*thread*/, const TraceLabel& /*lock*/, TimePoint /*time*/) {}
  /// It begins to give the lock back, and is done with that. Another thread may have the lock before it is done.
  virtual void lock_released(const SimThread& /*thread*/, const TraceLabel& /*lock*/, TimePoint /*time*/) {}
  virtual void unlock_done(const SimThread& /*thread*/, const TraceLabel& /*lock*/, Category /*charged_to*/,
                           TimePoint /*time*/) {}

  /// While it gives the lock back it runs a section for another thread, as the holder, between these two.
  virtual void lock_service_began(const SimThread& /*thread*/, const TraceLabel& /*lock*/, TimePoint /*time*/) {}
  virtual void lock_service_over(const SimThread& /*thread*/, const TraceLabel& /*lock*/, TimePoint /*time*/) {}

  /// `thread` begins to wait at `place` for something that other threads do. Until wait_over its time in poll_idle,
  /// blocked and barrier is part of that.
  virtual void wait_began(const SimThread& /*thread*/, const TraceLabel& /*place*/, TimePoint /*time*/) {}
  /// At `time`, which may have passed already, `by` has done what a thread (by id; -1: none) waits for if it is at
  /// `place`, or what all do who are there. `how`, which outlives the run, says what it did. The first answer counts.
  static constexpr int everybody = -2;
  virtual void wait_answered(const TraceLabel& /*place*/, int /*waiter*/, const SimThread& /*by*/,
                             std::string_view /*how*/, TimePoint /*time*/) {}
  virtual void wait_over(const SimThread& /*thread*/, TimePoint /*time*/) {}
  /// From now on, until service_over, `thread` does what those wait for who are at `place`, whoever answers them.
  virtual void service_began(const SimThread& /*thread*/, const TraceLabel& /*place*/, TimePoint /*time*/) {}
  virtual void service_over(const SimThread& /*thread*/, TimePoint /*time*/) {}

  /// `queue` has `length` entries from now on.
  virtual void length(const TraceLabel& /*queue*/, TimePoint /*time*/, std::int64_t /*length*/) {}

  /// A message was posted; returns the number under which it is followed.
  virtual MessageNumber message_posted(const SimThread& /*thread*/, const PostedMessage& /*message*/) { return 0; }
  /// The same for a message that passes no network interface: `thread` has sent it, by a call that began at `called`.
  virtual MessageNumber message_sent(const SimThread& /*thread*/, TimePoint /*called*/) { return 0; }
  /// The interface at the other end takes a message from the wire, and is busy with it for `busy`.
  virtual void message_arrived(MessageNumber /*message*/, const TraceLabel& /*interface*/, TimePoint /*time*/,
                               Duration /*busy*/) {}
  /// Something other than a message of the library, such as a burst of a large transfer, keeps an interface `busy` from
  /// `time` on, and the wire for `on_wire` of it. It could have been served from `ready` on.
  virtual void interface_occupied(const TraceLabel& /*interface*/, std::string_view /*by*/, TimePoint /*ready*/,
                                  TimePoint /*time*/, Duration /*busy*/, Duration /*on_wire*/) {}
  /// A poll of `thread` has found a message that has arrived; 0: what was posted by its own side is done.
  virtual void message_found(const SimThread& /*thread*/, MessageNumber /*message*/, TimePoint /*time*/) {}
  /// `thread` has found the receive that a message belongs to, or the other way round.
  virtual void message_matched(const SimThread& /*thread*/, MessageNumber /*message*/, TimePoint /*time*/) {}
};

} // namespace contend
