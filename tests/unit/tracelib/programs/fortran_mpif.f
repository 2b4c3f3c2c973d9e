      program main
      include 'mpif.h'
      integer ierr, rank, x(2), stat(MPI_STATUS_SIZE), req(2)
      integer stats(MPI_STATUS_SIZE, 2), idx
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      x(1) = rank
      if (rank .eq. 0) then
        call MPI_SEND(x, 2, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, ierr)
        call mpi_recv(x, 2, MPI_INTEGER, 1, 4, MPI_COMM_WORLD, stat,
     &    ierr)
      else
        call MPI_RECV(x, 2, MPI_INTEGER, 0, 3, MPI_COMM_WORLD,
     &    MPI_STATUS_IGNORE, ierr)
        call MPI_SEND(x, 2, MPI_INTEGER, 0, 4, MPI_COMM_WORLD, ierr)
      end if
      call MPI_IRECV(x, 1, MPI_INTEGER, 1 - rank, 5, MPI_COMM_WORLD,
     &  req(1), ierr)
      call MPI_ISEND(rank, 1, MPI_INTEGER, 1 - rank, 5, MPI_COMM_WORLD,
     &  req(2), ierr)
      call MPI_WAITALL(2, req, stats, ierr)
      call MPI_ALLREDUCE(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_SUM,
     &  MPI_COMM_WORLD, ierr)
      call MPI_FINALIZE(ierr)
      end
