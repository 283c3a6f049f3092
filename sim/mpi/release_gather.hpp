// A barrier of processes that share memory, by flags (MPICH: ch4, posix, release_gather). Up a tree all say that they have
// come, down the same tree they are let go:
//
//   barrier:
//     for each child: wait while its gather flag < round
//     own gather flag = round
//     unless root: wait while the parent's release flag < round
//     own release flag = round
//
// Nobody sends a message, and nobody sleeps.
#pragma once

#include "core/cache_line.hpp"
#include "models/locks/spinners.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

namespace contend {

class ReleaseGather {
public:
  /// Children of a process in the tree (MPIR_CVAR_BCAST_INTRANODE_TREE_KVAL, which the barrier uses both ways).
  static constexpr int branching = 64;

  /// `name` begins the names of the flags.
  ReleaseGather(Engine& engine, const Host& host, int processes, const std::string& name);

  /// Returns when all processes have called it as often. `place`: of the calling process among them, 0 is the root. One
  /// thread per process calls it.
  void barrier(SimThread& self, int place);

private:
  /// A counter on a line of its own, which one process writes and others watch.
  class Flag final : public Waitable {
  public:
    Flag(Engine& engine, const Host& host, const std::string& name);
    void set(SimThread& self, std::uint64_t round);
    void await(SimThread& self, std::uint64_t round);
    [[nodiscard]] std::string describe() const override { return "flag '" + name_ + "'"; }

  private:
    std::uint64_t round_ = 0;
    CacheLine line_;
    Spinners watchers_;
    std::string name_;
  };
  struct Member {
    Member(Engine& engine, const Host& host, const std::string& name)
        : gather(engine, host, name + " has come"), release(engine, host, name + " may go") {}
    std::uint64_t round = 0;
    Flag gather;
    Flag release;
  };

  std::deque<Member> members_;
  std::uint64_t arrivals_ = 0; ///< of all rounds
  TraceLabel label_;
};

/// The barriers of all communicators of one host, made when they are used first.
class SharedMemoryBarriers {
public:
  SharedMemoryBarriers(Engine& engine, const Host& host) : engine_(engine), host_(host) {}

  /// That of `ranks` processes from `first_rank` on.
  [[nodiscard]] ReleaseGather& among(int first_rank, int ranks);

private:
  Engine& engine_;
  const Host& host_;
  std::map<std::pair<int, int>, ReleaseGather> by_ranks_;
};

} // namespace contend
