#include "models/matching/hash_bins_matcher.hpp"
#include "models/matching/list_matcher.hpp"
#include "models/matching/ob1_matcher.hpp"
#include "models/matching/offload_matcher.hpp"
#include "models/matching/per_source_matcher.hpp"
#include "models/matching/vector_matcher.hpp"

namespace contend {

Registry<MatcherFactory>& matcher_registry() {
  static Registry<MatcherFactory> registry{
      {"hash-bins", make_matcher<HashBinsMatcher>},
      {"list", make_matcher<ListMatcher>},
      {"ob1", make_matcher<Ob1Matcher>},
      {"offload", make_matcher<OffloadMatcher>},
      {"per-source", make_matcher<PerSourceMatcher>},
      {"vector", make_matcher<VectorMatcher>},
  };
  return registry;
}

} // namespace contend
