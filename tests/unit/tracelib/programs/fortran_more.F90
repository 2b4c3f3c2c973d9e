! Beyond messages, in the three styles of Fortran: neighbours, windows, files, persistent and generalised requests, Waitsome
! and Testsome with statuses. Two ranks; argument: a file to write. Built once for each style, which decides the types:
! -DSTYLE_F08, -DSTYLE_USE, else mpif.h.
#ifdef STYLE_F08
#define A_COMM type(MPI_Comm)
#define A_REQUEST type(MPI_Request)
#define A_WIN type(MPI_Win)
#define A_FILE type(MPI_File)
#define A_GROUP type(MPI_Group)
#define A_STATUS type(MPI_Status)
#define STATUSES(name, n) type(MPI_Status) :: name(n)
#define SOURCE_OF(name, i) name(i)%MPI_SOURCE
#define TAG_OF(name, i) name(i)%MPI_TAG
#define STATUS_AT(name, i) name(i)
#else
#define A_COMM integer
#define A_REQUEST integer
#define A_WIN integer
#define A_FILE integer
#define A_GROUP integer
#define STATUSES(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define SOURCE_OF(name, i) name(MPI_SOURCE, i)
#define TAG_OF(name, i) name(MPI_TAG, i)
#define STATUS_AT(name, i) name(:, i)
#endif

module style
#ifdef STYLE_F08
  use mpi_f08
#elif defined(STYLE_USE)
  use mpi
#endif
  implicit none
#if !defined(STYLE_F08) && !defined(STYLE_USE)
  include 'mpif.h'
#endif
end module style

module generalised
  use style
  implicit none
  integer, save :: queried = 0, freed = 0
