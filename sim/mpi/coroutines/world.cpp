#include "mpi/coroutines/world.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace contend {

class CoWorld::Arrival final : public Event {
public:
  explicit Arrival(CoWorld& world) : Event(world.engine()), world_(world) {}

  void schedule(CoPacket& packet, OsProcess& to, TimePoint time) {
    packet_ = &packet;
    to_ = &to;
    world_.engine().schedule(*this, time);
  }
  void fire() override {
    world_.free_arrivals_.push_back(this);
    to_->arrive(*packet_);
  }

private:
  CoWorld& world_;
  CoPacket* packet_ = nullptr;
  OsProcess* to_ = nullptr;
};

CoWorld::CoWorld(Engine& engine, CoSettings settings, ProcessLayout layout)
    : engine_(engine), settings_(std::move(settings)), layout_(layout),
      host_(settings_.topology, settings_.cache, settings_.futex) {
  settings_.software = software_of(settings_.library.code, settings_.software);
  settings_.matching = spaced(settings_.matching, settings_.library.matching.element_spacing_bytes);
  const int cores = settings_.topology.hardware_threads();
  for (int node = 0; node < layout_.nodes; ++node) {
    interfaces_.emplace_back(settings_.route);
    meetings_.push_back(std::make_unique<NodeMeeting>(engine_, host_));
    for (int core = 0; core < std::min(cores, layout_.os_processes_per_node); ++core) {
      core_shares_.emplace_back(settings_.coroutines.os_switch,
                                "core " + std::to_string(core) + " of node " + std::to_string(node));
    }
  }
  for (int number = 0; number < layout_.os_processes(); ++number) {
    os_processes_.push_back(std::make_unique<OsProcess>(*this, number));
    core_share(*os_processes_.back()).join();
  }
}

CoWorld::~CoWorld() = default;

CoreShare& CoWorld::core_share(const OsProcess& user) {
  const int shares = std::min(settings_.topology.hardware_threads(), layout_.os_processes_per_node);
  const auto before = static_cast<std::size_t>(user.node()) * static_cast<std::size_t>(shares);
  return core_shares_[before + static_cast<std::size_t>(core_of(user.number()))];
}

int CoWorld::sharers() const {
  const int cores_of_socket = settings_.topology.cores_per_socket * settings_.topology.threads_per_core;
  return std::clamp(layout_.os_processes_per_node, 1, cores_of_socket);
}

void CoWorld::start(Body body) {
  body_ = std::move(body);
  for (const auto& os_process : os_processes_) {
    os_process->start();
  }
}

CoCounters CoWorld::counters() const {
  CoCounters sum;
  for (const auto& os_process : os_processes_) {
    const CoCounters one = os_process->counters();
    sum.switches += one.switches;
    sum.progress_turns += one.progress_turns;
    sum.colocated += one.colocated;
    sum.sent += one.sent;
    sum.received += one.received;
    sum.unexpected += one.unexpected;
    sum.announced += one.announced;
    sum.fastboxes += one.fastboxes;
    sum.posted_visited += one.posted_visited;
    sum.unexpected_visited += one.unexpected_visited;
  }
  return sum;
}

std::int64_t CoWorld::os_switches() const {
  std::int64_t sum = 0;
  for (const CoreShare& share : core_shares_) {
    sum += share.switches();
  }
  return sum;
}

CoPacket* CoWorld::new_packet(const CoPacket& contents) {
  if (free_packets_.empty()) {
    return &packets_.emplace_back(contents);
  }
  CoPacket* const packet = free_packets_.back();
  free_packets_.pop_back();
  *packet = contents;
  return packet;
}

void CoWorld::transmit(CoPacket& packet, OsProcess& to, std::int64_t bytes) {
  StreamInterface& source = interfaces_[static_cast<std::size_t>(packet.from->node())];
  StreamInterface& target = interfaces_[static_cast<std::size_t>(to.node())];
  take_arrival().schedule(packet, to, source.transmit(target, engine_.now(), bytes));
}

void CoWorld::acknowledge(CoPacket& packet, OsProcess& to) {
  const StreamInterface& interface = interfaces_[static_cast<std::size_t>(packet.from->node())];
  take_arrival().schedule(packet, to, interface.acknowledge(engine_.now()));
}

CoWorld::Arrival& CoWorld::take_arrival() {
  if (free_arrivals_.empty()) {
    arrivals_.push_back(std::make_unique<Arrival>(*this));
    free_arrivals_.push_back(arrivals_.back().get());
  }
  Arrival& arrival = *free_arrivals_.back();
  free_arrivals_.pop_back();
  return arrival;
}

} // namespace contend
