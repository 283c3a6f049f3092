// Messages that wait at a connection which had no room for them: their order, what they keep, and when they are complete.
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace contend;
using test::Program;

namespace {

constexpr int messages = 40;

/// Boxes of four small messages, which everything goes through, and fragments that come back.
PointConfig shared_memory_point() {
  PointConfig point = test::small_point();
  SharedMemoryParameters& memory = point.machine.shared_memory;
  memory.box_write = 11'003_ps;
  memory.box_read = 13'007_ps;
  memory.queue_write = 41'011_ps;
  memory.queue_read = 37'003_ps;
  memory.poll_box = 2'003_ps;
  memory.poll_queue = 3'001_ps;
  memory.copy_call = 501'001_ps;
  memory.copy_bytes_per_second = 10e9;
  memory.box_size = 4 * 64 + 32;
  memory.box_bytes = 128;
  memory.box_threshold = 3;
  memory.box_batch = 2;
  memory.fragments = 20;
  memory.poll_batch = 5;
  memory.streamed_boxes = true;
  point.library.transport.kind = "shared-memory";
  point.library.transport.send_lock = "connection";
  point.library.transport.full_box = "wait";
  point.library.transport.fragments = "returned";
  point.library.protocol.pending_order = "behind-others";
  point.library.protocol.header_bytes = 40;
  return point;
}

PointConfig tcp_point() {
  PointConfig point = test::small_point();
  point.machine.tcp.send_call = 2'003'009_ps;
  point.machine.tcp.full_send_call = 1'003'009_ps;
  point.machine.tcp.receive_call = 5'003'009_ps;
  point.machine.tcp.poll_call = 403'001_ps;
  point.machine.tcp.copy_bytes_per_second = 10e9;
  point.machine.tcp.buffer_bytes = 20'000;
  point.machine.tcp.packet_bytes = 700;
  point.machine.tcp.receive_bytes = 1000; // one message: the receiver is the slower one
  point.library.transport.kind = "tcp";
  point.library.transport.send_lock = "connection";
  point.library.protocol.rendezvous = "put";
  return point;
}

} // namespace

