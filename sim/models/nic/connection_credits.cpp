#include "models/nic/connection_credits.hpp"

#include "core/failures.hpp"

#include <string>
#include <utility>

namespace contend {

ConnectionCredits::ConnectionCredits(const CreditParameters& parameters, int window)
    : parameters_(parameters), window_(window), is_limited_(parameters.buffers > 0 || window > 0),
      credits_(parameters.buffers > 0 ? parameters.buffers : window), tokens_(parameters.eager_rdma_buffers),
      posted_buffers_(parameters.buffers) {}

CreditHeader ConnectionCredits::bulk_header() {
  CreditHeader header;
  header.wants_grant = take_credit();
  header.credits = credits_to_take_along();
  header.control_seen = std::exchange(control_to_return_, 0);
  return header;
}

CreditHeader ConnectionCredits::control_header() {
  CreditHeader header;
  header.eager_rdma = may_write();
  header.eager_rdma ? --tokens_ : ++control_sent_;
  header.credits = std::exchange(to_return_, 0);
  header.tokens = std::exchange(tokens_to_return_, 0);
  header.control_seen = std::exchange(control_to_return_, 0);
  return header;
}

void ConnectionCredits::add_written(int credits) {
  credits_ += credits;
  if (credits_ > parameters_.buffers) {
    throw InvariantViolation("a connection has " + std::to_string(credits_) + " credits for a mailbox of " +
                             std::to_string(parameters_.buffers) + " slots");
  }
}

/// (btl_openib_handle_incoming, mca_btl_openib_endpoint_post_rr, send_credits in Open MPI 4.0.)
void ConnectionCredits::consume(const CreditHeader& header, bool credit_message) {
  credits_ += header.credits;
  tokens_ += header.tokens;
  control_sent_ -= header.control_seen;
  read_buffer(header.eager_rdma, credit_message);
  if (credits_ > parameters_.buffers || tokens_ > parameters_.eager_rdma_buffers || posted_buffers_ < 0 ||
      control_sent_ < 0 || control_sent_ >= parameters_.reserve) {
    throw InvariantViolation("a connection has " + std::to_string(credits_) + " send credits, " +
                             std::to_string(tokens_) + " buffers to write into, " + std::to_string(posted_buffers_) +
                             " of " + std::to_string(parameters_.buffers) + " receive buffers, and " +
                             std::to_string(control_sent_) + " credit messages under way");
  }
}

bool ConnectionCredits::control_message_due() const {
  const bool due = to_return_ >= parameters_.window || tokens_to_return_ > parameters_.eager_rdma_window;
  return due && (tokens_ > 0 || control_sent_ < parameters_.reserve - 1);
}

/// A buffer of this side is free again, and posted when enough are.
void ConnectionCredits::read_buffer(bool eager_rdma, bool credit_message) {
  if (eager_rdma) {
    ++tokens_to_return_;
    return;
  }
  credit_message ? ++control_received_ : --posted_buffers_;
  if (posted_buffers_ <= parameters_.low_watermark) {
    to_return_ += parameters_.buffers - posted_buffers_;
    posted_buffers_ = parameters_.buffers;
  }
  if (control_received_ >= parameters_.reserve / 4) {
    control_to_return_ += std::exchange(control_received_, 0);
  }
}

std::optional<int> ConnectionCredits::free_slot() {
  if (++to_return_ < parameters_.window) {
    return std::nullopt;
  }
  return std::exchange(to_return_, 0);
}

} // namespace contend
