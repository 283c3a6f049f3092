// One cache line that several cores use: who has it, who has to wait for it, and how long each access takes.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Somebody who does not look at a line for as long as it cannot have changed.
class LineReader {
public:
  virtual ~LineReader() = default;
  /// The copy is lost, or changed.
  virtual void copy_lost() = 0;
};

/// A line under a MESI-like protocol, seen from the cores of one host. An access that hits costs the hit price. Exclusive
/// transfers are served one at a time; the next core is drawn among those that wait, and near ones win more often.
/// Copies for reading are handed out in parallel unless an exclusive transfer is under way. With
/// CacheParameters::home_order reads take their turn as well: they take exclusiveness away when they begin, and exclusive
/// transfers wait for them. With CacheParameters::serial_snoops the first read of what a core has written is alone until it
/// is over.
/// The effect of a store or atomic falls at the end of the call: test the guarded value after it.
class CacheLine final : public Waitable {
public:
  CacheLine(Engine& engine, const Host& host, std::string_view name);

  /// Reads the line.
  void load(SimThread& self, Category category) { access(self, Mode::load, category); }
  /// Writes the line.
  void store(SimThread& self, Category category) { access(self, Mode::store, category); }
  /// Writes a line that nobody else touches before this thread lets them (it holds their lock).
  void store_protected(SimThread& self, Category category) {
    if (hits(self.core(), Mode::store)) {
      self.owe(price(Mode::store), category);
    } else {
      access(self, Mode::store, category);
    }
  }
  /// Writes `lines` lines that always move together, as this one does, one after the other. Requires: lines >= 1.
  void store_protected(SimThread& self, int lines, Category category) {
    if (hits(self.core(), Mode::store)) {
      self.owe(lines * price(Mode::store), category);
    } else if (lines == 1) {
      access(self, Mode::store, category);
    } else {
      self.settle();
      self.preemption_point(); // else the core could be lost within what is multiplied
      const TimePoint called = self.now();
      access(self, Mode::store, category);
      self.owe_time((lines - 1) * (self.now() - called), category);
    }
  }
  /// Writes a line that a lock guards, without waiting for it where the core has a store buffer (CacheParameters::store_buffer).
  /// Whoever gives the lock back by release(), release_by_atomic() or post_release() does that after it.
  void store_guarded(SimThread& self, Category category);
  /// Writes the line without waiting for it: the core's store buffer does that, and the thread pays a hit. Whoever reads the
  /// line next has to fetch it from this core. While another exclusive access is under way this is a store.
  void post_store(SimThread& self, Category category);
  /// Atomic read-modify-write.
  void atomic(SimThread& self, Category category) {
    self.store_buffer().drain(self, category);
    access(self, Mode::atomic, category);
  }
  /// Atomic operation that changes the line only if `matches()`. Returns whether it did: the caller makes the change.
  template <typename Matches>
  [[nodiscard]] bool compare(SimThread& self, Category category, Matches matches) {
    if (host_.cache().load_linked) {
      load(self, category);
      if (!matches()) {
        return false;
      }
    }
    self.store_buffer().drain(self, category);
    access(self, Mode::compare, category);
    return matches();
  }
  /// Writes the line after all that this core wrote before has become visible: a lock is given back.
  void release(SimThread& self, Category category) {
    drain(self, category);
    self.store_buffer().drain(self, category); // before the access: nobody may look between it and its effect
    access(self, Mode::store, category);
  }
  /// The same, by a store that waits in the core's store buffer where there is one; the thread goes on. `visible` is called when
  /// others can see it, after all that the thread stored before.
  void post_release(SimThread& self, Category category, std::function<void()> visible);
  /// The same by an atomic operation.
  void release_by_atomic(SimThread& self, Category category) {
    drain(self, category);
    atomic(self, category);
  }

  /// For a thread that has just looked at the line in vain and looks again every `turn`: the line will resume it once, at
  /// the first such look after the copy of its core is lost or changed, or `until` then if that comes first. The thread must
  /// wait() next. False: the copy is lost already, so look again at once.
  [[nodiscard]] bool watch(SimThread& self, Duration turn, TimePoint until = TimePoint::never());
  /// For looks that are skipped: `reader` is told, once, when the copy of `core` is lost or changed. False: it is lost.
  [[nodiscard]] bool tell(LineReader& reader, int core);
  /// `reader` need not be told any more.
  void forget(const LineReader& reader);
  /// Whether requests are served in the order of CacheParameters::home_order.
  [[nodiscard]] bool home_order() const { return home_order_; }

  /// Whether stores wait in the core's store buffer.
  [[nodiscard]] bool buffers_stores() const { return home_order_ && host_.cache().store_buffer; }

  /// Core that last had the line for itself, or -1.
  [[nodiscard]] int owner() const { return owner_; }
  /// Exclusive transfers between cores so far.
  [[nodiscard]] std::uint64_t transfers() const { return transfers_; }
  [[nodiscard]] std::string describe() const override;

private:
  using Mode = LineAccess;
  struct Request {
    SimThread* thread; ///< nullptr: the store in a store buffer
    Mode mode;
    int core;
  };
  /// A store that waits in a core's store buffer.
  struct PostedStore final : Event {
    PostedStore(Engine& engine, CacheLine& stored_to) : Event(engine), line(stored_to) {}
    void fire() override { line.finish_posted_store(); }

