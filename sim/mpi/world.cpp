#include "mpi/world.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace contend {

namespace {

/// Which cores of a host progress threads have, at least one.
std::string last_cores(int taken, int usable) {
  const std::string last = std::to_string(usable - 1);
  return taken == 1 ? "a progress thread has core " + last
                    : "progress threads have cores " + std::to_string(usable - taken) + " to " + last;
}

} // namespace

int World::add_host(const TopologyParameters& topology, const CacheParameters& cache, const FutexParameters& futex,
                    const NicParameters& nic, const RouteParameters& route, const SchedulerParameters& scheduler,
                    const TcpParameters& tcp, const SharedMemoryParameters& shared_memory) {
  const int number = hosts();
  hosts_.push_back(std::make_unique<Host>(topology, cache, futex));
  if (route.sharing == "flows" && !flows_) {
    flows_ = std::make_unique<FlowNetwork>(engine_);
  }
  const CreditParameters credits = settings_.library.flow_control.receive_buffers();
  NicParameters interface = nic;
  if (const int poll_batch = settings_.library.transport.poll_batch; poll_batch > 0) {
    interface.poll_batch = poll_batch;
  }
  const SharedMemoryDesign memory{.box_only = settings_.library.transport.full_box == "wait",
                                  .fragments_returned = settings_.library.transport.fragments == "returned"};
  transports_.push_back(transport_registry().at(settings_.library.transport.kind)(
      {engine_, *hosts_.back(), interface, credits, tcp, shared_memory, memory, route, number, flows_.get()}));
  schedulers_.push_back(placement_.shares_cores()
                            ? std::make_unique<Scheduler>(engine_, *hosts_.back(), number, scheduler,
                                                          usable_cores(number), placement_.shares == "processes")
                            : nullptr);
  threads_on_host_.push_back(0);
  return number;
}

int World::usable_cores(int number) const {
  return placement_.cores > 0 ? placement_.cores : host(number).topology().hardware_threads();
}

void World::add_processes(const std::vector<int>& host_of_rank) {
  const int ranks = static_cast<int>(host_of_rank.size());
  host_of_rank_ = placement_.hosts == 1 ? std::vector<int>(host_of_rank.size()) : host_of_rank;
  share_contexts();
  for (int rank = 0; rank < ranks; ++rank) {
    const auto host = static_cast<std::size_t>(host_of_rank_[static_cast<std::size_t>(rank)]);
    processes_.push_back(std::make_unique<Process>(engine_, *hosts_[host], *transports_[host], settings_, rank, ranks));
  }
  for (const auto& from : processes_) {
    for (const auto& to : processes_) {
      if (from != to) {
        from->connect(*to);
      }
    }
  }
  share_barriers();
  start_progress_threads();
}

void World::share_barriers() {
  const LibraryDesign& library = settings_.library;
  const int host = host_of_rank_.front();
  const bool together =
      std::all_of(host_of_rank_.begin(), host_of_rank_.end(), [&](int other) { return other == host; });
  if (library.barrier != "release-gather" || library.thread_level != "single" || !together) {
    return;
  }
  barriers_ = std::make_unique<SharedMemoryBarriers>(engine_, *hosts_[static_cast<std::size_t>(host)]);
  for (const auto& process : processes_) {
    process->use(*barriers_);
  }
}

SimThread& World::spawn(int rank, std::string name, SimThread::Body body) {
  const auto number = static_cast<std::size_t>(host_of_rank_[static_cast<std::size_t>(rank)]);
  if (Scheduler* const scheduler = schedulers_[number].get(); scheduler != nullptr && scheduler->begins_in_turn()) {
    return add_to_team(rank, *scheduler, std::move(name), std::move(body));
  }
  const int core = schedulers_[number] ? 0 : threads_on_host_[number]++;
  return spawn_on(rank, core, std::move(name), std::move(body));
}

/// Both of two threads with a core each would run at full speed on one core.
void World::check_core(int number, int core, const std::string& thread) const {
  const auto host = static_cast<std::size_t>(number);
  if (schedulers_[host]) {
    return;
  }
  const int usable = usable_cores(number);
  const int taken = cores_of_progress_[host];
  if (core >= usable || core < 0) {
    throw std::invalid_argument("thread '" + thread + "' has no hardware thread of its own on its host");
  }
  if (core >= usable - taken) {
    throw std::invalid_argument("thread '" + thread +
                                "' has no hardware thread of its own on its host: " + last_cores(taken, usable));
  }
}