TEST_CASE("shared memory with full boxes delivers everything, in order, to every engine", "[mpi][at connection]") {
  for (const std::string& engine : progress_registry().names()) {
    // Whole in the box, a pointer, and read by the receiver; two threads take their numbers before they lock the connection.
    for (const auto& [bytes, threads] : {std::pair{0, 1}, {0, 2}, {3000, 1}, {3000, 2}, {100'000, 2}}) {
      CAPTURE(engine, bytes, threads);
      PointConfig point = shared_memory_point();
      point.library.progress.engine = engine;
      Program program(2, point);
      for (int thread = 0; thread < threads; ++thread) {
        program.thread(0, [&, thread, bytes = bytes](SimThread& self, Process& mpi) {
          std::vector<Request*> requests;
          for (int k = 0; k < messages; ++k) {
            requests.push_back(mpi.isend(self, program.communicator, 1, thread * messages + k, bytes));
          }
          mpi.waitall(self, requests);
        });
        program.thread(1, [&, thread, bytes = bytes](SimThread& self, Process& mpi) {
          self.spend(100_us, Category::software);
          for (int k = 0; k < messages; ++k) {
            mpi.recv(self, program.communicator, 0, thread * messages + k, bytes);
          }
        });
      }
      program.run();
      const bool receiver_polls = progress_registry().at(engine).traits().own_thread; // all the time
      CHECK((receiver_polls || program.counters(0).delayed_sends > 0));
      CHECK(program.counters(1).received == threads * messages);
      CHECK((threads > 1 || program.counters(1).out_of_sequence == 0));
    }
  }
}

TEST_CASE("messages that wait without a fragment are not held up by later ones that have one", "[mpi][at connection]") {
  // More messages than the 20 fragments, by pointers and in pieces, from threads that post while others poll.
  for (const auto& [bytes, peers] : {std::pair{3000, 1}, {3000, 2}, {20'000, 1}, {20'000, 2}}) {
    for (const int window : {25, 60, 300}) {
      CAPTURE(bytes, peers, window);
      constexpr int threads = 3;
      constexpr int windows = 4;
      PointConfig point = shared_memory_point();
      point.library.protocol.rendezvous = "send";
      point.library.protocol.piece_bytes = 4096;
      Program program(1 + peers, point);
      for (int thread = 0; thread < threads; ++thread) {
        program.thread(0, [&, thread, bytes = bytes, peers = peers](SimThread& self, Process& mpi) {
          for (int k = 0; k < windows; ++k) {
            std::vector<Request*> requests;
            for (int i = 0; i < window; ++i) {
              requests.push_back(
                  mpi.isend(self, program.communicator, 1 + i % peers, thread, i % 3 == 1 ? bytes : 2000));
            }
            mpi.waitall(self, requests);
          }
        });
        for (int receiver = 0; receiver < peers; ++receiver) {
          program.thread(1 + receiver,
                         [&, thread, receiver, bytes = bytes, peers = peers](SimThread& self, Process& mpi) {
                           for (int k = 0; k < windows; ++k) {
                             for (int i = receiver; i < window; i += peers) {
                               mpi.recv(self, program.communicator, 0, thread, bytes);
                             }
                           }
                         });
        }
      }
      program.run();
      std::int64_t received = 0;
      for (int receiver = 1; receiver <= peers; ++receiver) {
        received += program.counters(receiver).received;
      }
      CHECK(received == threads * windows * window);
    }
  }
}

TEST_CASE("a message that its transport keeps is complete when the receiver has taken it", "[mpi][at connection]") {
  const PointConfig point = shared_memory_point();
  Program program(2, point);
  std::vector<TimePoint> complete;
  program.thread(0, [&](SimThread& self, Process& mpi) {
    std::vector<Request*> requests;
    for (int k = 0; k < 10; ++k) { // three through the queue, four in the box; three wait
      requests.push_back(mpi.isend(self, program.communicator, 1, k, 0));
    }
    for (Request* const request : requests) {
      mpi.wait(self, request);
      complete.push_back(self.now());
    }
  });
  program.thread(1, [&](SimThread& self, Process& mpi) {
    self.spend(100_us, Category::software);
    for (int k = 0; k < 10; ++k) {
      mpi.recv(self, program.communicator, 0, k, 0);
    }
  });
  program.run();
  CHECK(program.counters(0).delayed_sends == 3);
  CHECK(complete[6] < TimePoint::at(50_us));
  CHECK(complete[7] > TimePoint::at(100_us));
}

TEST_CASE("a payload that has room does not pass one that has none", "[mpi][at connection]") {
  const auto first_is_first = [](const std::string& pending) {
    PointConfig point = tcp_point();
    point.library.protocol.pending_order = pending;
    Program program(2, point);
    bool first_complete = false;
    program.thread(0, [&](SimThread& self, Process& mpi) {
      std::vector<Request*> requests;
      requests.push_back(mpi.isend(self, program.communicator, 1, 1, 50'000)); // more than the socket's buffer holds
      requests.push_back(mpi.isend(self, program.communicator, 1, 2, 9'000));
      for (int k = 0; k < 5; ++k) {
        requests.push_back(mpi.isend(self, program.communicator, 1, 3, 1'000));
      }
      mpi.waitall(self, requests);
    });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      Request* const first = mpi.irecv(self, program.communicator, 0, 1, 50'000);
      Request* const second = mpi.irecv(self, program.communicator, 0, 2, 9'000);
      std::vector<Request*> small;
      for (int k = 0; k < 5; ++k) {
        small.push_back(mpi.irecv(self, program.communicator, 0, 3, 1'000));
      }
      mpi.wait(self, second);
      first_complete = first->complete;
      mpi.wait(self, first);
      mpi.waitall(self, small);
    });
    program.run();
    return first_complete;
  };
  CHECK(first_is_first("behind-others"));
  CHECK_FALSE(first_is_first("fifo"));
}

TEST_CASE("a payload through a socket takes its turn among small messages", "[mpi][at connection]") {
  constexpr int streams = 3;
  constexpr int windows = 10;
  const auto small_ones_before = [](const std::string& pending) {
    PointConfig point = tcp_point();
    point.library.protocol.pending_order = pending;
    Program program(2, point);
    int received = 0;
    int before = 0;
    program.thread(0, [&](SimThread& self, Process& mpi) { mpi.send(self, program.communicator, 1, 1, 50'000); });
    for (int thread = 0; thread < streams; ++thread) {
      program.thread(0, [&](SimThread& self, Process& mpi) {
        for (int k = 0; k < windows; ++k) {
          std::vector<Request*> requests;
          for (int i = 0; i < messages; ++i) {
            requests.push_back(mpi.isend(self, program.communicator, 1, 2, 1000));
          }
          mpi.waitall(self, requests);
        }
      });
    }
    program.thread(1, [&](SimThread& self, Process& mpi) {
      mpi.recv(self, program.communicator, 0, 1, 50'000);
      before = received;
    });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      for (; received < streams * windows * messages; ++received) {
        mpi.recv(self, program.communicator, 0, 2, 1000);
      }
    });
    program.run();
    CHECK(program.counters(0).delayed_sends > 0);
    return before;
  };
  CHECK(small_ones_before("behind-others") < 2 * streams * messages);
  CHECK(small_ones_before("fifo") > (windows - 2) * streams * messages); // it waits until the socket is empty
}
