#include "support/program.hpp"

#include "support/failure.hpp"

#include <cstdio>
#include <exception>

namespace contend::native {

namespace {

constexpr int document_format = 1;
constexpr std::int64_t most_steps = 1'000'000'000;

} // namespace

void CommonOptions::declare(Options& options) {
  options.integer("repetitions", repetitions, 1, 1'000'000, "timed repetitions within this launch");
  options.number("seconds-limit", seconds_limit, 0, 1e6, "end with exit code 5 after so long; 0: never");
  options.flag("pretty", pretty, "indent the document");
  options.integer("crash", hooks.crash, -1, most_steps, "test hook: die of a signal at this step");
  options.integer("deadlock", hooks.deadlock, -1, most_steps, "test hook: block for ever at this step");
}

void print_document(const Json& document, bool pretty) {
  const std::string text = document.text(pretty) + "\n";
  if (std::fputs(text.c_str(), stdout) == EOF || std::fflush(stdout) != 0) {
    throw Failure(ExitCode::system_error, "the document cannot be written to stdout");
  }
}

Json begin_document(const Options& options) {
  Json document = Json::object();
  document.set("program", program_name())
      .set("format", document_format)
      .set("command", Json::array_of(options.command()));
  return document;
}

int run_program(const std::string& name, const std::function<void()>& body) {
  set_program_name(name);
  try {
    body();
  } catch (const Failure& failure) {
    print_error(failure.code(), failure.what());
    return static_cast<int>(failure.code());
  } catch (const std::exception& error) {
    print_error(ExitCode::system_error, error.what());
    return static_cast<int>(ExitCode::system_error);
  }
  return static_cast<int>(ExitCode::done);
}

} // namespace contend::native
