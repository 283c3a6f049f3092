// Birds that look at their neighbourhood: a simulation of many small processes that ask and answer.
#pragma once

#include "workloads/programs/program.hpp"

#include <vector>

namespace contend {

/// A torus of grid x grid cells. Each has a process that knows where its birds are (location) and one that answers what can be
/// seen from it (view); all other processes are birds. A step, in four phases that barriers separate:
///
///   each bird asks the view of its cell;
///   each view asks the locations of its neighbourhood, 3 x 3 cells, which answer with the birds that they have;
///   each view answers its birds with all of them, and they compute where to fly;
///   each bird tells the location of the cell that it comes to.
///
/// Birds fly along a row, one cell a step: how many come to a cell is known, and the same for all but for a remainder. An
/// operation is a step.
class Flocking final : public Program {
public:
  explicit Flocking(const FlockingParameters& parameters) : Program(parameters), parameters_(parameters) {}

protected:
  CoTask iterate(CoProcess& self, int iteration) override;

private:
  [[nodiscard]] int cells() const { return parameters_.grid * parameters_.grid; }
  [[nodiscard]] static int location(int cell) { return cell; }
  [[nodiscard]] int view(int cell) const { return cells() + cell; }
  /// Where a bird is at the beginning of a step.
  [[nodiscard]] int cell_of(int bird, int step) const;
  /// The birds of a cell then, by rank.
  [[nodiscard]] std::vector<int> birds_of(const CoProcess& self, int cell, int step) const;
  /// The cell itself and those around it, each once.
  [[nodiscard]] std::vector<int> neighbourhood(int cell) const;
  [[nodiscard]] std::int64_t seen_bytes(const CoProcess& self, int cell, int step) const;

  CoTask be_location(CoProcess& self, int cell, int step);
  CoTask be_view(CoProcess& self, int cell, int step);
  CoTask be_bird(CoProcess& self, int step);

  FlockingParameters parameters_;
};

} // namespace contend
