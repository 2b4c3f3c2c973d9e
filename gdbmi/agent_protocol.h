// What an agent and the window say to each other. No Qt: the agent has none.
//
// A connection starts with the agent's Hello. The window checks version and token, answers Config, or closes.
// The agent then makes the mapping, starts the rank and gdb. All numbers are little-endian.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace stopline::agent {

inline constexpr std::uint16_t kFrameMagic = 0x4c53; // "SL"
inline constexpr std::uint8_t kProtocolVersion = 3;
inline constexpr std::uint32_t kMaxFrameBytes = 64u << 20;

/// Environment of the agent; removed from the rank's.
inline constexpr const char* kConnectVariable = "STOPLINE_CONNECT"; ///< host:port, IPv6 in brackets
inline constexpr const char* kTokenVariable = "STOPLINE_TOKEN";     ///< one-time token of this launch

enum class Channel : std::uint8_t {
    Hello = 1,   ///< agent: fields version, token, rank, size, local, host, pid, program, directory, spawned
                 ///< (first two words of trace::kSpawnedVariable; empty: of the first job), boot
                 ///< (id of the kernel's start), clock (CLOCK_MONOTONIC, ns)
    Config = 2,  ///< window: fields, see below
    Mi = 3,      ///< both ways: bytes of GDB/MI as they are
    Output = 4,  ///< agent: one byte stream (1 or 2), then bytes the rank wrote
    State = 5,   ///< agent: fields, whenever something changes, see below
    Command = 6, ///< window: fields; `do` names the command
    Pull = 7,    ///< window: fields id, dictionary, comms, stops, blocks, values: lengths it already has
    Trace = 8,   ///< agent: TraceHeader, then the bytes; answers Pull in order
    Fault = 9,   ///< agent: fields code, text, remedy: something the user must know
    Modules = 10, ///< agent: fields modules (see agent_modules.h; empty unless told to record), map (path of the mapping
                  ///< while the agent lives), device and inode (of its file), whenever they have changed
    Values = 12,  ///< both ways: part of a log of times and random bytes (tracelib/values.h), each behind the one before it.
                  ///< Window, before Config: what the rank is given. Agent, before Trace: what it has noted beyond `values` of Pull
    Order = 11,   ///< window, before Config: part of the order log that the rank is to follow (tracelib/order.h)
};

struct FrameHeader {
    std::uint16_t magic;
    std::uint8_t version;
    std::uint8_t channel;
    std::uint32_t job;
    std::uint32_t rank;
    std::uint32_t incarnation;
    std::uint32_t length; ///< of what follows
};
static_assert(sizeof(FrameHeader) == 20);

/// Start of a Trace frame; the parts follow in this order, each as long as said.
struct TraceHeader {
    std::uint64_t id; ///< of the Pull
    std::uint32_t headerBytes;
    std::uint32_t stagingBytes;
    std::uint64_t dictionaryFrom, dictionaryBytes;
    std::uint64_t commsFrom, commsBytes;
    std::uint64_t stopsFrom, stopsBytes;
    std::uint64_t blocksFrom, blocksBytes;
    std::uint64_t startBytes; ///< of trace::packStart(); not 0: the blocks that the window has go on only behind a gap
};

/// Config fields: gate (Gate as number), threshold, incarnation, library (directory of
/// libstopline-mpi-<MPI>.so, from which the agent chooses by what the program links), gdb (program), mapdir
/// (empty: memory), randomize (0: address layout fixed), tolerance (ns, empty: default), jitter (seed of
/// delays before calls, 0: none), races (1: to be found while the rank runs), noted (trace::AlsoNoted bits), keep (bytes of compressed events that a rank keeps, 0: default), record (1: no gdb,
/// output and
/// signals go past the agent, and a rank that has ended is kept until `finish`).
///
/// State fields: pid (of the rank, 0 none yet), state (RankState), event, inside, poll, hold, reason
/// (StopReason), code, gate (1 while waiting at it), stopfunction, librarybase, mpi (1 linked), world, size,
/// alive (0 dead), exit (wait status, once dead; -1 where the system does not tell), gdb (pid, 0 dead),
/// recordingoff, build, withjob (once dead: 1 where it lived until the launcher had its agent end).
///
/// Commands: opengate; threshold (value); release; leaveorder (the rank follows its log no further); stop (SIGSTOP to the rank's caller thread); kill (rank and
/// gdb); finish (the window has seen the end: exit with the rank's code); poll (send State now); stdin is
/// mpirun's business.

/// Lines of "name value\n"; values may hold anything but newline (escaped as \n, backslash as \\).
using Fields = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] std::string encodeFields(const Fields& fields);
[[nodiscard]] Fields decodeFields(std::string_view bytes);

} // namespace stopline::agent
