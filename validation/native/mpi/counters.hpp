// Performance variables of the MPI tool interface (MPI_T), among them Open MPI's software performance counters (SPC).
#pragma once

#include "mpi/mpi.hpp"
#include "support/json.hpp"

#include <string>
#include <vector>

namespace contend::native {

/// Reads chosen variables of this process at construction and again at the end.
class Counters {
public:
  /// `filter`: parts of names, separated by commas, in any case; "all". Empty: no counters.
  explicit Counters(const std::string& filter);
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;
  ~Counters();

  enum class Kind { total, level, high_watermark, low_watermark };
  struct Value {
    std::string name;
    Kind kind;
    double value; ///< totals: since construction; else now
  };
  [[nodiscard]] std::vector<Value> read() const;

private:
  struct Variable;
  void open(int index, const std::string& filter);
  [[nodiscard]] double value_of(const Variable& variable) const;

  bool initialised_ = false;
  bool is_open_ = false; ///< whether there is a session; Open MPI before 4.0 has no name for none
  MPI_T_pvar_session session_{};
  MPI_Comm world_ = MPI_COMM_WORLD; ///< what variables of communicators are bound to
  std::vector<Variable> variables_;
};

/// The counters of one side, summed (highest watermarks: the highest) over its ranks. Collective over MPI_COMM_WORLD;
/// meaningful on rank 0. `side` is 0 for senders, 1 for receivers.
struct SideCounters {
  std::vector<Counters::Value> sender;
  std::vector<Counters::Value> receiver;
};
[[nodiscard]] SideCounters gather_counters(const std::vector<Counters::Value>& mine, int side);

/// {NAME: {"value", "class"}}
[[nodiscard]] Json raw_counters(const std::vector<Counters::Value>& values);

/// Adds what the simulator counts under its own names (out_of_sequence, match_time_ns, …), as far as the library has it.
void add_known_counters(Json& counters, const std::vector<Counters::Value>& receiver);

} // namespace contend::native
