// Half a ping-pong by message size.
#include "primitives/primitive.hpp"

namespace contend::native {

void primitive_latency(PrimitiveContext& context) {
  for (const std::int64_t size : context.sizes) {
    context.add_point("latency", {{"message_size", size}},
                      [&] { return half_ping_pong(context, size, context.iterations); });
  }
}

} // namespace contend::native
