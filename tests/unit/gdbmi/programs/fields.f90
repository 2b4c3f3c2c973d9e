! Names and values as Fortran makes them.
module fields
  implicit none
  real(8) :: grid(3, 2) = 1.5d0
contains
  subroutine relax(a, n)
    real(8), intent(inout) :: a(:, :)
    integer, intent(in) :: n
    integer :: i
    logical :: done
    done = .false.
    do i = 1, n
      a(i, 1) = a(i, 1) * 2
    end do
    done = .true. ! line: relaxed
  end subroutine relax
end module fields

program main
  use fields
  use, intrinsic :: iso_fortran_env, only: output_unit
  implicit none
  integer, volatile :: go
  go = 0
  write (output_unit, '(a)') 'ready'
  flush (output_unit)
  do while (go == 0)
    call sleep(0)
  end do
  call relax(grid, 2)
end program main
