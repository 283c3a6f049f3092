#include "models/nic/nic.hpp"
#include "models/nic/shared_memory.hpp"
#include "models/nic/tcp.hpp"

namespace contend {

namespace {

std::unique_ptr<Transport> make_interface(const TransportParts& parts) {
  auto nic = std::make_unique<Nic>(parts.engine, parts.host, parts.nic, parts.route, parts.number);
  nic->set_credits(parts.credits);
  if (parts.flows != nullptr) {
    nic->share_wires(*parts.flows);
  }
  return nic;
}

std::unique_ptr<Transport> make_shared_memory(const TransportParts& parts) {
  return std::make_unique<SharedMemoryTransport>(parts.engine, parts.host, parts.shared_memory,
                                                 parts.shared_memory_design);
}

std::unique_ptr<Transport> make_tcp(const TransportParts& parts) {
  return std::make_unique<TcpTransport>(parts.engine, parts.host, parts.tcp, parts.route);
}

} // namespace

Registry<TransportFactory>& transport_registry() {
  static Registry<TransportFactory> registry{
      {"interface", make_interface},
      {"shared-memory", make_shared_memory},
      {"tcp", make_tcp},
  };
  return registry;
}

} // namespace contend
