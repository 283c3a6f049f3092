#include "simgrid/flow_model.hpp"

#include "simgrid/child_process.hpp"
#include "simgrid/process_engine.hpp"

#include <nlohmann/json.hpp>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>
#include <simgrid/s4u/NetZone.hpp>

#include <stdexcept>
#include <string>

namespace contend {

namespace {

namespace s4u = simgrid::s4u;

constexpr double unit_per_second = 1e6; ///< SimGrid's seconds are microseconds

/// Runs in a process of its own. Dates in SimGrid's seconds.
std::vector<double> simulate_flows(const FlowProblem& problem) {
  make_process_engine({"--cfg=network/model:CM02", "--cfg=network/crosstraffic:0", "--cfg=network/TCP-gamma:0",
                       "--cfg=network/latency-factor:1", "--cfg=network/bandwidth-factor:1", "--cfg=network/weight-S:0",
                       "--cfg=surf/precision:1e-9", "--cfg=maxmin/precision:1e-9"});
  s4u::NetZone* const zone = s4u::create_full_zone("flows");
  std::vector<const s4u::Link*> links;
  links.reserve(problem.capacities.size());
  for (const double capacity : problem.capacities) {
    links.push_back(zone->create_link("link " + std::to_string(links.size()), capacity / unit_per_second)
                        ->set_latency(0.0)
                        ->seal());
  }
  std::vector<double> ends(problem.flows.size());
  std::vector<std::pair<s4u::Host*, s4u::Host*>> hosts;
  for (std::size_t i = 0; i < problem.flows.size(); ++i) {
    const std::string name = "flow " + std::to_string(i);
    s4u::Host* const from = zone->create_host(name + " from", 1.0)->seal();
    s4u::Host* const to = zone->create_host(name + " to", 1.0)->seal();
    std::vector<s4u::LinkInRoute> route;
    for (const std::size_t link : problem.flows[i].route) {
      route.emplace_back(links.at(link));
    }
    if (const double limit = problem.flows[i].limit; limit < std::numeric_limits<double>::infinity()) {
      // A link of its own is the same as a limit, which SimGrid 3.32 does not take for this kind of transfer.
      route.emplace_back(zone->create_link(name + " limit", limit / unit_per_second)->set_latency(0.0)->seal());
    }
    zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route);
    hosts.emplace_back(from, to);
  }
  zone->seal();
  for (std::size_t i = 0; i < problem.flows.size(); ++i) {
    s4u::Actor::create("flow " + std::to_string(i), hosts[i].first, [&, i] {
      const FlowProblem::Flow& flow = problem.flows[i];
      s4u::this_actor::sleep_until(flow.start.in_seconds() * unit_per_second);
      const s4u::CommPtr transfer = s4u::Comm::sendto_init(hosts[i].first, hosts[i].second);
      transfer->set_payload_size(static_cast<std::uint64_t>(flow.bytes));
      transfer->wait();
      ends[i] = s4u::Engine::get_clock();
    });
  }
  s4u::Engine::get_instance()->run();
  return ends;
}

} // namespace

std::vector<Duration> simgrid_flow_ends(const FlowProblem& problem) {
  const ChildResult child = run_in_child([&] { return nlohmann::json(simulate_flows(problem)).dump(); });
  if (!child.succeeded) {
    throw std::runtime_error("SimGrid cannot simulate these flows: " + child.answer + child.output);
  }
  std::vector<Duration> ends;
  for (const double date : nlohmann::json::parse(child.answer)) {
    ends.push_back(Duration::seconds(date / unit_per_second));
  }
  return ends;
}

} // namespace contend
