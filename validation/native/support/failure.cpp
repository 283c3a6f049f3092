#include "support/failure.hpp"

#include <cstdio>

namespace contend::native {

namespace {

std::string& name_storage() {
  static std::string name = "contend";
  return name;
}

} // namespace

void set_program_name(const std::string& name) { name_storage() = name; }

const std::string& program_name() { return name_storage(); }

void print_error(ExitCode code, const std::string& text) {
  // one call, so that the lines of several ranks do not mix
  const std::string line = program_name() + ": error " + std::to_string(static_cast<int>(code)) + ": " + text + "\n";
  (void)std::fputs(line.c_str(), stderr);
  (void)std::fflush(stderr);
}

} // namespace contend::native