contains
#ifdef STYLE_F08
  subroutine query(state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: state
    type(MPI_Status) :: status
    integer :: ierror
    call MPI_Status_set_elements(status, MPI_INTEGER, int(state), ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
    status%MPI_SOURCE = 17
    status%MPI_TAG = 18
#else
  subroutine query(state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: state
    integer :: status(MPI_STATUS_SIZE)
    integer :: ierror
    call MPI_Status_set_elements(status, MPI_INTEGER, int(state), ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
    status(MPI_SOURCE) = 17
    status(MPI_TAG) = 18
#endif
    queried = queried + 1
    ierror = MPI_SUCCESS
  end subroutine query
  subroutine release(state, ierror)
    integer(MPI_ADDRESS_KIND) :: state
    integer :: ierror
    freed = freed + int(state)
    ierror = MPI_SUCCESS
  end subroutine release
  subroutine cancel(state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: state
    logical :: complete
    integer :: ierror
    if (complete .or. state /= 3) then
      ierror = MPI_ERR_OTHER
    else
      ierror = MPI_SUCCESS
    end if
  end subroutine cancel
end module generalised

program main
  use style
  use generalised
  implicit none
  integer :: rank, other, ierror, i, n, x(4), y(4), indices(3), found
  integer, asynchronous :: memory(4)
  character(len=200) :: name
  A_COMM :: ring
  A_REQUEST :: requests(3)
  A_WIN :: win
  A_FILE :: file
  A_GROUP :: world, group
  STATUSES(statuses, 3)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  other = 1 - rank
  x = [rank, rank + 10, rank + 20, rank + 30]

  ! Neighbours.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [2], [.true.], .false., ring, ierror)
  call MPI_Neighbor_allgather(x, 1, MPI_INTEGER, y, 1, MPI_INTEGER, ring, ierror)
  call say('neighbours', y(1:2))
  call MPI_Ineighbor_alltoall(x, 1, MPI_INTEGER, y, 1, MPI_INTEGER, ring, requests(1), ierror)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
  call say('all to all', y(1:2))
  call MPI_Comm_free(ring, ierror)

  ! Windows.
  memory = -1
  call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, ierror)
  call MPI_Put(x, 1, MPI_INTEGER, other, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
  call MPI_Group_incl(world, 1, [other], group, ierror)
  if (rank == 0) then
    call MPI_Win_start(group, 0, win, ierror)
    call MPI_Accumulate(x(2), 1, MPI_INTEGER, 1, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, win, ierror)
    call MPI_Win_complete(win, ierror)
  else
    call MPI_Win_post(group, 0, win, ierror)
    call MPI_Win_wait(win, ierror)
  end if
  call MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win, ierror)
  call MPI_Get(y, 2, MPI_INTEGER, 1, 0_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win, ierror)
  call MPI_Win_unlock(1, win, ierror)
  call say('window', y(1:2))
  call MPI_Win_free(win, ierror)

  ! Files.
  call get_command_argument(1, name)
  call MPI_File_open(MPI_COMM_WORLD, trim(name), MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                     MPI_INFO_NULL, file, ierror)
  call MPI_File_write_at_all(file, int(16 * rank, MPI_OFFSET_KIND), x, 4, MPI_INTEGER, STATUS_AT(statuses, 1), ierror)
  call MPI_Get_count(STATUS_AT(statuses, 1), MPI_INTEGER, n, ierror)
  call MPI_File_sync(file, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_File_read_at_all_begin(file, int(16 * other, MPI_OFFSET_KIND), y, 4, MPI_INTEGER, ierror)
  call MPI_File_read_at_all_end(file, y, STATUS_AT(statuses, 1), ierror)
  call say('file', [n, y])
  call MPI_File_close(file, ierror)

  ! Persistent requests.
  call MPI_Send_init(x, 2, MPI_INTEGER, other, 7, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Recv_init(y, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, requests(2), ierror)
  do i = 1, 2
    call MPI_Startall(2, requests, ierror)
    call MPI_Waitall(2, requests, statuses, ierror)
    call say('persistent', [SOURCE_OF(statuses, 2), TAG_OF(statuses, 2), y(1)])
  end do
  call MPI_Request_free(requests(1), ierror)
  call MPI_Request_free(requests(2), ierror)

  ! Generalised requests.
  call MPI_Grequest_start(query, release, cancel, 3_MPI_ADDRESS_KIND, requests(1), ierror)
  call MPI_Cancel(requests(1), ierror)
  call MPI_Grequest_complete(requests(1), ierror)
  call MPI_Wait(requests(1), STATUS_AT(statuses, 1), ierror)
  call MPI_Get_count(STATUS_AT(statuses, 1), MPI_INTEGER, n, ierror)
  call say('generalised', [queried, freed, n, SOURCE_OF(statuses, 1), TAG_OF(statuses, 1), ierror])

  ! Several of several: the messages are there after the barrier.
  call MPI_Irecv(y(1), 1, MPI_INTEGER, other, 11, MPI_COMM_WORLD, requests(1), ierror)
  requests(2) = MPI_REQUEST_NULL
  call MPI_Irecv(y(2), 1, MPI_INTEGER, MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, requests(3), ierror)
  call MPI_Send(x(1), 1, MPI_INTEGER, other, 11, MPI_COMM_WORLD, ierror)
  call MPI_Send(x(2), 1, MPI_INTEGER, other, 12, MPI_COMM_WORLD, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  found = 0
  do while (found < 2)
    call MPI_Waitsome(3, requests, n, indices, statuses, ierror)
    do i = 1, n
      call say('some', [indices(i), SOURCE_OF(statuses, i), TAG_OF(statuses, i), y(1 + indices(i) / 3)])
    end do
    found = found + n
  end do
  call MPI_Irecv(y(1), 1, MPI_INTEGER, other, 13, MPI_COMM_WORLD, requests(3), ierror)
  call MPI_Send(x(3), 1, MPI_INTEGER, other, 13, MPI_COMM_WORLD, ierror)
  n = 0
  do while (n == 0)
    call MPI_Testsome(3, requests, n, indices, statuses, ierror)
  end do
  call say('tested', [n, indices(1), SOURCE_OF(statuses, 1), TAG_OF(statuses, 1), y(1)])
  call MPI_Testsome(3, requests, n, indices, statuses, ierror)
  if (n == MPI_UNDEFINED) call say('nothing left', [0])
  call MPI_Finalize(ierror)
contains
  subroutine say(what, numbers)
    character(len=*), intent(in) :: what
    integer, intent(in) :: numbers(:)
    if (rank == 0) write (*, '(a, 10i5)') what, numbers
  end subroutine say
end program main
