/* See forkjoin/abi/context.hpp and runtime/os/context/context.hpp. Procedure call standard for the Arm 64-bit
   architecture (AAPCS64).

   What a caller leaves on its own stack, at the address that it stores in *saved:

     saved +  0   x29, x30 (the return address)
           + 16   x19, x20
           + 32   x21, x22
           + 48   x23, x24
           + 64   x25, x26
           + 80   x27, x28
           + 96   d8, d9
           +112   d10, d11
           +128   d12, d13
           +144   d14, d15
           +160   FPCR
           +176                                 <- sp when called was here

   An ordinary return finds all but x19, x29 and x30 as the callee, which obeys the standard, left them. A thief's
   return_to takes them all, and the floating-point control register, from there. So does switch_stack, which leaves the
   same. `hint 34` is `bti c`, which allows indirect calls where the processor checks their targets. */

/* What the head of this file describes, at sp; x9 is FPCR then. */
        .macro  leave_registers
        stp     x29, x30, [sp, -176]!
        .cfi_def_cfa_offset 176
        .cfi_offset x29, -176
        .cfi_offset x30, -168
        stp     x19, x20, [sp, 16]
        .cfi_offset x19, -160
        .cfi_offset x20, -152
        stp     x21, x22, [sp, 32]
        .cfi_offset x21, -144
        .cfi_offset x22, -136
        stp     x23, x24, [sp, 48]
        .cfi_offset x23, -128
        .cfi_offset x24, -120
        stp     x25, x26, [sp, 64]
        .cfi_offset x25, -112
        .cfi_offset x26, -104
        stp     x27, x28, [sp, 80]
        .cfi_offset x27, -96
        .cfi_offset x28, -88
        stp     d8, d9, [sp, 96]
        .cfi_offset d8, -80
        .cfi_offset d9, -72
        stp     d10, d11, [sp, 112]
        .cfi_offset d10, -64
        .cfi_offset d11, -56
        stp     d12, d13, [sp, 128]
        .cfi_offset d12, -48
        .cfi_offset d13, -40
        stp     d14, d15, [sp, 144]
        .cfi_offset d14, -32
        .cfi_offset d15, -24
        mrs     x9, fpcr
        str     x9, [sp, 160]
        .endm

/* All of it but FPCR; pops it. */
        .macro  take_registers
        ldp     d14, d15, [sp, 144]
        ldp     d12, d13, [sp, 128]
        ldp     d10, d11, [sp, 112]
        ldp     d8, d9, [sp, 96]
        ldp     x27, x28, [sp, 80]
        ldp     x25, x26, [sp, 64]
        ldp     x23, x24, [sp, 48]
        ldp     x21, x22, [sp, 32]
        ldp     x19, x20, [sp, 16]
        ldp     x29, x30, [sp], 176
        .endm

        .text

/* uintptr_t forkjoin_v0_4_call_on_stack(void** saved, stack_call f, void* argument) */
        .globl  forkjoin_v0_4_call_on_stack
        .type   forkjoin_v0_4_call_on_stack, %function
        .p2align 6
forkjoin_v0_4_call_on_stack:
        .cfi_startproc
        hint    34
        leave_registers
        mov     x19, sp
        .cfi_def_cfa_register x19
        str     x19, [x0]
        mov     sp, x2
        mov     x0, x2
        /* The callee may outlive our caller's frame, so this is where unwinding and backtraces end. */
        .cfi_remember_state
        .cfi_undefined x30
        mov     x29, 0
        blr     x1
        .cfi_restore_state
        mov     sp, x19
        .cfi_def_cfa_register sp
        ldr     x19, [sp, 16]
        .cfi_restore x19
        ldp     x29, x30, [sp], 176
        .cfi_def_cfa_offset 0
        .cfi_restore x29
        .cfi_restore x30
        ret
        .cfi_endproc
        .size   forkjoin_v0_4_call_on_stack, . - forkjoin_v0_4_call_on_stack

/* [[noreturn]] void forkjoin_v0_4_return_to(void* saved, uintptr_t value) */
        .globl  forkjoin_v0_4_return_to
        .type   forkjoin_v0_4_return_to, %function
        .p2align 4
forkjoin_v0_4_return_to:
        .cfi_startproc
        .cfi_undefined x30
        hint    34
        mov     sp, x0
        mov     x0, x1
        ldr     x9, [sp, 160]
        msr     fpcr, x9
        take_registers
        ret
        .cfi_endproc
        .size   forkjoin_v0_4_return_to, . - forkjoin_v0_4_return_to

/* uintptr_t forkjoin_v0_4_switch_stack(void** saved, void* next, uintptr_t value) */
        .globl  forkjoin_v0_4_switch_stack
        .type   forkjoin_v0_4_switch_stack, %function
        .p2align 6
forkjoin_v0_4_switch_stack:
        .cfi_startproc
        hint    34
        leave_registers
        mov     x10, sp
        str     x10, [x0]
        mov     x0, x2
        /* From here on the frame is the other one, which looks the same. */
        mov     sp, x1
        ldr     x10, [sp, 160]
        cmp     x9, x10
        b.eq    0f
        msr     fpcr, x10
0:
        take_registers
        .cfi_def_cfa_offset 0
        ret
        .cfi_endproc
        .size   forkjoin_v0_4_switch_stack, . - forkjoin_v0_4_switch_stack

/* void* forkjoin_v0_4_fresh_stack(void* top, fresh_call f, void* argument) */
        .globl  forkjoin_v0_4_fresh_stack
        .type   forkjoin_v0_4_fresh_stack, %function
        .p2align 4
forkjoin_v0_4_fresh_stack:
        .cfi_startproc
        hint    34
        and     x0, x0, -16
        sub     x0, x0, 176
        adr     x9, first_of_stack
        stp     xzr, x9, [x0]
        stp     x1, x2, [x0, 16]        /* x19, x20 */
        stp     xzr, xzr, [x0, 32]
        stp     xzr, xzr, [x0, 48]
        stp     xzr, xzr, [x0, 64]
        stp     xzr, xzr, [x0, 80]
        stp     xzr, xzr, [x0, 96]
        stp     xzr, xzr, [x0, 112]
        stp     xzr, xzr, [x0, 128]
        stp     xzr, xzr, [x0, 144]
        mrs     x9, fpcr
        stp     x9, xzr, [x0, 160]
        ret
        .cfi_endproc
        .size   forkjoin_v0_4_fresh_stack, . - forkjoin_v0_4_fresh_stack

/* Where a fresh stack is returned to; unwinding and backtraces end here. */
        .type   first_of_stack, %function
        .p2align 4
first_of_stack:
        .cfi_startproc
        .cfi_undefined x30
        mov     x1, x0
        mov     x0, x20
        blr     x19
        udf     0
        .cfi_endproc
        .size   first_of_stack, . - first_of_stack

        .section .note.GNU-stack, "", %progbits

/* Says to the linker that what is here may be indirectly called where targets are checked:
   GNU_PROPERTY_AARCH64_FEATURE_1_AND, BTI. */
        .section .note.gnu.property, "a", %note
        .p2align 3
        .word   4, 16, 5
        .asciz  "GNU"
        .word   0xc0000000, 4, 1, 0
