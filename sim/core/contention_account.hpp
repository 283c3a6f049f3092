// Who waits for whom: sums over the timed part of a run, by lock, queue and stage of the network interfaces.
#pragma once

#include "core/engine.hpp"
#include "core/trace.hpp"
#include "core/wait_account.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace contend {

/// Counts from the moment at which the last thread says that its warm-up is over (SimThread::reset_times). What belongs to
/// one thread counts from the moment at which that thread says so, like its time by category; of a thread that never does,
/// from the last one's.
class ContentionAccount final : public TraceSink {
public:
  /// What one thread had to do with one lock.
  struct Use {
    std::int64_t acquisitions = 0; ///< by waiting and by attempts
    std::int64_t contended = 0;    ///< requests that found the lock held, or others waiting
    std::int64_t refused = 0;      ///< attempts that failed
    std::int64_t delegated = 0;    ///< requests whose section another thread ran: no acquisitions
    Duration wait;                 ///< from the requests to the acquisitions, as far as charged to lock_wait
    Duration release;              ///< calls that give the lock back, as far as charged to lock_wait
    /// From the acquisitions to the beginnings of the releases, and sections for others in releases, since the last restart of any
    /// thread.
    Duration hold;
    std::map<int, Duration> waited_for; ///< part of `wait` while another thread (by id) held the lock
  };
  struct LockAccount {
    const TraceLabel* lock = nullptr;
    std::vector<Use> uses; ///< by thread id; may be shorter than there are threads
  };
  struct QueueAccount {
    const TraceLabel* queue = nullptr;
    double mean = 0.0; ///< over time
    std::int64_t maximum = 0;
  };
  /// One direction of an interface, or one context.
  struct StageAccount {
    const TraceLabel* stage = nullptr;
    std::int64_t messages = 0;
    Duration busy;     ///< could not serve another message
    Duration queueing; ///< time of messages that waited for this stage
    Duration on_wire;  ///< time between first and last bytes; for the sending direction only
  };

  explicit ContentionAccount(Engine& engine) : engine_(engine) { engine.set_trace(this); }
  ~ContentionAccount() override;
  ContentionAccount(const ContentionAccount&) = delete;
  ContentionAccount& operator=(const ContentionAccount&) = delete;

  /// The accounts, each in order of first use. Call them when the run is over.
  [[nodiscard]] std::vector<LockAccount> locks() const;
  [[nodiscard]] std::vector<QueueAccount> queues() const;
  [[nodiscard]] const std::vector<StageAccount>& stages() const { return stages_; }
  [[nodiscard]] const WaitAccount& waiting() const { return waits_; }
  /// Length of the part that was counted.
  [[nodiscard]] Duration elapsed() const { return engine_.now() - start_; }

  void span(const SimThread& thread, Category category, TimePoint begin, TimePoint end) override {
    waits_.span(thread, category, begin, end);
  }
  void restart(const SimThread& thread, TimePoint time) override;
  void lock_requested(const SimThread& thread, const TraceLabel& label, TimePoint time) override;
  void lock_acquired(const SimThread& thread, const TraceLabel& label, Category charged_to, TimePoint time) override;
  void lock_delegated(const SimThread& thread, const TraceLabel& label, Category charged_to, TimePoint time) override;
  void lock_refused(const SimThread& thread, const TraceLabel& label, TimePoint time) override;
  void lock_released(const SimThread& thread, const TraceLabel& label, TimePoint time) override;
  void lock_service_began(const SimThread& thread, const TraceLabel& label, TimePoint time) override;
  void lock_service_over(const SimThread& thread, const TraceLabel& label, TimePoint time) override;
  void unlock_done(const SimThread& thread, const TraceLabel& label, Category charged_to, TimePoint time) override;
  void wait_began(const SimThread& thread, const TraceLabel& place, TimePoint time) override {
    waits_.began(thread, place, time);
  }
  void wait_answered(const TraceLabel& place, int waiter, const SimThread& by, std::string_view how,
                     TimePoint time) override {
    waits_.answered(place, waiter, by, how, time);
  }
  void wait_over(const SimThread& thread, TimePoint /*time*/) override { waits_.over(thread); }
  void service_began(const SimThread& thread, const TraceLabel& place, TimePoint time) override {
    waits_.service_began(thread, place, time);
  }
  void service_over(const SimThread& thread, TimePoint time) override { waits_.service_over(thread, time); }
  void reclassified(const SimThread& thread, Duration span, Category from, Category /*to*/) override {
    waits_.reclassified(thread, span, from);
  }
  void length(const TraceLabel& label, TimePoint time, std::int64_t length) override;
  MessageNumber message_posted(const SimThread& thread, const PostedMessage& message) override;
  MessageNumber message_sent(const SimThread& thread, TimePoint /*called*/) override { return number_of(thread); }
  void message_found(const SimThread& thread, MessageNumber message, TimePoint time) override;
  void message_matched(const SimThread& thread, MessageNumber message, TimePoint time) override {
    message_found(thread, message, time);
  }
  void message_arrived(MessageNumber message, const TraceLabel& label, TimePoint time, Duration busy) override;
  void interface_occupied(const TraceLabel& label, std::string_view by, TimePoint ready, TimePoint time, Duration busy,
                          Duration on_wire) override;

private:
  struct Waiter {
    int thread = -1;
    TimePoint since;
    TimePoint not_attributed_before; ///< the time until then is attributed to a holder already
  };
  struct Release {
    int thread = -1;
    TimePoint since;
  };
  struct Lock {
    LockAccount account;
    int holder = -1; ///< or the last one, if `held` is false
    bool held = false;
    TimePoint hold_begin;
    TimePoint hold_counted_from; ///< later than `hold_begin` if there was a restart meanwhile
    TimePoint hold_end;          ///< of the last hold; may lie ahead of the engine's clock
    std::vector<Waiter> waiters;
    std::vector<Release> releases; ///< calls under way: several, when a new holder gives it back soon

    Use& use_of(int thread);
    /// End of `waiters` if it does not wait.
    std::vector<Waiter>::iterator waiter(int thread);
    /// `waiter` has waited for the holder until then. Requires: the lock is held.
    void attribute(Waiter& waiter, TimePoint time);
    /// `thread` holds it, from then on or until then.
    void begin_hold(int thread, TimePoint time);
    void end_hold(TimePoint time);
    /// End of `releases` if it gives nothing back.
    std::vector<Release>::iterator release(int thread);
    /// What `thread` has done so far does not count; waits and releases that it is in, from `time` on.
    void forget(int thread, TimePoint time);
  };
  struct Queue {
    const TraceLabel* label = nullptr;
    std::int64_t length = 0;
    std::int64_t maximum = 0;
    TimePoint since;
    double integral = 0.0; ///< entries times picoseconds, up to `since`
  };

  /// The number of every message of a thread: nothing but that it is its own has to be known.
  [[nodiscard]] static MessageNumber number_of(const SimThread& sender) {
    return static_cast<MessageNumber>(sender.id()) + 1;
  }
  Lock& lock_of(const TraceLabel& label);
  static void end_wait(Lock& lock, const SimThread& thread, Category charged_to, TimePoint time);
  StageAccount& stage_of(const TraceLabel& label);

  Engine& engine_;
  TimePoint start_;
  std::vector<bool> restarted_; ///< by thread id; may be shorter than there are threads
  std::vector<Lock> locks_;
  std::vector<Queue> queues_;
  std::vector<StageAccount> stages_;
  WaitAccount waits_;
  std::unordered_map<const TraceLabel*, std::size_t> numbers_; ///< of locks, queues and stages in their vectors
};

} // namespace contend
