# Where MPICH is, if it is installed: beside Open MPI its programs have names of their own in Debian, since mpicc and
# mpirun are those of Open MPI there.
include_guard(GLOBAL)

find_program(STOPLINE_MPICC_MPICH NAMES mpicc.mpich)
find_program(STOPLINE_MPICXX_MPICH NAMES mpicxx.mpich)
find_program(STOPLINE_MPIFORT_MPICH NAMES mpifort.mpich mpif90.mpich)
find_program(STOPLINE_MPIRUN_MPICH NAMES mpirun.mpich mpiexec.hydra)
set(STOPLINE_MPICH_INCLUDE "" CACHE PATH "Folder of MPICH's mpi.h; empty: as mpicc.mpich says")

if(NOT STOPLINE_MPICH_INCLUDE AND STOPLINE_MPICC_MPICH)
    execute_process(COMMAND ${STOPLINE_MPICC_MPICH} -show OUTPUT_VARIABLE shown ERROR_QUIET
        OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
    if(NOT failed AND shown MATCHES "-I *([^ ]+)")
        set(folder ${CMAKE_MATCH_1})
        if(EXISTS ${folder}/mpi.h)
            set(STOPLINE_MPICH_INCLUDE ${folder} CACHE PATH "Folder of MPICH's mpi.h" FORCE)
        endif()
    endif()
endif()
