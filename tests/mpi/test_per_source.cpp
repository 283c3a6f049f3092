// Instances by the two ranks, queues by source with receives from any source: MPI's order holds whatever the threads do.
#include "core/random.hpp"
#include "simulation/simulation.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace contend;
using test::Program;

namespace {

PointConfig channels(int count) {
  PointConfig point = test::small_point();
  point.library.instances.count = count;
  point.library.instances.mapping = "peer";
  point.library.matching.engine = "per-source";
  point.library.matching.domain = "global";
  point.library.matching.guard = "instance";
  point.library.matching.ordering = "transport";
  point.library.progress.engine = "every-nth";
  point.library.progress.global_every = 8;
  return point;
}

constexpr int tags = 3;

/// Payload says which message it is.
std::int64_t bytes_of(int source, int index) { return source * 500 + index; }
int source_of(std::int64_t bytes) { return static_cast<int>(bytes / 500); }
int index_of(std::int64_t bytes) { return static_cast<int>(bytes % 500); }

struct Posted {
  Request* request;
  int source;
  int tag;
};

bool accepts(const Posted& receive, int source, int tag) {
  return (receive.source == any_source || receive.source == source) && (receive.tag == any_tag || receive.tag == tag);
}

} // namespace

TEST_CASE("random receives from any source keep MPI's order on every channel", "[per-source][property]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomStream random(seed, "wildcards");
    const int threads = 1 + static_cast<int>(random.below(4));
    const int sources = 1 + static_cast<int>(random.below(5));
    const auto per_source = 10 + static_cast<int>(random.below(30));
    PointConfig point = channels(1 + static_cast<int>(random.below(4)));
    test::add_jitter(point);
    point.library.instances.lock = std::vector<std::string>{"pthread-mutex", "ttas", "mcs", "ticket"}[random.below(4)];
    point.library.matching.lock = std::vector<std::string>{"pthread-mutex", "ttas", "mcs", "ticket"}[random.below(4)];
    point.library.matching.domain = random.below(2) == 0 ? "global" : "communicator";
    point.library.matching.guard = random.below(4) == 0 ? "lock" : "instance";
    point.library.progress.global_every = static_cast<int>(1 + random.below(20));
    CAPTURE(seed, threads, sources, per_source, point.library.instances.count);
    Program program(1 + sources, point, seed);
    std::vector<std::vector<int>> tag_of(static_cast<std::size_t>(sources) + 1);
    for (int source = 1; source <= sources; ++source) {
      program.thread(source, [&, source](SimThread& self, Process& process) {
        RandomStream own = program.engine.stream("source " + std::to_string(source));
        std::vector<Request*> sent;
        for (int i = 0; i < per_source; ++i) {
          const int tag = static_cast<int>(own.below(tags));
          tag_of[static_cast<std::size_t>(source)].push_back(tag);
          sent.push_back(process.isend(self, program.communicator, 0, tag, bytes_of(source, i)));
          self.spend(own.exponential(1_us), Category::compute);
        }
        process.waitall(self, sent);
      });
    }
    std::vector<std::vector<Posted>> posted(static_cast<std::size_t>(threads));
    const int receives = sources * per_source / threads + 2;
    for (int thread = 0; thread < threads; ++thread) {
      program.thread(0, [&, thread](SimThread& self, Process& process) {
        RandomStream own = program.engine.stream("receiver " + std::to_string(thread));
        std::vector<Posted>& mine = posted[static_cast<std::size_t>(thread)];
        for (int i = 0; i < receives; ++i) {
          const int source =
              own.below(2) == 0 ? any_source : 1 + static_cast<int>(own.below(static_cast<std::uint64_t>(sources)));
          const int tag = own.below(3) == 0 ? any_tag : static_cast<int>(own.below(tags));
          mine.push_back({process.irecv(self, program.communicator, source, tag, 4096), source, tag});
          process.get_status(self, mine[own.below(mine.size())].request);
          self.spend(own.exponential(1_us), Category::compute);
        }
        while (self.now().since_start() < 2'000_us) { // long after the last message
          for (const Posted& receive : mine) {
            process.get_status(self, receive.request);
          }
          self.spend(20_us, Category::compute);
        }
      });
    }
    program.run();

    std::set<std::int64_t> received;
    std::vector<Posted> pending;
    for (const std::vector<Posted>& mine : posted) {
      for (std::size_t i = 0; i < mine.size(); ++i) {
        const Posted& receive = mine[i];
        if (!receive.request->complete) {
          pending.push_back(receive);
        } else {
          const int source = source_of(receive.request->bytes);
          const int index = index_of(receive.request->bytes);
          REQUIRE(received.insert(receive.request->bytes).second);
          REQUIRE(accepts(receive, source, tag_of[static_cast<std::size_t>(source)][static_cast<std::size_t>(index)]));
        }
        // A receive that was posted before and fits the message of a later one has an earlier message of that source, or
        // one of another source.
        for (std::size_t later = i + 1; later < mine.size(); ++later) {
          if (!mine[later].request->complete) {
            continue;
          }
          const int source = source_of(mine[later].request->bytes);
          const int index = index_of(mine[later].request->bytes);
          if (!accepts(receive, source, tag_of[static_cast<std::size_t>(source)][static_cast<std::size_t>(index)])) {
            continue;
          }
          REQUIRE(receive.request->complete);
          const bool same_source = source_of(receive.request->bytes) == source;
          REQUIRE((!same_source || index_of(receive.request->bytes) < index));
        }
      }
    }
    // Nothing that fits is left apart.
    for (int source = 1; source <= sources; ++source) {
      for (int i = 0; i < per_source; ++i) {
        if (received.count(bytes_of(source, i)) == 0) {
          const int tag = tag_of[static_cast<std::size_t>(source)][static_cast<std::size_t>(i)];
          REQUIRE(std::none_of(pending.begin(), pending.end(),
                               [&](const Posted& receive) { return accepts(receive, source, tag); }));
        }
      }
    }
  }
}

