// Ten thousand short programs with everything drawn at random: how threads wait, test and use sync objects, by which design,
// and when messages come. None may end in a deadlock, and none may lose a completion or report one twice.
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace contend;
using test::Program;

namespace {

/// Draws from one named stream.
class Draw {
public:
  Draw(std::uint64_t seed, const std::string& name) : random_(seed, name) {}
  int number(int from, int to) {
    return from + static_cast<int>(random_.below(static_cast<std::uint64_t>(to - from + 1)));
  }
  bool one_in(int n) { return number(1, n) == 1; }
  std::string one_of(const std::vector<std::string>& names) { return names[random_.below(names.size())]; }
  /// Often nothing, at times long enough for others to fall asleep.
  Duration pause() { return one_in(3) ? Duration{} : one_in(4) ? 1_us * number(1, 30) : 10_ns * number(1, 200); }

private:
  RandomStream random_;
};

PointConfig random_design(std::uint64_t seed) {
  Draw draw(seed, "design");
  PointConfig point = test::small_point();
  test::add_jitter(point);
  LibraryDesign& library = point.library;
  const std::vector<std::string> locks{"pthread-mutex", "ticket", "mcs"};
  library.progress.engine =
      draw.one_of({"ownership", "ownership", "ownership", "concurrent", "concurrent", "per-target", "every-nth",
                   "request-lock", "serial-blocking", "serial-try-lock"});
  library.progress.lock = draw.one_of(locks);
  library.instances.lock = draw.one_of(locks);
  library.matching.lock = draw.one_of(locks);
  library.instances.count = draw.number(1, 3);
  library.instances.assignment = draw.one_of({"round-robin", "dedicated"});
  const ProgressTraits& traits = progress_registry().at(library.progress.engine).traits();
  if (traits.limits_pollers) {
    library.progress.threads_in_progress = draw.number(traits.threads_idle ? 0 : 1, 3);
    library.progress.lenient_limit = draw.one_in(2);
    library.waiting.idle = draw.one_of({"sleep", "guarded-sleep", "spin", "steal"});
    library.tasks.matching = library.waiting.idle == "steal" && draw.one_in(2);
  } else if (traits.reads_flags) {
    library.waiting.notification = draw.one_of({"sync-object", "request-flags"});
  }
  library.waiting.attach = draw.one_of({"pending", "every", "none"});
  library.progress.yield_when_idle = draw.one_in(3);
  point.machine.nic.poll_batch = draw.number(1, 4);
  return point;
}

/// One thread's receives, completed in some way. Returns how many were reported complete.
class Receiver {
public:
  Receiver(SimThread& self, Process& mpi, Draw& draw) : self_(self), mpi_(mpi), draw_(draw) {}

  int complete(std::vector<Request*> requests) {
    const int n = static_cast<int>(requests.size());
    int reported = 0;
    switch (draw_.number(0, 10)) {
    case 0:
      mpi_.waitall(self_, requests);
      return n;
    case 1:
      for (; mpi_.waitany(self_, requests) >= 0; pause()) {
        ++reported;
      }
      return reported;
    case 2:
      for (std::size_t some = 1; some > 0; pause()) {
        some = mpi_.waitsome(self_, requests).size();
        reported += static_cast<int>(some);
      }
      return reported;
    case 3:
      for (Request*& request : requests) {
        while (!mpi_.test(self_, &request)) {
        }
        ++reported;
      }
      return reported;
    case 4:
      for (; reported < n; reported += mpi_.testany(self_, requests) >= 0 ? 1 : 0) {
      }
      return mpi_.testany(self_, requests) < 0 ? reported : -1;
    case 5:
      while (reported < n) {
        reported += static_cast<int>(mpi_.testsome(self_, requests).size());
      }
      return reported;
    case 6:
      while (!mpi_.testall(self_, requests)) {
      }
      return n;
    case 7: // one by itself, the others together
      reported += mpi_.waitany(self_, requests) >= 0 ? 1 : 0;
      pause();
      mpi_.waitall(self_, requests);
      return reported + n - 1;
    default:
      return complete_by_sync(requests);
    }
  }

private:
  void pause() { self_.spend(draw_.pause(), Category::software); }

