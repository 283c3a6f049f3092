// contend-schema: prints the schemas and the reference page. The open sets of names come from a file, because this tool
// does not know the engine.
#include "scenario/known_names_file.hpp"
#include "scenario/reference.hpp"
#include "scenario/schema.hpp"

#include <exception>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  const std::string usage = "usage: contend-schema scenario|profile|preset|reference NAMES.json\n";
  if (argc != 3) {
    std::cerr << usage;
    return 2;
  }
  try {
    const std::string what = argv[1];
    const contend::KnownNames names = contend::read_known_names(argv[2]);
    if (what == "scenario")
      std::cout << contend::scenario_schema(names).dump(1) << '\n';
    else if (what == "profile")
      std::cout << contend::profile_schema().dump(1) << '\n';
    else if (what == "preset")
      std::cout << contend::preset_schema(names).dump(1) << '\n';
    else if (what == "reference")
      std::cout << contend::scenario_reference(names);
    else {
      std::cerr << usage;
      return 2;
    }
  } catch (const std::exception& error) {
    std::cerr << "contend-schema: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
