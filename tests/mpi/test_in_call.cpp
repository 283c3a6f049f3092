// Sends that find no room and are tried again by the call itself.
#include "support/engines.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace contend;

namespace {

PointConfig in_call() {
  PointConfig point = test::small_point();
  point.library.protocol.pending_order = "in-call";
  point.library.matching.ordering = "transport";
  point.machine.nic.send_queue_depth = 3;
  point.machine.nic.send_completion_batch = 2;
  return point;
}

/// How many of 20 sends are under way when their call returns.
int under_way_on_return(const PointConfig& point) {
  test::Program program(2, point);
  int under_way = 0;
  program.thread(0, [&](SimThread& self, Process& mpi) {
    std::vector<Request*> requests;
    for (int message = 0; message < 20; ++message) {
      requests.push_back(mpi.isend(self, program.communicator, 1, 0, 0));
      under_way += requests.back() != nullptr && !requests.back()->complete ? 1 : 0;
    }
    mpi.waitall(self, requests);
  });
  program.thread(1, [&](SimThread& self, Process& mpi) {
    for (int message = 0; message < 20; ++message) {
      mpi.recv(self, program.communicator, 0, 0, 0);
    }
  });
  program.run();
  CHECK(program.counters(0).delayed_sends > 0);
  return under_way;
}

} // namespace

TEST_CASE("a call that tries again returns when its message is out", "[mpi][delayed]") {
  CHECK(under_way_on_return(in_call()) == 0);
  PointConfig listed = in_call();
  listed.library.protocol.pending_order = "fifo";
  CHECK(under_way_on_return(listed) > 0);
}

TEST_CASE("threads that all try to send in their calls receive meanwhile", "[mpi][delayed]") {
  // Each side has room for three messages, and nobody waits before all of twenty are sent.
  for (const std::string& engine : test::engines_that_act_at_once()) {
    for (const std::string section : {"fine", "global"}) {
      for (const int instances : {1, 3}) {
        CAPTURE(engine, section, instances);
        PointConfig point = in_call();
        test::add_jitter(point);
        point.library.progress.engine = engine;
        point.library.critical_section = section;
        point.library.instances = {instances, "dedicated", "pthread-mutex", instances > 1 ? "communicator" : "thread"};
        point.library.matching.domain = "instance";
        point.library.matching.guard = "instance";
        point.library.flow_control.kind = "credits";
        point.library.flow_control.credits = {.buffers = 4, .low_watermark = 2, .window = 2, .reserve = 2};
        test::Program program(2, point);
        std::vector<int> communicators;
        for (int thread = 0; thread < 3; ++thread) {
          communicators.push_back(program.world.create_communicator(false));
        }
        int finished = 0;
        for (const int rank : {0, 1}) {
          for (const int communicator : communicators) {
            program.thread(rank, [&, rank, communicator](SimThread& self, Process& mpi) {
              std::vector<Request*> requests;
              for (int message = 0; message < 20; ++message) {
                requests.push_back(mpi.irecv(self, communicator, 1 - rank, 0, 100));
              }
              for (int message = 0; message < 20; ++message) {
                requests.push_back(mpi.isend(self, communicator, 1 - rank, 0, 100));
              }
              mpi.waitall(self, requests);
              ++finished;
            });
          }
        }
        program.run();
        CHECK(finished == 6);
      }
    }
  }
}
