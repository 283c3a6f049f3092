#include "multirate/verifier.hpp"

#include "support/failure.hpp"

#include <algorithm>
#include <cstring>

namespace contend::native {

namespace {

constexpr std::int64_t most_reports = 5;
constexpr auto plain_byte = std::byte{0x5a};

/// The byte at `position` of a message: any mix-up of messages or positions changes most bytes.
std::byte pattern(const Stamp& stamp, std::size_t position) {
  std::uint64_t x = stamp.sender * 0x9e3779b97f4a7c15U + stamp.index * 0xbf58476d1ce4e5b9U +
                    stamp.iteration * 0x94d049bb133111ebU + position;
  x ^= x >> 29U;
  x *= 0x9e3779b97f4a7c15U;
  return static_cast<std::byte>(x >> 56U);
}

std::string text(const Stamp& stamp) {
  return "sender " + std::to_string(stamp.sender) + ", receiver " + std::to_string(stamp.receiver) + ", iteration " +
         std::to_string(stamp.iteration) + ", index " + std::to_string(stamp.index);
}

} // namespace

Verifier::Verifier(const Workload& workload)
    : workload_(workload), seen_(static_cast<std::size_t>(workload.messages_per_iteration())) {}

void Verifier::write(std::span<std::byte> payload, const Stamp& stamp) const {
  if (!stamps()) {
    std::fill(payload.begin(), payload.end(), plain_byte);
    return;
  }
  std::memcpy(payload.data(), &stamp, sizeof stamp);
  for (std::size_t position = sizeof stamp; position < payload.size(); ++position) {
    payload[position] = pattern(stamp, position);
  }
}

void Verifier::report(const std::string& what) {
  if (errors_.fetch_add(1) < most_reports) {
    print_error(ExitCode::incorrect, what);
  }
}

std::size_t Verifier::channel(const Stamp& stamp) const {
  return workload_.pairwise() ? stamp.sender
                              : stamp.sender * static_cast<std::size_t>(workload_.receivers) + stamp.receiver;
}

void Verifier::check(std::span<const std::byte> payload, const MPI_Status& status, const Expected& expected,
                     Order& order) {
  checked_.fetch_add(1, std::memory_order_relaxed);
  int length = 0;
  MPI_Get_count(&status, MPI_BYTE, &length);
  if (static_cast<std::size_t>(length) != payload.size()) {
    report("a message has " + std::to_string(length) + " bytes instead of " + std::to_string(payload.size()));
    return;
  }
  if (status.MPI_SOURCE != expected.source) {
    report("a message from rank " + std::to_string(status.MPI_SOURCE) + " instead of " +
           std::to_string(expected.source));
  }
  if (expected.tag != MPI_ANY_TAG && status.MPI_TAG != expected.tag) {
    report("a message with tag " + std::to_string(status.MPI_TAG) + " instead of " + std::to_string(expected.tag));
  }
  if (stamps()) {
    check_stamp(payload, status, expected, order);
    return;
  }
  for (const std::byte byte : payload) {
    if (byte != plain_byte) {
      report("a payload is damaged");
      return;
    }
  }
}

void Verifier::check_stamp(std::span<const std::byte> payload, const MPI_Status& status, const Expected& expected,
                           Order& order) {
  Stamp stamp{};
  std::memcpy(&stamp, payload.data(), sizeof stamp);
  const auto senders = static_cast<std::uint32_t>(workload_.entities(Role::sender));
  const auto receivers = static_cast<std::uint32_t>(workload_.entities(Role::receiver));
  if (stamp.sender >= senders || stamp.receiver >= receivers || stamp.index >= workload_.window ||
      workload_.rank_of(Role::sender, static_cast<int>(stamp.sender)) != expected.source ||
      (expected.sender >= 0 && stamp.sender != static_cast<std::uint32_t>(expected.sender)) ||
      (expected.receiver >= 0 && stamp.receiver != static_cast<std::uint32_t>(expected.receiver)) ||
      (expected.iteration >= 0 && stamp.iteration != static_cast<std::uint32_t>(expected.iteration))) {
    report("a message does not belong where it came: " + text(stamp));
    return;
  }
  if (workload_.pairwise() && workload_.tag_of(static_cast<int>(stamp.sender), stamp.index) != status.MPI_TAG) {
    report("a message has the tag of another, " + std::to_string(status.MPI_TAG) + ": " + text(stamp));
    return;
  }
  for (std::size_t position = sizeof stamp; position < payload.size(); ++position) {
    if (payload[position] != pattern(stamp, position)) {
      report("byte " + std::to_string(position) + " of a payload is wrong: " + text(stamp));
      return;
    }
  }
  seen_[channel(stamp) * static_cast<std::size_t>(workload_.window) + stamp.index].fetch_add(1,
                                                                                             std::memory_order_relaxed);
  const bool any_tag = expected.tag == MPI_ANY_TAG;
  if (expected.posting < 0) {
    check_order(stamp, any_tag, order);
    return;
  }
  order.early_.emplace(expected.posting, stamp);
  for (auto next = order.early_.begin(); next != order.early_.end() && next->first == order.next_; ++order.next_) {
    check_order(next->second, any_tag, order);
    next = order.early_.erase(next);
  }
}

/// Receives of one thread that fit the same messages are posted in order, and a sender's messages are sent in order: so they
/// must meet in order.
void Verifier::check_order(const Stamp& stamp, bool any_tag, Order& order) {
  const bool one_class = any_tag || !workload_.pairwise();
  const std::size_t classes = one_class ? 1 : static_cast<std::size_t>(workload_.window);
  const std::size_t tag_class = one_class ? 0 : stamp.index; // what its tag says, as was checked
  order.last_.resize(static_cast<std::size_t>(workload_.entities(Role::sender)) * classes, -1);
  std::int64_t& last = order.last_[stamp.sender * classes + tag_class];
  const std::int64_t windows = workload_.pairwise() ? 1 : workload_.receivers; // one after the other
  const std::int64_t window = stamp.iteration * windows + (workload_.pairwise() ? 0 : stamp.receiver);
  const std::int64_t now = window * workload_.window + stamp.index;
  if (now <= last) {
    if (workload_.allow_overtaking) {
      overtaken_.fetch_add(1, std::memory_order_relaxed);
    } else {
      report("a message was overtaken: " + text(stamp));
    }
  }
  last = std::max(last, now);
}

void Verifier::check_complete(const std::vector<std::int64_t>& sent, int receiver) {
  if (!stamps()) {
    return;
  }
  for (std::size_t slot = 0; slot < seen_.size(); ++slot) {
    const std::size_t at = slot / static_cast<std::size_t>(workload_.window);
    const std::size_t ends_at = workload_.pairwise() ? at : at % static_cast<std::size_t>(workload_.receivers);
    if (receiver >= 0 && ends_at != static_cast<std::size_t>(receiver)) {
      continue;
    }
    if (seen_[slot].load() != sent[slot]) {
      report("channel " + std::to_string(at) + ", index " +
             std::to_string(slot % static_cast<std::size_t>(workload_.window)) + ": " +
             std::to_string(seen_[slot].load()) + " messages of " + std::to_string(sent[slot]) + " that were sent");
    }
  }
}

} // namespace contend::native
