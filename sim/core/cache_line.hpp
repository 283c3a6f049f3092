// One cache line that several cores use: who has it, who has to wait for it, and how long each access takes.
#pragma once

#include "core/engine.hpp"
#include "core/host.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A line under a MESI-like protocol, seen from the cores of one host. An access that hits costs the hit price. Exclusive
/// transfers are served one at a time; the next core is drawn among those that wait, and near ones win more often.
/// Copies for reading are handed out in parallel unless an exclusive transfer is under way.
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
  /// Atomic read-modify-write.
  void atomic(SimThread& self, Category category) { access(self, Mode::atomic, category); }

  /// Core that last had the line for itself, or -1.
  [[nodiscard]] int owner() const { return owner_; }
  /// Exclusive transfers between cores so far.
  [[nodiscard]] std::uint64_t transfers() const { return transfers_; }
  [[nodiscard]] std::string describe() const override;

private:
  enum class Mode { load, store, atomic };
  struct Request {
    SimThread* thread;
    Mode mode;
  };

  void access(SimThread& self, Mode mode, Category category);
  void transfer(SimThread& self, Mode mode, Category category);
  void depart(Mode mode);
  void finish_transfer(int core, Mode mode);
  [[nodiscard]] bool hits(int core, Mode mode) const {
    return !moving_ &&
           (mode == Mode::load ? copies_.test(static_cast<std::size_t>(core)) : exclusive_ && owner_ == core);
  }
  [[nodiscard]] Duration price(Mode mode) const {
    return mode == Mode::atomic ? host_.cache().atomic_hit : host_.cache().hit;
  }
  [[nodiscard]] Duration transfer_time(int core, Mode mode) const;
  [[nodiscard]] std::size_t draw_next();

  // What a hit looks at comes first.
  const Host& host_;
  int owner_ = -1;
  bool exclusive_ = false;   ///< only the owner has a copy
  bool moving_ = false;      ///< an exclusive transfer is under way
  TimePoint last_loss_;      ///< when a core last lost the line or had to share it
  std::uint64_t losses_ = 0; ///< how often that happened
  std::uint64_t transfers_ = 0;
  std::vector<Request> waiting_;
  Engine& engine_;
  CoreSet copies_; ///< who can read it without a transfer
  RandomStream arbitration_;
  std::string name_;
};

} // namespace contend
