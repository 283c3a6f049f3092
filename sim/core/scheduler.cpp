#include "core/scheduler_parts.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace contend {

Scheduler::Scheduler(Engine& engine, const Host& host, int number, const SchedulerParameters& parameters, int cores,
                     bool grouped)
    : CorePolicy(engine), host_(host), paces_(engine.core_paces(number)), number_(number), parameters_(parameters),
      grouped_(grouped), jitter_(engine.stream("host " + std::to_string(number) + "/scheduler")),
      placement_(engine.stream("host " + std::to_string(number) + "/scheduler/placement")),
      look_(engine.stream("host " + std::to_string(number) + "/scheduler/balancing")),
      newly_idle_(engine.stream("host " + std::to_string(number) + "/scheduler/newly idle")) {
  if (cores < 1 || cores > host.topology().hardware_threads()) {
    throw std::invalid_argument("a scheduler shares between 1 and " +
                                std::to_string(host.topology().hardware_threads()) + " cores, not " +
                                std::to_string(cores));
  }
  if (parameters.slice <= Duration{}) {
    throw std::invalid_argument("the machine says nothing of its scheduler: it has no time slice");
  }
  const auto sizes = std::make_shared<GroupSizes>();
  for (int core = 0; core < cores; ++core) {
    auto queue = grouped ? std::unique_ptr<FairQueue>(std::make_unique<GroupedQueue>(parameters_, sizes, engine))
                         : make_fair_queue(parameters_);
    cores_.push_back(std::make_unique<Core>(*this, core, std::move(queue)));
    cores_.back()->idle_average = parameters_.cache_hot * 2; // as long as it gets: they have idled for long
  }
  balancing_ = std::make_unique<Balancing>(*this);
  make_domains();
}

Scheduler::~Scheduler() = default;

SimThread& Scheduler::create(std::string name, const Placement& placement, SimThread::Body body) {
  CoreSet allowed;
  for (std::size_t core = 0; core < cores_.size(); ++core) {
    allowed.set(core, placement.allowed.none() || placement.allowed.test(core));
  }
  if (allowed.none() || placement.weight < 1) {
    throw std::invalid_argument("thread '" + name + "' has no core to run on, or no weight");
  }
  const auto first = static_cast<std::size_t>(placement.first_core);
  const bool chosen = placement.first_core >= 0 && first < cores_.size() && allowed.test(first);
  SimThread& thread =
      create_thread(std::move(name), number_, chosen ? placement.first_core : 0, std::move(body), placement.daemon);
  const auto id = static_cast<std::size_t>(thread.id());
  if (tasks_.size() <= id) {
    tasks_.resize(id + 1);
  }
  tasks_[id] = std::make_unique<Task>(*this, thread, allowed);
  Task& task = *tasks_[id];
  task.weight = placement.weight;
  task.group = placement.group;
  task.core = chosen ? cores_[first].get() : nullptr;
  return thread;
}

void Scheduler::begin(SimThread& thread) {
  Task& task = task_of(thread);
  begin_on(task.core != nullptr ? *task.core : idlest_core(task.allowed), task);
}

void Scheduler::begin(SimThread& thread, const SimThread& creator) {
  Task& task = task_of(thread);
  begin_on(task.core != nullptr ? *task.core : core_for_new(task.allowed, *task_of(creator).core), task);
}

void Scheduler::begin_on(Core& core, Task& task) {
  put_on_core(task.thread, core.number);
  task.state = Task::State::runnable;
  task.since = task.load_noted = now();
  const double load_before = core.queue->load();
  enqueue(core, task, now() == TimePoint{} ? FairQueue::Arrival::started : FairQueue::Arrival::forked);
  // Its load counts at once (init_entity_runnable_average()). It is taken to use half of what the others leave of the core, at most as
  // much for its load as they do (post_init_entity_util_avg(); kernels with cfs multiplied that by 1024).
  const double load = core.queue->load() - load_before;
  const double half_the_rest = (1.0 - core.utilisation) / 2.0;
  const bool as_others = parameters_.policy == "eevdf" && core.utilisation > 0.0 && core.load > 0.0;
  core.utilisation += as_others ? std::min(half_the_rest, core.utilisation / core.load * load) : half_the_rest;
  core.load += load;
  if (core.current == nullptr) {
    dispatch_next(core);
  } else {
    arm(core);
  }
}

SimThread& Scheduler::launch(std::string name, const Placement& placement, SimThread::Body body) {
  SimThread& thread = create(std::move(name), placement, std::move(body));
  Task& task = task_of(thread);
  Core& core = task.core != nullptr ? *task.core : idlest_core(task.allowed);
  note_load(core);
  core.utilisation = 1.0;
  begin_on(core, task);
  return thread;
}

SimThread& Scheduler::spawn(std::string name, const Placement& placement, SimThread::Body body) {
  SimThread& thread = create(std::move(name), placement, std::move(body));
  begin(thread);
  return thread;
}

} // namespace contend
