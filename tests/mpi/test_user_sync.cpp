// MPIX_Sync.
#include "support/engines.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace contend;
using test::Program;

namespace {

/// Sends the tags in this order, 10 us apart.
Program::Body sender(int communicator, std::vector<int> tags) {
  return [=](SimThread& self, Process& mpi) {
    for (const int tag : tags) {
      self.spend(10_us, Category::software);
      mpi.send(self, communicator, 1, tag, 0);
    }
  };
}

std::vector<std::uint64_t> data_of(const std::vector<UserSync::Completion>& completions) {
  std::vector<std::uint64_t> data;
  for (const UserSync::Completion& completion : completions) {
    data.push_back(completion.data);
  }
  return data;
}

} // namespace

TEST_CASE("a query reports one completion, in order of completion, with its data", "[mpi][user sync]") {
  for (const std::string& engine : test::engines_that_act_at_once()) {
    CAPTURE(engine);
    PointConfig point = test::small_point();
    point.library.progress.engine = engine;
    Program program(2, point);
    program.thread(0, sender(program.communicator, {3, 0, 2, 1}));
    program.thread(1, [&](SimThread& self, Process& mpi) {
      UserSync& sync = mpi.sync_init(self);
      CHECK_FALSE(mpi.sync_query(self, sync).has_value());
      for (int tag = 0; tag < 4; ++tag) {
        mpi.sync_attach(self, sync, *mpi.irecv(self, program.communicator, 0, tag, 0),
                        static_cast<std::uint64_t>(100 + tag));
      }
      std::vector<std::uint64_t> reported;
      while (reported.size() < 4) {
        CHECK(mpi.sync_size(self, sync) == 4 - reported.size());
        if (const std::optional<UserSync::Completion> completion = mpi.sync_query(self, sync); completion) {
          reported.push_back(completion->data);
        }
      }
      CHECK(reported == std::vector<std::uint64_t>{103, 100, 102, 101});
      CHECK(mpi.sync_size(self, sync) == 0);
      mpi.sync_free(self, sync);
    });
    program.run();
  }
}

TEST_CASE("probe counts without progress, bulk takes as many as wanted", "[mpi][user sync]") {
  Program program(2);
  program.thread(0, sender(program.communicator, {0, 1, 2, 3, 4}));
  program.thread(1, [&](SimThread& self, Process& mpi) {
    UserSync& sync = mpi.sync_init(self);
    std::vector<Request*> requests;
    for (int tag = 0; tag < 5; ++tag) {
      requests.push_back(mpi.irecv(self, program.communicator, 0, tag, 0));
      mpi.sync_attach(self, sync, *requests.back(), static_cast<std::uint64_t>(tag));
    }
    self.spend(200_us, Category::software); // everything has arrived
    CHECK(mpi.sync_probe(self, sync) == 0); // and nobody has looked
    std::size_t before = 0;
    while (mpi.sync_probe(self, sync) < 5) {
      Request* other = mpi.irecv(self, program.communicator, 0, 77, 0);
      CHECK_FALSE(mpi.test(self, &other)); // progress by another call
      CHECK(mpi.sync_probe(self, sync) >= before);
      before = mpi.sync_probe(self, sync);
    }
    CHECK(mpi.sync_size(self, sync) == 5);
    CHECK(data_of(mpi.sync_query_bulk(self, sync, 3)) == std::vector<std::uint64_t>{0, 1, 2});
    CHECK(data_of(mpi.sync_query_bulk(self, sync, 3)) == std::vector<std::uint64_t>{3, 4});
    CHECK(mpi.sync_probe(self, sync) == 0);
  });
  program.run();
}

TEST_CASE("a request that is complete when it is attached is reported", "[mpi][user sync]") {
  Program program(2);
  program.thread(0, sender(program.communicator, {5}));
  program.thread(1, [&](SimThread& self, Process& mpi) {
    self.spend(50_us, Category::software);
    Request* other = mpi.irecv(self, program.communicator, 0, 6, 0);
    CHECK_FALSE(mpi.test(self, &other)); // takes the message off the wire
    Request* const request = mpi.irecv(self, program.communicator, 0, 5, 0);
    REQUIRE(request->complete);
    UserSync& sync = mpi.sync_init(self);
    mpi.sync_attach(self, sync, *request, 9);
    CHECK(mpi.sync_probe(self, sync) == 1);
    CHECK_FALSE(mpi.sync_detach(self, sync, *request));
    CHECK(data_of(mpi.sync_waitall(self, sync)) == std::vector<std::uint64_t>{9});
  });
  program.run();
}

