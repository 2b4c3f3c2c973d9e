! A sum goes round the ring by "use mpi_f08", then is reduced; one receive has no status.
program ftn08
  use mpi_f08
  implicit none
  integer :: rank, ranks, value, total
  type(MPI_Status) :: status
  type(MPI_Request) :: request; type(MPI_Comm) :: ring
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  value = 0
  if (rank > 0) call MPI_Recv(value, 1, MPI_INTEGER, rank - 1, 3, MPI_COMM_WORLD, status)
  value = value + rank
  if (rank < ranks - 1) call MPI_Send(value, 1, MPI_INTEGER, rank + 1, 3, MPI_COMM_WORLD)
  call MPI_Isend(value, 1, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, request)
  if (rank == 0) call collect(ranks)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Allreduce(value, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(a, i0)', 'total = ', total
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.false.], .false., ring) ! logical arguments
  call MPI_Finalize()
contains
  subroutine collect(count)
    integer, intent(in) :: count
    integer :: i, one
    do i = 0, count - 1
      call MPI_Recv(one, 1, MPI_INTEGER, i, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end do
  end subroutine collect
end program ftn08
