/* A fiber: a stack of its own and a point at which it goes on. A switch costs some nanoseconds. */
#ifndef EMULATED_FIBERS_H
#define EMULATED_FIBERS_H

#include <boost/context/detail/fcontext.hpp>
#include <stddef.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace emulated {

struct Fiber {
    void *context = nullptr;      /* where it goes on */
    const void *bottom = nullptr; /* of its stack; a caller's own is learnt at the first switch */
    size_t size = 0;
    void *fake_stack = nullptr; /* AddressSanitizer's */
    void (*body)(Fiber *self) = nullptr;
};

/* Gives `fiber` a stack, unless it has one, and lets it begin at `body`, which never returns. What
 * ran on the stack before is forgotten. `number` staggers the stacks over the sets of the cache.
 * False without memory. */
bool fiber_prepare(Fiber *fiber, int number, void (*body)(Fiber *self));

void fiber_release(Fiber *fiber);

struct FiberSwitch {
    Fiber *from, *to;
};

/* The first thing on the other side of a switch. */
inline Fiber *fiber_arrive(const boost::context::detail::transfer_t &from) {
    const FiberSwitch *way = static_cast<const FiberSwitch *>(from.data);
    Fiber *left = way->from, *self = way->to;
    left->context = from.fctx;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(self->fake_stack, &left->bottom, &left->size);
#endif
    return self;
}

/* Leaves `from`, the one that runs, and goes on with `to`. */
inline void fiber_switch(Fiber *from, Fiber *to) {
    FiberSwitch way = {from, to};
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&from->fake_stack, to->bottom, to->size);
#endif
    fiber_arrive(boost::context::detail::jump_fcontext(to->context, &way));
}

} // namespace emulated

#endif
