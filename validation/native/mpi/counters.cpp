#include "mpi/counters.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <sstream>
#include <string_view>

namespace contend::native {

struct Counters::Variable {
  std::string name;
  Kind kind;
  MPI_Datatype type;
  MPI_T_pvar_handle handle;
  double at_start;
};

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char character) { return static_cast<char>(std::tolower(static_cast<unsigned char>(character))); });
  return text;
}

bool chosen(const std::string& name, const std::string& filter) {
  if (filter == "all") {
    return true;
  }
  std::istringstream parts(filter);
  std::string part;
  while (std::getline(parts, part, ',')) {
    if (!part.empty() && lower(name).find(lower(part)) != std::string::npos) {
      return true;
    }
  }
  return false;
}

bool number_type(MPI_Datatype type) {
  return type == MPI_UNSIGNED || type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG || type == MPI_DOUBLE ||
         type == MPI_INT;
}

/// Open MPI declares all its software performance counters as sizes: their names tell which are sums.
Counters::Kind kind_of_spc(const std::string& event) {
  constexpr std::string_view queue = "_IN_QUEUE";
  if (event.rfind("MAX_", 0) == 0) {
    return Counters::Kind::high_watermark;
  }
  const bool is_length =
      event.size() > queue.size() && event.compare(event.size() - queue.size(), queue.size(), queue) == 0;
  return is_length ? Counters::Kind::level : Counters::Kind::total;
}

Counters::Kind kind_of(const std::string& name, int variable_class) {
  constexpr std::string_view spc = "OMPI_SPC_";
  if (const auto at = name.find(spc); at != std::string::npos) {
    return kind_of_spc(name.substr(at + spc.size()));
  }
  switch (variable_class) {
  case MPI_T_PVAR_CLASS_COUNTER:
  case MPI_T_PVAR_CLASS_AGGREGATE:
  case MPI_T_PVAR_CLASS_TIMER:
    return Counters::Kind::total;
  case MPI_T_PVAR_CLASS_HIGHWATERMARK:
    return Counters::Kind::high_watermark;
  case MPI_T_PVAR_CLASS_LOWWATERMARK:
    return Counters::Kind::low_watermark;
  default:
    return Counters::Kind::level;
  }
}

const char* kind_name(Counters::Kind kind) {
  switch (kind) {
  case Counters::Kind::total:
    return "counter";
  case Counters::Kind::high_watermark:
    return "high watermark";
  case Counters::Kind::low_watermark:
    return "low watermark";
  case Counters::Kind::level:
    break;
  }
  return "level";
}

} // namespace

Counters::Counters(const std::string& filter) {
  int granted = 0;
  if (filter.empty() || MPI_T_init_thread(MPI_THREAD_SINGLE, &granted) != MPI_SUCCESS) {
    return;
  }
  initialised_ = true;
  if (MPI_T_pvar_session_create(&session_) != MPI_SUCCESS) {
    return;
  }
  is_open_ = true;
  int count = 0;
  MPI_T_pvar_get_num(&count);
  for (int index = 0; index < count; ++index) {
    open(index, filter);
  }
  for (Variable& variable : variables_) {
    variable.at_start = value_of(variable);
  }
}

void Counters::open(int index, const std::string& filter) {
  std::array<char, 512> name{};
  std::array<char, 4096> description{};
  int name_length = static_cast<int>(name.size());
  int description_length = static_cast<int>(description.size());
  int verbosity = 0;
  int variable_class = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum values = MPI_T_ENUM_NULL;
  int bound_to = 0;
  int read_only = 0;
  int continuous = 0;
  int atomic = 0;
  if (MPI_T_pvar_get_info(index, name.data(), &name_length, &verbosity, &variable_class, &type, &values,
                          description.data(), &description_length, &bound_to, &read_only, &continuous,
                          &atomic) != MPI_SUCCESS) {
    return;
  }
  const bool objects_known = bound_to == MPI_T_BIND_NO_OBJECT || bound_to == MPI_T_BIND_MPI_COMM;
  if (!chosen(name.data(), filter) || !number_type(type) || !objects_known) {
    return;
  }
  void* object = bound_to == MPI_T_BIND_MPI_COMM ? &world_ : nullptr;
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  int elements = 0;
  if (MPI_T_pvar_handle_alloc(session_, index, object, &handle, &elements) != MPI_SUCCESS) {
    return;
  }
  if (elements != 1) {
    MPI_T_pvar_handle_free(session_, &handle);
    return;
  }
  if (continuous == 0) {
    MPI_T_pvar_start(session_, handle);
  }
  variables_.push_back({name.data(), kind_of(name.data(), variable_class), type, handle, 0});
}

