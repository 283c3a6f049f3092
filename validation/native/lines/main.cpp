// contend-lines: a run whose memory accesses somebody else lists (valgrind's tool lackey), to see which cache lines requests drag
// from thread to thread. It measures no time.
#include "lines/marks.hpp"
#include "lines/rounds.hpp"
#include "mpi/session.hpp"
#include "support/deadline.hpp"

#include <string>

namespace contend::native {

namespace {

struct LinesOptions {
  MpiOptions mpi;
  Rounds rounds;
  std::string side = "receive";

  void declare(Options& options) {
    options.choice("side", side, {"receive", "send"}, "what the first rank posts, which is the one to look at");
    options.integer("requests", rounds.requests, 1, most_requests, "requests of a round");
    options.integer("rounds", rounds.rounds, 1, 1'000'000, "rounds");
    options.integer("threads", rounds.threads, 2, most_threads, "imagined threads that post and wait in turn");
    options.integer("turns", rounds.turns, 1, 1'000'000, "calls that make progress before anybody waits");
    mpi.declare(options);
  }
};

void run(int argc, char** argv) {
  LinesOptions options;
  Options command_line("contend-lines", "requests that imagined threads post, complete and wait for, to be traced");
  options.declare(command_line);
  if (!command_line.parse(argc, argv)) {
    return;
  }
  const Deadline deadline(options.mpi.common.seconds_limit);
  const Session session(thread_level("multiple"));
  session.require_ranks(2, "contend-lines");
  options.rounds.sends = options.side == "send";
  const double complete = session.leads() ? run_traced_side(options.rounds) : run_other_side(options.rounds);
  Json document = begin_mpi_document(command_line, session, session.describe(session.place(1), options.mpi.bind));
  document.set("workload", Json::object()
                               .set("kind", "lines")
                               .set("side", options.side)
                               .set("requests", options.rounds.requests)
                               .set("rounds", options.rounds.rounds)
                               .set("threads", options.rounds.threads));
  document.set("complete_before_wait", complete).set("points", Json::array());
  if (session.leads()) {
    print_document(document, options.mpi.common.pretty);
  }
}

} // namespace

} // namespace contend::native

int main(int argc, char** argv) {
  return contend::native::run_mpi_program("contend-lines", [argc, argv] { contend::native::run(argc, argv); });
}