SimThread& World::spawn_on(int rank, int core, std::string name, SimThread::Body body) {
  const int number = host_of_rank_[static_cast<std::size_t>(rank)];
  check_core(number, core, name);
  SimThread& thread = schedulers_[static_cast<std::size_t>(number)]
                          ? spawn_shared(rank, std::move(name), std::move(body), false)
                          : engine_.spawn(std::move(name), number, core, std::move(body));
  thread.set_process(rank);
  return thread;
}

SimThread& World::spawn_daemon_on(int rank, int core, std::string name, SimThread::Body body) {
  const int number = host_of_rank_[static_cast<std::size_t>(rank)];
  check_core(number, core, name);
  SimThread& thread = schedulers_[static_cast<std::size_t>(number)]
                          ? spawn_shared(rank, std::move(name), std::move(body), true)
                          : engine_.spawn_daemon(std::move(name), number, core, std::move(body));
  thread.set_process(rank);
  return thread;
}

void World::spawn_beside(SimThread& self, int rank, std::string name, SimThread::Body body) {
  SimThread& thread = self.shares_core() ? spawn_shared(rank, std::move(name), std::move(body), false)
                                         : engine_.spawn(std::move(name), self.host(), self.core(), std::move(body));
  thread.set_process(rank);
}

SimThread& World::add_to_team(int rank, Scheduler& scheduler, std::string name, SimThread::Body body) {
  teams_.resize(processes_.size());
  std::vector<SimThread*>& team = teams_[static_cast<std::size_t>(rank)];
  SimThread* thread = nullptr;
  if (team.empty()) {
    thread = &scheduler.launch(std::move(name), placement_of_next(rank, false),
                               [this, rank, &scheduler, body = std::move(body)](SimThread& self) {
                                 begin_team(self, rank, scheduler);
                                 body(self);
                               });
  } else {
    Scheduler::Placement placement = placement_of_next(rank, false);
    if (placement_.shares != "processes") { // where nothing sorts threads by process later (Scheduler::is_drawn_to)
      placement.first_core = -1;
    }
    RandomStream delay = engine_.stream(process(rank).name() + "/" + name + "/begin");
    thread = &scheduler.create(std::move(name), placement,
                               [&scheduler, delay, body = std::move(body)](SimThread& self) mutable {
                                 self.spend(delay.exponential(scheduler.parameters().thread_begin), Category::software);
                                 body(self);
                               });
  }
  thread->set_process(rank);
  team.push_back(thread);
  return *thread;
}

void World::begin_team(SimThread& first, int rank, Scheduler& scheduler) {
  const SchedulerParameters& prices = scheduler.parameters();
  first.spend(engine_.stream(process(rank).name() + "/launch").exponential(prices.process_skew), Category::software);
  const std::vector<SimThread*>& team = teams_[static_cast<std::size_t>(rank)];
  for (auto other = std::next(team.begin()); other != team.end(); ++other) {
    first.spend(prices.thread_create, Category::software);
    first.settle();
    scheduler.begin(**other, first);
  }
}

SimThread& World::spawn_shared(int rank, std::string name, SimThread::Body body, bool daemon) {
  const auto host = static_cast<std::size_t>(host_of_rank_[static_cast<std::size_t>(rank)]);
  return schedulers_[host]->spawn(std::move(name), placement_of_next(rank, daemon), std::move(body));
}

/// Of the next thread of its host.
Scheduler::Placement World::placement_of_next(int rank, bool daemon) {
  const auto host = static_cast<std::size_t>(host_of_rank_[static_cast<std::size_t>(rank)]);
  const Scheduler& scheduler = *schedulers_[host];
  const int thread = threads_on_host_[host]++;
  const auto before = std::count(host_of_rank_.begin(), host_of_rank_.begin() + rank, static_cast<int>(host));
  const auto core_of_process = static_cast<int>(before % scheduler.cores());
  Scheduler::Placement placement;
  placement.daemon = daemon;
  placement.group = rank;
  if (placement_.threads == "pinned") {
    placement.allowed.set(static_cast<std::size_t>(thread % scheduler.cores()));
  } else if (placement_.threads == "pinned-by-process") {
    placement.allowed.set(static_cast<std::size_t>(core_of_process));
  } else if (placement_.start == "by-process") {
    placement.first_core = core_of_process;
  }
  return placement;
}

