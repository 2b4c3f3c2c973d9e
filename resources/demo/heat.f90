! Heat on a ring-shaped sheet, one strip of columns for each rank. It works with small sheets, such as the default one, and
! hangs with large ones (heat 1000). Look for the call that all ranks are in, and at what each of them waits for.
!
! Usage: heat [rows [steps]], by default 100 and 50.
module sheet
  use mpi
  implicit none
  integer, parameter :: columns = 16
  integer, parameter :: rightward = 1, leftward = 2
  integer :: rank, ranks, left, right
  double precision, allocatable :: t(:,:), t_new(:,:)

contains

  subroutine start_values(rows)
    integer, intent(in) :: rows
    allocate (t(0:rows + 1, 0:columns + 1), t_new(0:rows + 1, 0:columns + 1))
    t = 0d0
    if (rank == 0) t(1:rows, 1) = 100d0
    t_new = t
  end subroutine start_values

  subroutine trade_columns(rows)
    integer, intent(in) :: rows
    integer :: status(MPI_STATUS_SIZE), ierr
    call MPI_SEND(t(1, columns), rows, MPI_DOUBLE_PRECISION, right, rightward, MPI_COMM_WORLD, ierr)
    call MPI_RECV(t(1, 0), rows, MPI_DOUBLE_PRECISION, left, rightward, MPI_COMM_WORLD, status, ierr)
    call MPI_SEND(t(1, 1), rows, MPI_DOUBLE_PRECISION, left, leftward, MPI_COMM_WORLD, ierr)
    call MPI_RECV(t(1, columns + 1), rows, MPI_DOUBLE_PRECISION, right, leftward, MPI_COMM_WORLD, status, ierr)
  end subroutine trade_columns

  subroutine diffuse(rows)
    integer, intent(in) :: rows
    integer :: i, j
    do j = 1, columns
      do i = 1, rows
        t_new(i, j) = t(i, j) + 0.2d0 * (t(i, j - 1) + t(i, j + 1) - 2d0 * t(i, j))
      end do
    end do
    t(1:rows, 1:columns) = t_new(1:rows, 1:columns)
  end subroutine diffuse

end module sheet

program heat
  use sheet
  implicit none
  integer :: rows, steps, step, ierr
  double precision :: own, total
  character(len=32) :: text

  rows = 100
  steps = 50
  if (command_argument_count() >= 1) then
    call get_command_argument(1, text)
    read (text, *) rows
  end if
  if (command_argument_count() >= 2) then
    call get_command_argument(2, text)
    read (text, *) steps
  end if

  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
  left = modulo(rank - 1, ranks)
  right = modulo(rank + 1, ranks)

  call start_values(rows)
  do step = 1, steps
    call trade_columns(rows)
    call diffuse(rows)
  end do
  own = sum(t(1:rows, 1:columns))
  call MPI_REDUCE(own, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a, i0, a, f12.3)', 'heat after ', steps, ' steps: ', total
  call MPI_FINALIZE(ierr)
end program heat
