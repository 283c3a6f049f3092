// Ticket lock: first come, first served (Mellor-Crummey and Scott 1991, section 2.2).
#pragma once

#include "models/locks/lock.hpp"
#include "models/locks/spinners.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace contend {

/// The two counters of a ticket lock, which need not be given back by the thread that took them.
class Tickets {
public:
  /// `turn`: what a spinning thread does between two looks takes this long. `lines`: 1 or 2, that hold the counters.
  Tickets(Engine& engine, const Host& host, std::string_view name, Duration turn,
          Spinners::Loop loop = Spinners::Loop::pauses, int lines = 2);

  void take(SimThread& self, Category category, const Waitable& reason);
  [[nodiscard]] bool try_take(SimThread& self, Category category);
  /// `lock.released()` falls where the next one can see it.
  template <typename Released>
  void give(SimThread& self, Category category, Released released) {
    serving_line_.release(self, category);
    ++now_serving_;
    released();
    spinners_.notify(); // every spinner loses its copy and reads the line again
  }
  void give(SimThread& self, Category category) {
    give(self, category, [] {});
  }
  /// Taken without any time passing.
  void grant() { ++next_ticket_; }
  /// Whether others queue behind the holder, who asks.
  [[nodiscard]] bool others_wait(SimThread& self, Category category);

private:
  [[nodiscard]] CacheLine& ticket_line() { return own_line_ ? *own_line_ : serving_line_; }

  std::uint64_t next_ticket_ = 0;
  std::uint64_t now_serving_ = 0;
  CacheLine serving_line_;
  std::optional<CacheLine> own_line_; ///< of the dispenser, if it has one
  Spinners spinners_;
};

class TicketLock : public Lock {
public:
  TicketLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
      : TicketLock(engine, host, parameters, name, parameters.pause, Spinners::Loop::pauses) {}

protected:
  TicketLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name, Duration turn,
             Spinners::Loop loop)
      : Lock(engine, name), tickets_(engine, host, name, turn, loop, parameters.ticket_lines) {}

private:
  void do_lock(SimThread& self, Category category) override { tickets_.take(self, category, *this); }
  bool do_try_lock(SimThread& self, Category category) override { return tickets_.try_take(self, category); }
  void do_unlock(SimThread& self, Category category) override {
    tickets_.give(self, category, [this] { released(); });
  }
  void do_grant(SimThread& /*self*/) override { tickets_.grant(); }

  Tickets tickets_;
};

/// Gives up its time slice after every look: sched_yield in place of PAUSE.
class TicketYieldLock final : public TicketLock {
public:
  TicketYieldLock(Engine& engine, const Host& host, const LockParameters& parameters, std::string_view name)
      : TicketLock(engine, host, parameters, name, yield_turn(host, parameters), Spinners::Loop::yields) {}
};

} // namespace contend