std::vector<std::string> World::notes() const {
  std::vector<std::string> notes = notes_;
  if (std::any_of(processes_.begin(), processes_.end(),
                  [](const auto& process) { return process->threads_met_at_one_instance(); })) {
    notes.push_back("all messages go through one of the " + std::to_string(processes_.front()->instances()) +
                    " instances: the communicator decides (library.instances.mapping), and there is one");
  }
  const std::string& engine = settings_.library.progress.engine;
  if (settings_.library.instances.mapping == "thread" && settings_.library.instances.count > 1 &&
      progress_registry().at(engine).traits().polls_own_targets) {
    notes.push_back(
        "progress engine \"" + engine +
        "\" polls the instance of the waiting thread, and what it waits for comes in wherever its sender's "
        "thread has sent it: most waits end at a turn that polls all (library.progress.global_every). With a "
        "library.instances.mapping messages come in where their receivers look");
  }
  return notes;
}

/// The processes of a host share the contexts of its interface evenly. Instances that find none left are not made: their
/// threads share those that are. All processes have as many instances.
void World::share_contexts() {
  const auto of = [](int count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  int& instances = settings_.library.instances.count;
  const int wanted = instances;
  for (std::size_t number = 0; number < hosts_.size(); ++number) {
    const auto processes =
        static_cast<int>(std::count(host_of_rank_.begin(), host_of_rank_.end(), static_cast<int>(number)));
    const int contexts = transports_[number]->max_contexts();
    if (processes > contexts) {
      throw std::invalid_argument("host " + std::to_string(number) + " has " + std::to_string(processes) +
                                  " processes, but " + of(contexts, "context") + " of its transport for them");
    }
    if (processes > 0) {
      instances = std::min(instances, contexts / processes);
    }
  }
  if (instances < wanted) {
    notes_.push_back("the transport has contexts for " + of(instances, "instance") + " per process: the " +
                     std::to_string(wanted) + " that the design asks for share them");
  }
}

/// Progress threads take the last cores of their host; threads of the application begin with the first ones. Where cores are
/// shared they are threads like others.
void World::start_progress_threads() {
  std::vector<int>& taken = cores_of_progress_;
  taken.resize(hosts_.size());
  for (int rank = 0; rank < size(); ++rank) {
    if (!process(rank).has_progress_thread()) {
      continue;
    }
    const int number = host_of_rank_[static_cast<std::size_t>(rank)];
    if (schedulers_[static_cast<std::size_t>(number)]) {
      spawn_shared(rank, process(rank).name() + " progress", process(rank).progress_thread(), true).set_process(rank);
      continue;
    }
    const int core = usable_cores(number) - ++taken[static_cast<std::size_t>(number)];
    if (core < 0) {
      throw std::invalid_argument("host " + std::to_string(number) +
                                  " has no core left for the progress thread of rank " + std::to_string(rank));
    }
    engine_.spawn_daemon(process(rank).name() + " progress", number, core, process(rank).progress_thread())
        .set_process(rank);
  }
  for (std::size_t number = 0; number < hosts_.size(); ++number) {
    if (taken[number] > 0) {
      notes_.push_back(last_cores(taken[number], usable_cores(static_cast<int>(number))) + " of host " +
                       std::to_string(number));
    }
  }
}

int World::create_communicator(bool allow_overtaking) {
  int number = 0;
  for (const auto& process : processes_) {
    number = process->create_communicator(allow_overtaking);
  }
  return number;
}

int World::create_window(int communicator) {
  std::vector<Window*> sides;
  sides.reserve(processes_.size());
  for (const auto& process : processes_) {
    sides.push_back(&process->create_window(communicator));
  }
  for (Window* side : sides) {
    side->attach(sides);
  }
  return windows_++;
}

int World::create_partitioned(const PartitionedShape& shape) {
  const PartitionedDesign& design = settings_.library.partitioned;
  partitioned_.push_back(partitioned_registry().at(design.engine)({*this, shape, design}));
  return static_cast<int>(partitioned_.size()) - 1;
}

} // namespace contend
