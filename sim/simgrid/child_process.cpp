#include "simgrid/child_process.hpp"

#include "simgrid/sanitizer.hpp"

#include <sys/resource.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace contend {
namespace {

constexpr char success = '+';
constexpr char failure = '-';

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>; // a temporary file: it can hold any amount without a reader

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

File temporary_file() {
  File file(std::tmpfile());
  if (file == nullptr) {
    fail("cannot make a temporary file");
  }
  return file;
}

std::string contents(std::FILE* file) {
  std::string text;
  std::rewind(file);
  std::array<char, 4096> buffer{};
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), file)) {
    text.append(buffer.data(), size);
  }
  return text;
}

void limit(__rlimit_resource resource, rlim_t value) {
  const rlimit both{value, value};
  setrlimit(resource, &both);
}

[[noreturn]] void be_child(const std::function<std::string()>& work, const ChildLimits& limits, std::FILE* answer,
                           std::FILE* output) {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits.cpu_seconds);
  if (!under_sanitizer) {
    limit(RLIMIT_AS, limits.memory_bytes);
  }
  dup2(fileno(output), STDOUT_FILENO);
  dup2(fileno(output), STDERR_FILENO);
  std::string text;
  try {
    text = success + work();
  } catch (const std::exception& error) {
    text = failure + std::string(error.what());
  } catch (...) {
    text = failure + std::string("unknown exception");
  }
  std::fwrite(text.data(), 1, text.size(), answer);
  std::fflush(nullptr);
  _exit(0); // destructors and exit handlers belong to the parent
}

} // namespace

ChildResult run_in_child(const std::function<std::string()>& work, const ChildLimits& limits) {
  const File answer = temporary_file();
  const File output = temporary_file();
  std::fflush(nullptr); // what is buffered must not be written twice
  const pid_t child = fork();
  if (child < 0) {
    fail("cannot start a process");
  }
  if (child == 0) {
    be_child(work, limits, answer.get(), output.get());
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      fail("cannot wait for a process");
    }
  }
  ChildResult result;
  result.output = contents(output.get());
  result.answer = contents(answer.get());
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
  }
  result.succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0 && result.answer.starts_with(success);
  if (!result.answer.empty()) {
    result.answer.erase(0, 1);
  }
  return result;
}

} // namespace contend
