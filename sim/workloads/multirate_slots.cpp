#include "workloads/multirate_slots.hpp"

#include <algorithm>

namespace contend {

/// Of one thread.
struct MultirateSlots::Slots {
  enum class State { posted, complete, done };

  Slots(int count, int messages)
      : requests(static_cast<std::size_t>(count)), states(static_cast<std::size_t>(count), State::complete),
        unposted(static_cast<std::size_t>(count), messages), busy(count) {}

  std::vector<Request*> requests; ///< none where a message is gone when it is posted
  std::vector<State> states;
  std::vector<int> unposted;
  int busy; ///< not done
};

void MultirateSlots::run(SimThread& self, const Entity& entity) {
  fill_slots(self, entity, parameters().warmup_iterations);
  begin_iteration(self, entity, parameters().warmup_iterations);
  fill_slots(self, entity, parameters().iterations);
  end_iterations(self, entity);
}

void MultirateSlots::fill_slots(SimThread& self, const Entity& entity, int messages) const {
  Slots slots(parameters().window, messages);
  for (std::size_t place = 0; place < slots.states.size(); ++place) {
    post(self, entity, slots, place);
  }
  while (slots.busy > 0) {
    parameters().completion == "test" ? test_in_turn(self, entity, slots) : look_for_any(self, entity, slots);
  }
}

void MultirateSlots::test_in_turn(SimThread& self, const Entity& entity, Slots& slots) const {
  for (std::size_t place = 0; place < slots.states.size(); ++place) {
    Slots::State& state = slots.states[place];
    if (state == Slots::State::posted && entity.process->test(self, &slots.requests[place])) {
      state = Slots::State::complete;
    }
    if (state == Slots::State::complete) {
      post(self, entity, slots, place);
    }
  }
}

void MultirateSlots::look_for_any(SimThread& self, const Entity& entity, Slots& slots) const {
  // The lowest that is complete is found, and what is gone already is so without a look at a request.
  const auto gone = std::find(slots.states.begin(), slots.states.end(), Slots::State::complete);
  if (gone != slots.states.end()) {
    post(self, entity, slots, static_cast<std::size_t>(gone - slots.states.begin()));
    return;
  }
  const int found = parameters().completion == "testany" ? entity.process->testany(self, slots.requests)
                                                         : entity.process->waitany(self, slots.requests);
  if (found >= 0) {
    post(self, entity, slots, static_cast<std::size_t>(found));
  }
}

/// The next message of a slot whose last one is complete, if there is one.
void MultirateSlots::post(SimThread& self, const Entity& entity, Slots& slots, std::size_t place) const {
  if (slots.unposted[place] == 0) {
    slots.requests[place] = nullptr;
    slots.states[place] = Slots::State::done;
    --slots.busy;
    return;
  }
  --slots.unposted[place];
  Process& process = *entity.process;
  const int communicator = communicator_of(entity);
  const int peer = peer_of(entity);
  const int tag = tag_of(entity.number, static_cast<int>(place));
  const std::int64_t bytes = parameters().message_size_bytes;
  slots.requests[place] = entity.role == Role::sender
                              ? process.isend(self, communicator, peer, tag, bytes)
                              : process.irecv(self, communicator, wanted_source(peer), wanted_tag(tag), bytes);
  slots.states[place] = slots.requests[place] == nullptr ? Slots::State::complete : Slots::State::posted;
}

} // namespace contend
