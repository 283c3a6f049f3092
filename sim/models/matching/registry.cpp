#include "models/matching/ob1_matcher.hpp"

namespace contend {

Registry<MatcherFactory>& matcher_registry() {
  static Registry<MatcherFactory> registry{
      {"ob1",
       [](const Host& host, const MatchingParameters& parameters, int peers) -> std::unique_ptr<Matcher> {
         return std::make_unique<Ob1Matcher>(host, parameters, peers);
       }},
  };
  return registry;
}

} // namespace contend
