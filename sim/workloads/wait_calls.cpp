#include "workloads/wait_calls.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace contend {

int WaitCalls::rounds() const { return std::max(3, (parameters_.iterations - 1) / calls() + 1) + 1; }

std::uint64_t WaitCalls::planned_operations() const {
  const auto messages = static_cast<std::uint64_t>(parameters_.complete) + 2;
  return static_cast<std::uint64_t>(rounds()) * (messages + static_cast<std::uint64_t>(calls())) +
         static_cast<std::uint64_t>(parameters_.requests) + 1;
}

/// Of the receives that complete, spread evenly over all.
std::vector<int> WaitCalls::positions() const {
  std::vector<int> result;
  for (std::int64_t i = 0; i < parameters_.complete; ++i) {
    result.push_back(static_cast<int>((2 * i + 1) * parameters_.requests / (2 * std::int64_t{parameters_.complete})));
  }
  return result;
}

void WaitCalls::start(World& world) {
  communicator_ = world.create_communicator(false);
  Process& caller = world.process(0);
  Process& sender = world.process(1);
  threads_ = {&world.spawn(0, "caller", [this, &caller](SimThread& self) { run_caller(self, caller); }),
              &world.spawn(1, "sender", [this, &sender](SimThread& self) { run_sender(self, sender); })};
}

void WaitCalls::run_sender(SimThread& self, Process& process) const {
  const std::vector<int> hot = positions();
  for (int round = 0; round < rounds(); ++round) {
    process.recv(self, communicator_, 0, word(), 0);
    for (const int position : hot) {
      process.send(self, communicator_, 0, position, 0);
    }
    process.send(self, communicator_, 0, word(), 0);
  }
  process.recv(self, communicator_, 0, word(), 0); // or what ends the others would come into the last round's calls
  for (int position = 0; position < parameters_.requests; ++position) {
    if (!std::binary_search(hot.begin(), hot.end(), position)) {
      process.send(self, communicator_, 0, position, 0);
    }
  }
}

void WaitCalls::post(SimThread& self, Process& process, int position) {
  Request*& request = requests_[static_cast<std::size_t>(position)];
  request = process.irecv(self, communicator_, 1, position, 0);
  reported_[static_cast<std::size_t>(position)] = false;
  if (sync_ != nullptr) {
    process.sync_attach(self, *sync_, *request, static_cast<std::uint64_t>(position));
  }
}

void WaitCalls::call(SimThread& self, Process& process) {
  const std::string& name = parameters_.call;
  const auto note = [&](const std::vector<UserSync::Completion>& completions) {
    for (const UserSync::Completion& completion : completions) {
      reported_[completion.data] = true;
      ++completed_;
    }
  };
  if (name == "testsome") {
    completed_ += static_cast<std::int64_t>(process.testsome(self, requests_).size());
  } else if (name == "testany") {
    completed_ += process.testany(self, requests_) >= 0 ? 1 : 0;
  } else if (name == "testall") {
    completed_ += process.testall(self, requests_) ? parameters_.requests : 0;
  } else if (name == "waitsome") {
    completed_ += static_cast<std::int64_t>(process.waitsome(self, requests_).size());
  } else if (name == "waitany") {
    completed_ += process.waitany(self, requests_) >= 0 ? 1 : 0;
  } else if (name == "waitall") {
    process.waitall(self, requests_);
    std::fill(requests_.begin(), requests_.end(), nullptr);
    completed_ += parameters_.requests;
  } else if (name == "test") {
    completed_ += process.test(self, &requests_[first_hot()]) ? 1 : 0;
  } else if (name == "wait") {
    Request*& request = requests_[first_hot()];
    process.wait(self, request);
    request = nullptr;
    ++completed_;
  } else if (name == "sync-size") {
    (void)Process::sync_size(self, *sync_);
  } else if (name == "sync-probe") {
    (void)Process::sync_probe(self, *sync_);
  } else if (name == "sync-attach" || name == "sync-detach") {
    untimed_ += attach_again(self, process);
  } else if (name == "sync-query") {
    note(process.sync_query_bulk(self, *sync_, 1));
  } else if (name == "sync-query-bulk") {
    note(process.sync_query_bulk(self, *sync_, std::numeric_limits<std::size_t>::max()));
  } else {
    note(process.sync_waitall(self, *sync_));
  }
}

