#include "racing.h"

/* Waits for a collective that was only begun. */
static void finish(MPI_Request request)
{
    int flag = 0, failures = 0;
    if (draw_own(2) == 0) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return;
    }
    while (!flag) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        if (!flag) {
            poll_failed(&failures);
            poll_sends();
        }
    }
    note_polls(failures);
}

/* On an intercommunicator Open MPI's Ibarrier lets ranks go that others have not come for: the data of an Allreduce does not. */
void synchronise(const struct comm *comm)
{
    uint64_t mine = checksum(), sum = 0, way = draw_phase(3);
    MPI_Request request;
    if (comm->first_side > 0 || way == 0) {
        MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, comm->handle);
    } else if (way == 1) {
        MPI_Barrier(comm->handle);
    } else {
        MPI_Ibarrier(comm->handle, &request);
        finish(request);
    }
    note(sum);
}

/* What has raced goes to the others by a collective call. */
void phase_collective(const struct comm *comm)
{
    uint64_t mine = checksum(), all[MAX_RANKS] = {0}, out[MAX_RANKS];
    uint64_t way = draw_phase(comm->first_side > 0 ? 3 : 8);
    int root = (int)draw_phase((uint64_t)comm->count);
    MPI_Request request;
    for (int i = 0; i < MAX_RANKS; i++) {
        out[i] = mine + (uint64_t)i;
    }
    jitter();
    switch (way) {
    case 0:
        MPI_Barrier(comm->handle);
        break;
    case 1:
        MPI_Allreduce(&mine, all, 1, MPI_UINT64_T, MPI_SUM, comm->handle);
        break;
    case 2:
        MPI_Allgather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, comm->handle);
        break;
    case 3:
        MPI_Bcast(&mine, 1, MPI_UINT64_T, root, comm->handle);
        all[0] = mine;
        break;
    case 4:
        MPI_Reduce(&mine, all, 1, MPI_UINT64_T, MPI_SUM, root, comm->handle);
        break;
    case 5:
        MPI_Gather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, root, comm->handle);
        break;
    case 6:
        MPI_Alltoall(out, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, comm->handle);
        break;
    default:
        MPI_Iallreduce(&mine, all, 1, MPI_UINT64_T, MPI_SUM, comm->handle, &request);
        finish(request);
    }
    for (int i = 0; i < comm->count; i++) {
        note(all[i]);
    }
}
