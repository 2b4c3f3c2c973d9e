program main
  use mpi_f08
  implicit none
  integer :: rank, x(2)
  type(MPI_Status) :: stat
  type(MPI_Request) :: req(2)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  x(1) = rank
  if (rank == 0) then
    call MPI_Send(x, 2, MPI_INTEGER, 1, 3, MPI_COMM_WORLD)
    call MPI_Recv(x, 2, MPI_INTEGER, 1, 4, MPI_COMM_WORLD, stat)
  else
    call MPI_Recv(x, 2, MPI_INTEGER, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Send(x, 2, MPI_INTEGER, 0, 4, MPI_COMM_WORLD)
  end if
  call MPI_Irecv(x, 1, MPI_INTEGER, 1 - rank, 5, MPI_COMM_WORLD, req(1))
  call MPI_Isend(rank, 1, MPI_INTEGER, 1 - rank, 5, MPI_COMM_WORLD, req(2))
  call MPI_Waitall(2, req, MPI_STATUSES_IGNORE)
  call MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
end program
