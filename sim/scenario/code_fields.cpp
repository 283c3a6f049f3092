#include "scenario/code_fields.hpp"

#include "scenario/section_builder.hpp"

namespace contend::scenario {

Section matching_fields() {
  using P = MatchingParameters;
  auto s = declare<P>("matching", "Prices of the steps of matching.", Presence::measured,
                      [](auto& point) -> auto& { return point.machine.matching; });
  s.of_network();
  s.field("attempt", &P::attempt, any_time, "fixed part of one search");
  s.field("element", &P::element, any_time, "visiting one queue element that is in this core's cache");
  s.field("element_size", &P::element_bytes, footprint, "cache footprint of one queue element");
  s.field("enqueue", &P::enqueue, any_time, "linking an element into a queue");
  s.field("fragment_allocate", &P::fragment_allocate, any_time,
          "taking an out-of-sequence or unexpected fragment from its free list and copying the header");
  s.field("fragment_release", &P::fragment_release, any_time, "giving a fragment back");
  s.field("range", &P::range, any_time, "visiting one range of an out-of-sequence list that is in this core's cache");
  s.field("fragment_size", &P::fragment_bytes, footprint, "cache footprint of one fragment");
  s.field("hash", &P::hash, any_time, "finding the hash bin of a message or receive");
  s.field("vector_step", &P::vector_step, any_time,
          "comparing one block of packed elements that is in this core's cache");
  s.field("offload_command", &P::offload_command, any_time,
          "CPU: adding a receive to the interface's tag-matching list, or removing it");
  s.field("offload_latency", &P::offload_latency, any_time,
          "interface: from a message's arrival to the end of its match, besides the walk");
  s.field("offload_element", &P::offload_element, any_time, "interface: visiting one receive in its list");
  s.presence(Presence::known);
  s.field("distant_element", &P::distant_element, any_time,
          "visiting one queue element on a page of its own (library.matching.element_spacing); 0 ns: as element");
  s.another_at_zero();
  s.field(
      "state_lines", &P::state_lines, CountRule{1, 64},
      "cache lines under a matching lock that each holder of it changes, one after the other: queue heads and expected "
      "sequence numbers");
  return s.finish();
}

Section software_fields() {
  using P = SoftwareParameters;
  auto s = declare<P>("software", "CPU cost of the library's own code, without locks, queues and the interface.",
                      Presence::measured, [](auto& point) -> auto& { return point.machine.software; });
  s.of_network();
  s.field("send_call", &P::send_call, any_time, "send: argument checks, request or inline path, header");
  s.field("send_request", &P::send_request, any_time, "extra when the message cannot go inline");
  s.field("receive_call", &P::receive_call, any_time, "receive: argument checks, request set-up");
  s.field("request_allocate", &P::request_allocate, any_time, "taking a request from the free list");
  s.field("deliver", &P::deliver, any_time, "dispatch and communicator look-up per arriving message");
  s.field("complete", &P::complete, any_time, "completing a request");
  s.field("wait_call", &P::wait_call, any_time, "wait family: entry and exit");
  s.field("wait_request", &P::wait_request, any_time, "per request in a wait for all");
  s.field("progress_call", &P::progress_call, any_time, "one turn of the progress loop besides what it polls");
  s.field("one_sided_call", &P::one_sided_call, any_time, "put, get and atomics: checks, peer and memory look-up");
  s.field("one_sided_complete", &P::one_sided_complete, any_time, "callback of one completed one-sided operation");
  s.field("one_sided_synchronize", &P::one_sided_synchronize, any_time, "flush, lock, unlock, fence: entry and exit");
  s.field("copy_bandwidth", &P::copy_bytes_per_second, any_rate, "memory copy into and out of bounce buffers");
  return s.finish();
}

Section waiting_fields() {
  using P = WaitingParameters;
  auto s = declare<P>("waiting", "CPU cost of waiting and testing, without cache lines and system calls.",
                      Presence::measured, [](auto& point) -> auto& { return point.machine.waiting; });
  s.of_network();
  s.field("check", &P::check, any_time, "looking at one request that is in this core's cache: complete or not");
  s.field("request_size", &P::request_bytes, footprint, "cache footprint of one request");
  s.field("detach", &P::detach, any_time, "taking one request from a sync object again");
  s.field("start", &P::start, any_time,
          "start of a persistent request: of a receive in place of software.receive_call, of a send besides "
          "software.send_call");
  s.field("query", &P::query, any_time, "a query of a user-level sync object: entry and exit, unlinking");
  s.field("task", &P::task, any_time, "making a piece of work a task, or taking one, besides the pool's line");
  s.presence(Presence::known);
  s.field("misses_at_once", &P::misses_at_once, CountRule{1, 1024},
          "looks at requests of an array that overlap where requests are not in the core's own cache");
  s.field("handle", &P::handle, any_time,
          "checking one of the handles that a call over several requests is given, before it looks at any");
  s.field("clock", &P::clock, any_time,
          "reading the clock, of which a program that times a call pays one reading (workload waiting)");
  return s.finish();
}

Section datatype_fields() {
  using P = DatatypeParameters;
  auto s = declare<P>("datatype", "Packing and copying large amounts of data.", Presence::measured,
                      [](auto& point) -> auto& { return point.machine.datatype; });
  s.of_network();
  s.field("block", &P::block, any_time, "packing one block of a vector datatype, besides its bytes");
  s.field("l3_size", &P::l3_bytes, footprint, "shared cache of one socket");
  s.field("memory_bandwidth", &P::memory_bytes_per_second, any_rate,
          "memory traffic that the cores of one socket can have together");
  return s.finish();
}

Section coroutine_fields() {
  using P = CoroutineParameters;
  auto s = declare<P>("coroutines", "Prices of MPI processes that are coroutines.", Presence::known,
                      [](auto& point) -> auto& { return point.machine.coroutines; });
  s.field("light_switch", &P::light_switch, any_time,
          "from one coroutine through the scheduler to the next, light-weight library; 0 ns: not known");
  s.field("portable_switch", &P::portable_switch, any_time, "the same with a portable library");
  s.field("os_switch", &P::os_switch, any_time, "from one process of the operating system to another");
  s.field("check", &P::check, any_time, "a process that was switched to looks whether it can go on");
  s.field("stack_lines", &P::stack_lines, CountRule{0, 10'000}, "cache lines of its own that each turn touches");
  s.field("library_lines", &P::library_lines, CountRule{0, 10'000},
          "cache lines of the library that a message touches");
  s.field("buffer", &P::buffer, any_time, "taking or freeing a message buffer on the heap");
  return s.finish();
}

} // namespace contend::scenario
