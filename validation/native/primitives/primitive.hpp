// What all primitives share: two ranks, one thread each; rank 0 measures, rank 1 does its part.
#pragma once

#include "mpi/mpi.hpp"
#include "support/clock.hpp"
#include "support/hooks.hpp"
#include "support/json.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace contend::native {

/// Tags that separate what is measured from what is not.
namespace tags {
inline constexpr int message = 1;
inline constexpr int word = 2;    ///< agreement between the ranks
inline constexpr int never = 3;   ///< nothing is sent with this tag unless to clean up
inline constexpr int other = 100; ///< and above: receives and messages that do not fit
} // namespace tags

struct PrimitiveContext {
  int rank = 0;
  std::int64_t repetitions = 1;
  std::int64_t iterations = 1000;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> depths;
  Hooks hooks;
  Json points = Json::array();
  std::int64_t steps = 0;

  [[nodiscard]] bool measures() const { return rank == 0; }
  [[nodiscard]] int peer() const { return 1 - rank; }
  /// Both ranks call it; `measure` gives seconds per operation on rank 0 and is called once per repetition on both.
  void add_point(const std::string& primitive, const Json::Object& parameters, const std::function<double()>& measure);
  /// The same for what was measured already: seconds, of which rank 0 keeps its own.
  void add_samples(const std::string& primitive, const Json::Object& parameters, const std::vector<double>& samples);
};

/// Both ranks are here.
void meet();

struct Primitive {
  std::string name;
  void (*run)(PrimitiveContext&);
};

void primitive_team_begin(PrimitiveContext& context);
void primitive_isend(PrimitiveContext& context);
void primitive_irecv(PrimitiveContext& context);
void primitive_test_empty(PrimitiveContext& context);
void primitive_iprobe_empty(PrimitiveContext& context);
void primitive_latency(PrimitiveContext& context);
void primitive_message(PrimitiveContext& context);
void primitive_match_posted(PrimitiveContext& context);
void primitive_match_unexpected(PrimitiveContext& context);

/// Before MPI starts: the transport keeps as many messages that nobody wants yet. libfabric's tcp provider reads nothing more
/// from a connection of which it holds 64 (FI_TCP_MAX_SAVED), so that the message behind them that is wanted never comes. A
/// value that the environment has stays.
void keep_unexpected(std::int64_t depth);

[[nodiscard]] const std::vector<Primitive>& primitives();

/// Half a ping-pong of `size` bytes between the two ranks, median over batches: seconds on rank 0, 0 on rank 1.
[[nodiscard]] double half_ping_pong(const PrimitiveContext& context, std::int64_t size, std::int64_t iterations);

} // namespace contend::native