TEST_CASE("what is detached is not reported, and can be waited for", "[mpi][user sync]") {
  Program program(2);
  program.thread(0, sender(program.communicator, {0, 1, 2}));
  program.thread(1, [&](SimThread& self, Process& mpi) {
    UserSync& sync = mpi.sync_init(self);
    std::vector<Request*> requests;
    for (int tag = 0; tag < 3; ++tag) {
      requests.push_back(mpi.irecv(self, program.communicator, 0, tag, 0));
      mpi.sync_attach(self, sync, *requests.back(), static_cast<std::uint64_t>(tag));
    }
    CHECK_THROWS_AS(mpi.wait(self, requests[0]), std::logic_error); // it is in two hands
    CHECK(mpi.sync_detach(self, sync, *requests[1]));
    CHECK(mpi.sync_size(self, sync) == 2);
    CHECK(data_of(mpi.sync_waitall(self, sync)) == std::vector<std::uint64_t>{0, 2});
    mpi.wait(self, requests[1]);
    CHECK(mpi.sync_size(self, sync) == 0);
  });
  program.run();
}

TEST_CASE("waitall of a sync object sleeps while another thread makes progress", "[mpi][user sync]") {
  for (const std::string& idle : idling_registry().names()) {
    CAPTURE(idle);
    PointConfig point = test::small_point();
    point.library.waiting.idle = idle;
    Program program(2, point);
    const int comm = program.communicator;
    program.thread(0, sender(comm, {0, 1, 2, 3, 99}));
    program.thread(1, [&](SimThread& self, Process& mpi) { mpi.recv(self, comm, 0, 99, 0); }); // the owner
    program.thread(1, [&](SimThread& self, Process& mpi) {
      self.spend(3_us, Category::software);
      UserSync& sync = mpi.sync_init(self);
      for (int tag = 0; tag < 4; ++tag) {
        mpi.sync_attach(self, sync, *mpi.irecv(self, comm, 0, tag, 0), static_cast<std::uint64_t>(tag));
      }
      CHECK(mpi.sync_waitall(self, sync).size() == 4);
      CHECK(self.now() > TimePoint::at(40_us));
      CHECK(self.now() < TimePoint::at(50_us));
    });
    program.run();
  }
}

TEST_CASE("several threads ask one sync object, and each completion is reported once", "[mpi][user sync]") {
  Program program(2);
  const int comm = program.communicator;
  std::vector<int> tags(40);
  for (std::size_t i = 0; i < tags.size(); ++i) {
    tags[i] = static_cast<int>(i);
  }
  program.thread(0, sender(comm, tags));
  UserSync* sync = nullptr;
  std::vector<int> reported(tags.size());
  int total = 0;
  for (int thread = 0; thread < 3; ++thread) {
    program.thread(1, [&, thread](SimThread& self, Process& mpi) {
      if (thread == 0) {
        UserSync& made = mpi.sync_init(self);
        for (const int tag : tags) {
          mpi.sync_attach(self, made, *mpi.irecv(self, comm, 0, tag, 0), static_cast<std::uint64_t>(tag));
        }
        sync = &made;
      }
      while (sync == nullptr) {
        self.spend(1_us, Category::software);
      }
      while (total < static_cast<int>(tags.size())) {
        for (const UserSync::Completion& completion : mpi.sync_query_bulk(self, *sync, 2)) {
          ++reported[completion.data];
          ++total;
        }
      }
    });
  }
  program.run();
  CHECK(std::all_of(reported.begin(), reported.end(), [](int times) { return times == 1; }));
}

