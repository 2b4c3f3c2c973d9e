#include "spawn.h"

#include "wrappers.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stopline::preload {

namespace {

/// Longest text about the parents: the system takes no argument of 128 KiB.
constexpr std::size_t kMostWho = 100 * 1024;

bool isExecutable(const char* path) {
    struct stat info {};
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

bool isExecutableIn(const char* directory, std::size_t length, const char* name) {
    char path[PATH_MAX];
    const std::size_t nameLength = std::strlen(name);
    if (length + 1 + nameLength >= sizeof path) {
        return false;
    }
    std::memcpy(path, directory, length);
    path[length] = '/';
    std::memcpy(path + length + 1, name, nameLength + 1);
    return isExecutable(path);
}

/// Value of a key of the user's info; false: it has none.
bool valueOf(MPI_Info info, const char* key, char* value, int bytes) {
    int flag = 0;
    return info != predefined.infoNull && real.Info_get != nullptr &&
           real.Info_get(info, const_cast<char*>(key), bytes - 1, value, &flag) == MPI_SUCCESS && flag != 0;
}

/// Whether the agent will find the program where the launcher would. One that is missing is for MPI to complain about.
bool canStart(const char* command, MPI_Info info) {
    char directory[MPI_MAX_INFO_VAL];
    if (command == nullptr || *command == '\0' || valueOf(info, "file", directory, sizeof directory)) {
        return false;
    }
    const char* slash = std::strchr(command, '/');
    if (slash == command) {
        return isExecutable(command);
    }
    if (slash != nullptr) {
        return valueOf(info, "wdir", directory, sizeof directory) ? isExecutableIn(directory, std::strlen(directory), command)
                                                                  : isExecutable(command);
    }
    const char* path = std::getenv("PATH");
    while (path != nullptr) {
        const char* end = std::strchr(path, ':');
        const std::size_t length = end == nullptr ? std::strlen(path) : static_cast<std::size_t>(end - path);
        if (length != 0 && isExecutableIn(path, length, command)) {
            return true;
        }
        path = end == nullptr ? nullptr : end + 1;
    }
    return false;
}

std::size_t countOf(char** words) {
    std::size_t count = 0;
    while (words != nullptr && words[count] != nullptr) {
        ++count;
    }
    return count;
}

} // namespace

SpawnPlan::SpawnPlan(const Args& args, int count)
    : m_words{const_cast<char**>(args.commands), const_cast<char***>(args.argvs)} {
    if (!kSpawnsAgents || count < 1 || thread.depth > 1) {
        return;
    }
    const int savedErrno = errno;
    const Asking asking;
    const RankLock lock;
    const CommEntry* parent = rank.comms.find(rank.recorder, args.comm);
    char agent[PATH_MAX];
    bool all = parent != nullptr && parent->remoteSize == 0 && parent->rank == args.root && findAgent(agent, sizeof agent) &&
               args.commands != nullptr;
    for (int i = 0; i < count && all; ++i) {
        all = canStart(args.commands[i], args.infos == nullptr ? predefined.infoNull : args.infos[i]);
    }
    const std::uint64_t event = rank.header->eventCount.load(std::memory_order_relaxed);
    const std::size_t who = all ? rank.comms.writeSpawned(*parent, event, nullptr, 0) : 0;
    if (who != 0 && who <= kMostWho) {
        std::size_t pointers = 2 * static_cast<std::size_t>(count);
        for (int i = 0; i < count; ++i) {
            pointers += 4 + countOf(args.argvs == nullptr ? nullptr : args.argvs[i]);
        }
        const std::size_t words = pointers * sizeof(char*);
        m_bytes = words + sizeof agent + std::strlen(trace::kSpawnedOption) + 1 + who;
        m_pages = takePages(m_bytes);
        if (m_pages != nullptr) {
            char* texts = static_cast<char*>(m_pages) + words;
            std::strcpy(texts, agent);
            rank.comms.writeSpawned(*parent, event, texts + sizeof agent, who);
            replace(args, count, texts, texts + sizeof agent);
        }
    }
    errno = savedErrno;
}

void SpawnPlan::replace(const Args& args, int count, char* agent, char* who) {
    char* option = std::strcpy(who + std::strlen(who) + 1, trace::kSpawnedOption);
    char** place = static_cast<char**>(m_pages);
    m_words.commands = place;
    m_words.argvs = reinterpret_cast<char***>(place + count);
    place += 2 * count;
    for (int i = 0; i < count; ++i) {
        char** own = args.argvs == nullptr ? nullptr : args.argvs[i];
        m_words.commands[i] = agent;
        m_words.argvs[i] = place;
        *place++ = option;
        *place++ = who;
        *place++ = const_cast<char*>(args.commands[i]);
        for (std::size_t word = 0, words = countOf(own); word < words; ++word) {
            *place++ = own[word];
        }
        *place++ = nullptr;
    }
}

SpawnPlan::~SpawnPlan() {
    if (m_pages != nullptr) {
        const int savedErrno = errno;
        munmap(m_pages, m_bytes);
        errno = savedErrno;
    }
}

} // namespace stopline::preload
