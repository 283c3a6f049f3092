#include "core/chrome_trace.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <utility>

namespace contend {

namespace {

// Numbers of processes in the file. Ranks come first; numbers of threads are unique in the file.
constexpr int first_rank = 1;
constexpr int first_interface = 1'000'000;
constexpr int all_locks = 2'000'000;
constexpr int first_stray_host = 3'000'000; ///< for threads that belong to no process
constexpr int first_thread = 1;
constexpr int first_other_track = 1'000'000;

std::int64_t nanoseconds(TimePoint time) {
  constexpr std::int64_t picoseconds_per_nanosecond = 1000;
  return time.since_start().count() / picoseconds_per_nanosecond;
}

/// Text for inside the quotes of a JSON string.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      result += '\\';
      result += character;
    } else if (code < 0x20) {
      std::array<char, 8> digits{};
      std::snprintf(digits.data(), digits.size(), "\\u%04x", code);
      result += digits.data();
    } else {
      result += character;
    }
  }
  return result;
}

/// A number of nanoseconds as microseconds.
std::string microseconds(std::int64_t time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%" PRId64 ".%03" PRId64, time / 1000, time % 1000);
  return text.data();
}

std::string placed(int process, int thread) {
  return R"("pid":)" + std::to_string(process) + R"(,"tid":)" + std::to_string(thread);
}

} // namespace

ChromeTrace::ChromeTrace(Engine& engine, const std::string& path, std::uint64_t limit_bytes, std::string_view title)
    : engine_(engine), limit_(limit_bytes), title_(escaped(title)), file_(std::fopen(path.c_str(), "wb")) {
  if (!file_) {
    throw std::system_error(errno, std::generic_category(), path);
  }
  write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  engine.set_trace(this);
}

ChromeTrace::~ChromeTrace() {
  if (engine_.trace() == this) {
    engine_.set_trace(nullptr);
  }
}

void ChromeTrace::write(std::string_view text) {
  if (!error_ && std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) {
    error_ = std::error_code(errno, std::generic_category());
    stop();
  }
  summary_.bytes += text.size();
}

void ChromeTrace::event(std::string_view text) {
  write(summary_.events++ == 0 ? "{" : ",\n{");
  write(text);
  write("}");
}

void ChromeTrace::stop() {
  stopped_ = true;
  if (engine_.trace() == this) {
    engine_.set_trace(nullptr);
  }
}

void ChromeTrace::cut(std::string_view why) {
  if (stopped_) {
    return;
  }
  summary_.complete = false;
  close_everything();
  event(R"("ph":"i","s":"g","pid":1,"tid":1,"ts":)" + microseconds(nanoseconds(summary_.end)) +
        R"(,"name":"the trace ends here: )" + escaped(why) + R"(")");
  stop();
}

ChromeTrace::Summary ChromeTrace::finish() {
  if (!stopped_) {
    close_everything();
    stop();
  }
  write("\n"
        R"(],"otherData":{"title":")" +
        title_ + R"(","complete":)" + (summary_.complete ? "true" : "false") + R"(,"end_us":)" +
        microseconds(nanoseconds(summary_.end)) + "}}\n");
  if (std::fclose(file_.release()) != 0 && !error_) {
    error_ = std::error_code(errno, std::generic_category());
  }
  if (error_) {
    throw std::system_error(error_, "trace");
  }
  return summary_;
}

// Tracks.

void ChromeTrace::name_process(int process, const std::string& name) {
  if (std::find(named_processes_.begin(), named_processes_.end(), process) != named_processes_.end()) {
    return;
  }
  named_processes_.push_back(process);
  const std::string number = std::to_string(process);
  event(R"("ph":"M","name":"process_name","pid":)" + number + R"(,"args":{"name":")" + name + R"("})");
  event(R"("ph":"M","name":"process_sort_index","pid":)" + number + R"(,"args":{"sort_index":)" + number + "}");
}

ChromeTrace::Track ChromeTrace::new_track(int process, int thread, std::string_view name) {
  Track track{process, thread, escaped(name)};
  event(R"("ph":"M","name":"thread_name",)" + placed(process, thread) + R"(,"args":{"name":")" + track.name + R"("})");
  event(R"("ph":"M","name":"thread_sort_index",)" + placed(process, thread) + R"(,"args":{"sort_index":)" +
        std::to_string(thread) + "}");
  return track;
}

