#include "scenario/interface_fields.hpp"

#include "scenario/section_builder.hpp"

namespace contend::scenario {

Section nic_fields() {
  using P = NicParameters;
  auto s = declare<P>("nic", "The network interface with its contexts.", Presence::measured,
                      [](auto& point) -> auto& { return point.machine.nic; });
  s.of_network();
  s.field("post", &P::post, any_time, "CPU: build one work request");
  s.field("doorbell", &P::doorbell, any_time, "CPU: ring the doorbell");
  s.field("wqe_fetch", &P::wqe_fetch, any_time,
          "interface: from doorbell to the first byte on the wire, if its payload need not be fetched");
  s.field("context_gap", &P::context_gap, any_time, "interface: least time between two messages of one context");
  s.field("nic_gap", &P::nic_gap, any_time, "interface: least time between two messages of the whole interface");
  s.field("completion", &P::completion, any_time, "CPU: take one entry out of a completion queue");
  s.field("empty_poll", &P::empty_poll, positive_time, "CPU: look at an empty completion queue");
  s.field("max_contexts", &P::max_contexts, CountRule{1, 65536}, "contexts, for all processes of the host together");
  s.field("send_queue_depth", &P::send_queue_depth, CountRule{1, 1 << 20},
          "work requests that one endpoint may have outstanding");
  s.field("send_completion_batch", &P::send_completion_batch, CountRule{1, 65536},
          "the interface reports every n-th send completion");
  s.field("flow_control_window", &P::flow_control_window, CountRule{0, 1 << 20},
          "messages that an endpoint may send without a grant from its peer; 0: no flow control");
  s.field("poll_batch", &P::poll_batch, CountRule{1, 65536}, "completions handled per look at the queue");
  s.field("mtu", &P::mtu_bytes, SizeRule{64, std::int64_t{1} << 30}, "largest payload of one packet on the wire");
  s.field("packet_overhead", &P::packet_bytes, SizeRule{0, 4096}, "link and transport headers of one packet");
  s.field("registration", &P::registration, any_time, "CPU: make a buffer known to the interface, besides its pages");
  s.field("registration_page", &P::registration_page, any_time, "CPU: each page of 4 KiB of the buffer");
  s.field("registration_hit", &P::registration_hit, any_time, "CPU: find a buffer that is registered already");
  s.presence(Presence::defaulted);
  s.field("injection_fifos", &P::injection_fifos, CountRule{1, 65536},
          "send queues of one context, over which its connections are spread");
  s.presence(Presence::known);
  s.field("post_lines", &P::post_lines, CountRule{1, 64},
          "cache lines of a context that every post changes, one after the other: counters of the send queue, the work "
          "request, the doorbell's record");
  s.field("completion_lines", &P::completion_lines, CountRule{0, 64},
          "cache lines of a context that taking an entry out of its completion queue changes, one after the other: "
          "counters of "
          "queues, the receive buffer's descriptor");
  s.field(
      "inline_limit", &P::inline_bytes, message_bytes,
      "largest message, the library's header included, that the processor writes into its work request; the interface "
      "fetches larger ones from memory");
  s.field("payload_fetch", &P::payload_fetch, any_time,
          "interface: from turning to a work request to having the first byte of a payload that it fetches");
  s.field(
      "bus_bandwidth", &P::bus_bytes_per_second, rate_or_none,
      "between memory and interface: each packet of a fetched payload passes it whole, before the wire and after it; "
      "0 B/s: in no time");
  return s.finish();
}

Section rdma_fields() {
  using P = RdmaParameters;
  auto s = declare<P>("rdma", "One-sided operations of the interface.", Presence::measured,
                      [](auto& point) -> auto& { return point.machine.rdma; });
  s.of_network();
  s.field("store_limit", &P::store_limit_bytes, message_bytes,
          "largest operation that the processor stores into the interface; larger ones are descriptors");
  s.field("store_post", &P::store_post, any_time, "CPU: store an operation without its payload, doorbell included");
  s.field("store_bandwidth", &P::store_bytes_per_second, any_rate, "CPU: store the payload of a put");
  s.field("store_start", &P::store_start, any_time,
          "interface: from the stored operation to its first byte on the wire");
  s.field("offload_post", &P::offload_post, any_time, "CPU: post a descriptor, doorbell included");
  s.field("offload_start", &P::offload_start, any_time,
          "interface: from the descriptor to the first byte on the wire, reading memory included");
  s.field("offload_gap", &P::offload_gap, any_time,
          "interface: from the end of a descriptor's data to the next operation of the context");
  s.field("read_response", &P::read_response, any_time,
          "target's interface: from a get's request to the first byte of the response");
  s.field("atomic_response", &P::atomic_response, any_time,
          "target's interface: from the start of an atomic to the first byte of its response");
  s.field("atomic_gap", &P::atomic_gap, any_time, "target's interface: least time between two atomics");
  s.field("atomic_limit", &P::atomic_limit_bytes, SizeRule{0, 4096},
          "largest operand of a hardware atomic; 0 B: accumulates never use them");
  s.field("header", &P::header_bytes, SizeRule{0, 65536}, "bytes on the wire in front of a request or response");
  s.field("read_depth", &P::read_depth, CountRule{1, 65536}, "gets and atomics that one endpoint may have outstanding");
  s.field("completion_batch", &P::completion_batch, CountRule{1, 65536},
          "the interface reports every n-th completion of an endpoint");
  s.field("completion", &P::completion, any_time, "CPU: take one entry out of a completion queue");
  s.presence(Presence::known);
  s.field("post_lines", &P::post_lines, CountRule{1, 64},
          "cache lines of a context that every post changes, one after the other: counters and heads of lists");
  s.field("descriptor_lines", &P::descriptor_lines, CountRule{1, 64},
          "cache lines of an operation that its post and its completion change, one after the other: descriptor, "
          "endpoint, request");
  return s.finish();
}

Section tcp_fields() {
  using P = TcpParameters;
  auto s = declare<P>("tcp", "TCP sockets of the kernel.", Presence::measured,
                      [](auto& point) -> auto& { return point.machine.tcp; });
  s.optional();
  s.field("send_call", &P::send_call, any_time, "CPU: a send, with the packet's way to the peer's socket");
  s.field("full_send_call", &P::full_send_call, any_time, "CPU: a send that finds the buffers full");
  s.field("receive_call", &P::receive_call, any_time,
          "CPU: a receive that finds data, without its packets and what it acknowledges");
  s.field(
      "contended_send", &P::contended_send, any_time,
      "CPU: mean of what a send costs more while the peer sends an acknowledgment on another core; what it is above "
      "`returned_send` is an exponential delay's");
  s.field("poll_call", &P::poll_call, any_time, "CPU: asking which sockets have data");
  s.field("poll_socket", &P::poll_socket, any_time, "CPU: each socket on top, where the call looks at all of them");
  s.field("dispatch", &P::dispatch, any_time, "CPU: from a readable socket to the transport's receive function");
  s.field("copy_bandwidth", &P::copy_bytes_per_second, any_rate, "CPU: between user memory and socket buffers");
  s.field("buffer", &P::buffer_bytes, message_bytes, "send and receive buffer of one direction together");
  s.field("packet", &P::packet_bytes, message_bytes, "what a small message takes up in them besides its bytes");
  s.field("receive_size", &P::receive_bytes, message_bytes, "most that one receive call takes");
  s.presence(Presence::known);
  s.field("arrival_share", &P::arrival_share, RealRule{0.0, 1.0},
          "part of a send call until the message is in the peer's socket, on one host; the rest comes after that");
  s.field("returned_send", &P::returned_send, any_time,
          "CPU: what a send costs more when the peer has read, or sent the other way, on another core since the last "
          "one");
  s.field("acknowledging_send", &P::acknowledging_send, any_time,
          "CPU: what a send costs more that acknowledges what has arrived the other way");
  s.field("poll_event", &P::poll_event, any_time, "CPU: each socket that asking reports, and once more the next time");
  s.field("receive_packet", &P::receive_packet, any_time, "CPU: each packet that a receive takes");
  s.field("acknowledge", &P::acknowledge, any_time,
          "CPU: an acknowledgment that a receive sends, with its way to the peer's socket");
  s.field("moved_send", &P::moved_send, any_time,
          "CPU: what a send costs more where the last one on its socket was by another core");
  s.field("moved_receive", &P::moved_receive, any_time,
          "CPU: what a receive costs more where the last one on its socket was by another core");
  s.field(
      "queued_send_call", &P::queued_send_call, any_time,
      "CPU: a send, on one host, that the peer's kernel does not take yet: it joins those that wait in the sender's "
      "socket; 0: not known, it fails");
  s.field("window", &P::window_packets, CountRule{0, 1 << 20},
          "congestion window: packets on their way, until the peer acknowledges, before sends queue; 0: none");
  s.field("send_queue", &P::send_queue_bytes, SizeRule{0, std::int64_t{1} << 40},
          "bytes that may wait in the sender's socket");
  return s.finish();
}

Section shared_memory_fields() {
  using P = SharedMemoryParameters;
  constexpr CountRule count{0, 1 << 20};
  auto s = declare<P>("shared_memory", "Messages through memory shared by processes of one host.", Presence::measured,
                      [](auto& point) -> auto& { return point.machine.shared_memory; });
  s.optional();
  s.field("box_write", &P::box_write, any_time, "CPU: put a message into a fast box");
  s.field("box_read", &P::box_read, any_time, "CPU: take a message out of a fast box");
  s.field("queue_write", &P::queue_write, any_time, "CPU: take a fragment and enqueue it");
  s.field("queue_read", &P::queue_read, any_time, "CPU: dequeue a fragment and give it back");
  s.field("poll_box", &P::poll_box, any_time, "CPU: look at an empty fast box");
  s.field("poll_queue", &P::poll_queue, any_time, "CPU: look at an empty queue");
  s.field("copy_call", &P::copy_call, any_time, "CPU: have the kernel copy from or to the other process");
  s.field("copy_bandwidth", &P::copy_bytes_per_second, any_rate, "CPU: one copy of payload");
  s.field("box_size", &P::box_size, message_bytes, "memory of a fast box, a ring of entries; 0 B: no boxes");
  s.field("box_limit", &P::box_bytes, message_bytes,
          "largest message that goes into a fast box, header included; with box_header it must fit into an empty one");
  s.field("box_threshold", &P::box_threshold, count,
          "messages to a peer after which it gets a fast box; 0: it never does");
  s.field("fragments", &P::fragments, count, "of each process, for messages that do not go through boxes");
  s.field("poll_batch", &P::poll_batch, CountRule{1, 65536}, "fragments that one poll takes from the queue");
  s.presence(Presence::known);
  s.field("streamed_boxes", &P::streamed_boxes, FlagRule{},
          "the sender does not wait for the line of a message in a fast box, and messages that lie one behind the "
          "other come "
          "together; else each moves a line there and back");
  s.field("box_header", &P::box_header, message_bytes, "what each entry of a fast box has before its message");
  s.field("box_alignment", &P::box_alignment, SizeRule{1, 4096}, "entries of a fast box take a multiple of this");
  s.field("box_batch", &P::box_batch, count,
          "entries that one poll takes from a fast box, whose room is then free; 0: all that are there");
  return s.finish();
}

Section channel_fields() {
  using P = ChannelParameters;
  auto s = declare<P>("channels", "Prices of queues in shared memory, and of stream sockets, between OS processes.",
                      Presence::known, [](auto& point) -> auto& { return point.machine.channels; });
  s.field("enqueue", &P::enqueue, any_time, "filling in and linking a cell, besides its cache lines");
  s.field("dequeue", &P::dequeue, any_time, "unlinking a cell and giving it back");
  s.field("meet", &P::meet, any_time, "a leader's part in the barrier of a node, each time it does something there");
  s.field("poll", &P::poll, any_time, "looking at empty queues");
  s.field("socket_send", &P::socket_send, any_time, "CPU: handing a message to a socket, besides its bytes");
  s.field("socket_receive", &P::socket_receive, any_time, "CPU: taking a message from a socket, besides its bytes");
  s.field("socket_poll", &P::socket_poll, any_time, "asking the sockets, at each look at the queues");
  return s.finish();
}

} // namespace contend::scenario
