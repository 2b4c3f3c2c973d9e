// What the preloaded libraries (libstopline-mpi-*.so) define for the whole process, and nothing else:
//
//   MPI_X, PMPI_X          the traced functions of functions.def
//   mpi_x_, mpi_x__, mpi_x, MPI_X (upper case), mpi_x_f08_ and the same with pmpi_; for MPICH mpi_x_f08ts_ and both with
//   _large_ too, and pmpir_ instead of pmpi_ for those with f08
//                          Fortran entry points of the traced functions: they note the caller and pass on
//   stopline_*             our own prefix: stopline_stop_here, where gdb sets its only breakpoint in the
//   library exit _exit _Exit quick_exit
//                          libc: a rank that leaves without MPI_Finalize stops first
//   clock clock_gettime gettimeofday time MPI_Wtime PMPI_Wtime
//   getrandom getentropy arc4random{,_buf,_uniform} getpid
//   open open64 openat openat64 __open_2 __open64_2 read __read_chk close fopen fopen64 fdopen fileno
//   std::random_device::_M_getval()
//                          libc and libstdc++: what the program is told of the world outside is noted, and told again
//   ompi_mpi_errors_are_fatal_{comm,win,file}_handler ompi_mpi_abort
//                          Open MPI: a rank stops before a fatal MPI error ends the job
//   ompi_errhandler_invoke Open MPI: errors in our own questions are not the program's
//   usleep                 libc, with Open MPI: a rank that waits in MPI_Init under a debugger asks less often
//   MPIR_Err_return_comm MPIR_Err_return_win
//                          MPICH: both of these
//
// A test compares this list with the dynamic symbols of the library.
#pragma once

namespace stopline::trace {

inline constexpr const char* kExportPrefix = "stopline_";
inline constexpr const char* kStopFunctionName = "stopline_stop_here";

} // namespace stopline::trace