ChromeTrace::Thread& ChromeTrace::state_of(const SimThread& thread) {
  const auto id = static_cast<std::size_t>(thread.id());
  if (threads_.size() <= id) {
    threads_.resize(id + 1);
  }
  if (!threads_[id]) {
    threads_[id] = std::make_unique<Thread>();
    int process = first_stray_host + thread.host();
    if (thread.process() >= 0) {
      process = first_rank + thread.process();
      name_process(process, "rank " + std::to_string(thread.process()) + " on host " + std::to_string(thread.host()));
    } else {
      name_process(process, "host " + std::to_string(thread.host()));
    }
    threads_[id]->track = new_track(process, first_thread + thread.id(), thread.name());
  }
  return *threads_[id];
}

const ChromeTrace::Track& ChromeTrace::lock_track(const TraceLabel& lock) {
  Track& track = tracks_[&lock];
  if (track.process == 0) {
    name_process(all_locks, "locks");
    track = new_track(all_locks, first_other_track + next_track_++, lock.name);
  }
  return track;
}

const ChromeTrace::Track& ChromeTrace::interface_track(const TraceLabel& label, int host) {
  Track& track = tracks_[&label];
  if (track.process == 0) {
    name_process(first_interface + host, "network interface of host " + std::to_string(host));
    track = new_track(first_interface + host, first_other_track + next_track_++, label.name);
  }
  return track;
}

const ChromeTrace::Track& ChromeTrace::queue_track(const TraceLabel& queue) {
  Track& track = tracks_[&queue];
  if (track.process == 0) {
    track.process = queue.owner >= 0 ? first_rank + queue.owner : all_locks;
    const std::string prefix = "rank " + std::to_string(queue.owner) + "/"; // says the process already
    track.name = escaped(queue.name.rfind(prefix, 0) == 0 ? queue.name.substr(prefix.size()) : queue.name);
  }
  return track;
}

const std::string& ChromeTrace::name_of_thread(int thread) const {
  return threads_[static_cast<std::size_t>(thread)]->track.name;
}

// Slices.

bool ChromeTrace::slice(const Track& track, std::string_view name, TimePoint begin, TimePoint end,
                        std::string_view arguments) {
  const Nanoseconds from = nanoseconds(begin);
  const Nanoseconds to = nanoseconds(end);
  if (from == to) {
    return false;
  }
  std::string text = R"("ph":"X",)" + placed(track.process, track.thread) + R"(,"ts":)" + microseconds(from) +
                     R"(,"dur":)" + microseconds(to - from) + R"(,"name":")";
  text += name;
  text += '"';
  if (!arguments.empty()) {
    text += R"(,"args":{)";
    text += arguments;
    text += '}';
  }
  event(text);
  return true;
}

void ChromeTrace::span(const SimThread& thread, Category category, TimePoint begin, TimePoint end) {
  if (summary_.bytes >= limit_) [[unlikely]] {
    cut("its size limit");
    return;
  }
  Thread& state = state_of(thread);
  state.waits_in = Category::count;
  add_span(state, category, begin, end);
}

void ChromeTrace::waits(const SimThread& thread, Category category, TimePoint time) {
  Thread& state = state_of(thread);
  state.waits_in = category;
  state.waits_since = time;
}

void ChromeTrace::add_span(Thread& thread, Category category, TimePoint begin, TimePoint end) {
  if (category == Category::run_queue &&
      thread.lock_call.lock != nullptr) { // a spinning thread, or one that holds it, has lost its core
    slice(thread.track, contend::name_of(category), begin, end);
  }
  if (thread.lock_call.lock == nullptr && (category != thread.category || begin != thread.last)) {
    flush_span(thread);
    thread.category = category;
    thread.span_begin = begin;
  }
  thread.last = end;
}

void ChromeTrace::flush_span(Thread& thread) {
  if (thread.category != Category::count) {
    slice(thread.track, contend::name_of(thread.category), thread.span_begin, thread.last);
    thread.category = Category::count;
  }
}

void ChromeTrace::enter(const SimThread& thread, std::string_view what, TimePoint time) {
  Thread& state = state_of(thread);
  flush_span(state);
  state.open.push_back({what, time});
  state.last = std::max(state.last, time);
}

