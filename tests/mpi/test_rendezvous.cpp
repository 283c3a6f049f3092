// Messages above the eager limit: what they cost, in what order they match, and that they come to an end.
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace contend;
using test::Program;

namespace {

PointConfig with_protocol(const std::string& rendezvous) {
  PointConfig point = test::small_point();
  point.library.protocol.rendezvous = rendezvous;
  point.machine.nic.registration = 16'000'057_ps;
  point.machine.nic.registration_page = 246'011_ps;
  point.machine.nic.registration_hit = 90'017_ps;
  point.machine.nic.packet_bytes = 26;
  return point;
}

/// From the call of send until the receive is complete, the second time: buffers are registered by then.
Duration transfer_time(const PointConfig& point, std::int64_t bytes) {
  Program program(2, point);
  const int comm = program.communicator;
  TimePoint start;
  TimePoint end;
  program.thread(0, [&](SimThread& self, Process& mpi) {
    mpi.send(self, comm, 1, 1, bytes);
    self.spend(10'000_us, Category::software); // both sides are idle by then
    start = self.now();
    mpi.send(self, comm, 1, 2, bytes);
  });
  program.thread(1, [&](SimThread& self, Process& mpi) {
    mpi.recv(self, comm, 0, 1, bytes);
    mpi.recv(self, comm, 0, 2, bytes);
    end = self.now();
  });
  program.run();
  return end - start;
}

Duration wire_time(const PointConfig& point, std::int64_t bytes) {
  const std::int64_t packets = (bytes + point.machine.nic.mtu_bytes - 1) / point.machine.nic.mtu_bytes;
  return Duration::seconds(static_cast<double>(bytes + packets * point.machine.nic.packet_bytes) /
                           point.route.bytes_per_second);
}

} // namespace

TEST_CASE("a large message takes its way through the protocol, and then the wire", "[mpi][rendezvous]") {
  // Latencies on the way of the payload: envelope, request of a get, payload; envelope, acknowledgement of a put, payload
  // and its acknowledgement, end.
  for (const auto& [protocol, latencies] : {std::pair<std::string, int>{"get", 3}, {"put", 5}}) {
    CAPTURE(protocol);
    const PointConfig point = with_protocol(protocol);
    const NicParameters& nic = point.machine.nic;
    for (const std::int64_t bytes : {100'000, 1'000'000, 20'000'000}) {
      const Duration fixed = latencies * point.route.latency + 3 * nic.wqe_fetch + 2 * nic.registration_hit;
      const Duration took = transfer_time(point, bytes);
      CAPTURE(bytes, took.count());
      CHECK(took > fixed + wire_time(point, bytes));
      CHECK(took < fixed + wire_time(point, bytes) + 3_us); // calls, matching and polls
    }
    const Duration longer = transfer_time(point, 9'000'000) - transfer_time(point, 1'000'000);
    const Duration difference = longer - (wire_time(point, 9'000'000) - wire_time(point, 1'000'000));
    CHECK(difference < 200_ns); // a turn of polling
    CHECK(difference > -200_ns);
  }
}

TEST_CASE("a payload in pieces is copied on both sides", "[mpi][rendezvous]") {
  PointConfig point = with_protocol("send");
  point.machine.software.copy_bytes_per_second = 1e9; // the wire is twelve times as fast
  point.library.protocol.pieces_under_way = 3;
  const Duration one_copy = Duration::seconds(1e-3);
  const Duration took = transfer_time(point, 1'000'000);
  CHECK(took > one_copy);
  CHECK(took < one_copy + one_copy.scaled(0.25)); // pieces are copied in while others are copied out
  point.library.protocol.piece_bytes = 1'000'000;
  const Duration whole = transfer_time(point, 1'000'000);
  CHECK(whole > 2 * one_copy);
}

TEST_CASE("a transport that takes the payload from the user's memory spares the sender a copy", "[mpi][rendezvous]") {
  PointConfig point = with_protocol("send");
  point.machine.tcp.send_call = 2'003'009_ps;
  point.machine.tcp.copy_bytes_per_second = 1e9;
  point.machine.tcp.buffer_bytes = 100'000;
  point.machine.tcp.receive_bytes = 100'000;
  const std::string transport = GENERATE("interface", "tcp");
  const std::int64_t bytes = GENERATE(1'000, 1'000'000); // eager, and in pieces
  CAPTURE(transport, bytes);
  point.library.transport.kind = transport;
  Program program(2, point);
  SimThread& sender =
      program.thread(0, [&](SimThread& self, Process& mpi) { mpi.send(self, program.communicator, 1, 0, bytes); });
  SimThread& receiver =
      program.thread(1, [&](SimThread& self, Process& mpi) { mpi.recv(self, program.communicator, 0, 0, bytes); });
  program.run();
  const auto copied = [](const SimThread& thread) { return thread.times()[static_cast<std::size_t>(Category::copy)]; };
  CHECK(copied(sender) == (transport == "tcp" ? Duration{} : copied(receiver)));
  CHECK(copied(receiver) > Duration{});
}

TEST_CASE("registration is paid once with a cache, and every time without", "[mpi][rendezvous]") {
  constexpr std::int64_t bytes = 1'000'000;
  PointConfig point = with_protocol("get");
  const Duration cached = transfer_time(point, bytes);
  point.library.protocol.registration_cache = false;
  const Duration uncached = transfer_time(point, bytes);
  const Duration pinning = point.machine.nic.registration + 245 * point.machine.nic.registration_page;
  const Duration more = uncached - cached - 2 * (pinning - point.machine.nic.registration_hit);
  CHECK(more < 300_ns);
  CHECK(more > -300_ns);
}

TEST_CASE("the eager limit is the largest eager size", "[mpi][rendezvous]") {
  const PointConfig point = with_protocol("get");
  for (const std::int64_t bytes : {8192, 8193}) {
    Program program(2, point);
    TimePoint complete;
    program.thread(0, [&](SimThread& self, Process& mpi) {
      Request* const large = mpi.isend(self, program.communicator, 1, 0, bytes);
      mpi.send(self, program.communicator, 1, 9, 0);
      mpi.wait(self, large);
      complete = self.now();
    });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      self.spend(500_us, Category::software);
      mpi.recv(self, program.communicator, 0, 9, 0); // finds the other one on the way
      mpi.recv(self, program.communicator, 0, 0, bytes);
    });
    program.run();
    CHECK((complete > TimePoint::at(500_us)) == (bytes > 8192)); // only a rendezvous waits for the receiver
    CHECK(program.counters(1).unexpected == 1);
  }
}

TEST_CASE("messages match in the order sent, whatever their size", "[mpi][rendezvous]") {
  const std::vector<std::int64_t> sizes{0, 100'000, 300, 9'000, 8'192, 1'000'000, 1, 20'000};
  for (const std::string protocol : {"get", "put", "send"}) {
    for (const bool receives_first : {false, true}) {
      CAPTURE(protocol, receives_first);
      PointConfig point = with_protocol(protocol);
      point.machine.nic.send_queue_depth = 2;
      Program program(2, point);
      program.thread(0, [&](SimThread& self, Process& mpi) {
        self.spend(receives_first ? 500_us : Duration{}, Category::software);
        std::vector<Request*> requests;
        for (const std::int64_t bytes : sizes) {
          requests.push_back(mpi.isend(self, program.communicator, 1, 5, bytes));
        }
        mpi.waitall(self, requests);
      });
      program.thread(1, [&](SimThread& self, Process& mpi) {
        self.spend(receives_first ? Duration{} : 500_us, Category::software);
        std::vector<Request*> requests;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
          requests.push_back(mpi.irecv(self, program.communicator, any_source, 5, 2'000'000));
        }
        mpi.waitall(self, requests);
        for (std::size_t i = 0; i < sizes.size(); ++i) {
          CHECK(requests[i]->bytes == sizes[i]);
        }
      });
      program.run();
    }
  }
}

