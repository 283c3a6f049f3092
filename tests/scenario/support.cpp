#include "support.hpp"

#include "scenario/known_names_file.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace contend::test {

LoadOptions load_options() {
  static const KnownNames names = read_known_names(repository() / "schemas" / "names.json");
  LoadOptions options;
  options.names = names;
  options.profile_directories = {data_directory() / "profiles"};
  options.preset_directories = {data_directory() / "presets"};
  options.resolve_route = [](const std::filesystem::path&, const std::string& from, const std::string& to) {
    RouteFacts facts{{Duration::nanoseconds(700), 12.5e9}, 20, 20};
    for (const std::string& host : {from, to}) {
      if (host != "node0" && host != "node1" && host != "small")
        throw std::runtime_error("no host " + host);
    }
    if (from == "small")
      facts.from_cores = 4;
    if (to == "small")
      facts.to_cores = 4;
    return facts;
  };
  return options;
}

std::string slurp(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

} // namespace contend::test
