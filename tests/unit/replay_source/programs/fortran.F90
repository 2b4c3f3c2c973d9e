module marks
  use iso_c_binding
  implicit none
  interface
    subroutine c_mark(line, name) bind(c, name="mark")
      import :: c_int, c_char
      integer(c_int), value :: line
      character(kind=c_char), intent(in) :: name(*)
    end subroutine c_mark
    subroutine wait_for_test() bind(c)
    end subroutine wait_for_test
  end interface
end module marks

module heat
  use marks
  implicit none
contains
  subroutine step(n)
    integer, intent(in) :: n
    call c_mark(__LINE__, "heat::step" // c_null_char)
    if (n > 0) call inner
  contains
    subroutine inner
      call c_mark(__LINE__, "heat::step::inner" // c_null_char)
    end subroutine inner
  end subroutine step
  integer function Mixed_Case()
    call c_mark(__LINE__, "heat::mixed_case" // c_null_char)
    Mixed_Case = 1
  end function Mixed_Case
end module heat

subroutine plain
  use marks
  call c_mark(__LINE__, "plain" // c_null_char)
end subroutine plain

program simulate
  use heat
  implicit none
  integer :: total
  call c_mark(__LINE__, "simulate" // c_null_char)
  call step(1)
  call plain
  total = mixed_case()
  call contained
  call wait_for_test
contains
  subroutine contained
    call c_mark(__LINE__, "simulate::contained" // c_null_char)
    total = total + 1
  end subroutine contained
end program simulate
