// Open MPI's ways out after a fatal error. The handlers take variable arguments, so every argument register is kept and
// the real one is jumped to with the stack as it was.
#ifdef __x86_64__

    .macro STOPLINE_FATAL name number
    .text
    .balign 16
    .globl \name
    .type \name, @function
\name:
    .cfi_startproc
    pushq %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbp, 0
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $192, %rsp
    andq $-16, %rsp
    movq %rdi, 0(%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    movq %rax, 48(%rsp)
    movups %xmm0, 64(%rsp)
    movups %xmm1, 80(%rsp)
    movups %xmm2, 96(%rsp)
    movups %xmm3, 112(%rsp)
    movups %xmm4, 128(%rsp)
    movups %xmm5, 144(%rsp)
    movups %xmm6, 160(%rsp)
    movups %xmm7, 176(%rsp)
    // (which, pointer to the code, the code itself): the third for ompi_mpi_abort(comm, code)
    movq %rsi, %rdx
    movl $\number, %edi
    call stoplineBeforeFatal
    movq %rax, %r11
    movq 0(%rsp), %rdi
    movq 8(%rsp), %rsi
    movq 16(%rsp), %rdx
    movq 24(%rsp), %rcx
    movq 32(%rsp), %r8
    movq 40(%rsp), %r9
    movq 48(%rsp), %rax
    movups 64(%rsp), %xmm0
    movups 80(%rsp), %xmm1
    movups 96(%rsp), %xmm2
    movups 112(%rsp), %xmm3
    movups 128(%rsp), %xmm4
    movups 144(%rsp), %xmm5
    movups 160(%rsp), %xmm6
    movups 176(%rsp), %xmm7
    leave
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    jmp *%r11
    .cfi_endproc
    .size \name, . - \name
    .endm

    STOPLINE_FATAL ompi_mpi_errors_are_fatal_comm_handler 0
    STOPLINE_FATAL ompi_mpi_errors_are_fatal_win_handler 1
    STOPLINE_FATAL ompi_mpi_errors_are_fatal_file_handler 2
    STOPLINE_FATAL ompi_mpi_abort 3
#endif
    .section .note.GNU-stack, "", @progbits
