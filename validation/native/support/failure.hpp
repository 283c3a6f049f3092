// How a program ends when it cannot do what was asked.
#pragma once

#include <stdexcept>
#include <string>

namespace contend::native {

/// Exit codes that the README documents.
enum class ExitCode { done = 0, system_error = 1, bad_options = 2, not_supported = 3, incorrect = 4, timed_out = 5 };

/// Ends the program with `code` after printing the message.
class Failure : public std::runtime_error {
public:
  Failure(ExitCode code, const std::string& message, bool collective = false)
      : std::runtime_error(message), code_(code), collective_(collective) {}

  [[nodiscard]] ExitCode code() const { return code_; }
  /// Every rank has come to the same conclusion, so that the library can be shut down in an orderly way.
  [[nodiscard]] bool collective() const { return collective_; }

private:
  ExitCode code_;
  bool collective_;
};

/// "contend-multirate: error 4: text" on stderr.
void print_error(ExitCode code, const std::string& text);

/// Names the program in messages; call first.
void set_program_name(const std::string& name);
[[nodiscard]] const std::string& program_name();

} // namespace contend::native
