program main
  use mpi
  implicit none
  integer :: ierr, rank, x(2), stat(MPI_STATUS_SIZE), req(2), stats(MPI_STATUS_SIZE, 2)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  x(1) = rank
  if (rank == 0) then
    call MPI_Send(x, 2, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, ierr)
    call MPI_Recv(x, 2, MPI_INTEGER, 1, 4, MPI_COMM_WORLD, stat, ierr)
  else
    call MPI_Recv(x, 2, MPI_INTEGER, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Send(x, 2, MPI_INTEGER, 0, 4, MPI_COMM_WORLD, ierr)
  end if
  call MPI_Irecv(x, 1, MPI_INTEGER, 1 - rank, 5, MPI_COMM_WORLD, req(1), ierr)
  call MPI_Isend(rank, 1, MPI_INTEGER, 1 - rank, 5, MPI_COMM_WORLD, req(2), ierr)
  call MPI_Waitall(2, req, stats, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
end program
