! A sum goes round the ring by "use mpi", from a module procedure, an internal procedure and a plain subroutine.
module ring_steps
  use mpi
  implicit none
  integer :: rank = -1, ranks = 0
contains
  subroutine pass_on(value)
    integer, intent(inout) :: value
    integer :: status(MPI_STATUS_SIZE), ierr
    if (rank > 0) then
      call MPI_RECV(value, 1, MPI_INTEGER, rank - 1, 3, MPI_COMM_WORLD, status, ierr)
    end if
    value = value + rank
    if (rank < ranks - 1) then
      call MPI_SEND(value, 1, MPI_INTEGER, rank + 1, 3, MPI_COMM_WORLD, ierr)
    end if
  end subroutine pass_on
end module ring_steps

subroutine share(value)
  use ring_steps
  implicit none
  integer, intent(inout) :: value
  integer :: ierr
  call MPI_BCAST(value, 1, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, ierr)
end subroutine share

program ftn
  use ring_steps
  implicit none
  integer :: value, i, ierr
  integer :: requests(2), statuses(MPI_STATUS_SIZE, 2), from_left
  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
  value = 0
  do i = 1, 3
    call pass_on(value)
    call share(value)
    call trade
  end do
  if (rank == 0) print '(a, i0, a, i0)', 'value = ', value, ', from left = ', from_left
  call MPI_FINALIZE(ierr)
contains
  subroutine trade
    call MPI_IRECV(from_left, 1, MPI_INTEGER, modulo(rank - 1, ranks), 4, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_ISEND(rank, 1, MPI_INTEGER, modulo(rank + 1, ranks), 4, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_WAITALL(2, requests, statuses, ierr)
  end subroutine trade
end program ftn
