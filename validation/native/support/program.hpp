// What all programs have in common: their common options, the frame of their document, the ways they end.
#pragma once

#include "support/hooks.hpp"
#include "support/json.hpp"
#include "support/options.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace contend::native {

struct CommonOptions {
  std::int64_t repetitions = 1;
  double seconds_limit = 0;
  bool pretty = false;
  Hooks hooks;

  void declare(Options& options);
};

/// Prints a document on stdout.
void print_document(const Json& document, bool pretty);

/// {"program", "format", "command"}: the first fields of every document.
[[nodiscard]] Json begin_document(const Options& options);

/// The body of a main function without MPI: exit codes for what is thrown.
[[nodiscard]] int run_program(const std::string& name, const std::function<void()>& body);

} // namespace contend::native
