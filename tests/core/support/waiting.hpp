// Small things to wait for.
#pragma once

#include "core/engine.hpp"

#include <string>
#include <utility>

namespace contend::test {

/// A named reason to wait; somebody else resumes the thread.
class Reason final : public Waitable {
public:
  explicit Reason(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] std::string describe() const override { return text_; }

private:
  std::string text_;
};

/// An event that calls a function.
template <typename Function>
class CallEvent final : public Event {
public:
  CallEvent(Engine& engine, Function function) : Event(engine), function_(std::move(function)) {}
  void fire() override { function_(); }

private:
  Function function_;
};

} // namespace contend::test
