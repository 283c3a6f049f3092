// The MPI library's C interface without the parts of C++ that some libraries still bring along.
#pragma once

#define OMPI_SKIP_MPICXX 1  // NOLINT(cppcoreguidelines-macro-usage)
#define MPICH_SKIP_MPICXX 1 // NOLINT(cppcoreguidelines-macro-usage)
#include <mpi.h>