TEST_CASE("a thread may attach requests of other instances while another one waits", "[mpi][user sync]") {
  for (int moment = 0; moment < 50; ++moment) {
    for (const std::string engine : {"per-target", "every-nth"}) {
      CAPTURE(engine, moment);
      PointConfig point = test::small_point();
      point.library.instances = {4, "round-robin", "pthread-mutex", "tag"};
      point.library.progress.engine = engine;
      point.run.coalesce_idle_polls = false; // the waiting thread is in the middle of a turn
      Program program(2, point);
      program.thread(0, sender(program.communicator, {3, 2, 1, 0}));
      UserSync* shared = nullptr;
      const auto attach = [&](SimThread& self, Process& mpi, int tag) {
        mpi.sync_attach(self, *shared, *mpi.irecv(self, program.communicator, 0, tag, 0),
                        static_cast<std::uint64_t>(tag));
      };
      program.thread(1, [&](SimThread& self, Process& mpi) {
        shared = &mpi.sync_init(self);
        attach(self, mpi, 0);
        attach(self, mpi, 1);
        std::vector<std::uint64_t> reported = data_of(mpi.sync_waitall(self, *shared));
        std::sort(reported.begin(), reported.end());
        CHECK(reported == std::vector<std::uint64_t>{0, 1, 2, 3});
      });
      program.thread(1, [&](SimThread& self, Process& mpi) {
        self.spend(5_us + moment * 11_ns, Category::software);
        attach(self, mpi, 2);
        attach(self, mpi, 3);
      });
      program.run();
    }
  }
}

TEST_CASE("persistent requests are attached anew after each start", "[mpi][user sync][persistent]") {
  Program program(2);
  const int comm = program.communicator;
  program.thread(0, sender(comm, {4, 4, 4, 4, 4}));
  program.thread(1, [&](SimThread& self, Process& mpi) {
    UserSync& sync = mpi.sync_init(self);
    Request* const request = mpi.recv_init(self, comm, any_source, 4, 0);
    CHECK_THROWS_AS(mpi.sync_attach(self, sync, *request, 0), std::logic_error); // not under way
    for (std::uint64_t round = 0; round < 5; ++round) {
      mpi.start(self, *request);
      mpi.sync_attach(self, sync, *request, round);
      const std::vector<UserSync::Completion> completions = mpi.sync_waitall(self, sync);
      REQUIRE(completions.size() == 1);
      CHECK(completions.front() == UserSync::Completion{round, request});
    }
    mpi.request_free(self, request);
    mpi.sync_free(self, sync);
  });
  program.run();
}

TEST_CASE("a sync object that is used again does not poll where earlier requests were", "[mpi][user sync]") {
  const auto polls = [](bool fresh) {
    PointConfig point = test::small_point();
    point.library.instances.count = 8;
    point.library.instances.mapping = "tag";
    point.library.progress.engine = "every-nth";
    point.library.progress.global_every = 1'000'000;
    point.library.matching.domain = "instance";
    point.run.coalesce_idle_polls = false;
    Program program(2, point);
    std::uint64_t before = 0;
    program.thread(0, [&](SimThread& self, Process& mpi) {
      for (int tag = 0; tag < 8; ++tag) {
        mpi.send(self, program.communicator, 1, tag, 0);
      }
      self.spend(300_us, Category::software);
      mpi.send(self, program.communicator, 1, 7, 0);
    });
    program.thread(1, [&](SimThread& self, Process& mpi) {
      UserSync* sync = &mpi.sync_init(self);
      for (int tag = 0; tag < 8; ++tag) {
        mpi.sync_attach(self, *sync, *mpi.irecv(self, program.communicator, 0, tag, 0), 0);
      }
      CHECK(mpi.sync_waitall(self, *sync).size() == 8);
      sync = fresh ? &mpi.sync_init(self) : sync;
      before = self.engine().steps();
      mpi.sync_attach(self, *sync, *mpi.irecv(self, program.communicator, 0, 7, 0), 0);
      CHECK(mpi.sync_waitall(self, *sync).size() == 1);
    });
    program.run();
    return static_cast<double>(program.engine.steps() - before);
  };
  CHECK(polls(false) == Approx(polls(true)).epsilon(0.02));
}
