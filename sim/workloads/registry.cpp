#include "workloads/latency.hpp"
#include "workloads/lock_use.hpp"
#include "workloads/multirate_all_to_all.hpp"
#include "workloads/multirate_pairwise.hpp"
#include "workloads/multirate_slots.hpp"
#include "workloads/neighbour.hpp"
#include "workloads/pack.hpp"
#include "workloads/partitioned.hpp"
#include "workloads/ping_pong.hpp"
#include "workloads/rma_mt.hpp"
#include "workloads/wait_calls.hpp"

namespace contend {

Registry<WorkloadFactory>& workload_registry() {
  static Registry<WorkloadFactory> registry{
      {"latency",
       [](const WorkloadParameters& parameters) -> std::unique_ptr<Workload> {
         return std::make_unique<Latency>(parameters.latency);
       }},
      {"lock",
       [](const WorkloadParameters& parameters) -> std::unique_ptr<Workload> {
         return std::make_unique<LockUse>(parameters.lock_use);
       }},
      {"multirate",
       [](const WorkloadParameters& parameters) -> std::unique_ptr<Workload> {
         if (parameters.multirate.completion != "window") {
           return std::make_unique<MultirateSlots>(parameters.multirate);
         }
         if (parameters.multirate.pairwise()) {
           return std::make_unique<MultiratePairwise>(parameters.multirate);
         }
         return std::make_unique<MultirateAllToAll>(parameters.multirate);
       }},
      {"pack",
       [](const WorkloadParameters& parameters) -> std::unique_ptr<Workload> {
         return std::make_unique<Pack>(parameters.pack);
       }},
      {"ping-pong",
       [](const WorkloadParameters& parameters) -> std::unique_ptr<Workload> {
         return std::make_unique<PingPong>(parameters.ping_pong);
       }},
      {"waiting",
       [](const WorkloadParameters& parameters) -> std::unique_ptr<Workload> {
         return std::make_unique<WaitCalls>(parameters.waiting);
       }},
      {"neighbour",
       [](const WorkloadParameters& parameters) -> std::unique_ptr<Workload> {
         return std::make_unique<Neighbour>(parameters.neighbour);
       }},
      {"partitioned",
       [](const WorkloadParameters& parameters) -> std::unique_ptr<Workload> {
         return std::make_unique<Partitioned>(parameters.partitioned);
       }},
      {"rma-mt",
       [](const WorkloadParameters& parameters) -> std::unique_ptr<Workload> {
         return std::make_unique<RmaMt>(parameters.rma_mt);
       }},
  };
  return registry;
}

} // namespace contend
