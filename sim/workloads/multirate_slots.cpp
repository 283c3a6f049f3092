#include "workloads/multirate_slots.hpp"

#include <algorithm>

namespace contend {

/// Of one thread.
struct MultirateSlots::Slots {
  explicit Slots(int count) : requests(static_cast<std::size_t>(count)), is_posted(static_cast<std::size_t>(count)) {}

  std::vector<Request*> requests; ///< none where a message was gone when it was posted
  std::vector<char> is_posted;    ///< and not found complete
  std::size_t filled = 0;         ///< have had a request
  std::size_t next = 0;           ///< to be tested
  std::int64_t unposted = 0;
};

void MultirateSlots::run(SimThread& self, const Entity& entity) {
  Slots slots(parameters().window);
  post_more(self, entity, slots, std::int64_t{parameters().window} * parameters().warmup_iterations);
  begin_iteration(self, entity, parameters().warmup_iterations);
  post_more(self, entity, slots, std::int64_t{parameters().window} * parameters().iterations);
  end_iterations(self, entity);
  meet_all(self, entity);
  close(self, entity, slots);
}

void MultirateSlots::post_more(SimThread& self, const Entity& entity, Slots& slots, std::int64_t count) {
  slots.unposted = count;
  for (; count > 0 && slots.filled < slots.requests.size(); ++slots.filled) {
    post(self, entity, slots, slots.filled);
  }
  while (slots.unposted > 0) {
    parameters().completion == "test" ? test_in_turn(self, entity, slots) : look_for_any(self, entity, slots);
  }
}

void MultirateSlots::test_in_turn(SimThread& self, const Entity& entity, Slots& slots) {
  const std::size_t place = slots.next;
  slots.next = (place + 1) % slots.requests.size();
  if (slots.is_posted[place] == 0 || entity.process->test(self, &slots.requests[place])) {
    post(self, entity, slots, place);
  }
}

/// What was gone when it was posted is found without a call, and before anything that has a request.
void MultirateSlots::look_for_any(SimThread& self, const Entity& entity, Slots& slots) {
  const auto gone = std::find(slots.is_posted.begin(), slots.is_posted.end(), 0);
  if (gone != slots.is_posted.end()) {
    post(self, entity, slots, static_cast<std::size_t>(gone - slots.is_posted.begin()));
    return;
  }
  const int found = parameters().completion == "testany" ? entity.process->testany(self, slots.requests)
                                                         : entity.process->waitany(self, slots.requests);
  if (found >= 0) {
    post(self, entity, slots, static_cast<std::size_t>(found));
  }
}

void MultirateSlots::post(SimThread& self, const Entity& entity, Slots& slots, std::size_t place) {
  Traffic& traffic = traffic_[channel_of(entity, static_cast<int>(place))];
  const auto role = static_cast<std::size_t>(entity.role);
  ++traffic.posted[role];
  traffic.closed_by[role] = std::max(traffic.closed_by[role], entity.number);
  --slots.unposted;
  slots.requests[place] = new_request(self, entity, static_cast<int>(place));
  slots.is_posted[place] = slots.requests[place] != nullptr ? 1 : 0;
}

void MultirateSlots::close(SimThread& self, const Entity& entity, Slots& slots) {
  const auto role = static_cast<std::size_t>(entity.role);
  std::vector<Request*>& requests = slots.requests; // none where a slot is empty
  for (int place = 0; place < parameters().window; ++place) {
    const auto found = traffic_.find(channel_of(entity, place));
    if (found == traffic_.end() || found->second.closed_by[role] != entity.number) {
      continue;
    }
    Traffic& traffic = found->second;
    traffic.closed_by[role] = -1; // with any tag other places are of the same channel
    for (std::int64_t missing = traffic.posted[1 - role] - traffic.posted[role]; missing > 0; --missing) {
      closing_ += entity.role == Role::sender ? 1 : 0;
      requests.push_back(new_request(self, entity, place));
    }
  }
  entity.process->waitall(self, requests);
}

Request* MultirateSlots::new_request(SimThread& self, const Entity& entity, int place) const {
  Process& process = *entity.process;
  const int communicator = communicator_of(entity);
  const int peer = peer_of(entity);
  const int tag = tag_of(entity.number, place);
  const std::int64_t bytes = parameters().message_size_bytes;
  return entity.role == Role::sender ? process.isend(self, communicator, peer, tag, bytes)
                                     : process.irecv(self, communicator, wanted_source(peer), wanted_tag(tag), bytes);
}

MultirateSlots::Channel MultirateSlots::channel_of(const Entity& entity, int place) const {
  const int sender = rank_of(Role::sender, entity.number);
  const int receiver = rank_of(Role::receiver, entity.number);
  return {communicator_of(entity), wanted_source(sender) == any_source ? -1 : sender, receiver,
          wanted_tag(0) == any_tag ? -1 : tag_of(entity.number, place)};
}

} // namespace contend