TEST_CASE("both sides send large messages at once through a queue of one", "[mpi][rendezvous]") {
  for (const std::string protocol : {"get", "put", "send"}) {
    for (const std::string& engine : progress_registry().names()) {
      for (const std::string pending : {"fifo", "at-connection", "behind-others"}) {
        CAPTURE(protocol, engine, pending);
        PointConfig point = with_protocol(protocol);
        point.machine.nic.send_queue_depth = 1;
        point.library.progress.engine = engine;
        point.library.protocol.pending_order = pending;
        Program program(2, point);
        for (const int rank : {0, 1}) {
          for (int thread = 0; thread < 2; ++thread) {
            program.thread(rank, [&, rank, thread](SimThread& self, Process& mpi) {
              std::vector<Request*> requests;
              for (int k = 0; k < 10; ++k) {
                requests.push_back(mpi.irecv(self, program.communicator, 1 - rank, thread, 50'000));
                requests.push_back(mpi.isend(self, program.communicator, 1 - rank, thread, 50'000));
              }
              mpi.waitall(self, requests);
            });
          }
        }
        program.run();
        CHECK(program.counters(0).received == 20);
        CHECK(program.counters(1).received == 20);
      }
    }
  }
}

TEST_CASE("steps that wait for room cost nothing while there is none", "[mpi][rendezvous]") {
  // All messages wait at once for a queue of two: were each tried in every turn, the time of each would grow with them.
  const auto time_of_each = [](const std::string& protocol, int count) {
    PointConfig point = with_protocol(protocol);
    point.machine.nic.send_queue_depth = 2;
    point.library.protocol.piece_bytes = 2'000;
    Program program(2, point);
    SimThread* busiest = nullptr;
    for (const int rank : {0, 1}) {
      SimThread& thread = program.thread(rank, [&, rank, count](SimThread& self, Process& mpi) {
        std::vector<Request*> requests;
        for (int k = 0; k < count; ++k) {
          requests.push_back(rank == 0 ? mpi.isend(self, program.communicator, 1, 1, 20'000)
                                       : mpi.irecv(self, program.communicator, 0, 1, 20'000));
        }
        mpi.waitall(self, requests);
      });
      busiest = (rank == 1) == (protocol == "get") ? &thread : busiest;
    }
    program.run();
    const Duration lines = busiest->times()[static_cast<std::size_t>(Category::line_transfer)];
    return std::pair{program.engine.now().since_start().count() / count, lines.count() / count};
  };
  for (const std::string protocol : {"get", "put", "send"}) {
    const auto [few, lines_of_few] = time_of_each(protocol, 30);
    const auto [many, lines_of_many] = time_of_each(protocol, 600);
    CAPTURE(protocol, few, many, lines_of_few, lines_of_many);
    CHECK(many < few * 11 / 10);
    CHECK(lines_of_many < lines_of_few + (100_ns).count());
  }
}

TEST_CASE("payloads for a peer with room do not wait behind those for one without", "[mpi][rendezvous]") {
  for (const std::string protocol : {"get", "put", "send"}) {
    CAPTURE(protocol);
    PointConfig point = with_protocol(protocol);
    point.machine.nic.send_queue_depth = 2;
    Program program(3, point);
    int to_first = 0;
    int before = 0;
    program.thread(0, [&](SimThread& self, Process& mpi) {
      std::vector<Request*> requests;
      for (int k = 0; k < 50; ++k) {
        requests.push_back(mpi.isend(self, program.communicator, 1, 1, 50'000));
      }
      for (int k = 0; k < 4; ++k) {
        requests.push_back(mpi.isend(self, program.communicator, 2, 1, 50'000));
      }
      mpi.waitall(self, requests);
    });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      for (; to_first < 50; ++to_first) {
        mpi.recv(self, program.communicator, 0, 1, 50'000);
      }
    });
    program.thread(2, [&](SimThread& self, Process& mpi) {
      for (int k = 0; k < 4; ++k) {
        mpi.recv(self, program.communicator, 0, 1, 50'000);
      }
      before = to_first;
    });
    program.run();
    CHECK(before < 30);
  }
}

TEST_CASE("the target of a transfer needs no processor time for its bytes", "[mpi][rendezvous]") {
  const auto busy = [](std::int64_t bytes) {
    const PointConfig point = with_protocol("get");
    Program program(2, point);
    Duration work;
    program.thread(0, [&](SimThread& self, Process& mpi) {
      mpi.send(self, program.communicator, 1, 0, bytes);
      for (std::size_t i = 0; i < category_count; ++i) {
        work += static_cast<Category>(i) == Category::poll_idle ? Duration{} : self.times()[i];
      }
    });
    program.thread(1, [&](SimThread& self, Process& mpi) { mpi.recv(self, program.communicator, 0, 0, bytes); });
    program.run();
    return work - with_protocol("get").machine.nic.registration_page * ((bytes + 4095) / 4096);
  };
  CHECK(busy(10'000'000) == busy(10'000));
}

TEST_CASE("a progress thread answers large messages on the instance that they are mapped to", "[mpi][rendezvous]") {
  constexpr int communicators = 3;
  for (const char* mapping : {"communicator", "tag"}) {
    for (const char* protocol : {"get", "put", "send"}) {
      CAPTURE(mapping, protocol);
      PointConfig point = with_protocol(protocol);
      point.library.instances.count = communicators;
      point.library.instances.mapping = mapping;
      point.library.progress.engine = "offload-thread";
      Program program(2, point);
      for (int i = 0; i < communicators; ++i) {
        const int communicator = program.world.create_communicator(false);
        program.thread(
            0, [communicator, i](SimThread& self, Process& mpi) { mpi.send(self, communicator, 1, i, 100'000); });
        program.thread(
            1, [communicator, i](SimThread& self, Process& mpi) { mpi.recv(self, communicator, 0, i, 100'000); });
      }
      program.run();
      CHECK(program.counters(1).received == communicators);
    }
  }
}

TEST_CASE("with one instance a receive may have any tag, whatever decides on instances", "[mpi][rendezvous]") {
  PointConfig point = with_protocol("get");
  point.library.instances.mapping = "tag";
  Program program(2, point);
  program.thread(0, [&](SimThread& self, Process& mpi) { mpi.send(self, program.communicator, 1, 5, 100'000); });
  program.thread(1, [&](SimThread& self, Process& mpi) { mpi.recv(self, program.communicator, 0, any_tag, 100'000); });
  program.run();
  CHECK(program.counters(1).received == 1);
}

TEST_CASE("over shared memory a receiver that copies needs nobody to tell it that it has", "[mpi][rendezvous]") {
  PointConfig point = with_protocol("get");
  point.library.transport.kind = "shared-memory";
  point.library.transport.send_lock = "connection";
  SharedMemoryParameters& memory = point.machine.shared_memory;
  memory.queue_write = memory.queue_read = 41'011_ps;
  memory.poll_queue = 3'001_ps;
  memory.copy_call = 501'001_ps;
  memory.copy_bytes_per_second = 10e9;
  memory.fragments = 20;
  memory.poll_batch = 5;
  Program program(2, point);
  const int comm = program.communicator;
  program.thread(0, [&](SimThread& self, Process& mpi) { mpi.send(self, comm, 1, 1, 100'000); });
  program.thread(1, [&](SimThread& self, Process& mpi) {
    self.spend(1'000_us, Category::software);
    mpi.recv(self, comm, 0, 2, 0); // comes after the other, which is unexpected then
    const TimePoint before = self.now();
    Request* request = mpi.irecv(self, comm, 0, 1, 100'000);
    CHECK(request->complete);
    CHECK(self.now() - before >= 10_us);
    mpi.wait(self, request);
  });
  program.thread(0, [&](SimThread& self, Process& mpi) {
    self.spend(500_us, Category::software);
    mpi.send(self, comm, 1, 2, 0);
  });
  program.run();
  CHECK(program.counters(0).sent == 2);
}
