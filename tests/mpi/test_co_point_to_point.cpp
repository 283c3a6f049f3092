// Messages between processes that are coroutines: what they cost and what they guarantee.
#include "support/job.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <tuple>
#include <utility>

using namespace contend;
using test::Job;
using test::job_settings;

namespace {

CoTask ping(CoProcess& self, std::int64_t bytes, int rounds, Transfer sending, Transfer receiving) {
  for (int i = 0; i < rounds; ++i) {
    if (self.rank() == 0) {
      co_await self.send(1, 0, bytes, sending);
      co_await self.recv(1, 0, bytes, receiving);
    } else {
      co_await self.recv(0, 0, bytes, receiving);
      co_await self.send(0, 0, bytes, sending);
    }
  }
}

/// Mean time of a message in a long ping-pong.
Duration message_time(ProcessLayout layout, const CoSettings& settings, std::int64_t bytes,
                      Transfer sending = Transfer::copy, Transfer receiving = Transfer::copy) {
  const auto end = [&](int rounds) {
    return Job(layout, settings, [&](CoProcess& self) { return ping(self, bytes, rounds, sending, receiving); }).end();
  };
  return Duration::picoseconds((end(120) - end(20)).count() / 200);
}

CoTask ring(CoProcess& self, int step, int rounds) {
  const int size = self.size();
  for (int i = 0; i < rounds; ++i) {
    if (self.rank() == 0) {
      co_await self.send(step, 0, 8);
      co_await self.recv(size - step, 0, 8);
    } else {
      co_await self.recv((self.rank() + size - step) % size, 0, 8);
      co_await self.send((self.rank() + step) % size, 0, 8);
    }
  }
}

} // namespace

TEST_CASE("a co-located message costs its calls, one copy and one switch", "[coroutines][messages]") {
  const CoSettings settings = job_settings();
  // send 80, search 10 + 3, completing both 22; receive 70, search 10, keep 7; two waits of 25; look 13; switch 130; copy 30.
  const Duration fixed = Duration::nanoseconds(80 + 13 + 22 + 70 + 10 + 7 + 50 + 13 + 130 + 30);
  CHECK(message_time({2, 1, 1}, settings, 0) == fixed);
  CHECK(message_time({2, 1, 1}, settings, 8000) == fixed + 1_us);
  CHECK(message_time({2, 1, 1}, settings, 65'536) == fixed + Duration::nanoseconds(65'536 / 8.0)); // no rendezvous
}

TEST_CASE("a handed over buffer costs the same whatever its size", "[coroutines][messages]") {
  const CoSettings settings = job_settings();
  const auto time = [&](std::int64_t bytes, Transfer sending, Transfer receiving) {
    return message_time({2, 1, 1}, settings, bytes, sending, receiving);
  };
  constexpr auto z = Transfer::hand_over;
  constexpr auto c = Transfer::copy;
  CHECK(time(0, z, z) == time(100'000'000, z, z));
  CHECK(time(0, z, z) + 30_ns == time(0, c, c));       // nothing is copied
  CHECK(time(1000, z, c) == time(1000, c, c) + 60_ns); // freed
  CHECK(time(1000, c, z) == time(1000, c, c) + 60_ns); // allocated
}

TEST_CASE("who comes first does not matter to the price of a co-located message", "[coroutines][messages]") {
  const auto run = [](int sender) {
    return Job({2, 1, 1}, job_settings(),
               [&](CoProcess& self) -> CoTask {
                 return self.rank() == sender
                        ? [](CoProcess& s, int to) -> CoTask { co_await s.send(to, 0, 100); }(self, 1 - sender)
                        : [](CoProcess& s, int from) -> CoTask { co_await s.recv(from, 0, 100); }(self, sender);
               })
        .end();
  };
  // The receiver first: its receive is kept and found (3 ns for the visit, as for the sender's request).
  CHECK(run(0) == run(1));
}

TEST_CASE("a process alone in its OS process never switches", "[coroutines][scheduling]") {
  for (const char* scheduler : {"round-robin", "block"}) {
    CoSettings settings = job_settings();
    settings.library.coroutines.scheduler = scheduler;
    Job job({1, 2, 1}, settings, [](CoProcess& self) { return ping(self, 8, 10, Transfer::copy, Transfer::copy); });
    CHECK(job.counters().sent == 20);
    CHECK(job.counters().received == 20);
    const Duration with = job.end();
    settings.coroutines.light_switch = 10_us;
    if (std::string(scheduler) == "round-robin") {
      Job other({1, 2, 1}, settings, [](CoProcess& self) { return ping(self, 8, 10, Transfer::copy, Transfer::copy); });
      CHECK(other.end() == with);
      CHECK(other.counters().progress_turns == 0);
    } else {
      CHECK(job.counters().progress_turns > 0);
    }
  }
}

