// Returns that a processor can predict although stacks are switched in between.
//
// A processor predicts `ret` from the calls it saw last. After a switch of stacks those are another thread's, so every return
// is predicted wrong until the thread makes a call again: five or six of them for each switch. An indirect jump is predicted by
// the path that led to it, whoever ran before. So in a translation unit that includes this, GCC's `ret` is a macro of the
// assembler that takes the address from the stack and jumps there. It changes no register and no flag, and touches nothing
// outside the red zone, so that unwinding, debuggers and callers compiled without it do not notice.
//
// clang assembles by itself, without macros: its returns stay what they are.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__asm__(".ifndef contend_predictable_returns\n\t" // link-time optimisation puts several units into one
        ".set contend_predictable_returns, 1\n\t"
        ".macro ret\n\t"
        "leaq 8(%rsp), %rsp\n\t"
        "jmpq *-8(%rsp)\n\t"
        ".endm\n\t"
        ".endif");
#endif
