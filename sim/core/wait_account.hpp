// Whom threads wait for that sleep, spin, poll or meet at barriers: sums by place, see ContentionAccount.
#pragma once

#include "core/engine.hpp"
#include "core/trace.hpp"

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace contend {

/// A wait is for whoever answers it, until the answer. What comes after that is for nobody: the time to wake up, to see
/// a line change, to get out. So both add up to what was charged meanwhile, whatever the models do.
class WaitAccount {
public:
  static constexpr int nobody = -1;
  /// With more threads nobody keeps what the others do while one waits.
  static constexpr std::size_t most_watched = 256;

  /// Time of one thread in its waits at a place.
  struct Wait {
    int waiter = nobody; ///< id of a thread
    Category category = Category::blocked;
    int awaited = nobody;
    std::string_view how; ///< what that thread did in the end; empty for nobody
    auto operator<=>(const Wait&) const = default;
  };
  /// What one thread did for those who waited.
  struct Answer {
    int by = nobody;
    std::string_view how;
    auto operator<=>(const Answer&) const = default;
  };
  /// What was done while `waiter` waited, by those who served the place, or, where nobody says that it does, by the one
  /// that answered.
  struct Meanwhile {
    int waiter = nobody;
    Category category = Category::blocked;
    auto operator<=>(const Meanwhile&) const = default;
  };
  struct PlaceAccount {
    const TraceLabel* place = nullptr;
    bool is_served = false;            ///< some threads have said that they do what others wait for there
    std::map<int, std::int64_t> begun; ///< waits by waiter
    std::map<Wait, Duration> waits;
    std::map<Meanwhile, Duration> meanwhile; ///< up to the answers
    /// How often, since the last restart of any thread; an answer for all who wait counts once.
    std::map<Answer, std::int64_t> answers;
  };

  WaitAccount();

  /// Whether its time is part of a wait: what a thread does meanwhile besides waiting is not.
  [[nodiscard]] static bool counts(Category category) {
    return category == Category::poll_idle || category == Category::blocked || category == Category::barrier;
  }

  /// In order of first use, but for the first: polls outside all places, each until it finds something. Waits that are
  /// not over are in none.
  [[nodiscard]] const std::deque<PlaceAccount>& places() const { return places_; }

  void span(const SimThread& thread, Category category, TimePoint begin, TimePoint end);
  void reclassified(const SimThread& thread, Duration span, Category from);
  void began(const SimThread& thread, const TraceLabel& place, TimePoint time);
  void answered(const TraceLabel& place, int waiter, const SimThread& by, std::string_view how, TimePoint time);
  void over(const SimThread& thread);
  void service_began(const SimThread& thread, const TraceLabel& place, TimePoint time);
  void service_over(const SimThread& thread, TimePoint time);
  /// A poll of `thread` has found what `by` (nobody: its own process) has sent.
  void found(const SimThread& thread, int by);
  /// The accounts of `thread` start afresh at `time`.
  void forget(int thread, TimePoint time);
  /// What belongs to no thread starts afresh.
  void restart();

private:
  struct Span {
    Category category = Category::blocked;
    TimePoint begin;
    TimePoint end;
  };
  /// What a thread has done since it began, as far as it has been told of.
  struct History {
    SimThread::Times times{};
    Span last; ///< neighbours of one category are one
    [[nodiscard]] SimThread::Times until(TimePoint time) const;
  };
  struct Thread {
    History history;
    PlaceAccount* serves = nullptr;
    Duration idle; ///< in polls outside all places that have found nothing so far
    // The wait that it is in:
    PlaceAccount* place = nullptr; ///< none: it does not wait
    TimePoint since;
    Answer answer;
    TimePoint answered_at = TimePoint::never();
    TimePoint counts_from;
    std::vector<Span> spans;              ///< so far
    std::vector<SimThread::Times> others; ///< what each thread had done when the wait, or its service, began
    SimThread::Times meanwhile{};         ///< of those who serve: until the answer or the end of their service
  };

  PlaceAccount& place_of(const TraceLabel& label);
  Thread& thread_of(int id);
  /// What thread `by` has done until `time` since the wait of `waiter`, or its service, began.
  void add_meanwhile(Thread& waiter, std::size_t by, TimePoint time);
  void answer(Thread& waiter, const SimThread& by, std::string_view how, TimePoint time);

  TraceLabel polling_{"polling"};
  std::deque<PlaceAccount> places_; ///< a thread points to the place where it waits
  std::unordered_map<const TraceLabel*, PlaceAccount*> by_label_;
  std::vector<Thread> threads_; ///< by id; may be shorter than there are threads
  TimePoint last_began_;        ///< the last wait of all
};

} // namespace contend
