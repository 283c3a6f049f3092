// Stands in for the MPI_T variables of a library that was built with software performance counters: the variables have
// names, class and units of Open MPI's, and grow by known amounts with every receive.
#include <array>
#include <atomic>
#include <cstring>
#include <mpi.h>

namespace {

struct Variable {
  const char* name;
  unsigned long long at_start;
  unsigned long long per_receive; ///< 0: `at_start` for ever
};

constexpr std::array<Variable, 4> variables{{
    {"runtime_spc_OMPI_SPC_OUT_OF_SEQUENCE", 1000, 2},
    {"runtime_spc_OMPI_SPC_MATCH_TIME", 500, 3},
    {"runtime_spc_OMPI_SPC_MAX_OOS_IN_QUEUE", 7, 0},
    {"runtime_spc_OMPI_SPC_UNEXPECTED_IN_QUEUE", 5, 0},
}};
std::atomic<unsigned long long> receives{0};

} // namespace

extern "C" {

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  ++receives;
  return PMPI_Irecv(buffer, count, type, source, tag, communicator, request);
}

int MPI_T_pvar_get_num(int* count) {
  *count = static_cast<int>(variables.size());
  return MPI_SUCCESS;
}

int MPI_T_pvar_get_info(int index, char* name, int* name_length, int* verbosity, int* variable_class,
                        MPI_Datatype* type, MPI_T_enum* values, char* description, int* description_length,
                        int* bound_to, int* read_only, int* continuous, int* atomic) {
  std::strncpy(name, variables.at(static_cast<std::size_t>(index)).name, static_cast<std::size_t>(*name_length));
  *description = 0;
  *description_length = 1;
  *verbosity = MPI_T_VERBOSITY_USER_BASIC;
  *variable_class = MPI_T_PVAR_CLASS_SIZE;
  *type = MPI_UNSIGNED_LONG_LONG;
  *values = MPI_T_ENUM_NULL;
  *bound_to = MPI_T_BIND_NO_OBJECT;
  *read_only = 1;
  *continuous = 0;
  *atomic = 0;
  return MPI_SUCCESS;
}

int MPI_T_pvar_handle_alloc(MPI_T_pvar_session /*session*/, int index, void* /*object*/, MPI_T_pvar_handle* handle,
                            int* count) {
  *handle = reinterpret_cast<MPI_T_pvar_handle>(const_cast<Variable*>(&variables.at(static_cast<std::size_t>(index))));
  *count = 1;
  return MPI_SUCCESS;
}

int MPI_T_pvar_handle_free(MPI_T_pvar_session /*session*/, MPI_T_pvar_handle* handle) {
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

int MPI_T_pvar_start(MPI_T_pvar_session /*session*/, MPI_T_pvar_handle /*handle*/) { return MPI_SUCCESS; }

int MPI_T_pvar_read(MPI_T_pvar_session /*session*/, MPI_T_pvar_handle handle, void* value) {
  const auto* variable = reinterpret_cast<const Variable*>(handle);
  const unsigned long long now = variable->at_start + variable->per_receive * receives;
  std::memcpy(value, &now, sizeof now);
  return MPI_SUCCESS;
}

} // extern "C"
