// A lock-free queue through which many threads hand commands to one: a ring of slots, each with a sequence number that says
// whose turn it is to use the slot (after Vyukov's bounded queue).
//
//   push(c): t = fetch_add(tail); slot = ring[t mod n]; while slot.sequence != t: pause; slot.command = c; slot.sequence = t + 1
//   pop():   slot = ring[head mod n]; if slot.sequence != head + 1: empty; c = slot.command; slot.sequence = head + n; head++
#pragma once

#include "core/cache_line.hpp"
#include "core/resume_all.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

template <typename Command>
class CommandQueue final : public Waitable {
public:
  /// Every slot has a cache line of its own.
  CommandQueue(Engine& engine, const Host& host, int slots, std::string_view name)
      : tail_line_(engine, host, std::string(name) + "/tail"), name_(name) {
    for (int i = 0; i < slots; ++i) {
      ring_.emplace_back(engine, host, std::string(name) + "/slot " + std::to_string(i), static_cast<std::uint64_t>(i));
    }
  }

  /// Any thread. `before_store` is called when the slot is about to change under the eyes of the consumer. Spins while the
  /// queue is full.
  template <typename BeforeStore>
  void push(SimThread& self, Command command, Category category, BeforeStore before_store) {
    tail_line_.atomic(self, category);
    const std::uint64_t ticket = tail_++;
    Slot& slot = ring_[ticket % ring_.size()];
    for (slot.line.load(self, category); slot.sequence != ticket; slot.line.load(self, category)) {
      slot.spinning.push_back(&self);
      self.wait(*this, category);
    }
    before_store();
    ++storing_;
    slot.line.store(self, category);
    --storing_;
    slot.command = std::move(command);
    slot.sequence = ticket + 1;
  }

  /// The consumer's look at the next slot; ready() tells what it saw.
  void look(SimThread& self, Category category) { ring_[head_ % ring_.size()].line.load(self, category); }
  [[nodiscard]] bool ready() const { return ring_[head_ % ring_.size()].sequence == head_ + 1; }
  /// Nothing is there, or about to be.
  [[nodiscard]] bool quiet() const { return !ready() && storing_ == 0; }
  /// Takes the next command. Requires: ready().
  Command take(SimThread& self, Category category) {
    Slot& slot = ring_[head_ % ring_.size()];
    slot.line.store(self, category);
    Command command = std::move(slot.command);
    slot.sequence = head_ + ring_.size();
    ++head_;
    resume_all(slot.spinning);
    return command;
  }

  [[nodiscard]] std::size_t slots() const { return ring_.size(); }
  [[nodiscard]] std::string describe() const override { return "a free slot of command queue '" + name_ + "'"; }

private:
  struct Slot {
    Slot(Engine& engine, const Host& host, const std::string& name, std::uint64_t first)
        : line(engine, host, name), sequence(first) {}
    CacheLine line;
    std::uint64_t sequence;
    Command command{};
    std::vector<SimThread*> spinning; ///< producers that have drawn this slot and find it full
  };

  std::uint64_t tail_ = 0;
  std::uint64_t head_ = 0;
  int storing_ = 0; ///< producers whose command is on its way
  CacheLine tail_line_;
  std::deque<Slot> ring_;
  std::string name_;
};

} // namespace contend