void ChromeTrace::leave(const SimThread& thread, TimePoint time) {
  Thread& state = state_of(thread);
  flush_span(state);
  if (!state.open.empty()) { // else it was entered before the trace began
    slice(state.track, state.open.back().what, state.open.back().begin, time);
    state.open.pop_back();
  }
}

void ChromeTrace::restart(const SimThread& thread, TimePoint time) {
  const Thread& state = state_of(thread);
  event(R"("ph":"i","s":"t",)" + placed(state.track.process, state.track.thread) + R"(,"ts":)" +
        microseconds(nanoseconds(time)) + R"(,"name":"timed part begins")");
}

// Locks.

void ChromeTrace::lock_requested(const SimThread& thread, const TraceLabel& lock, TimePoint time) {
  Thread& state = state_of(thread);
  flush_span(state);
  state.lock_call = {&lock, contend::name_of(Category::lock_wait), time, holds_[&lock].thread};
}

void ChromeTrace::lock_acquired(const SimThread& thread, const TraceLabel& lock, Category /*charged_to*/,
                                TimePoint time) {
  Thread& state = state_of(thread);
  if (state.lock_call.lock == &lock) {
    close_lock_call(state, time);
  }
  lock_track(lock); // tracks are numbered in order of first use
  holds_[&lock] = {thread.id(), time};
}

void ChromeTrace::lock_delegated(const SimThread& thread, const TraceLabel& lock, Category /*charged_to*/,
                                 TimePoint time) {
  Thread& state = state_of(thread);
  flush_span(state);
  if (state.lock_call.lock == &lock) {
    close_lock_call(state, time);
  }
}

void ChromeTrace::close_lock_call(Thread& thread, TimePoint time) {
  const LockCall call = std::exchange(thread.lock_call, {});
  std::string arguments = R"("lock":")" + lock_track(*call.lock).name + '"';
  if (call.holder >= 0) {
    arguments += R"(,"holder":")" + name_of_thread(call.holder) + '"';
  }
  slice(thread.track, call.slice, call.begin, time, arguments);
}

void ChromeTrace::close_hold(const TraceLabel& lock, Hold& hold, TimePoint time) {
  slice(lock_track(lock), name_of_thread(std::exchange(hold.thread, -1)), hold.begin, time);
}

void ChromeTrace::lock_released(const SimThread& thread, const TraceLabel& lock, TimePoint time) {
  Thread& state = state_of(thread);
  flush_span(state);
  if (Hold& hold = holds_[&lock]; hold.thread >= 0) {
    close_hold(lock, hold, time);
  }
  state.lock_call = {&lock, "lock_release", time, -1};
}

void ChromeTrace::lock_service_began(const SimThread& thread, const TraceLabel& lock, TimePoint time) {
  Thread& state = state_of(thread);
  if (state.lock_call.lock != nullptr) {
    close_lock_call(state, time);
  }
  lock_track(lock); // tracks are numbered in order of first use
  holds_[&lock] = {thread.id(), time};
}

void ChromeTrace::lock_service_over(const SimThread& thread, const TraceLabel& lock, TimePoint time) {
  lock_released(thread, lock, time); // what is left of it
}

void ChromeTrace::unlock_done(const SimThread& thread, const TraceLabel& /*lock*/, Category /*charged_to*/,
                              TimePoint time) {
  Thread& state = state_of(thread);
  if (state.lock_call.lock != nullptr) {
    close_lock_call(state, time);
  }
}

/// Ends every open slice now, or where its thread is already.
void ChromeTrace::close_everything() {
  const TimePoint now = engine_.now();
  summary_.end = now;
  for (const auto& thread : threads_) {
    if (!thread) {
      continue;
    }
    if (thread->waits_in != Category::count) {
      add_span(*thread, thread->waits_in, thread->waits_since, std::max(now, thread->waits_since));
    }
    flush_span(*thread);
    const TimePoint end = std::max(now, thread->last);
    if (thread->lock_call.lock != nullptr) {
      close_lock_call(*thread, end);
    }
    for (; !thread->open.empty(); thread->open.pop_back()) {
      slice(thread->track, thread->open.back().what, thread->open.back().begin, end);
    }
    summary_.end = std::max(summary_.end, thread->last);
  }
  std::vector<std::pair<int, const TraceLabel*>> held; // in the order of tracks: the same bytes for the same run
  for (const auto& [lock, hold] : holds_) {
    if (hold.thread >= 0) {
      held.emplace_back(lock_track(*lock).thread, lock);
    }
  }
  std::sort(held.begin(), held.end());
  for (const auto& [track, lock] : held) {
    Hold& hold = holds_[lock];
    close_hold(*lock, hold, std::max(now, hold.begin));
  }
}

