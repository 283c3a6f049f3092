#include "simgrid/process_engine.hpp"

#include <simgrid/s4u/Engine.hpp>

#include <array>
#include <csignal>

namespace contend {
namespace {

/// Puts the handlers of the signals that SimGrid takes over back at the end of the scope.
class SignalHandlers {
public:
  SignalHandlers() {
    for (std::size_t i = 0; i < signals.size(); ++i) {
      sigaction(signals[i], nullptr, &saved_[i]);
    }
  }
  ~SignalHandlers() {
    for (std::size_t i = 0; i < signals.size(); ++i) {
      sigaction(signals[i], &saved_[i], nullptr);
    }
  }
  SignalHandlers(const SignalHandlers&) = delete;
  SignalHandlers& operator=(const SignalHandlers&) = delete;

private:
  static constexpr std::array<int, 3> signals{SIGINT, SIGSEGV, SIGBUS};
  std::array<struct sigaction, signals.size()> saved_{};
};

} // namespace

bool has_process_engine() { return simgrid::s4u::Engine::has_instance(); }

void make_process_engine(std::vector<std::string> options) {
  options.insert(options.begin(), {"contend",
                                   "--log=xbt_cfg.threshold:warning",  // no line for every option that is set
                                   "--cfg=debug/clean-atexit:false"}); // nobody may run destructors of models at exit
  std::vector<char*> arguments;
  arguments.reserve(options.size() + 1);
  for (std::string& option : options) {
    arguments.push_back(option.data());
  }
  arguments.push_back(nullptr);
  int count = static_cast<int>(options.size());
  const SignalHandlers keep;
  // Never deleted: SimGrid refuses to seal a second platform in the same process, so a second engine would be no use.
  new simgrid::s4u::Engine(&count, arguments.data());
}

} // namespace contend