  int complete_by_sync(const std::vector<Request*>& requests) {
    if (sync_ == nullptr) {
      sync_ = &mpi_.sync_init(self_);
    }
    std::vector<int> times(requests.size());
    const auto note = [&](const std::vector<UserSync::Completion>& completions) {
      for (const UserSync::Completion& completion : completions) {
        ++times[completion.data];
      }
    };
    for (std::size_t i = 0; i < requests.size(); ++i) {
      mpi_.sync_attach(self_, *sync_, *requests[i], i);
      pause();
    }
    if (draw_.one_in(3)) {
      const auto i = static_cast<std::size_t>(draw_.number(0, static_cast<int>(requests.size()) - 1));
      if (mpi_.sync_detach(self_, *sync_, *requests[i])) {
        mpi_.wait(self_, requests[i]);
        ++times[i];
      }
    }
    const int way = draw_.number(0, 2);
    while (way < 2 && mpi_.sync_size(self_, *sync_) > 0) {
      note(mpi_.sync_query_bulk(self_, *sync_, way == 0 ? 1 : 3));
    }
    note(mpi_.sync_waitall(self_, *sync_));
    const bool once = std::all_of(times.begin(), times.end(), [](int count) { return count == 1; });
    return once ? static_cast<int>(requests.size()) : -1;
  }

  SimThread& self_;
  Process& mpi_;
  Draw& draw_;
  UserSync* sync_ = nullptr;
};

/// Receives asked for and reported, or why there was no end.
std::string run(std::uint64_t seed) {
  const PointConfig point = random_design(seed);
  Draw draw(seed, "program");
  const int threads = draw.number(1, 4);
  const int steps = draw.number(1, 3);
  Program program(2, point, seed);
  program.engine.set_step_limit(1'000'000); // a run that ends takes some thousands
  int expected = 0;
  int reported = 0;
  for (int thread = 0; thread < threads; ++thread) {
    std::vector<int> receives;
    for (int step = 0; step < steps; ++step) {
      receives.push_back(draw.number(1, 4));
      expected += receives.back();
    }
    const auto tag = [thread](int step, int k) { return 100 * thread + 10 * step + k; };
    program.thread(0, [&, thread, tag, receives](SimThread& self, Process& mpi) {
      Draw mine(seed, "sender " + std::to_string(thread));
      for (int step = 0; step < steps; ++step) {
        for (int k = receives[static_cast<std::size_t>(step)]; k-- > 0;) {
          self.spend(mine.pause(), Category::software);
          mpi.send(self, program.communicator, 1, tag(step, k), mine.one_in(5) ? 20'000 : 8);
        }
      }
    });
    program.thread(1, [&, thread, tag, receives](SimThread& self, Process& mpi) {
      Draw mine(seed, "receiver " + std::to_string(thread));
      Receiver receiver(self, mpi, mine);
      for (int step = 0; step < steps; ++step) {
        std::vector<Request*> requests;
        for (int k = 0; k < receives[static_cast<std::size_t>(step)]; ++k) {
          requests.push_back(mpi.irecv(self, program.communicator, 0, tag(step, k), 20'000));
        }
        self.spend(mine.pause(), Category::software);
        const int complete = receiver.complete(requests);
        reported += complete == receives[static_cast<std::size_t>(step)] ? complete : -1'000;
      }
    });
  }
  try {
    program.run();
  } catch (const std::exception& error) {
    return error.what();
  }
  return reported == expected && program.counters(1).received == expected
             ? ""
             : std::to_string(reported) + " of " + std::to_string(expected) + " receives were reported";
}

} // namespace

TEST_CASE("random interleavings: nobody waits for ever, nothing is lost", "[mpi][waiting][random]") {
  constexpr std::uint64_t runs = 10'000;
  std::uint64_t failed = 0;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    const std::string problem = run(seed);
    if (!problem.empty() && ++failed <= 5) {
      const LibraryDesign library = random_design(seed).library;
      CAPTURE(seed, library.progress.engine, library.progress.threads_in_progress, library.progress.lock,
              library.waiting.idle, library.waiting.notification, library.progress.yield_when_idle,
              library.tasks.matching, library.instances.count, library.instances.lock);
      CHECK(problem == "");
    }
  }
  CHECK(failed == 0);
}
