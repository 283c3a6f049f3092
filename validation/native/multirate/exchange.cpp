#include "multirate/exchange.hpp"

namespace contend::native {

namespace {

int threads_here(const Workload& workload) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return workload.threads_per_rank(workload.role_of_rank(rank));
}

} // namespace

Exchange::Exchange(const Workload& workload, const Communicators& communicators, Verifier* verifier,
                   std::int64_t corrupt)
    : workload_(workload), communicators_(communicators), verifier_(verifier), corrupt_(corrupt),
      barrier_(threads_here(workload)) {}

void Exchange::prepare(Entity& entity) const {
  const std::size_t requests = requests_of(entity.role);
  const bool own_slices = entity.role == Role::receiver || verifier_ != nullptr;
  entity.requests.reserve(requests);
  // one byte more, so that messages without payload have an address, too
  entity.payload.resize((own_slices ? requests : 1) * static_cast<std::size_t>(workload_.message_size) + 1);
  if (verifier_ != nullptr) {
    entity.statuses.resize(requests);
    entity.expected.reserve(requests);
  }
}

std::int64_t Exchange::messages(std::int64_t iterations) const {
  return workload_.messages_per_iteration() * iterations;
}

std::vector<std::int64_t> Exchange::messages_by_place(std::int64_t iterations) const {
  return std::vector<std::int64_t>(static_cast<std::size_t>(workload_.messages_per_iteration()), iterations);
}

std::span<std::byte> Exchange::slice(Entity& entity, std::size_t buffer) const {
  const auto size = static_cast<std::size_t>(workload_.message_size);
  const bool own_slices = entity.role == Role::receiver || verifier_ != nullptr;
  return std::span(entity.payload).subspan(own_slices ? buffer * size : 0, size);
}

void Exchange::meet(const Entity& entity, MPI_Comm communicator) {
  barrier_.wait();
  if (entity.leads()) {
    MPI_Barrier(communicator);
  }
  barrier_.wait();
}

bool Exchange::corrupts(const Stamp& stamp) const {
  return stamp.iteration == corrupt_ && stamp.sender == 0 && stamp.index + 1 == workload_.window;
}

MPI_Request Exchange::start_send(Entity& entity, std::size_t buffer, MPI_Comm communicator, int to, int tag,
                                 const Stamp& stamp) const {
  const std::span<std::byte> payload = slice(entity, buffer);
  if (verifier_ != nullptr) {
    verifier_->write(payload, stamp);
    if (corrupts(stamp) && !payload.empty()) {
      payload.back() ^= std::byte{1};
    }
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(payload.data(), static_cast<int>(payload.size()), MPI_BYTE, to, tag, communicator, &request);
  return request;
}

MPI_Request Exchange::start_receive(Entity& entity, std::size_t buffer, MPI_Comm communicator,
                                    const Expected& expected) const {
  const std::span<std::byte> payload = slice(entity, buffer);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(payload.data(), static_cast<int>(payload.size()), MPI_BYTE, expected.source, expected.tag, communicator,
            &request);
  return request;
}

void Exchange::send(Entity& entity, MPI_Comm communicator, int to, int tag, const Stamp& stamp) {
  entity.requests.push_back(start_send(entity, entity.requests.size(), communicator, to, tag, stamp));
}

void Exchange::receive(Entity& entity, MPI_Comm communicator, const Expected& expected) {
  entity.requests.push_back(start_receive(entity, entity.requests.size(), communicator, expected));
  if (verifier_ != nullptr) {
    entity.expected.push_back(expected);
  }
}

void Exchange::complete(Entity& entity) {
  const bool check = verifier_ != nullptr && entity.role == Role::receiver;
  MPI_Waitall(static_cast<int>(entity.requests.size()), entity.requests.data(),
              check ? entity.statuses.data() : MPI_STATUSES_IGNORE);
  if (check) {
    for (std::size_t index = 0; index < entity.requests.size(); ++index) {
      verifier_->check(slice(entity, index), entity.statuses[index], entity.expected[index], entity.order);
    }
    entity.expected.clear();
  }
  entity.requests.clear();
}

void Exchange::send_word(MPI_Comm communicator, int to, int tag) {
  const char word = 0;
  MPI_Send(&word, 1, MPI_CHAR, to, tag, communicator);
}

void Exchange::receive_word(MPI_Comm communicator, int from, int tag) {
  char word = 0;
  MPI_Recv(&word, 1, MPI_CHAR, from, tag, communicator, MPI_STATUS_IGNORE);
}

} // namespace contend::native
