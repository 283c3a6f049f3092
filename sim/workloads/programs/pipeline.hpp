// A sieve of primes as a pipeline of processes.
#pragma once

#include "workloads/programs/program.hpp"

#include <deque>
#include <vector>

namespace contend {

/// Place 0 makes the numbers 2, 3, ...; every other place keeps the first number that comes to it, and passes on what that
/// does not divide. The last place passes nothing on. An operation is one stream of numbers.
class Pipeline final : public Program {
public:
  explicit Pipeline(const PipelineParameters& parameters);
  void check() const override;

protected:
  CoTask iterate(CoProcess& self, int iteration) override;

private:
  static constexpr int end_of_stream = 0;

  [[nodiscard]] int rank_of(int place) const;
  [[nodiscard]] int place_of(int rank) const;
  CoTask pass(CoProcess& self, int place, int number);

  PipelineParameters parameters_;
  std::vector<std::deque<int>> streams_; ///< numbers on their way to each place: the messages' payload
  std::vector<int> kept_;                ///< by place, 0: none
};

} // namespace contend
