// The account of credits of one end, without an interface or time.
#include "core/failures.hpp"
#include "models/nic/connection_credits.hpp"

#include <catch2/catch.hpp>

using namespace contend;

namespace {

CreditParameters receive_queue() {
  CreditParameters parameters;
  parameters.buffers = 8;
  parameters.low_watermark = 6;
  parameters.window = 4;
  parameters.reserve = 4;
  return parameters;
}

} // namespace

TEST_CASE("connection credits: without a scheme and without a window messages are not limited") {
  ConnectionCredits credits({}, 0);
  CHECK_FALSE(credits.count_buffers());
  for (int k = 0; k < 1000; ++k) {
    REQUIRE(credits.may_send());
    CHECK_FALSE(credits.header(credits.take_token()).wants_grant);
  }
  CHECK(credits.send_queue_depth(256) == 256);
}

TEST_CASE("connection credits: a window asks for a grant when a quarter of it is left, and is whole after it") {
  ConnectionCredits credits({}, 8);
  int asked_after = 0;
  for (int sent = 1; sent <= 8; ++sent) {
    REQUIRE(credits.may_send());
    if (credits.header(false).wants_grant) {
      CHECK(asked_after == 0);
      asked_after = sent;
    }
  }
  CHECK(asked_after == 6);
  CHECK_FALSE(credits.may_send());
  credits.restore_window();
  CHECK(credits.available() == 8);
}

TEST_CASE("connection credits: what two ends have, owe and hold adds up to the buffers", "[property]") {
  const CreditParameters parameters = receive_queue();
  ConnectionCredits left(parameters, 0);
  ConnectionCredits right(parameters, 0);
  CHECK(left.send_queue_depth(256) == parameters.buffers);
  int control_messages = 0;
  for (int round = 0; round < 100; ++round) {
    int sent = 0;
    for (; left.may_send(); ++sent) {
      right.consume(left.header(left.take_token()), false);
      REQUIRE(left.available() >= 0);
      REQUIRE(right.posted_buffers() > parameters.low_watermark);
    }
    REQUIRE(sent > 0);
    // One way only: credits come back in messages of their own, which are seen by the next message the other way.
    while (right.control_message_due()) {
      ++control_messages;
      left.consume(right.control_header(), true);
      REQUIRE(left.available() <= parameters.buffers);
      REQUIRE(right.control_sent() < parameters.reserve);
    }
  }
  CHECK(control_messages >= 100); // one a round at least: nobody else brings credits back
}

TEST_CASE("connection credits: credits ride on messages of the other direction and need none of their own") {
  ConnectionCredits left(receive_queue(), 0);
  ConnectionCredits right(receive_queue(), 0);
  for (int round = 0; round < 1000; ++round) {
    REQUIRE(left.may_send());
    REQUIRE(right.may_send());
    right.consume(left.header(false), false);
    left.consume(right.header(false), false);
    REQUIRE_FALSE(left.control_message_due());
    REQUIRE_FALSE(right.control_message_due());
  }
}

TEST_CASE("connection credits: a message that is written into a buffer takes no credit") {
  CreditParameters parameters = receive_queue();
  parameters.eager_rdma_buffers = 2;
  parameters.eager_rdma_window = 1;
  ConnectionCredits left(parameters, 0);
  ConnectionCredits right(parameters, 0);
  for (int k = 0; k < 3; ++k) {
    const bool has_token = left.take_token();
    CHECK(has_token == (k < 2));
    const CreditHeader header = left.header(has_token);
    CHECK(header.eager_rdma == has_token);
    CHECK(left.available() == (k < 2 ? parameters.buffers : parameters.buffers - 1));
    right.consume(header, false);
    CHECK(right.control_message_due() == (k > 0)); // more than one buffer is free
  }
  left.consume(right.control_header(), true);
  CHECK(left.tokens() == 2);
}

TEST_CASE("connection credits: slots are written back together, and never more than there are") {
  CreditParameters parameters;
  parameters.buffers = 8;
  parameters.window = 4;
  parameters.written = true;
  ConnectionCredits left(parameters, 0);
  ConnectionCredits right(parameters, 0);
  CHECK(left.send_queue_depth(256) == 256);
  int written = 0;
  for (int k = 1; k <= 8; ++k) {
    CHECK(left.header(false).credits == 0);
    const std::optional<int> credits = right.free_slot();
    CHECK(credits.has_value() == (k % 4 == 0));
    written += credits.value_or(0);
  }
  CHECK(written == 8);
  CHECK_FALSE(left.may_send());
  left.add_written(written);
  CHECK(left.available() == 8);
  CHECK_THROWS_AS(left.add_written(1), InvariantViolation);
}

TEST_CASE("connection credits: more credits than buffers are an error") {
  ConnectionCredits credits(receive_queue(), 0);
  CreditHeader header;
  header.credits = 1;
  CHECK_THROWS_AS(credits.consume(header, false), InvariantViolation);
}