// Queues.

void ChromeTrace::length(const TraceLabel& queue, TimePoint time, std::int64_t length) {
  const Track& track = queue_track(queue);
  if (const auto [last, is_new] = lengths_.try_emplace(&queue, length); !is_new) {
    if (last->second == length) {
      return;
    }
    last->second = length;
  }
  event(R"("ph":"C","pid":)" + std::to_string(track.process) + R"(,"ts":)" + microseconds(nanoseconds(time)) +
        R"(,"name":")" + track.name + R"(","args":{"length":)" + std::to_string(length) + "}");
}

// Messages.

MessageNumber ChromeTrace::message_sent(const SimThread& thread, TimePoint called) {
  const MessageNumber number = ++last_message_;
  Flight flight;
  flight.sender = &state_of(thread).track;
  flight.posted = nanoseconds(called);
  flights_.emplace(number, flight);
  return number;
}

MessageNumber ChromeTrace::message_posted(const SimThread& thread, const PostedMessage& message) {
  const MessageNumber number = ++last_message_;
  const int host = message.interface.owner;
  const Track& interface = interface_track(message.interface, host);
  const Track& context = interface_track(message.context, host);
  const std::string arguments =
      R"("message":)" + std::to_string(number) + R"(,"bytes":)" + std::to_string(message.bytes);
  Flight flight;
  flight.sender = &state_of(thread).track;
  flight.posted = nanoseconds(message.called);
  if (slice(interface, "message", message.served, message.served + message.interface_busy, arguments)) {
    flight.sending_interface = &interface;
    flight.served = nanoseconds(message.served);
  }
  slice(context, "message", message.departure, message.departure + message.context_busy, arguments);
  const std::string identity = R"("cat":"wire","name":"on the wire","id":)" + std::to_string(number) + ',' +
                               placed(interface.process, interface.thread);
  event(R"("ph":"b",)" + identity + R"(,"ts":)" + microseconds(nanoseconds(message.departure)) + R"(,"args":{)" +
        arguments + "}");
  event(R"("ph":"e",)" + identity + R"(,"ts":)" + microseconds(nanoseconds(message.arrival)));
  flights_.emplace(number, flight);
  return number;
}

void ChromeTrace::message_arrived(MessageNumber message, const TraceLabel& interface, TimePoint time, Duration busy) {
  const auto found = flights_.find(message);
  if (found == flights_.end()) {
    return;
  }
  const Track& track = interface_track(interface, interface.owner);
  if (slice(track, "message", time, time + busy, R"("message":)" + std::to_string(message))) {
    found->second.receiving_interface = &track;
    found->second.taken = nanoseconds(time);
  }
}

void ChromeTrace::interface_occupied(const TraceLabel& interface, std::string_view by, TimePoint /*ready*/,
                                     TimePoint time, Duration busy, Duration /*on_wire*/) {
  slice(interface_track(interface, interface.owner), by, time, time + busy, {});
}

/// All steps of a flow are written at its end: a trace that ends early has no flow without an end.
void ChromeTrace::message_matched(const SimThread& thread, MessageNumber message, TimePoint time) {
  const auto found = flights_.find(message);
  if (found == flights_.end()) {
    return;
  }
  const Flight& flight = found->second;
  flow_step('s', *flight.sender, flight.posted, message);
  if (flight.sending_interface != nullptr) {
    flow_step('t', *flight.sending_interface, flight.served, message);
  }
  if (flight.receiving_interface != nullptr) {
    flow_step('t', *flight.receiving_interface, flight.taken, message);
  }
  flow_step('f', state_of(thread).track, nanoseconds(time), message);
  flights_.erase(found);
  ++summary_.messages;
}

void ChromeTrace::flow_step(char phase, const Track& track, Nanoseconds time, MessageNumber message) {
  std::string text = R"("ph":")";
  text += phase;
  text += R"(","cat":"message","name":"message","id":)" + std::to_string(message) + ',' +
          placed(track.process, track.thread) + R"(,"ts":)" + microseconds(time);
  event(phase == 'f' ? text + R"(,"bp":"e")" : text);
}

} // namespace contend