    CacheLine& line;
    SimThread* thread = nullptr; ///< whose store it is; nullptr: none waits
    int core = -1;
    std::function<void()> visible;    ///< of a store that gives a lock back
    std::vector<SimThread*> draining; ///< of that core, and stalled until the store is over
  };
  struct Watcher {
    SimThread* thread = nullptr;
    TimePoint looked;
    Duration turn;
    TimePoint until;
    LineReader* reader = nullptr; ///< in place of a thread
  };
  /// Tells the line that somebody may have watched it long enough.
  struct WatchAlarm final : Event {
    WatchAlarm(Engine& engine, CacheLine& watched) : Event(engine), line(watched) {}
    void fire() override {
      due = TimePoint::never();
      line.end_watches();
    }

    CacheLine& line;
    TimePoint due = TimePoint::never(); ///< never: not scheduled
  };

  __attribute__((always_inline)) void access(SimThread& self, Mode mode, Category category) {
    if (hits(self.core(), mode) && self.spend_alone(price(mode), category)) {
      if (mode != Mode::load && !watchers_.empty()) [[unlikely]] {
        wake_watchers(); // those on this very core
      }
      return;
    }
    access_slowly(self, mode, category);
  }
  /// What is not over at once, or on a shared core.
  void access_slowly(SimThread& self, Mode mode, Category category);
  [[gnu::noinline]] void access_among_others(SimThread& self, Mode mode, Category category);
  [[gnu::noinline]] bool access_alone_on_shared_core(SimThread& self, Mode mode, Category category);
  [[nodiscard]] bool goes_to_buffer(SimThread& self);
  void post(SimThread& self, Category category, std::function<void()> visible);
  void wait_for_posted_store(SimThread& self, Category category);
  void finish_posted_store();
  void drain(SimThread& self, Category category) const {
    if (host_.cache().release != Duration{}) {
      self.owe(host_.cache().release, category);
    }
  }
  void transfer(SimThread& self, Mode mode, Category category);
  void depart(Mode mode, Duration time, std::size_t waited = 0);
  [[nodiscard]] double share_among_waiting(std::size_t waited);
  void finish_transfer(int core, Mode mode);
  void serve();
  static void wake(const Watcher& watcher, TimePoint loss);
  void wake_watchers();
  void alarm_by(TimePoint until);
  void end_watches();
  [[nodiscard]] bool must_wait(Mode mode) const {
    return moving_ || (home_order_ && (!waiting_.empty() || snooping_ || (mode != Mode::load && reads_ > 0)));
  }
  /// A core of the socket has read the line since it was written: what it got went to the shared cache as well.
  [[nodiscard]] bool in_shared_cache(int core) const {
    return serial_snoops_ && !exclusive_ && owner_ != core &&
           (copies_ & host_.cores_of_socket(host_.socket(core))).any();
  }
  [[nodiscard]] bool hits(int core, Mode mode) const {
    return !moving_ && (mode == Mode::load ? copies_[static_cast<std::size_t>(core)] : exclusive_ && owner_ == core);
  }
  [[nodiscard]] Duration price(Mode mode) const { return host_.hit(mode); }
  /// The core has the line alone, and what takes it away has not reached it yet.
  [[nodiscard]] bool still_has(int core, TimePoint when) const { return owner_ == core && when < leaves_at_; }
  /// From the request until the access is done.
  [[nodiscard]] Duration transfer_time(int core, Mode mode) const;
  void queue(const Request& request);
  void unqueue(std::size_t index);
  [[nodiscard]] std::size_t draw_next();
  [[nodiscard]] std::size_t draw_any();
  [[nodiscard]] std::size_t draw_by_socket();
  [[nodiscard]] bool at_sibling(const Request& request) const;
  [[nodiscard]] bool turns_snoop_back(const Request& request);
  /// Load-linked and store-conditional keep nobody away.
  [[nodiscard]] bool locks_line(Mode mode) const {
    return (mode == Mode::atomic || mode == Mode::compare) && !host_.cache().load_linked;
  }

  // What a hit looks at comes first.
  const Host& host_;
  int owner_ = -1;
  bool exclusive_ = false; ///< only the owner has a copy
  bool moving_ = false;    ///< an exclusive transfer is under way
  bool home_order_;
  bool serial_snoops_;          ///< see CacheParameters
  bool served_sibling_ = false; ///< since the line came to this core from another one
  Mode last_mode_ = Mode::load; ///< of the transfer that ended last
  bool snooping_ = false;       ///< the read under way asks the core that had the line alone
  int reads_ = 0;               ///< transfers for reading under way; counted in home order only
  TimePoint leaves_at_;         ///< until then the owner has what the last departure takes away
  TimePoint last_loss_;         ///< when a core last lost the line or had to share it
  std::uint64_t losses_ = 0;    ///< how often that happened
  std::uint64_t transfers_ = 0;
  std::vector<Request> waiting_;
  std::vector<int> waiting_in_;     ///< requests by socket, where sockets compete for the line; else empty
  std::size_t waiting_sockets_ = 0; ///< with a request
  std::vector<Watcher> watchers_;
  std::vector<std::unique_ptr<WatchAlarm>> alarms_; ///< as many as have had to be pending at once
  std::unique_ptr<PostedStore> posted_;             ///< from the first one on
  Engine& engine_;
  CoreSet copies_; ///< who can read it without a transfer
  RandomStream arbitration_;
  std::string name_;
};

} // namespace contend
