// Whole simulations with every matching engine, on queues of a communicator or of all of them.
#include "simulation/simulation.hpp"
#include "support/observe.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace contend;
using test::Program;

namespace {

/// A small point with an engine, and what the engine needs to keep messages in order.
PointConfig design(const std::string& engine, const std::string& domain) {
  PointConfig point = test::small_point();
  MatchingDesign& matching = point.library.matching;
  matching.engine = engine;
  matching.domain = domain;
  matching.bins = 16;
  if (matcher_registry().at(engine).traits().in_interface) {
    matching.ordering = "transport";
  }
  point.machine.matching.hash = 5'003_ps;
  point.machine.matching.vector_step = 6'007_ps;
  point.machine.matching.offload_command = 101'009_ps;
  point.machine.matching.offload_latency = 251'003_ps;
  point.machine.matching.offload_element = 7'013_ps;
  return point;
}

template <typename Check>
void for_each_design(const Check& check) {
  for (const char* engine : {"ob1", "list", "hash-bins", "vector", "offload", "per-source"}) {
    for (const char* domain : {"communicator", "global"}) {
      CAPTURE(engine, domain);
      check(design(engine, domain));
    }
  }
}

/// How long each queue was last.
class LastLengths final : public TraceSink {
public:
  void span(const SimThread& /*thread*/, Category /*category*/, TimePoint /*begin*/, TimePoint /*end*/) override {}
  void length(const TraceLabel& queue, TimePoint /*time*/, std::int64_t length) override {
    last[queue.name] = length;
    longest[queue.name] = std::max(longest[queue.name], length);
  }
  std::map<std::string, std::int64_t> last;
  std::map<std::string, std::int64_t> longest;
};

} // namespace

TEST_CASE("a receive is shown to have left its queue, whoever took it", "[mpi][matching]") {
  for_each_design([](const PointConfig& point) {
    Program program(2, point);
    LastLengths lengths;
    program.engine.set_trace(&lengths);
    program.thread(0, [&](SimThread& self, Process& mpi) {
      mpi.recv(self, program.communicator, 1, 0, 0);
      for (int tag = 1; tag <= 3; ++tag) {
        mpi.send(self, program.communicator, 1, tag, 0);
      }
    });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      std::vector<Request*> requests;
      for (int tag = 1; tag <= 3; ++tag) {
        requests.push_back(mpi.irecv(self, program.communicator, 0, tag, 0));
      }
      mpi.send(self, program.communicator, 0, 0, 0);
      mpi.waitall(self, requests);
    });
    program.run();
    const std::string queue = std::string("rank 1/") +
                              (point.library.matching.domain == "global" ? "all communicators" : "communicator 0") +
                              "/posted";
    CHECK(lengths.longest[queue] == 3);
    CHECK(lengths.last[queue] == 0);
  });
}

TEST_CASE("every design receives all messages and leaves nothing behind", "[mpi][matching]") {
  for_each_design([](PointConfig point) {
    for (const bool own_communicators : {false, true}) {
      for (const int offload_capacity : {7, 1024}) {
        CAPTURE(own_communicators, offload_capacity);
        point.workload.multirate.communicator_per_pair = own_communicators;
        point.library.matching.offload_capacity = offload_capacity;
        const test::Observation run = test::observe(point, 3);
        const test::Totals all(run);
        CHECK(all.left_in_queues == 0);
        const std::int64_t iterations =
            point.workload.multirate.iterations + point.workload.multirate.warmup_iterations;
        CHECK(all.sent == iterations * point.workload.multirate.pairs * (point.workload.multirate.window + 2));
        CHECK(all.received == all.sent);
      }
    }
  });
}

TEST_CASE("wildcards work in every design", "[mpi][matching]") {
  for_each_design([](const PointConfig& point) {
    Program program(3, point);
    const int comm = program.communicator;
    const int other = program.world.create_communicator(false);
    constexpr int messages = 20;
    for (const int rank : {0, 1}) {
      program.thread(rank, [&, rank](SimThread& self, Process& mpi) {
        for (int k = 0; k < messages; ++k) {
          mpi.send(self, comm, 2, 100 * rank + k, 0);
          mpi.send(self, other, 2, 1000 + k, 0);
        }
      });
    }
    std::vector<int> from_any;
    std::vector<int> from_one;
    program.thread(2, [&](SimThread& self, Process& mpi) {
      std::vector<Request*> any;
      std::vector<Request*> one;
      for (int k = 0; k < messages; ++k) { // some are posted before their messages come, some after
        one.push_back(mpi.irecv(self, comm, 1, any_tag, 0));
        any.push_back(mpi.irecv(self, other, any_source, 1000 + k, 0));
        any.push_back(mpi.irecv(self, other, any_source, any_tag, 0));
      }
      for (int k = 0; k < messages; ++k) {
        mpi.recv(self, comm, 0, k, 0);
      }
      mpi.waitall(self, one);
      mpi.waitall(self, any);
      // A request keeps its status until the next one is made.
      for (const Request* request : one) {
        from_one.push_back(request->received_tag);
      }
      for (const Request* request : any) {
        from_any.push_back(request->received_tag);
      }
    });
    program.run();
    for (int k = 0; k < messages; ++k) {
      CHECK(from_one[static_cast<std::size_t>(k)] == 100 + k); // in the order sent
      CHECK(from_any[2 * static_cast<std::size_t>(k)] == 1000 + k);
    }
    std::sort(from_any.begin(), from_any.end());
    for (int k = 0; k < messages; ++k) { // each tag came from both senders
      CHECK(from_any[2 * static_cast<std::size_t>(k)] == 1000 + k);
      CHECK(from_any[2 * static_cast<std::size_t>(k) + 1] == 1000 + k);
    }
    CHECK(program.counters(2).received == 4 * messages);
    CHECK(program.counters(2).unexpected_in_queue == 0);
  });
}

