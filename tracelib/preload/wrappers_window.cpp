#include "wrappers.h"

namespace stopline::preload {

namespace {

/// Members of a group, 0 for one that is none.
int membersOf(MPI_Group group) {
    int size = 0;
    const Asking asking;
    if (keyOf(group) == 0 || group == predefined.groupNull || real.Group_size(group, &size) != MPI_SUCCESS) {
        return 0;
    }
    return size;
}

} // namespace

WindowGroup::WindowGroup(MPI_Group group, MPI_Win win) : m_own(2 * static_cast<std::size_t>(membersOf(group))) {
    const int size = membersOf(group);
    MPI_Group all = predefined.groupNull;
    // A window that is not known may be none at all.
    const bool known = [&] {
        const RankLock lock;
        return winIndex(win) != kNoComm;
    }();
    const Asking asking;
    if (size == 0 || m_own.data() == nullptr || !known ||
        real.Win_get_group(win, &all) != MPI_SUCCESS) {
        return;
    }
    std::int32_t* own = m_own.data() + size;
    for (int i = 0; i < size; ++i) {
        own[i] = i;
    }
    if (real.Group_translate_ranks(group, size, own, all, m_own.data()) == MPI_SUCCESS) {
        m_ranks = m_own.data();
        m_size = static_cast<std::uint32_t>(size);
        for (int i = 0; i < size; ++i) {
            m_ranks[i] = m_ranks[i] < 0 ? -1 : m_ranks[i]; // not in the window
        }
    }
    real.Group_free(&all);
}

} // namespace stopline::preload
