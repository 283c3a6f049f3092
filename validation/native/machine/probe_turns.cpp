// Threads of one process, or processes, take turns on a core; in its turn each of them makes some calls that work as those of a
// message library over sockets do. What caches cost at a switch is what a turn takes longer than the same calls without anybody
// else, beyond what it takes longer where nobody calls anything:
//   (time of n with calls - time of 1 with calls) - (time of n without - time of 1 without).
#include "machine/loopback.hpp"
#include "machine/probe.hpp"
#include "support/affinity.hpp"

#include <sys/wait.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

namespace contend::native {

namespace {

/// Turns go round by a byte in a pipe, which works for threads and for processes; one alone gives itself its next turn.
class Baton {
public:
  Baton() { checked(pipe(ends_.data()), "pipe"); }
  Baton(const Baton&) = delete;
  Baton& operator=(const Baton&) = delete;
  ~Baton() {
    close(ends_[0]);
    close(ends_[1]);
  }
  void give() const {
    const char byte = 0;
    checked(static_cast<int>(write(ends_[1], &byte, 1)), "write");
  }
  void await() const {
    char byte = 0;
    checked(static_cast<int>(read(ends_[0], &byte, 1)), "read");
  }

private:
  std::array<int, 2> ends_{};
};

/// What a thread of a library has for itself: requests of a window, as large as those of MPICH, used one after the other.
class Requests {
public:
  void fill() {
    for (std::int64_t& word : window_[next_]) {
      word = ++filled_;
    }
  }
  [[nodiscard]] std::int64_t complete() {
    std::int64_t sum = 0;
    for (const std::int64_t word : window_[next_]) {
      sum += word;
    }
    next_ = (next_ + 1) % window_.size();
    return sum;
  }

private:
  static constexpr std::size_t words = 64; // 512 B
  std::array<std::array<std::int64_t, words>, 128> window_{};
  std::size_t next_ = 0;
  std::int64_t filled_ = 0;
};

/// One of those that take turns. Threads of one process share its connection.
void take_turns(const Baton& own, const Baton& next, Loopback& connection, std::int64_t turns, std::int64_t calls) {
  const auto requests = std::make_unique<Requests>();
  volatile std::int64_t sum = 0; // somebody looks at what was completed
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    own.await();
    for (std::int64_t call = 0; call < calls; ++call) {
      requests->fill();
      connection.sender().send_one();
      if (connection.receiver().readable()) {
        connection.receiver().read_some();
      }
      sum = sum + requests->complete();
    }
    next.give();
  }
}

double turns_of_threads(int core, std::int64_t count, std::int64_t turns, std::int64_t calls) {
  const std::vector<Baton> batons(static_cast<std::size_t>(count));
  Loopback connection;
  std::vector<std::jthread> team;
  for (std::size_t i = 0; i < batons.size(); ++i) {
    team.emplace_back([&, i] {
      bind_to_core(core);
      take_turns(batons[i], batons[(i + 1) % batons.size()], connection, turns, calls);
    });
  }
  const std::int64_t begin = now_ns();
  batons.front().give();
  team.clear(); // joins
  return seconds(now_ns() - begin) / static_cast<double>(turns * count);
}

double turns_of_processes(int core, std::int64_t count, std::int64_t turns, std::int64_t calls) {
  const std::vector<Baton> batons(static_cast<std::size_t>(count));
  const Baton ready;
  std::vector<pid_t> team;
  for (std::size_t i = 0; i < batons.size(); ++i) {
    const pid_t child = checked(fork(), "fork");
    if (child == 0) {
      int status = 0;
      try {
        bind_to_core(core);
        Loopback connection;
        ready.give();
        take_turns(batons[i], batons[(i + 1) % batons.size()], connection, turns, calls);
      } catch (const Failure&) {
        status = 1;
      }
      _exit(status);
    }
    team.push_back(child);
  }
  for (std::size_t i = 0; i < batons.size(); ++i) {
    ready.await();
  }
  const std::int64_t begin = now_ns();
  batons.front().give();
  for (const pid_t child : team) {
    int status = 0;
    checked(waitpid(child, &status, 0), "waitpid");
    if (status != 0) {
      throw Failure(ExitCode::system_error, "a process that takes turns failed");
    }
  }
  return seconds(now_ns() - begin) / static_cast<double>(turns * count);
}

} // namespace

void probe_turns(ProbeContext& context) {
  const int core = context.cores.front();
  for (const std::int64_t calls : {0, 1, 16}) {
    const std::int64_t turns = context.at_most(calls > 1 ? 300 : 2000);
    for (const std::int64_t count : {1, 2, 8}) {
      context.add_point("turns", {{"core", core}, {"of", "threads"}, {"count", count}, {"calls", calls}},
                        [&] { return turns_of_threads(core, count, turns, calls); });
      context.add_point("turns", {{"core", core}, {"of", "processes"}, {"count", count}, {"calls", calls}},
                        [&] { return turns_of_processes(core, count, turns, calls); });
    }
  }
}

} // namespace contend::native