TEST_CASE("a transport keeps the order of each thread, full send queues or not", "[mpi][matching][order]") {
  for (const char* engine : {"ob1", "list", "hash-bins", "vector", "offload", "per-source"}) {
    for (const int instances : {1, 3}) {
      for (const int depth : {1, 3, 200}) {
        CAPTURE(engine, instances, depth);
        PointConfig point = design(engine, "global");
        point.library.matching.ordering = "transport";
        point.library.matching.offload_capacity = 30;
        point.library.instances = {instances, "dedicated", "pthread-mutex"};
        point.machine.nic.send_queue_depth = depth;
        Program program(2, point);
        constexpr int threads = 3;
        constexpr int messages = 50;
        std::vector<int> communicators;
        for (int i = 0; i < threads; ++i) {
          communicators.push_back(program.world.create_communicator(false));
        }
        std::vector<std::vector<int>> tags(threads);
        for (int i = 0; i < threads; ++i) {
          const int comm = communicators[static_cast<std::size_t>(i)];
          program.thread(0, [&, comm](SimThread& self, Process& mpi) {
            std::vector<Request*> requests;
            for (int k = 0; k < messages; ++k) {
              requests.push_back(mpi.isend(self, comm, 1, k, 0));
            }
            mpi.waitall(self, requests);
          });
        }
        program.thread(1, [&](SimThread& self, Process& mpi) {
          for (int i = 0; i < threads; ++i) {
            std::vector<Request*> requests;
            for (int k = 0; k < messages; ++k) {
              requests.push_back(mpi.irecv(self, communicators[static_cast<std::size_t>(i)], 0, any_tag, 0));
            }
            mpi.waitall(self, requests);
            for (const Request* request : requests) {
              tags[static_cast<std::size_t>(i)].push_back(request->received_tag);
            }
          }
        });
        program.run();
        for (const std::vector<int>& received : tags) {
          CHECK(received.size() == messages);
          CHECK(std::is_sorted(received.begin(), received.end()));
        }
        CHECK(program.counters(1).out_of_sequence == 0);
        CHECK((depth == 200) == (program.counters(0).delayed_sends == 0));
      }
    }
  }
}

TEST_CASE("messages that the interface has matched cost no matching time", "[mpi][matching]") {
  PointConfig point = design("offload", "global");
  const PointResult offload = simulate(point, {});
  CHECK(offload.receiver.match_time == Duration{}); // receives are posted before their messages
  CHECK(offload.receiver.unexpected == 0);
  CHECK(offload.receiver.out_of_sequence == 0);
  point.library.matching.offload_capacity = 8; // software has to match most of them
  const PointResult short_list = simulate(point, {});
  CHECK(short_list.receiver.match_time > Duration{});
  point.library.matching.engine = "list";
  const PointResult list = simulate(point, {});
  CHECK(list.receiver.match_time > Duration{});
  CHECK(list.receiver.received == offload.receiver.received);
}

TEST_CASE("communicators share queues in the global domain only", "[mpi][matching]") {
  // Receives of three other communicators are in the way of the fourth's, or are not.
  const auto match_time = [](const std::string& domain) {
    PointConfig point = design("list", domain);
    Program program(2, point);
    std::vector<int> communicators;
    for (int i = 0; i < 3; ++i) {
      communicators.push_back(program.world.create_communicator(false));
    }
    constexpr int messages = 10;
    program.thread(1, [&](SimThread& self, Process& mpi) {
      std::vector<Request*> requests;
      for (const int comm : communicators) {
        for (int k = 0; k < messages; ++k) {
          requests.push_back(mpi.irecv(self, comm, 0, 7, 0));
        }
      }
      mpi.waitall(self, requests);
    });
    program.thread(0, [&](SimThread& self, Process& mpi) {
      self.spend(100_us, Category::software);
      for (auto comm = communicators.rbegin(); comm != communicators.rend(); ++comm) {
        for (int k = 0; k < messages; ++k) {
          mpi.send(self, *comm, 1, 7, 0);
        }
      }
    });
    program.run();
    return program.counters(1).match_time;
  };
  const MatchingParameters& prices = test::small_machine().matching;
  const Duration hits = 30 * (prices.attempt + prices.element);
  CHECK(match_time("communicator") == hits);
  CHECK(match_time("global") == hits + (10 * 20 + 10 * 10) * prices.element);
}

TEST_CASE("elements on pages of their own cost what such an element costs", "[mpi][matching]") {
  for_each_design([](PointConfig point) {
    point.machine.matching.distant_element = 41'011_ps;
    const std::uint64_t side_by_side = test::observe(point, 3).hash;
    PointConfig dearer = point;
    dearer.machine.matching.element = point.machine.matching.distant_element;
    const std::uint64_t dear = test::observe(dearer, 3).hash;
    point.library.matching.element_spacing_bytes = page_bytes - 1;
    CHECK(test::observe(point, 3).hash == side_by_side);
    point.library.matching.element_spacing_bytes = page_bytes;
    CHECK(test::observe(point, 3).hash == dear);
    point.machine.matching.distant_element = {}; // not known
    CHECK(test::observe(point, 3).hash == side_by_side);
    if (point.library.matching.engine == "list" && point.library.matching.domain == "global") {
      CHECK(dear != side_by_side);
    }
  });
}
