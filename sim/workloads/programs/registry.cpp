#include "workloads/programs/collective.hpp"
#include "workloads/programs/exchange.hpp"
#include "workloads/programs/flocking.hpp"
#include "workloads/programs/matrix_product.hpp"
#include "workloads/programs/nas.hpp"
#include "workloads/programs/ping.hpp"
#include "workloads/programs/pipeline.hpp"
#include "workloads/programs/receivers.hpp"
#include "workloads/programs/ring.hpp"

namespace contend {

Registry<ProgramFactory>& program_registry() {
  using Made = std::unique_ptr<Program>;
  static Registry<ProgramFactory> registry{
      {"collective",
       [](const WorkloadParameters& all, const ComputeParameters&) -> Made {
         return std::make_unique<Collective>(all.collective);
       }},
      {"exchange",
       [](const WorkloadParameters& all, const ComputeParameters&) -> Made {
         return std::make_unique<Exchange>(all.exchange);
       }},
      {"flocking",
       [](const WorkloadParameters& all, const ComputeParameters&) -> Made {
         return std::make_unique<Flocking>(all.flocking);
       }},
      {"matrix-product",
       [](const WorkloadParameters& all, const ComputeParameters& prices) -> Made {
         return std::make_unique<MatrixProduct>(all.matrix_product, prices);
       }},
      {"nas", [](const WorkloadParameters& all, const ComputeParameters&) -> Made { return make_nas(all.nas); }},
      {"ping",
       [](const WorkloadParameters& all, const ComputeParameters&) -> Made {
         return std::make_unique<Ping>(all.ping);
       }},
      {"pipeline",
       [](const WorkloadParameters& all, const ComputeParameters&) -> Made {
         return std::make_unique<Pipeline>(all.pipeline);
       }},
      {"receivers",
       [](const WorkloadParameters& all, const ComputeParameters&) -> Made {
         return std::make_unique<Receivers>(all.receivers);
       }},
      {"ring",
       [](const WorkloadParameters& all, const ComputeParameters&) -> Made {
         return std::make_unique<Ring>(all.ring);
       }},
  };
  return registry;
}

} // namespace contend
