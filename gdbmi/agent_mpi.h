// Which MPI a program is linked with, and so which library records it.
#pragma once

#include <optional>
#include <string>

namespace stopline::agent {

class FileBytes;

/// Something the user must know: goes into a Fault frame.
struct FaultText {
    std::string code;   ///< stable word, e.g. "program-missing"
    std::string text;   ///< names the thing that is wrong
    std::string remedy; ///< what to do about it; may be empty
};

/// What a binary tells of its MPI.
struct LinkedMpi {
    std::string dialect; ///< "openmpi" or "mpich"; empty for another MPI or none
    std::string library; ///< the MPI library that it names, such as "libmpi.so.40"; empty when it names none
    bool isStatic = false; ///< MPI is part of the program itself
};

/// Reads the libraries that a binary of this host's class names and, where none is MPI, whether it defines
/// MPI_Init.
[[nodiscard]] LinkedMpi findMpi(const FileBytes& file);

/// Name in the recording library's file name: what the program is linked with decides; where that says
/// nothing the launcher's environment, and then Open MPI.
[[nodiscard]] std::string recordedMpi(const LinkedMpi& mpi);

/// What the user must know about `program` before it runs: that its MPI calls will not be recorded and why,
/// or that its MPI is not the launcher's. The program runs nevertheless.
[[nodiscard]] std::optional<FaultText> mpiNotice(const LinkedMpi& mpi, const std::string& program);

} // namespace stopline::agent
