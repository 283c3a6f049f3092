#include "mpi/process.hpp"

#include "core/trace_scope.hpp"

#include <array>
#include <stdexcept>
#include <string>

namespace contend {

namespace {

std::unique_ptr<TaskPool> make_tasks(const ProcessContext& context) {
  if (!idling_registry().at(context.library().waiting.idle).traits().takes_tasks) {
    return nullptr;
  }
  return std::make_unique<TaskPool>(context.engine(), context.host(), context.settings().waiting.task,
                                    context.name() + "/tasks");
}

std::unique_ptr<ProgressEngine> make_progress_engine(const ProcessContext& context, ProgressSource& turns,
                                                     Idling* idling) {
  const ProgressDesign& design = context.library().progress;
  return progress_registry().at(design.engine)(
      {context.engine(), context.host(), turns,
       [&context, &design](std::string_view label) { return context.make_lock(design.lock, std::string(label)); },
       context.settings().locks.pause, context.name(), design, idling});
}

std::unique_ptr<CommandQueue<Command>> make_commands(const ProcessContext& context) {
  if (!progress_registry().at(context.library().progress.engine).traits().own_thread) {
    return nullptr;
  }
  return std::make_unique<CommandQueue<Command>>(context.engine(), context.host(),
                                                 context.library().progress.queue_slots, context.name() + "/commands");
}

} // namespace

Process::Process(Engine& engine, const Host& host, Transport& transport, const ProcessSettings& settings, int rank,
                 int peers)
    : context_(engine, host, transport, settings, rank, peers), instances_(context_, *this),
      communicators_(context_, instances_), requests_(context_, instances_), turns_(context_, instances_, *this),
      notification_(notification_registry().at(context_.library().waiting.notification)(
          {host, context_.settings().waiting, context_.exclusive()})),
      tasks_(make_tasks(context_)), idling_(idling_registry().at(context_.library().waiting.idle)({tasks_.get()})),
      progress_(make_progress_engine(context_, turns_, idling_.get())), commands_(make_commands(context_)),
      completion_(context_, instances_, communicators_, requests_, turns_, *progress_, *notification_),
      steps_(context_), queues_(context_, instances_, completion_, steps_),
      rendezvous_(context_, instances_, turns_, completion_, steps_, queues_),
      pending_(context_, instances_, turns_, completion_, queues_, *this),
      postponed_(context_, instances_, completion_), active_(context_, instances_, turns_, *this),
      sends_(context_, instances_, communicators_, requests_, completion_, rendezvous_, pending_, postponed_, *this),
      receives_(context_, instances_, communicators_, turns_, completion_, rendezvous_, active_, tasks_.get()),
      calls_(context_, turns_, *progress_, *notification_, completion_),
      syncs_(context_, turns_, *progress_, *notification_, completion_, calls_),
      packer_(context_, turns_, tasks_.get()) {
  if (tasks_) {
    turns_.at_end(task_work_.emplace(*tasks_));
  }
  turns_.at_end(rendezvous_);
  turns_.at_end(pending_);
  if (context_.library().protocol.pending_order == "at-interface") {
    turns_.at_interfaces(postponed_);
  }
  turns_.at_end(active_);
  if (commands_) {
    turns_.take_from(*commands_, *this);
  }
}

Process::~Process() = default;

Window& Process::create_window(int communicator) {
  windows_.push_back(std::make_unique<Window>(OneSidedParts{context_, instances_, turns_, active_, *this}, *this,
                                              static_cast<int>(windows_.size()), communicator));
  return *windows_.back();
}

Request* Process::new_request(SimThread& self, InstanceMapping::Direction direction, int communicator, int tag,
                              int peer) {
  Request* const request =
      requests_.allocate(self, instances_.mapping().of_request(direction, communicator, tag, peer));
  request->owner = self.id();
  return request;
}

/// Throws std::invalid_argument for a receive with any tag where tags decide on the instance.
void Process::check_tag(int tag) const {
  if (instances_.mapping().by_tag() && tag == any_tag) {
    throw std::invalid_argument(name() + " receives with any tag, but tags decide on the instance");
  }
}

Request* Process::isend(SimThread& self, int communicator, int destination, int tag, std::int64_t bytes) {
  const TraceScope scope(self, rank(), "MPI_Isend");
  if (destination < 0 || destination >= context_.peers()) {
    throw std::invalid_argument(name() + " sends to rank " + std::to_string(destination) + " of " +
                                std::to_string(context_.peers()));
  }
  if (commands_) {
    return submit(self, {Command::Kind::send, communicator, destination, tag, bytes, nullptr});
  }
  context_.enter_call(self);
  Request* const request = sends_.start(self, communicator, destination, tag, bytes, nullptr);
  context_.leave_call(self);
  return request;
}

Request* Process::irecv(SimThread& self, int communicator, int source, int tag, std::int64_t bytes) {
  const TraceScope scope(self, rank(), "MPI_Irecv");
  check_tag(tag);
  if (commands_) {
    return submit(self, {Command::Kind::receive, communicator, source, tag, bytes, nullptr});
  }
  const bool call_holds = context_.library().critical_section == "instance";
  context_.enter_call(self);
  if (call_holds) {
    instances_.lock_guards(self, instances_.mapping().of_receive(communicator, tag, source));
  }
  context_.software(self, settings().software.receive_call);
  communicators_.count_reference(self, communicator);
  Request* const request = new_request(self, InstanceMapping::Direction::receive, communicator, tag, source);
  receives_.start(self, *request, communicator, source, tag, bytes, call_holds);
  context_.leave_call(self);
  return request;
}

/// Leaves an operation to the progress thread.
Request* Process::submit(SimThread& self, Command command) {
  const bool sends = command.kind == Command::Kind::send;
  command.request = new_request(self, sends ? InstanceMapping::Direction::send : InstanceMapping::Direction::receive,
                                command.communicator, command.tag, command.peer);
  command.request->communicator = command.communicator;
  push(self, command);
  return command.request;
}

void Process::push(SimThread& self, const Command& command) {
  commands_->push(self, command, Category::line_transfer, [this] { turns_.end_rests(); });
}

void Process::carry_out(SimThread& self, const Command& command) {
  if (command.kind == Command::Kind::send) {
    sends_.start(self, command.communicator, command.peer, command.tag, command.bytes, command.request);
    return;
  }
  if (command.request->persistent == Request::Persistent::no) { // of others the application's thread has paid the start
    context_.software(self, settings().software.receive_call);
  }
  communicators_.count_reference(self, command.communicator);
  receives_.start(self, *command.request, command.communicator, command.peer, command.tag, command.bytes);
}

void Process::barrier(SimThread& self, int communicator, int first_rank, int ranks) {
  const TraceScope scope(self, rank(), "MPI_Barrier");
  if (shared_memory_barriers_ != nullptr) {
    shared_memory_barriers_->among(first_rank, ranks).barrier(self, rank() - first_rank);
    return;
  }
  constexpr int first_internal_tag = -100; // negative tags are the library's own
  int round = 0;
  const int place = rank() - first_rank;
  for (int distance = 1; distance < ranks; distance *= 2, ++round) {
    const int tag = first_internal_tag - round;
    Request* const from = irecv(self, communicator, first_rank + (place + ranks - distance) % ranks, tag, 0);
    Request* const to = isend(self, communicator, first_rank + (place + distance) % ranks, tag, 0);
    const std::array<Request*, 2> both{from, to};
    waitall(self, both);
  }
}

} // namespace contend
