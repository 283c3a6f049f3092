// One-sided operations made of messages that the target's library carries out when it makes progress: Open MPI's osc/rdma
// over a transport without remote memory access (btl_base_am_rdma.c), libfabric's tcp provider under MPICH (xnet_rma.c).
//
//   put, get, accumulate:  counter += 1; send(operation), with progress until there is room for it;
//                          a put that nobody answers is complete when it is sent: counter -= 1
//   target, in a turn of progress:  carry it out; send(answer), at the end of a turn if there is no room
//   origin, in a turn of progress:  counter -= 1
//   flush:                 progress until counter == 0
//
// Payload above the eager limit goes in pieces, each an operation, all at once.
#include "models/matching/active_message.hpp"
#include "mpi/window_path.hpp"

#include <algorithm>
#include <deque>

namespace contend {

namespace {

class WindowByMessages final : public WindowPath {
public:
  explicit WindowByMessages(const WindowPathParts& parts) : WindowPath(parts) {}

  void start(SimThread& self, const RdmaRequest& request) override { send(self, request); }
  void start_and_wait(SimThread& self, const RdmaRequest& request) override {
    Blocking blocking;
    RdmaRequest heard = request;
    heard.listener = &blocking;
    const int pieces = send(self, heard);
    for (self.settle(); blocking.completed_pieces < pieces; self.settle()) {
      make_progress(self);
    }
  }
  void complete(SimThread& self, int target) override { progress_until_counted(self, target); }
  [[nodiscard]] bool updates_at_target(std::int64_t /*bytes*/) const override { return design().atomics == "hardware"; }

private:
  /// Counts the pieces of an operation that its caller waits for.
  struct Blocking final : RdmaListener {
    void completed(SimThread& /*self*/, const RdmaRequest& /*request*/) override { ++completed_pieces; }
    int completed_pieces = 0;
  };

  /// An operation under way, and its answer.
  struct Operation final : ActiveMessage {
    struct Answer final : ActiveMessage {
      explicit Answer(Operation& to) : operation(to) {}
      void arrived(SimThread& self) override { operation.origin->answered(self, operation); }
      Operation& operation;
    };

    explicit Operation(WindowByMessages& from) : origin(&from) {}
    void arrived(SimThread& self) override { target->carry_out(self, *this); }

    WindowByMessages* origin;
    WindowByMessages* target = nullptr;
    RdmaRequest request;
    std::int64_t whole_bytes = 0; ///< of the put that this is a piece of
    int instance = 0;
    bool wants_answer = false;
    Answer answer{*this};
  };

  int send(SimThread& self, const RdmaRequest& request);
  void send_piece(SimThread& self, const RdmaRequest& piece, std::int64_t whole_bytes, bool wants_answer);
  void carry_out(SimThread& self, Operation& operation);
  void answered(SimThread& self, Operation& operation);

  Operation& new_operation() {
    if (free_.empty()) {
      free_.push_back(&operations_.emplace_back(*this));
    }
    Operation& operation = *free_.back();
    free_.pop_back();
    return operation;
  }

  std::deque<Operation> operations_;
  std::vector<Operation*> free_;
};

/// Returns the number of pieces.
int WindowByMessages::send(SimThread& self, const RdmaRequest& request) {
  const bool wants_answer = request.kind != RdmaRequest::Kind::put || request.listener != nullptr ||
                            request.bytes > design().acknowledge_above_bytes;
  const bool may_split = request.word == nullptr; // an atomic's word changes once
  const std::int64_t most =
      may_split ? std::max<std::int64_t>(1, settings().library.protocol.eager_limit_bytes) : request.bytes;
  process().enter_call(self);
  charge_call(self);
  int pieces = 0;
  for (std::int64_t left = request.bytes; pieces == 0 || left > 0; left -= most, ++pieces) {
    RdmaRequest piece = request;
    piece.bytes = std::min(left, most);
    piece.memory = left <= most ? request.memory : nullptr; // with the last one all is there
    send_piece(self, piece, request.bytes, wants_answer);
  }
  process().leave_call(self);
  return pieces;
}

void WindowByMessages::send_piece(SimThread& self, const RdmaRequest& piece, std::int64_t whole_bytes,
                                  bool wants_answer) {
  Operation& operation = new_operation();
  operation.request = piece;
  operation.whole_bytes = whole_bytes;
  operation.target = &static_cast<WindowByMessages&>(side(piece.target)); // all sides have the design's path
  operation.instance = pick_instance(self, piece.target);
  operation.wants_answer = wants_answer;
  count(self, piece.target, Category::line_transfer);
  note_start(piece.target);
  active().send(self, operation.instance, piece.target, piece.kind == RdmaRequest::Kind::get ? 0 : piece.bytes,
                operation);
  if (!wants_answer) { // it may have arrived by now
    self.owe(settings().software.one_sided_complete, Category::completion);
    count(self, piece.target, Category::completion);
    note_completion(piece.target);
  }
}

/// At the target. Results of atomics are in the answer's header.
void WindowByMessages::carry_out(SimThread& self, Operation& operation) {
  RdmaRequest& request = operation.request;
  switch (request.kind) {
  case RdmaRequest::Kind::put:
    process().copy(self, request.bytes);
    self.settle();
    if (request.memory != nullptr) {
      request.bytes = operation.whole_bytes;
      request.memory->written(request);
    }
    break;
  case RdmaRequest::Kind::get:
    break;
  case RdmaRequest::Kind::fetch_add:
  case RdmaRequest::Kind::compare_swap:
    if (request.word == nullptr) {
      process().copy(self, request.bytes);
      break;
    }
    words_line().atomic(self, Category::line_transfer);
    request.change_word();
    break;
  }
  if (operation.wants_answer) {
    active().answer(self, operation.instance, operation.origin->rank(),
                    request.kind == RdmaRequest::Kind::get ? request.bytes : 0, operation.answer);
  } else {
    operation.origin->free_.push_back(&operation);
  }
}

/// At the origin.
void WindowByMessages::answered(SimThread& self, Operation& operation) {
  const RdmaRequest& request = operation.request;
  self.owe(settings().software.one_sided_complete, Category::completion);
  if (request.kind == RdmaRequest::Kind::get) {
    process().copy(self, request.bytes);
  }
  if (request.result != nullptr) {
    *request.result = request.old_value;
  }
  count(self, request.target, Category::completion);
  note_completion(request.target);
  if (request.listener != nullptr) {
    request.listener->completed(self, request);
  }
  free_.push_back(&operation);
}

} // namespace

std::unique_ptr<WindowPath> make_window_by_messages(const WindowPathParts& parts) {
  return std::make_unique<WindowByMessages>(parts);
}

} // namespace contend