double Counters::value_of(const Variable& variable) const {
  alignas(16) std::array<unsigned char, 16> buffer{};
  void* place = buffer.data();
  if (MPI_T_pvar_read(session_, variable.handle, place) != MPI_SUCCESS) {
    return 0;
  }
  if (variable.type == MPI_DOUBLE) {
    return *static_cast<double*>(place);
  }
  if (variable.type == MPI_INT) {
    return *static_cast<int*>(place);
  }
  if (variable.type == MPI_UNSIGNED) {
    return *static_cast<unsigned*>(place);
  }
  if (variable.type == MPI_UNSIGNED_LONG) {
    return static_cast<double>(*static_cast<unsigned long*>(place));
  }
  return static_cast<double>(*static_cast<unsigned long long*>(place));
}

std::vector<Counters::Value> Counters::read() const {
  std::vector<Value> values;
  for (const Variable& variable : variables_) {
    const double now = value_of(variable);
    values.push_back({variable.name, variable.kind, variable.kind == Kind::total ? now - variable.at_start : now});
  }
  return values;
}

Counters::~Counters() {
  for (Variable& variable : variables_) {
    MPI_T_pvar_handle_free(session_, &variable.handle);
  }
  if (is_open_) {
    MPI_T_pvar_session_free(&session_);
  }
  if (initialised_) {
    MPI_T_finalize();
  }
}

SideCounters gather_counters(const std::vector<Counters::Value>& mine, int side) {
  // All ranks run one library, but the number of variables may depend on the transports that a rank uses.
  const int count = static_cast<int>(mine.size());
  int least = 0;
  int most = 0;
  MPI_Allreduce(&count, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&count, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (least != most || count == 0) {
    return {};
  }
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<double> values(mine.size());
  std::transform(mine.begin(), mine.end(), values.begin(), [](const Counters::Value& value) { return value.value; });
  std::vector<double> all(values.size() * static_cast<std::size_t>(ranks));
  std::vector<int> sides(static_cast<std::size_t>(ranks));
  MPI_Gather(values.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Gather(&side, 1, MPI_INT, sides.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  SideCounters result{mine, mine};
  for (std::size_t variable = 0; variable < mine.size(); ++variable) {
    std::array<double, 2> total{};
    std::array<double, 2> highest{};
    for (std::size_t rank = 0; rank < sides.size(); ++rank) {
      const double value = all[rank * mine.size() + variable];
      const auto of_side = static_cast<std::size_t>(sides[rank]);
      total.at(of_side) += value;
      highest.at(of_side) = std::max(highest.at(of_side), value);
    }
    const auto& kept = mine[variable].kind == Counters::Kind::high_watermark ? highest : total;
    result.sender[variable].value = kept[0];
    result.receiver[variable].value = kept[1];
  }
  return result;
}

Json raw_counters(const std::vector<Counters::Value>& values) {
  Json result = Json::object();
  std::map<std::string, int> times_seen; // some libraries use a name more than once
  for (const Counters::Value& value : values) {
    const int seen = ++times_seen[value.name];
    result.set(value.name + (seen == 1 ? "" : " #" + std::to_string(seen)),
               Json::object().set("value", value.value).set("class", kind_name(value.kind)));
  }
  return result;
}

void add_known_counters(Json& counters, const std::vector<Counters::Value>& receiver) {
  struct Known {
    const char* ending; ///< of the library's name
    const char* name;   ///< ours
    double factor;
  };
  static constexpr std::array<Known, 5> known{{
      {"OMPI_SPC_OUT_OF_SEQUENCE", "out_of_sequence", 1},
      {"OMPI_SPC_MAX_OOS_IN_QUEUE", "oos_in_queue_max", 1},
      {"OMPI_SPC_UNEXPECTED", "unexpected", 1},
      {"OMPI_SPC_MAX_UNEXPECTED_IN_QUEUE", "unexpected_in_queue_max", 1},
      {"OMPI_SPC_MATCH_TIME", "match_time_ns", 1e3}, // the library gives microseconds
  }};
  for (const Known& entry : known) {
    const std::string ending = entry.ending;
    for (const Counters::Value& value : receiver) {
      if (value.name.size() >= ending.size() &&
          value.name.compare(value.name.size() - ending.size(), ending.size(), ending) == 0) {
        counters.set(entry.name, value.value * entry.factor);
      }
    }
  }
}

} // namespace contend::native
