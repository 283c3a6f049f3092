#include "multirate/slots.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace contend::native {

Slots::Slots(const Workload& workload, const Communicators& communicators, Verifier* verifier, std::int64_t corrupt)
    : Exchange(workload, communicators, verifier, corrupt) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  states_.resize(static_cast<std::size_t>(workload.threads_per_rank(workload.role_of_rank(rank))));
  for (State& state : states_) {
    state.posted.resize(static_cast<std::size_t>(workload.window));
  }
}

/// One besides the slots, for what `finish` sends.
std::size_t Slots::requests_of(Role /*role*/) const { return static_cast<std::size_t>(workload().window) + 1; }

void Slots::iterate(Entity& entity, std::int64_t /*iteration*/) {
  const auto slots = static_cast<std::size_t>(workload().window);
  for (std::size_t count = 0; count < slots; ++count) {
    if (entity.requests.size() < slots) {
      entity.requests.push_back(MPI_REQUEST_NULL);
      post(entity, entity.requests.size() - 1);
    } else {
      post(entity, find(entity));
    }
  }
}

std::size_t Slots::find(Entity& entity) {
  const bool checks = verifier() != nullptr && entity.role == Role::receiver;
  MPI_Status* const status = checks ? entity.statuses.data() : MPI_STATUS_IGNORE;
  const auto slots = static_cast<int>(workload().window);
  std::size_t found = 0;
  if (workload().completion == "test") {
    found = test_in_turn(entity, status);
  } else {
    int slot = MPI_UNDEFINED;
    int is_complete = workload().completion == "waitany" ? 1 : 0;
    if (is_complete != 0) {
      MPI_Waitany(slots, entity.requests.data(), &slot, status);
    }
    while (is_complete == 0) {
      MPI_Testany(slots, entity.requests.data(), &slot, &is_complete, status);
    }
    found = static_cast<std::size_t>(slot);
  }
  if (checks) {
    check(entity, found, *status);
  }
  return found;
}

std::size_t Slots::test_in_turn(Entity& entity, MPI_Status* status) {
  std::size_t& next = state(entity).next;
  int is_complete = 0;
  std::size_t slot = next;
  while (is_complete == 0) {
    slot = next;
    next = slot + 1 == entity.requests.size() ? 0 : slot + 1;
    MPI_Test(&entity.requests[slot], &is_complete, status);
  }
  return slot;
}

void Slots::post(Entity& entity, std::size_t slot) {
  entity.requests[slot] = start(entity, slot, slot);
  ++state(entity).posted[slot];
}

MPI_Request Slots::start(Entity& entity, std::size_t slot, std::size_t buffer) {
  const MPI_Comm communicator = communicators().channel(entity.number);
  const int tag = workload().tag_of(entity.number, static_cast<std::int64_t>(slot));
  const std::int64_t posting = state(entity).postings++;
  if (entity.role == Role::sender) {
    const auto number = static_cast<std::uint32_t>(entity.number);
    return start_send(entity, buffer, communicator, workload().rank_of(Role::receiver, entity.number), tag,
                      {number, number, static_cast<std::uint32_t>(posting), static_cast<std::uint32_t>(slot)});
  }
  const int own = workload().tells_pairs_apart() ? entity.number : -1;
  const Expected expected{.source = workload().rank_of(Role::sender, entity.number),
                          .tag = workload().any_tag ? MPI_ANY_TAG : tag,
                          .sender = own,
                          .receiver = own,
                          .iteration = -1,
                          .posting = posting};
  if (verifier() != nullptr) {
    entity.expected.resize(requests_of(Role::receiver));
    entity.expected[buffer] = expected;
  }
  return start_receive(entity, buffer, communicator, expected);
}

void Slots::check(Entity& entity, std::size_t buffer, const MPI_Status& status) {
  verifier()->check(slice(entity, buffer), status, entity.expected[buffer], entity.order);
}

/// Messages that fit one another's receives are counted together: the last pair that has such makes both sides alike.
void Slots::settle(Role role) {
  const auto slots = static_cast<std::size_t>(workload().window);
  const std::size_t count = static_cast<std::size_t>(workload().pairs) * slots;
  int rank = 0;
  MPI_Comm_rank(communicators().world(), &rank);
  std::vector<std::int64_t> mine(2 * count);
  auto place = mine.begin() + static_cast<std::ptrdiff_t>(role == Role::sender ? 0 : count) +
               static_cast<std::ptrdiff_t>(slots) * (rank - workload().first_rank(role));
  for (const State& of_thread : states_) {
    place = std::ranges::copy(of_thread.posted, place).out;
  }
  std::vector<std::int64_t> all(mine.size());
  MPI_Allreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_INT64_T, MPI_SUM, communicators().world());
  posted_.senders.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  posted_.receivers.assign(all.begin() + static_cast<std::ptrdiff_t>(count), all.end());

  struct Channel {
    std::int64_t sent_more = 0;
    std::size_t closed_at = 0;
  };
  std::map<std::array<int, 4>, Channel> channels; // communicator, ranks, tag
  for (std::size_t at = 0; at < count; ++at) {
    const auto pair = static_cast<int>(at / slots);
    const int tag = workload().any_tag ? -1 : workload().tag_of(pair, static_cast<std::int64_t>(at % slots));
    Channel& channel = channels[{workload().communicator_per_pair ? pair : 0, workload().rank_of(Role::sender, pair),
                                 workload().rank_of(Role::receiver, pair), tag}];
    channel.sent_more += posted_.senders[at] - posted_.receivers[at];
    channel.closed_at = at;
  }
  missing_.assign(count, 0);
  for (const auto& [key, channel] : channels) {
    posted_.senders[channel.closed_at] += std::max<std::int64_t>(-channel.sent_more, 0);
    missing_[channel.closed_at] =
        std::max<std::int64_t>(role == Role::sender ? -channel.sent_more : channel.sent_more, 0);
  }
}

void Slots::finish(Entity& entity) {
  meet_all(entity);
  if (entity.leads()) {
    settle(entity.role);
  }
  meet_threads();
  const auto slots = static_cast<std::size_t>(workload().window);
  const std::size_t first = static_cast<std::size_t>(entity.number) * slots;
  const bool checks = verifier() != nullptr && entity.role == Role::receiver;
  MPI_Status status;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    for (std::int64_t count = missing_[first + slot]; count > 0; --count) {
      MPI_Request request = start(entity, slot, slots);
      MPI_Wait(&request, &status);
      if (checks) {
        check(entity, slots, status);
      }
    }
  }
  MPI_Waitall(static_cast<int>(entity.requests.size()), entity.requests.data(),
              checks ? entity.statuses.data() : MPI_STATUSES_IGNORE);
  for (std::size_t slot = 0; checks && slot < entity.requests.size(); ++slot) {
    check(entity, slot, entity.statuses[slot]);
  }
}

bool Slots::corrupts(const Stamp& stamp) const {
  return stamp.sender == 0 && stamp.iteration == corrupt_iteration() * workload().window;
}

std::int64_t Slots::messages(std::int64_t /*iterations*/) const {
  return std::accumulate(posted_.senders.begin(), posted_.senders.end(), std::int64_t{0});
}

std::vector<std::int64_t> Slots::messages_by_place(std::int64_t /*iterations*/) const { return posted_.senders; }

} // namespace contend::native
