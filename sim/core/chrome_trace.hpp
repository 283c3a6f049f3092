// Writes a run as Chrome trace events, which ui.perfetto.dev and chrome://tracing show on a time line.
#pragma once

#include "core/engine.hpp"
#include "core/trace.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <vector>

namespace contend {

/// The format: "Trace Event Format" of the Chromium project, JSON object form.
///
/// - Processes are MPI ranks, with their threads; beside them, one process per network interface and one with a track per
///   lock, whose slices are the holds. Slices are complete events (X) and nest: call of the library > category of time.
/// - Waiting for a lock is a slice lock_wait whose arguments name the lock and who held it.
/// - A matched message is a flow: from the slice that posted it over both interfaces to the slice that matched it. Messages
///   between two interfaces overlap: they are asynchronous events (b, e).
/// - Queue lengths are counters (C).
///
/// Times are microseconds with three digits, begin and end cut to whole nanoseconds: Perfetto keeps nanoseconds and rounds
/// begin and duration by themselves, and would drop slices that stick out of their parent by a rounded one.
///
/// Written as it happens; what is kept is what is open: scopes, holds and messages on their way.
class ChromeTrace final : public TraceSink {
public:
  /// What a trace came to.
  struct Summary {
    std::uint64_t bytes = 0;
    std::uint64_t events = 0;
    std::uint64_t messages = 0; ///< with a complete flow
    TimePoint end;              ///< what happened later is not in it, if complete is false
    bool complete = true;       ///< false: it was cut, at its limit or by `cut`
  };

  /// Watches `engine` from now on. Stops, at a place where everything can be closed, soon after `limit_bytes`.
  /// Throws std::system_error if the file cannot be made.
  ChromeTrace(Engine& engine, const std::string& path, std::uint64_t limit_bytes, std::string_view title);
  ~ChromeTrace() override;
  ChromeTrace(const ChromeTrace&) = delete;
  ChromeTrace& operator=(const ChromeTrace&) = delete;

  /// Ends it here, with a mark that says why: what happens from now on is not in it. Nothing if it has ended.
  void cut(std::string_view why);
  /// Closes what is open, and the file. Throws std::system_error if anything could not be written.
  Summary finish();

  void span(const SimThread& thread, Category category, TimePoint begin, TimePoint end) override;
  void waits(const SimThread& thread, Category category, TimePoint time) override;
  void enter(const SimThread& thread, std::string_view what, TimePoint time) override;
  void leave(const SimThread& thread, TimePoint time) override;
  void restart(const SimThread& thread, TimePoint time) override;
  void lock_requested(const SimThread& thread, const TraceLabel& lock, TimePoint time) override;
  void lock_acquired(const SimThread& thread, const TraceLabel& lock, Category charged_to, TimePoint time) override;
  void lock_delegated(const SimThread& thread, const TraceLabel& lock, Category charged_to, TimePoint time) override;
  void lock_released(const SimThread& thread, const TraceLabel& lock, TimePoint time) override;
  void lock_service_began(const SimThread& thread, const TraceLabel& lock, TimePoint time) override;
  void lock_service_over(const SimThread& thread, const TraceLabel& lock, TimePoint time) override;
  void unlock_done(const SimThread& thread, const TraceLabel& lock, Category charged_to, TimePoint time) override;
  void length(const TraceLabel& queue, TimePoint time, std::int64_t length) override;
  MessageNumber message_sent(const SimThread& thread, TimePoint called) override;
  MessageNumber message_posted(const SimThread& thread, const PostedMessage& message) override;
  void message_arrived(MessageNumber message, const TraceLabel& interface, TimePoint time, Duration busy) override;
  void interface_occupied(const TraceLabel& interface, std::string_view by, TimePoint ready, TimePoint time,
                          Duration busy, Duration on_wire) override;
  void message_matched(const SimThread& thread, MessageNumber message, TimePoint time) override;

private:
  using Nanoseconds = std::int64_t;

  /// Where a slice or counter stands.
  struct Track {
    int process = 0;
    int thread = 0;
    std::string name; ///< escaped
  };
  /// A thread inside lock() or unlock(): its spans become one slice that names the lock.
  struct LockCall {
    const TraceLabel* lock = nullptr;
    std::string_view slice;
    TimePoint begin;
    int holder = -1; ///< thread that has the lock, at the beginning
  };
  struct Scope {
    std::string_view what;
    TimePoint begin;
  };
  struct Thread {
    Track track;
    std::vector<Scope> open;
    LockCall lock_call;
    Category category = Category::count; ///< of the span that may still grow; count: none
    TimePoint span_begin;
    TimePoint last;                      ///< end of the last span
    Category waits_in = Category::count; ///< of the wait that it is in, whose span comes when that is over; count: none
    TimePoint waits_since;
  };
  struct Hold {
    int thread = -1; ///< -1: free
    TimePoint begin;
  };
  /// A message that is not matched yet.
  struct Flight {
    const Track* sender = nullptr;
    Nanoseconds posted = 0;
    const Track* sending_interface = nullptr; ///< nullptr: it has no slice there
    Nanoseconds served = 0;
    const Track* receiving_interface = nullptr;
    Nanoseconds taken = 0;
  };

  Thread& state_of(const SimThread& thread);
  const Track& lock_track(const TraceLabel& lock);
  const Track& interface_track(const TraceLabel& label, int host);
  const Track& queue_track(const TraceLabel& queue);
  Track new_track(int process, int thread, std::string_view name);
  void name_process(int process, const std::string& name);
  [[nodiscard]] const std::string& name_of_thread(int thread) const;

  void add_span(Thread& thread, Category category, TimePoint begin, TimePoint end);
  void flush_span(Thread& thread);
  void close_lock_call(Thread& thread, TimePoint time);
  void close_hold(const TraceLabel& lock, Hold& hold, TimePoint time);
  void close_everything();
  void stop();

  /// A complete event; none when it takes less than a nanosecond. Returns whether there is one.
  bool slice(const Track& track, std::string_view name, TimePoint begin, TimePoint end,
             std::string_view arguments = {});
  void flow_step(char phase, const Track& track, Nanoseconds time, MessageNumber message);
  void write(std::string_view text);
  void event(std::string_view text);

  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  Engine& engine_;
  std::uint64_t limit_;
  std::string title_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::error_code error_;
  Summary summary_;
  bool stopped_ = false;
  MessageNumber last_message_ = 0;
  int next_track_ = 0;
  std::vector<std::unique_ptr<Thread>> threads_; ///< by id
  std::unordered_map<const TraceLabel*, Track> tracks_;
  std::unordered_map<const TraceLabel*, Hold> holds_;
  std::unordered_map<const TraceLabel*, std::int64_t> lengths_;
  std::unordered_map<MessageNumber, Flight> flights_;
  std::vector<int> named_processes_;
};

} // namespace contend