TEST_CASE("round robin: a token with the queue's order takes one round, against it many", "[coroutines][scheduling]") {
  const auto switches = [](int processes, int step, const char* scheduler) {
    CoSettings settings = job_settings();
    settings.library.coroutines.scheduler = scheduler;
    const auto count = [&](int rounds) {
      return Job({processes, 1, 1}, settings, [&](CoProcess& self) { return ring(self, step, rounds); })
          .counters()
          .switches;
    };
    return static_cast<double>(count(12) - count(2)) / 10.0;
  };
  constexpr int p = 64;
  CHECK(switches(p, 1, "round-robin") == Approx(p).epsilon(0.1));
  CHECK(switches(p, p - 1, "round-robin") == Approx(p * (p - 1)).epsilon(0.1));
  CHECK(switches(p, 1, "block") == Approx(p).epsilon(0.1));
  CHECK(switches(p, p - 1, "block") == Approx(p).epsilon(0.1));
}

TEST_CASE("a large message between OS processes waits for an invitation, a co-located one does not",
          "[coroutines][messages]") {
  for (const std::int64_t bytes : {65'535, 65'536, 1'000'000}) {
    CAPTURE(bytes);
    const auto announced = [&](ProcessLayout layout) {
      Job job(layout, job_settings(),
              [&](CoProcess& self) { return ping(self, bytes, 3, Transfer::copy, Transfer::copy); });
      CHECK(job.counters().received == 6);
      return job.counters().announced;
    };
    CHECK(announced({2, 1, 1}) == 0);
    CHECK(announced({1, 2, 1}) == (bytes >= 65'536 ? 6 : 0));
    CHECK(announced({1, 1, 2}) == (bytes >= 65'536 ? 6 : 0));
  }
}

TEST_CASE("copying in and copying out of a large message overlap", "[coroutines][messages]") {
  constexpr std::int64_t bytes = 64 * 65'536;
  const Duration together = message_time({1, 2, 1}, job_settings(), bytes);
  CoSettings settings = job_settings();
  settings.library.coroutines.cells_under_way = 1;
  const Duration in_turns = message_time({1, 2, 1}, settings, bytes);
  const Duration copy = Duration::seconds(65'536 / 8e9) + 30_ns;
  CHECK(together > 64 * copy);
  CHECK(together < 80 * copy);
  CHECK(in_turns > 127 * copy);
}

TEST_CASE("handing over pieces of a large message is work, not a turn that finds nothing", "[coroutines][messages]") {
  constexpr int pieces = 64;
  const auto software = [](Duration enqueue, bool coalesce) {
    CoSettings settings = job_settings();
    settings.coalesce_idle_polls = coalesce;
    settings.channels.enqueue = enqueue;
    settings.library.coroutines.cells_under_way = 1; // a turn of its own for each piece
    Job job({1, 2, 1}, settings,
            [&](CoProcess& self) { return ping(self, pieces * 65'536, 1, Transfer::copy, Transfer::copy); });
    return job.times()[static_cast<std::size_t>(Category::software)];
  };
  for (const bool coalesce : {true, false}) {
    CAPTURE(coalesce);
    CHECK(software(1'100_ns, coalesce) - software(100_ns, coalesce) >= 2 * pieces * 1_us);
  }
}

TEST_CASE("what does not fit into the sockets waits for the sender to look again", "[coroutines][messages]") {
  constexpr std::int64_t bytes = 16 * 65'536;
  const auto delivered = [&](int under_way, Duration busy) {
    CoSettings settings = job_settings();
    settings.library.coroutines.stream_cells_under_way = under_way;
    TimePoint done;
    Job job({2, 1, 2}, settings, [&](CoProcess& self) -> CoTask {
      if (self.rank() == 2) {
        return [](CoProcess& s, TimePoint& end) -> CoTask {
          co_await s.recv(0, 0, bytes);
          end = s.now();
        }(self, done);
      }
      if (self.rank() == 0) {
        return [](CoProcess& s) -> CoTask { co_await s.send(2, 0, bytes); }(self);
      }
      return [](CoProcess& s, Duration time) -> CoTask { // rank 1 shares rank 0's processor; rank 3 has nothing to do
        for (int k = 0; s.rank() == 1 && k < 20; ++k) {
          s.compute(time);
          co_await s.yield();
        }
      }(self, busy);
    });
    return done.since_start();
  };
  const Duration wire = Duration::seconds(bytes / 1.25e9);
  const Duration all_at_once = delivered(0, 1_ms);
  CHECK(all_at_once < 3_ms + wire); // announced before rank 1's first ms, invited after, all gone then
  for (const int under_way : {1, 4, 8}) {
    CAPTURE(under_way);
    const Duration some_at_a_time = delivered(under_way, 1_ms);
    CHECK(some_at_a_time > (16 / under_way - 1) * 1_ms); // each lot waits for the end of a computation
    CHECK(some_at_a_time < (16 / under_way + 2) * 1_ms + wire);
  }
  CHECK(delivered(4, 0_ns) < delivered(0, 0_ns) + 4 * 40_us); // who looks all the time loses round trips only
}

TEST_CASE("any coroutine invites on behalf of the one that has posted the receive", "[coroutines][messages]") {
  // Rank 0 sends a large message to rank 2, which has posted the receive and waits for something else from rank 3, which
  // waits for a small message: rank 3's waiting makes the progress.
  for (const char* scheduler : {"round-robin", "block"}) {
    CAPTURE(scheduler);
    CoSettings settings = job_settings();
    settings.library.coroutines.scheduler = scheduler;
    TimePoint large_done;
    TimePoint small_done;
    const auto body = [&](CoProcess& self) -> CoTask {
      switch (self.rank()) {
      case 0:
        return [](CoProcess& s, TimePoint& done) -> CoTask {
          co_await s.send(2, 0, 1'000'000);
          done = s.now();
          co_await s.send(3, 0, 8);
        }(self, large_done);
      case 2:
        return [](CoProcess& s) -> CoTask {
          CoRequest* const large = s.irecv(0, 0, 1'000'000);
          co_await s.recv(3, 1, 8);
          CHECK(large->complete);
          co_await s.wait(large);
        }(self);
      case 3:
        return [](CoProcess& s, TimePoint& done) -> CoTask {
          co_await s.recv(0, 0, 8);
          done = s.now();
          co_await s.send(2, 1, 8);
        }(self, small_done);
      default:
        return [](CoProcess& s) -> CoTask { co_await s.yield(); }(self);
      }
    };
    Job job({2, 1, 2}, settings, body);
    CHECK(job.counters().announced == 1);
    CHECK(large_done < small_done); // it could not have ended without an invitation
  }
}

TEST_CASE("a mailbox takes one small packet at a time", "[coroutines][messages]") {
  const auto boxes = [](std::int64_t bytes, std::int64_t limit) {
    CoSettings settings = job_settings();
    settings.library.coroutines.fastbox_bytes = limit;
    Job job({1, 2, 1}, settings, [&](CoProcess& self) -> CoTask {
      return [](CoProcess& s, std::int64_t n) -> CoTask {
        if (s.rank() == 0) {
          for (int i = 0; i < 3; ++i) {
            co_await s.send(1, 0, n);
          }
          co_await s.recv(1, 1, 0);
        } else {
          s.compute(100_us); // all three are under way before it looks
          for (int i = 0; i < 3; ++i) {
            const Status status = co_await s.recv(0, 0, 100);
            CHECK(status.bytes == n);
          }
          co_await s.send(0, 1, 0);
        }
      }(self, bytes);
    });
    return job.counters().fastboxes;
  };
  CHECK(boxes(16, 64) == 2); // the first of three, and the answer
  CHECK(boxes(17, 64) == 1);
  CHECK(boxes(16, 0) == 0);
}

TEST_CASE("messages of random programs arrive in order, however processes share OS processes",
          "[coroutines][messages]") {
  constexpr int processes = 12;
  constexpr int messages = 40; // from each to each of two others
  for (const test::JobVariant& variant : test::job_variants()) {
    CAPTURE(variant.name);
    // Each process sends numbered messages to two others, of sizes on both sides of all limits, and receives some by
    // wildcards; the size of a message says its number.
    std::map<std::tuple<int, int>, int> next; // (source, receiver) -> number
    int received = 0;
    const auto body = [&](CoProcess& self) -> CoTask {
      return [](CoProcess& s, std::map<std::tuple<int, int>, int>& expected, int& count) -> CoTask {
        RandomStream random(7, "rank " + std::to_string(s.rank()));
        constexpr std::int64_t largest = 100'000;
        const auto size_of = [](int number) {
          return number % 5 == 4 ? largest - messages + number : std::int64_t{number};
        };
        std::vector<CoRequest*> sends;
        int from_first = 0;
        int from_second = 0;
        const int first = (s.rank() + processes - 1) % processes;
        const int second = (s.rank() + processes - 5) % processes;
        int sent = 0;
        while (sent < messages || from_first + from_second < 2 * messages) {
          if (sent < messages && (random.below(2) == 0 || from_first + from_second >= 2 * sent)) {
            sends.push_back(s.isend((s.rank() + 1) % processes, 3, size_of(sent)));
            sends.push_back(s.isend((s.rank() + 5) % processes, 3, size_of(sent)));
            ++sent;
            continue;
          }
          int source = any_source;
          if (random.below(2) == 0) { // the one that must have sent more by now, or all might wait for each other
            source = from_first <= from_second ? first : second;
          }
          const Status status = co_await s.recv(source, random.below(2) == 0 ? any_tag : 3, largest);
          CHECK(status.tag == 3);
          CHECK((status.source == first || status.source == second));
          const int number = expected[{status.source, s.rank()}]++;
          CHECK(status.bytes == size_of(number));
          ++(status.source == first ? from_first : from_second);
          ++count;
          if (random.below(8) == 0) {
            s.compute(Duration::nanoseconds(static_cast<double>(random.below(5000))));
            co_await s.yield();
          }
        }
        co_await s.waitall(sends);
      }(self, next, received);
    };
    Job job(variant.layout, variant.settings, body);
    CHECK(received == processes * 2 * messages);
    const CoCounters counters = job.counters();
    CHECK(counters.received == processes * 2 * messages);
    CHECK(counters.sent + counters.colocated == processes * 2 * messages);
    for (int i = 0; i < variant.layout.os_processes(); ++i) {
      CHECK(job.world().os_process(i).posted().size() == 0);
      CHECK(job.world().os_process(i).unexpected().size() == 0);
      CHECK(job.world().os_process(i).frames().live() == 0);
    }
  }
}

TEST_CASE("turns in which nobody can go on may pass at once", "[coroutines][scheduling]") {
  for (const ProcessLayout layout : {ProcessLayout{1, 2, 1}, {3, 2, 1}, {2, 1, 2}, {5, 2, 2}, {4, 8, 1}, {1, 8, 2}}) {
    for (const char* scheduler : {"round-robin", "block"}) {
      CAPTURE(layout.processes_per_os_process, layout.os_processes_per_node, layout.nodes, scheduler);
      const auto run = [&](bool coalesce) {
        CoSettings settings = job_settings();
        settings.coalesce_idle_polls = coalesce;
        settings.coroutines.light_switch = 130'021_ps; // no two dates are equal by chance
        settings.coroutines.check = 13'007_ps;
        settings.channels.poll = 50'017_ps;
        settings.library.coroutines.scheduler = scheduler;
        auto job = std::make_unique<Job>(layout, settings, [](CoProcess& self) -> CoTask {
          return [](CoProcess& s) -> CoTask {
            for (int i = 0; i < 5; ++i) {
              s.compute(Duration::nanoseconds(977.0 * s.rank()));
              CoRequest* const receive = s.irecv((s.rank() + 1) % s.size(), 0, 100'000);
              co_await s.send((s.rank() + s.size() - 1) % s.size(), 0, i == 3 ? 100'000 : 200);
              co_await s.wait(receive);
              co_await barrier(s);
            }
          }(self);
        });
        return std::tuple(job->end(), job->counters().switches, job->counters().progress_turns, job->steps(),
                          job->times());
      };
      auto [end, switches, turns, steps, times] = run(true);
      auto [all_end, all_switches, all_turns, all_steps, all_times] = run(false);
      CHECK(end.count() == all_end.count());
      CHECK(switches == all_switches);
      CHECK(turns == all_turns);
      CHECK(steps <= all_steps);
      for (SimThread::Times* const one :
           {&times, &all_times}) { // a look at a barrier's line that finds nothing may be either
        (*one)[static_cast<std::size_t>(Category::barrier)] += (*one)[static_cast<std::size_t>(Category::poll_idle)];
        (*one)[static_cast<std::size_t>(Category::poll_idle)] = {};
      }
      for (std::size_t category = 0; category < times.size(); ++category) {
        CAPTURE(name_of(static_cast<Category>(category)));
        CHECK(times[category].count() == all_times[category].count());
      }
    }
  }
}

TEST_CASE("who shares a core leaves it to others, whether idle turns pass at once or not", "[coroutines][scheduling]") {
  for (const char* scheduler : {"round-robin", "block"}) {
    CAPTURE(scheduler);
    const auto run = [&](bool coalesce) {
      CoSettings settings = job_settings();
      settings.topology = {1, 1, 1};
      settings.coalesce_idle_polls = coalesce;
      settings.library.coroutines.scheduler = scheduler;
      const Job job({2, 3, 1}, settings, [](CoProcess& self) { return ring(self, 1, 3); });
      return std::pair(job.end(), job.counters().received);
    };
    const auto [end, received] = run(true);
    CHECK(received == 18);
    CHECK(run(false) == std::pair(end, received));
  }
}

TEST_CASE("a job that cannot go on says who waits", "[coroutines]") {
  const auto run = [](ProcessLayout layout) {
    Job(layout, job_settings(), [](CoProcess& self) -> CoTask {
      return [](CoProcess& s) -> CoTask {
        if (s.rank() == 1) {
          co_await s.recv(0, 0, 8);
        }
      }(self);
    });
  };
  CHECK_THROWS_WITH(run({2, 1, 1}), Catch::Contains("1 MPI processes from rank 0 on have not ended"));
  CHECK_THROWS_AS(run({1, 2, 1}), Deadlock);
}

TEST_CASE("a message that does not fit its receive is an error of the program", "[coroutines]") {
  for (const ProcessLayout layout : {ProcessLayout{2, 1, 1}, {1, 2, 1}}) {
    CHECK_THROWS_WITH(Job(layout, job_settings(),
                          [](CoProcess& self) -> CoTask {
                            return [](CoProcess& s) -> CoTask {
                              if (s.rank() == 1) {
                                co_await s.recv(0, 0, 8);
                              } else {
                                co_await s.send(1, 0, 9);
                              }
                            }(self);
                          }),
                      Catch::Contains("does not fit"));
  }
}

TEST_CASE("waiting for any of several requests gives each of them once", "[coroutines][messages]") {
  for (const char* scheduler : {"round-robin", "block"}) {
    CoSettings settings = job_settings();
    settings.library.coroutines.scheduler = scheduler;
    std::vector<std::size_t> order;
    Job({4, 1, 2}, settings, [&](CoProcess& self) -> CoTask {
      return [](CoProcess& s, std::vector<std::size_t>& seen) -> CoTask {
        if (s.rank() == 0) {
          std::vector<CoRequest*> all;
          for (int other = 1; other < s.size(); ++other) {
            all.push_back(s.irecv(other, 0, 8));
          }
          for (int i = 1; i < s.size(); ++i) {
            seen.push_back(co_await s.waitany(all));
          }
        } else {
          s.compute(1_ms * (s.size() - s.rank()));
          co_await s.send(0, 0, 8);
        }
      }(self, order);
    });
    std::vector<std::size_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6});
  }
}

TEST_CASE("a buffered message is copied as often as the design says, whoever comes first", "[coroutines][messages]") {
  for (const int copies : {1, 2, 3}) {
    for (const bool late : {false, true}) {
      CAPTURE(copies, late);
      CoSettings settings = job_settings();
      settings.library.coroutines.colocated = "buffered";
      settings.library.coroutines.copies = copies;
      Job job({2, 1, 1}, settings, [late](CoProcess& self) -> CoTask {
        return [](CoProcess& s, bool receives_late) -> CoTask {
          if (s.rank() == 1 && !receives_late) {
            CoRequest* const receive = s.irecv(0, 0, 8000);
            co_await barrier(s);
            co_await s.wait(receive);
            co_return;
          }
          if (s.rank() == 0 && !receives_late) {
            co_await barrier(s);
          }
          if (s.rank() == 0) {
            co_await s.send(1, 0, 8000);
          }
          if (receives_late) {
            co_await barrier(s);
          }
          if (s.rank() == 1) {
            co_await s.recv(0, 0, 8000);
          }
        }(self, late);
      });
      CHECK(job.counters().unexpected == (late ? 1 : 0));
      CHECK(job.times()[static_cast<std::size_t>(Category::copy)] == copies * (30_ns + 1_us));
    }
  }
}
