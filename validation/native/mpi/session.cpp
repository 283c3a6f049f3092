#include "mpi/session.hpp"

#include "support/affinity.hpp"
#include "support/failure.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <numeric>

namespace contend::native {

namespace {

constexpr std::array<int, 4> levels{MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};

std::string level_name(int level) {
  const auto* const found = std::find(levels.begin(), levels.end(), level);
  return found == levels.end() ? "unknown" : thread_level_names()[static_cast<std::size_t>(found - levels.begin())];
}

std::string library_text() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string result(text.data());
  std::replace(result.begin(), result.end(), '\n', ' ');
  return result;
}

/// The first word with a dot between digits that follows `name`: "Open MPI v5.0.11, package: …" has 5.0.11.
std::string version_after(const std::string& text, const std::string& name) {
  const std::size_t at = text.find(name);
  const std::size_t digit = at == std::string::npos ? at : text.find_first_of("0123456789", at + name.size());
  if (digit == std::string::npos) {
    return "";
  }
  std::string version = text.substr(digit, text.find_first_of(" ,\t", digit) - digit);
  return version;
}

std::pair<std::string, std::string> library_name(const std::string& text) {
  for (const char* name : {"Open MPI", "Intel(R) MPI Library", "MVAPICH", "MPICH"}) {
    if (text.find(name) != std::string::npos) {
      const std::string known = name;
      return {known == "Intel(R) MPI Library" ? "Intel MPI" : known, version_after(text, known)};
    }
  }
  return {"unknown", ""};
}

void end_job(ExitCode code, const std::string& message, bool collective) {
  int initialised = 0;
  int finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  if (initialised == 0 || finalised != 0) {
    print_error(code, message);
    return;
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!collective || rank == 0) {
    print_error(code, message);
  }
  if (collective) {
    MPI_Finalize();
  } else {
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
  }
}

} // namespace

void MpiOptions::declare(Options& options) {
  options.choice("bind", bind, {"none", "compact"}, "bind thread i of a host to its i-th core");
  options.flag("counters", counters, "read the MPI_T counters");
  options.text("counter-filter", counter_filter, "counters whose names contain one of these; all");
  common.declare(options);
}

const std::vector<std::string>& thread_level_names() {
  static const std::vector<std::string> names{"single", "funneled", "serialized", "multiple"};
  return names;
}

int thread_level(const std::string& name) {
  const auto& names = thread_level_names();
  return levels.at(static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
}

Session::Session(int wanted_level) : exceptions_(std::uncaught_exceptions()) {
  MPI_Init_thread(nullptr, nullptr, wanted_level, &granted_level_);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  if (granted_level_ < wanted_level) {
    throw Failure(ExitCode::not_supported,
                  "the library grants thread level " + level_name(granted_level_) + ", " + level_name(wanted_level) +
                      " is needed",
                  true);
  }
}

Session::~Session() {
  if (std::uncaught_exceptions() == exceptions_) {
    MPI_Finalize();
  }
}

void Session::require_ranks(int ranks, const std::string& why) const {
  if (size_ != ranks) {
    throw Failure(ExitCode::bad_options,
                  why + " needs " + std::to_string(ranks) + " ranks, there are " + std::to_string(size_), true);
  }
}

Placement Session::place(int threads) const {
  Placement placement;
  placement.cores = allowed_cores();
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host);
  MPI_Exscan(&threads, &placement.first_entity, 1, MPI_INT, MPI_SUM, host);
  int host_rank = 0;
  MPI_Comm_rank(host, &host_rank);
  if (host_rank == 0) {
    placement.first_entity = 0; // MPI leaves it undefined
  }
  const int leads_host = host_rank == 0 ? 1 : 0;
  MPI_Allreduce(&leads_host, &placement.hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_free(&host);
  return placement;
}

Json Session::library() const {
  const std::string text = library_text();
  const auto [name, version] = library_name(text);
  int major = 0;
  int minor = 0;
  MPI_Get_version(&major, &minor);
  Json result = Json::object();
  result.set("name", name)
      .set("version", version)
      .set("text", text)
      .set("mpi", std::to_string(major) + "." + std::to_string(minor))
      .set("thread_level", level_name(granted_level_));
  return result;
}

Json Session::describe(const Placement& placement, const std::string& bind) const {
  const int mine = static_cast<int>(placement.cores.size());
  std::vector<int> all(static_cast<std::size_t>(size_));
  MPI_Gather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  const std::vector<std::int64_t> cores(all.begin(), all.end());
  Json result = Json::object();
  result.set("ranks", size_)
      .set("hosts", placement.hosts)
      .set("cores_allowed", Json::array_of(cores))
      .set("bind", bind);
  return result;
}

Json begin_mpi_document(const Options& options, const Session& session, const Json& placement) {
  Json document = begin_document(options);
  document.set("library", session.library()).set("placement", placement);
  return document;
}

int run_mpi_program(const std::string& name, const std::function<void()>& body) {
  set_program_name(name);
  try {
    body();
  } catch (const Failure& failure) {
    end_job(failure.code(), failure.what(), failure.collective());
    return static_cast<int>(failure.code());
  } catch (const std::exception& error) {
    end_job(ExitCode::system_error, error.what(), false);
    return static_cast<int>(ExitCode::system_error);
  }
  return static_cast<int>(ExitCode::done);
}

} // namespace contend::native
