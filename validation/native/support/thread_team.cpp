#include "support/thread_team.hpp"

#include "support/failure.hpp"

#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

namespace contend::native {

namespace {

void guarded(const std::function<void(int)>& body, int index) {
  try {
    body(index);
  } catch (const Failure& failure) {
    print_error(failure.code(), failure.what());
    std::_Exit(static_cast<int>(failure.code()));
  } catch (const std::exception& error) {
    print_error(ExitCode::system_error, error.what());
    std::_Exit(static_cast<int>(ExitCode::system_error));
  }
}

} // namespace

void run_team(int threads, const std::function<void(int)>& body, const std::function<void()>& created) {
  std::vector<std::jthread> others;
  others.reserve(static_cast<std::size_t>(threads));
  for (int index = 1; index < threads; ++index) {
    others.emplace_back([&body, index] { guarded(body, index); });
    if (created) {
      created();
    }
  }
  guarded(body, 0);
}

} // namespace contend::native
