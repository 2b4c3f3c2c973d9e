/* Communicators of every origin. Four ranks. */
#include <mpi.h>

#define W MPI_COMM_WORLD

int main(int argc, char** argv) {
    int rank, size, x = 0, one = 1, two[2] = {2, 2}, zero[2] = {0, 0}, keep[2] = {1, 0}, degree[4] = {1, 2, 3, 4};
    int edges[4] = {1, 0, 3, 2}, next;
    MPI_Comm dup, half, none, shared, first, inter, merged, interDup, cart, row, graph, dist, adjacent, later;
    MPI_Group world, group;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &rank);
    MPI_Comm_group(W, &world);
    next = (rank + 1) % 4;

    MPI_Comm_dup(W, &dup);
    MPI_Comm_split(W, rank % 2, -rank, &half);
    MPI_Comm_split(W, rank == 0 ? MPI_UNDEFINED : 1, 0, &none);
    MPI_Comm_split_type(W, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    MPI_Group_incl(world, 2, (int[]){3, 1}, &group);
    MPI_Comm_create(W, group, &first);
    MPI_Barrier(half);

    /* Overlapping groups: rank 1 takes part in both, the others in one. */
    if (rank == 0 || rank == 1) {
        MPI_Comm a;
        MPI_Group g;
        MPI_Group_incl(world, 2, (int[]){0, 1}, &g);
        MPI_Comm_create_group(W, g, 1, &a);
        MPI_Group_free(&g);
        MPI_Comm_free(&a);
    }
    if (rank == 1 || rank == 2) {
        MPI_Comm a, b;
        MPI_Group g;
        MPI_Group_incl(world, 2, (int[]){1, 2}, &g);
        MPI_Comm_create_group(W, g, 1, &a);
        MPI_Comm_create_group(W, g, 1, &b);
        MPI_Barrier(b);
        MPI_Group_free(&g);
        MPI_Comm_free(&a);
        MPI_Comm_free(&b);
    }

    /* Between the two halves (odd: 3, 1; even: 2, 0), and what is made of that. */
    MPI_Intercomm_create(half, 0, W, rank % 2 == 0 ? 3 : 2, 9, &inter);
    MPI_Comm_remote_size(inter, &size);
    if (rank == 2) {
        MPI_Send(&x, 1, MPI_INT, 1, 4, inter); /* to world rank 1 */
    } else if (rank == 1) {
        MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 4, inter, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(&x, 1, MPI_INT, rank % 2 != 0 ? 0 : rank == 2 ? MPI_ROOT : MPI_PROC_NULL, inter);
    MPI_Comm_dup(inter, &interDup);
    MPI_Intercomm_merge(inter, rank % 2, &merged);

    MPI_Cart_create(W, 2, two, zero, 0, &cart);
    MPI_Cart_sub(cart, keep, &row);
    MPI_Graph_create(W, 4, degree, edges, 0, &graph);
    MPI_Dist_graph_create(W, 1, &rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &dist);
    x = (rank + 3) % 4;
    MPI_Dist_graph_create_adjacent(W, 1, &x, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &adjacent);
    MPI_Comm_idup(W, &later, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Barrier(later);

    /* The handle of a freed one may come back and is then another communicator. */
    MPI_Comm_free(&dup);
    MPI_Comm_dup(W, &dup);
    MPI_Barrier(dup);
    MPI_Comm_disconnect(&dup);
    MPI_Barrier(interDup);
    MPI_Finalize();
    return 0;
}
