#include "mpi/assignment.hpp"

#include "mpi/plain_counter.hpp"

#include <string>
#include <vector>

namespace contend {

namespace {

/// The next one of a counter that all threads share.
class RoundRobin final : public Assignment {
public:
  RoundRobin(Engine& engine, const Host& host, int count, std::string_view name)
      : count_(static_cast<unsigned>(count)), counter_(engine, host, std::string(name) + "/round robin") {}

  int pick(SimThread& self) override {
    return count_ == 1 ? 0 : static_cast<int>(counter_.draw(self, Category::line_transfer) % count_);
  }

private:
  unsigned count_;
  PlainCounter counter_;
};

/// Thread-local: a thread takes the next instance at its first operation and keeps it.
class Dedicated final : public Assignment {
public:
  static constexpr AssignmentTraits traits{.by_thread = true};

  Dedicated(Engine& engine, const Host& host, int count, std::string_view name)
      : count_(count), counter_line_(engine, host, std::string(name) + "/dedicated") {}

  int pick(SimThread& self) override {
    const auto id = static_cast<std::size_t>(self.id());
    if (instances_.size() <= id) {
      instances_.resize(id + 1, -1);
    }
    if (instances_[id] < 0) {
      counter_line_.atomic(self, Category::line_transfer);
      instances_[id] = next_++ % count_;
    }
    return instances_[id];
  }

private:
  int count_;
  int next_ = 0;
  CacheLine counter_line_;
  std::vector<int> instances_; ///< by thread id; -1: none yet
};

} // namespace

Registry<AssignmentFactory>& assignment_registry() {
  static Registry<AssignmentFactory> registry{
      {"dedicated", make_assignment<Dedicated>},
      {"round-robin", make_assignment<RoundRobin>},
  };
  return registry;
}

} // namespace contend
