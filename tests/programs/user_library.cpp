#include "user_library.h"

#include <numeric>

namespace workshop {

Exchanger::Exchanger(MPI_Comm comm, int rounds) : m_comm(comm), m_rounds(rounds)
{
    MPI_Comm_rank(comm, &m_rank);
    MPI_Comm_size(comm, &m_size);
}

double Exchanger::run(std::vector<double>& cells)
{
    double sum = 0;
    for (int round = 0; round < m_rounds; ++round) {
        pass(cells, round);
        sum += std::accumulate(cells.begin(), cells.end(), 0.0);
    }
    return sum;
}

void Exchanger::pass(std::vector<double>& cells, int round)
{
    MPI_Sendrecv_replace(cells.data(), static_cast<int>(cells.size()), MPI_DOUBLE, (m_rank + 1) % m_size, round,
                         (m_rank + m_size - 1) % m_size, round, m_comm, MPI_STATUS_IGNORE);
}

} // namespace workshop