/// The receive whose message comes first, or the first if none comes.
std::size_t WaitCalls::first_hot() const {
  return parameters_.complete == 0 ? 0 : static_cast<std::size_t>(positions().front());
}

/// Detaches a request that is not complete, and attaches it again. Returns the time of the call that is not timed.
Duration WaitCalls::attach_again(SimThread& self, Process& process) {
  const std::vector<int> hot = positions();
  int position = parameters_.requests - 1;
  while (std::binary_search(hot.begin(), hot.end(), position)) {
    --position;
  }
  const auto index = static_cast<std::size_t>(position);
  self.settle();
  const TimePoint begin = self.now();
  if (!process.sync_detach(self, *sync_, *requests_[index])) {
    throw InvariantViolation("waiting: a receive was complete before its message was sent");
  }
  self.settle();
  const TimePoint between = self.now();
  process.sync_attach(self, *sync_, *requests_[index], index);
  self.settle();
  return parameters_.call == "sync-attach" ? between - begin : self.now() - between;
}

/// Completes what the call has left of this round's messages, and posts their receives again.
void WaitCalls::finish_round(SimThread& self, Process& process, bool last) {
  for (const int position : positions()) {
    const auto index = static_cast<std::size_t>(position);
    if (sync_ != nullptr) {
      while (!reported_[index]) {
        for (const UserSync::Completion& completion :
             process.sync_query_bulk(self, *sync_, std::numeric_limits<std::size_t>::max())) {
          reported_[completion.data] = true;
          ++completed_;
        }
      }
    } else if (requests_[index] != nullptr) {
      process.wait(self, requests_[index]);
      ++completed_;
    }
    requests_[index] = nullptr;
    if (!last) {
      post(self, process, position);
    }
  }
}

void WaitCalls::run_caller(SimThread& self, Process& process) {
  requests_.resize(static_cast<std::size_t>(parameters_.requests));
  reported_.resize(requests_.size());
  sync_ = syncs() ? &process.sync_init(self) : nullptr;
  for (int position = 0; position < parameters_.requests; ++position) {
    post(self, process, position);
  }
  for (int round = 0; round < rounds(); ++round) {
    process.send(self, communicator_, 1, word(), 0);
    process.recv(self, communicator_, 1, word(), 0);
    if (round == 1) {
      for (SimThread* const thread : threads_) {
        thread->reset_times();
      }
    }
    untimed_ = Duration{};
    const TimePoint begin = self.now();
    for (int i = 0; i < calls(); ++i) {
      call(self, process);
    }
    if (const Duration clock = process.settings().waiting.clock; clock > Duration{}) {
      self.owe(clock, Category::software);
    }
    if (round > 0) {
      timed_ += self.now() - begin - untimed_;
      timed_calls_ += calls();
    }
    finish_round(self, process, round + 1 == rounds());
  }
  process.send(self, communicator_, 1, word(), 0);
  if (sync_ != nullptr) {
    completed_ += static_cast<std::int64_t>(process.sync_waitall(self, *sync_).size());
    process.sync_free(self, *sync_);
  } else {
    completed_ += std::count_if(requests_.begin(), requests_.end(), [](const Request* r) { return r != nullptr; });
    process.waitall(self, requests_);
  }
}

WorkloadResult WaitCalls::result(const World& /*world*/) const {
  const std::int64_t all = std::int64_t{parameters_.requests} + std::int64_t{rounds() - 1} * parameters_.complete;
  if (completed_ != all) {
    throw InvariantViolation("waiting: " + std::to_string(completed_) + " of " + std::to_string(all) +
                             " receives were reported complete");
  }
  WorkloadResult result;
  result.operations = timed_calls_;
  result.elapsed = timed_;
  result.measures = {{"time_per_operation_s", timed_.in_seconds() / static_cast<double>(timed_calls_)}};
  for (const SimThread* thread : threads_) {
    result.add(role_of_rank(thread->process()), *thread);
  }
  return result;
}

} // namespace contend