TEST_CASE("two processes always use the channel that the sum of their ranks names", "[per-source]") {
  // Rank 0 exchanges with 1, 2 and 3 in two channels: whoever waits for a message from rank 2 polls channel 0 only.
  PointConfig point = channels(2);
  point.library.progress.global_every = 1'000'000;
  Program program(4, point);
  for (int peer = 1; peer <= 3; ++peer) {
    program.thread(0, [&, peer](SimThread& self, Process& process) {
      for (int i = 0; i < 5; ++i) {
        process.recv(self, program.communicator, peer, 7, 100);
        process.send(self, program.communicator, peer, 8, 100);
      }
    });
    program.thread(peer, [&](SimThread& self, Process& process) {
      for (int i = 0; i < 5; ++i) {
        process.send(self, program.communicator, 0, 7, 100);
        process.recv(self, program.communicator, 0, 8, 100);
      }
    });
  }
  program.run();
  CHECK(program.counters(0).received == 15);
}

TEST_CASE("a receive from any source is found on every channel, large messages too", "[per-source]") {
  for (const char* protocol : {"get", "put", "send"}) {
    PointConfig point = channels(3);
    point.library.protocol.rendezvous = protocol;
    Program program(5, point);
    program.thread(0, [&](SimThread& self, Process& process) {
      for (int i = 0; i < 4; ++i) {
        process.recv(self, program.communicator, any_source, 1, 100'000);
      }
    });
    for (int source = 1; source <= 4; ++source) {
      program.thread(
          source, [&](SimThread& self, Process& process) { process.send(self, program.communicator, 0, 1, 100'000); });
    }
    program.run();
    CHECK(program.counters(0).received == 4);
  }
}

TEST_CASE("active messages are counted by source and need no receive", "[per-source]") {
  for (const char* section : {"fine", "global"}) {
    PointConfig point = channels(std::string(section) == "fine" ? 2 : 1);
    if (std::string(section) == "global") {
      point.library.critical_section = "global";
      point.library.matching.guard = "lock";
    }
    Program program(3, point);
    for (int peer = 1; peer <= 2; ++peer) {
      program.thread(0, [&, peer](SimThread& self, Process& process) {
        for (int i = 1; i <= 20; ++i) {
          process.send_active(self, peer, 0);
          process.wait_active(self, peer, i);
        }
      });
      program.thread(peer, [&](SimThread& self, Process& process) {
        for (int i = 1; i <= 20; ++i) {
          process.send_active(self, 0, 0);
          process.wait_active(self, 0, i);
        }
      });
    }
    program.run();
    CHECK(program.counters(0).posted == 0);
    CHECK(program.counters(0).received == 0);
  }
}

TEST_CASE("active messages are found wherever threads have sent them", "[per-source]") {
  for (const char* assignment : {"dedicated", "round-robin"}) {
    PointConfig point = channels(3);
    point.library.instances.mapping = "thread";
    point.library.instances.assignment = assignment;
    point.library.matching.guard = "lock";
    Program program(4, point);
    int handled = 0;
    for (int peer = 1; peer <= 3; ++peer) {
      program.thread(0, [&, peer](SimThread& self, Process& process) {
        process.send_active(self, peer, 0);
        process.wait_active(self, peer, 1);
        ++handled;
      });
      program.thread(peer, [&](SimThread& self, Process& process) {
        process.send_active(self, 0, 0);
        process.wait_active(self, 0, 1);
        ++handled;
      });
    }
    program.run();
    CHECK(handled == 6);
  }
}

TEST_CASE("active messages of both sides go on when there is no room for them", "[per-source]") {
  // Each side waits for a grant that the other one gives when it looks at another instance than it sends through.
  for (const char* section : {"fine", "global"}) {
    for (const char* assignment : {"dedicated", "round-robin"}) {
      const auto* const send_lock = GENERATE("instance", "connection");
      CAPTURE(section, assignment, send_lock);
      PointConfig point = channels(3);
      point.library.transport.send_lock = send_lock;
      point.library.instances.mapping = "thread";
      point.library.instances.assignment = assignment;
      point.library.matching.guard = "lock";
      point.library.critical_section = section;
      point.machine.nic.flow_control_window = 1;
      point.workload.kind = "neighbour";
      NeighbourParameters& workload = point.workload.neighbour;
      workload.interface = "active-messages";
      workload.threads = 2;
      workload.window = 5;
      workload.iterations = 4;
      SimulationOptions options;
      options.step_limit = 5'000'000;
      CHECK(simulate(point, options).workload.operations == 2 * 5 * 4);
    }
  }
}

TEST_CASE("active messages are posted under the lock of the design", "[per-source]") {
  const auto elapsed = [](const char* send_lock) {
    PointConfig point = channels(3);
    point.library.instances.mapping = "thread";
    point.library.instances.assignment = "dedicated";
    point.library.matching.guard = "lock";
    point.library.transport.send_lock = send_lock;
    point.workload.kind = "neighbour";
    point.workload.neighbour.interface = "active-messages";
    point.workload.neighbour.threads = 2;
    return simulate(point, {}).workload.elapsed;
  };
  CHECK(elapsed("instance") != elapsed("connection")); // polls and posts do not meet
}

TEST_CASE("the time of matching is without the wait for the lock of wildcards", "[per-source]") {
  constexpr int sources = 4;
  constexpr int each = 30;
  PointConfig point = channels(sources);
  point.library.instances.lock = point.library.matching.lock = "ticket";
  point.machine.cache = {}; // matching has a price, lines have none
  point.machine.matching.element = 2_us;
  Program program(1 + sources, point);
  for (int source = 1; source <= sources; ++source) {
    program.thread(source, [&](SimThread& self, Process& process) {
      self.spend(5_ms, Category::software); // all receives are posted by then
      for (int i = 0; i < each; ++i) {
        process.send(self, program.communicator, 0, 0, 0);
      }
    });
  }
  Duration waited{};
  Duration matched{};
  std::vector<SimThread*> receivers;
  for (int thread = 0; thread < sources; ++thread) {
    receivers.push_back(&program.thread(0, [&](SimThread& self, Process& process) {
      std::vector<Request*> requests;
      for (int i = 0; i < each; ++i) {
        requests.push_back(process.irecv(self, program.communicator, any_source, 0, 0));
      }
      process.waitall(self, requests);
    }));
  }
  program.run();
  for (const SimThread* const receiver : receivers) {
    waited += receiver->times()[static_cast<std::size_t>(Category::lock_wait)];
    matched += receiver->times()[static_cast<std::size_t>(Category::matching)];
  }
  CHECK(waited > matched); // a lock is what they wait for most
  CHECK(program.counters(0).match_time >= sources * each * point.machine.matching.element);
  CHECK(program.counters(0).match_time <= matched);
}
