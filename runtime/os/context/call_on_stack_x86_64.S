/* See forkjoin/abi/context.hpp and runtime/os/context/context.hpp. System V ABI, x86-64.

   What a caller leaves on its own stack, at the address that it stores in *saved:

     saved +  0   MXCSR (4 bytes), x87 control word (2 bytes)
           +  8   r15
           + 16   r14
           + 24   r13
           + 32   r12
           + 40   rbx
           + 48   rbp
           + 56   return address                <- rsp when called was here

   An ordinary return finds r12 to r15 as the callee, which obeys the ABI, left them: only rbx and rbp are taken from
   the frame. A thief's return_to takes them all, and the floating-point control words, from there. So does
   switch_stack, which leaves the same. These end by `ret`, though it was another stack's call: the processor foresees
   where a return goes by counting calls and returns, and a jump in its place would have it wrong about each return of
   the callers, too. */

/* With -fcf-protection (__CET__) this file says that every target of an indirect branch begins with endbr64. It does
   not say that it keeps a shadow stack, as <cet.h> would: return_to returns to where its thread was never called from.
   One object without that note turns shadow stacks off for the program. */
#if defined(__CET__) && (__CET__ & 1)
#define LANDING endbr64
        .section .note.gnu.property, "a", @note
        .p2align 3
        .long   4, 16, 5        /* sizes of name and description; NT_GNU_PROPERTY_TYPE_0 */
        .asciz  "GNU"
        .long   0xc0000002, 4   /* GNU_PROPERTY_X86_FEATURE_1_AND and its size */
        .long   1, 0            /* IBT alone; padding */
#else
#define LANDING
#endif

/* What the head of this file describes, at rsp. */
        .macro  leave_registers
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        pushq   %rbx
        .cfi_def_cfa_offset 24
        .cfi_offset rbx, -24
        pushq   %r12
        .cfi_def_cfa_offset 32
        .cfi_offset r12, -32
        pushq   %r13
        .cfi_def_cfa_offset 40
        .cfi_offset r13, -40
        pushq   %r14
        .cfi_def_cfa_offset 48
        .cfi_offset r14, -48
        pushq   %r15
        .cfi_def_cfa_offset 56
        .cfi_offset r15, -56
        subq    $8, %rsp
        .cfi_def_cfa_offset 64
        stmxcsr (%rsp)
        fnstcw  4(%rsp)
        .endm

        .text

/* uintptr_t forkjoin_v0_4_call_on_stack(void** saved, stack_call f, void* argument) */
        .globl  forkjoin_v0_4_call_on_stack
        .type   forkjoin_v0_4_call_on_stack, @function
        .p2align 6
forkjoin_v0_4_call_on_stack:
        .cfi_startproc
        LANDING
        leave_registers
        movq    %rsp, (%rdi)
        movq    %rsp, %rbx
        .cfi_def_cfa_register rbx
        movq    %rdx, %rsp
        movq    %rdx, %rdi
        /* The callee may outlive our caller's frame, so this is where unwinding and backtraces end. */
        .cfi_remember_state
        .cfi_undefined rip
        xorl    %ebp, %ebp
        call    *%rsi
        .cfi_restore_state
        leaq    40(%rbx), %rsp
        popq    %rbx
        .cfi_def_cfa rsp, 16
        .cfi_restore rbx
        popq    %rbp
        .cfi_def_cfa_offset 8
        .cfi_restore rbp
        ret
        .cfi_endproc
        .size   forkjoin_v0_4_call_on_stack, . - forkjoin_v0_4_call_on_stack

/* [[noreturn]] void forkjoin_v0_4_return_to(void* saved, uintptr_t value) */
        .globl  forkjoin_v0_4_return_to
        .type   forkjoin_v0_4_return_to, @function
        .p2align 4
forkjoin_v0_4_return_to:
        .cfi_startproc
        .cfi_undefined rip
        LANDING
        movq    %rdi, %rsp
        movq    %rsi, %rax
        ldmxcsr (%rsp)
        fldcw   4(%rsp)
        addq    $8, %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        ret
        .cfi_endproc
        .size   forkjoin_v0_4_return_to, . - forkjoin_v0_4_return_to

/* uintptr_t forkjoin_v0_4_switch_stack(void** saved, void* next, uintptr_t value) */
        .globl  forkjoin_v0_4_switch_stack
        .type   forkjoin_v0_4_switch_stack, @function
        .p2align 6
forkjoin_v0_4_switch_stack:
        .cfi_startproc
        LANDING
        leave_registers
        movq    %rsp, (%rdi)
        movq    %rdx, %rax
        /* To set the control words takes longer than to see that they are the same. */
        movl    (%rsp), %ecx
        cmpl    (%rsi), %ecx
        jne     1f
        movzwl  4(%rsp), %ecx
        cmpw    4(%rsi), %cx
        jne     1f
        /* From here on the frame is the other one, which looks the same. */
0:      leaq    8(%rsi), %rsp
        .cfi_remember_state
        .cfi_def_cfa_offset 56
        popq    %r15
        .cfi_def_cfa_offset 48
        .cfi_restore r15
        popq    %r14
        .cfi_def_cfa_offset 40
        .cfi_restore r14
        popq    %r13
        .cfi_def_cfa_offset 32
        .cfi_restore r13
        popq    %r12
        .cfi_def_cfa_offset 24
        .cfi_restore r12
        popq    %rbx
        .cfi_def_cfa_offset 16
        .cfi_restore rbx
        popq    %rbp
        .cfi_def_cfa_offset 8
        .cfi_restore rbp
        ret
1:      .cfi_restore_state
        ldmxcsr (%rsi)
        fldcw   4(%rsi)
        jmp     0b
        .cfi_endproc
        .size   forkjoin_v0_4_switch_stack, . - forkjoin_v0_4_switch_stack

/* void* forkjoin_v0_4_fresh_stack(void* top, fresh_call f, void* argument) */
        .globl  forkjoin_v0_4_fresh_stack
        .type   forkjoin_v0_4_fresh_stack, @function
        .p2align 4
forkjoin_v0_4_fresh_stack:
        .cfi_startproc
        LANDING
        andq    $-16, %rdi
        leaq    -64(%rdi), %rax
        movq    $0, (%rax)
        stmxcsr (%rax)
        fnstcw  4(%rax)
        leaq    first_of_stack(%rip), %rcx
        movq    $0, 8(%rax)
        movq    $0, 16(%rax)
        movq    $0, 24(%rax)
        movq    %rsi, 32(%rax)          /* r12 */
        movq    %rdx, 40(%rax)          /* rbx */
        movq    $0, 48(%rax)
        movq    %rcx, 56(%rax)
        ret
        .cfi_endproc
        .size   forkjoin_v0_4_fresh_stack, . - forkjoin_v0_4_fresh_stack

/* Where a fresh stack is returned to; unwinding and backtraces end here. */
        .type   first_of_stack, @function
        .p2align 4
first_of_stack:
        .cfi_startproc
        .cfi_undefined rip
        movq    %rbx, %rdi
        movq    %rax, %rsi
        call    *%r12
        ud2
        .cfi_endproc
        .size   first_of_stack, . - first_of_stack

        .section .note.GNU-stack, "", @progbits
