/* Collectives over neighbours in three kinds of topology, generalised requests. Four ranks. */
#include <mpi.h>

static int query(void* state, MPI_Status* status) {
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 1);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int done(void* state) {
    (void)state;
    return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

int main(int argc, char** argv) {
    int rank, i, periodic = 1, four = 4, next, before, x[8] = {0}, y[8], counts[2] = {1, 2}, places[2] = {0, 1};
    int degrees[4] = {1, 2, 3, 4}, edges[4] = {1, 0, 3, 2};
    MPI_Comm ring, graph, way;
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, turned[2] = {MPI_DOUBLE, MPI_INT};
    MPI_Aint bytes[2] = {0, 8};
    double d[8] = {0}, e[8];
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &four, &periodic, 0, &ring);
    MPI_Comm_rank(ring, &rank);
    MPI_Neighbor_allgather(x, 1, MPI_INT, y, 1, MPI_INT, ring);
    MPI_Neighbor_alltoall(x, 2, MPI_INT, y, 2, MPI_INT, ring);
    for (i = 0; i < 2; ++i) {
        counts[i] = 1;
    }
    MPI_Neighbor_alltoallw(d, counts, bytes, types, e, counts, bytes, turned, ring);
    MPI_Graph_create(MPI_COMM_WORLD, 4, degrees, edges, 0, &graph);
    MPI_Neighbor_allgatherv(x, 1, MPI_INT, y, counts, places, MPI_INT, graph);
    next = (rank + 1) % 4;
    before = (rank + 3) % 4;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                   0, &way);
    MPI_Ineighbor_alltoallv(x, counts, places, MPI_INT, y, counts, places, MPI_INT, way, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Grequest_start(query, done, cancel, 0, &r);
    MPI_Grequest_complete(r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
