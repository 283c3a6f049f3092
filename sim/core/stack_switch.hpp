// Changing stacks: by a few instructions on x86-64, by Boost.Context's fcontext everywhere else.
//
// fcontext also saves the floating-point control words, which no simulated thread changes; leaving that out and letting
// the compiler save only the registers that are live at the call makes a switch about three times as fast.
#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <cstddef>

#if defined(__x86_64__) && !defined(CONTEND_PORTABLE_SWITCH)
#define CONTEND_INLINE_SWITCH 1
#endif

namespace contend {

#if defined(CONTEND_INLINE_SWITCH)

/// A suspended stack: its stack pointer; the address to continue at is on top.
using StackContext = void*;

/// A context that calls Entry(left) on the stack below `top` at its first switch; `left` is where the context that was
/// left has been saved. Entry must not return.
template <void (*Entry)(StackContext* left)>
StackContext make_stack_context(std::byte* top, std::size_t /*size*/) {
  auto** slot = reinterpret_cast<void**>(top) - 1; // a function sees its stack 8 bytes off a 16-byte boundary
  *slot = nullptr;                                 // in place of the return address of Entry
  *--slot = reinterpret_cast<void*>(Entry);
  return slot;
}

/// Stores the running context in `save` and continues `load`.
inline __attribute__((always_inline)) void switch_stack(StackContext& save, StackContext load) {
  StackContext* left = &save;                    // in the first argument register when the other side is an Entry
  __asm__ volatile("leaq -128(%%rsp), %%rsp\n\t" // step over the red zone
                   "pushq %%rbp\n\t"
                   "leaq 1f(%%rip), %%rax\n\t"
                   "pushq %%rax\n\t"
                   "movq %%rsp, (%[left])\n\t"
                   "movq %[load], %%rsp\n\t"
                   "popq %%rax\n\t"
                   "jmpq *%%rax\n\t"
                   "1:\n\t"
                   "popq %%rbp\n\t"
                   "leaq 128(%%rsp), %%rsp\n\t"
                   : [left] "+D"(left), [load] "+S"(load)
                   :
                   : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc",
                     "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                     "xmm12", "xmm13", "xmm14", "xmm15");
}

#else

using StackContext = boost::context::detail::fcontext_t;

template <void (*Entry)(StackContext* left)>
StackContext make_stack_context(std::byte* top, std::size_t size) {
  return boost::context::detail::make_fcontext(top, size, [](boost::context::detail::transfer_t from) {
    auto* left = static_cast<StackContext*>(from.data);
    *left = from.fctx;
    Entry(left);
  });
}

inline void switch_stack(StackContext& save, StackContext load) {
  const boost::context::detail::transfer_t from = boost::context::detail::jump_fcontext(load, &save);
  *static_cast<StackContext*>(from.data) = from.fctx;
}

#endif

} // namespace contend
