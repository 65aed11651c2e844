/* FTZ and DAZ of MXCSR on x86, FZ and its kin of FPCR on ARM. A library linked with -ffast-math or
 * a call such as PyTorch's set_flush_denormal sets them for a thread, and new threads inherit them.
 */
#include "base/context.h"

#if defined __x86_64__
enum { FLUSHING = 0x8040 };

static unsigned long control(void) {
    unsigned word;
    __asm__ volatile("stmxcsr %0" : "=m"(word) : : "memory");
    return word;
}

static void set_control(unsigned long word) {
    unsigned low = (unsigned)word;
    __asm__ volatile("ldmxcsr %0" : : "m"(low) : "memory");
}
#elif defined __aarch64__
enum { FLUSHING = 1 << 24 | 1 << 19 | 1 << 0 };

static unsigned long control(void) {
    unsigned long word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word) : : "memory");
    return word;
}

static void set_control(unsigned long word) {
    __asm__ volatile("msr fpcr, %0" : : "r"(word) : "memory");
}
#else /* szgi_certify_rounding refuses there what this cannot mend */
enum { FLUSHING = 0 };

static unsigned long control(void) {
    return 0;
}

static void set_control(unsigned long word) {
    (void)word;
}
#endif

unsigned long szgi_denormals_keep(void) {
    unsigned long word = control(), flushing = word & FLUSHING;
    if (flushing)
        set_control(word & ~flushing);
    return flushing;
}

void szgi_denormals_leave(const unsigned long *flushing) {
    if (*flushing)
        set_control(control() | *flushing);
}
