// Every way of transferring a buffer keeps what the two sides promise, and counts its messages.
#include "support/program.hpp"
#include "workloads/transfers/transfer.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace contend;
using test::Program;

TEST_CASE("a buffer has arrived when all partitions are ready, and a part of it before if threads send theirs",
          "[transfers]") {
  constexpr int rounds = 3;
  for (const std::string& name : buffer_transfer_registry().names()) {
    for (const int partitions : {1, 4}) {
      CAPTURE(name, partitions);
      const BufferTransferFactory& make = buffer_transfer_registry().at(name);
      const int receive_partitions = make.traits().by_partitions ? partitions : 1;
      Program program(2);
      const auto transfer =
          make({program.world, {program.communicator, 0, 1, 0, partitions, receive_partitions, 4096}});
      TimePoint last_ready;
      program.thread(0, [&](SimThread& self, Process& process) {
        SendSide& side = transfer->sender();
        side.init(self);
        for (int round = 0; round < rounds; ++round) {
          process.barrier(self, program.communicator);
          side.start(self);
          for (int partition = 0; partition < partitions; ++partition) {
            self.spend(1'000_us, Category::compute);
            last_ready = self.now();
            side.ready(self, partition);
          }
          side.wait(self);
          process.barrier(self, program.communicator);
        }
        side.free(self);
      });
      int received = 0;
      program.thread(1, [&](SimThread& self, Process& process) {
        ReceiveSide& side = transfer->receiver();
        side.init(self);
        for (int round = 0; round < rounds; ++round) {
          side.start(self);
          process.barrier(self, program.communicator);
          const TimePoint begin = self.now();
          side.poll_until_any(self);
          self.settle();
          const Duration to_first = self.now() - begin;
          CHECK(to_first > (make.traits().one_thread_sends ? partitions : 1) * 1'000_us);
          if (!make.traits().one_thread_sends && partitions > 1) {
            CHECK(to_first < 2 * 1'000_us);
          }
          side.wait(self);
          self.settle();
          CHECK(self.now() > last_ready);
          CHECK(self.now() - begin > partitions * 1'000_us);
          ++received;
          process.barrier(self, program.communicator);
        }
        side.free(self);
      });
      program.run();
      CHECK(received == rounds);
      CHECK_NOTHROW(transfer->check(rounds));
      if (!make.traits().by_partitions) { // how many messages those are is the library's
        CHECK_THROWS_AS(transfer->check(rounds + 1), InvariantViolation);
      }
    }
  }
}
