/* Status codes and the small value types that every room shares. */
#ifndef SZEGO_STATUS_H
#define SZEGO_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Public declarations are between SZG_BEGIN_DECLS and SZG_END_DECLS: C linkage for C++ callers,
 * and default visibility in a library that is compiled with hidden symbols. */
#ifdef __cplusplus
#define SZG_BEGIN_DECLS _Pragma("GCC visibility push(default)") extern "C" {
#define SZG_END_DECLS                                                                              \
    }                                                                                              \
    _Pragma("GCC visibility pop")
#else
#define SZG_BEGIN_DECLS _Pragma("GCC visibility push(default)")
#define SZG_END_DECLS _Pragma("GCC visibility pop")
#endif

#define SZG_CHECK_RESULT __attribute__((warn_unused_result))
#define SZG_PRINTF(at, first) __attribute__((__format__(__printf__, at, first)))

SZG_BEGIN_DECLS

/* What a fallible function returns. The message with the numbers is in the context. */
typedef enum szg_status {
    SZG_OK = 0,
    SZG_EINVAL,    /* an argument is outside the documented range */
    SZG_EDATA,     /* a file or an input array is malformed */
    SZG_EDOMAIN,   /* no answer exists for this input */
    SZG_ENOCONV,   /* an answer may exist, none could be established */
    SZG_ENOMEM,    /* memory was refused */
    SZG_EIO,       /* the operating system refused a read or a write */
    SZG_ECANCEL,   /* szg_context_cancel was called */
    SZG_EBACKEND,  /* the requested backend is missing or failed */
    SZG_EINTERNAL, /* a broken invariant: a defect of szego */
    SZG_STATUS_COUNT
} szg_status;

/* A short fixed English name of `status`, never NULL ("unknown status" outside the enumeration). */
const char *szg_status_name(szg_status status);

/* A complex double; C++ and nvcc compile it, which `double complex` would not. Layout-compatible
 * with C99 double complex, fftw_complex and lapack_complex_double. */
typedef struct szg_c64 {
    double re, im;
} szg_c64;

/* A closed interval [lo, hi] that provably contains a number, endpoints rounded outwards. */
typedef struct szg_interval {
    double lo, hi;
} szg_interval;

/* Of a real trigonometric polynomial over t, enclosed: `min` contains the minimum over t, `max` the
 * maximum. min.hi and max.lo are values that the polynomial takes (rounded outwards) at theta_min
 * and theta_max, in [0, 2 pi), up to the rounding of the point to a double. `method` names the
 * theorems, static storage. */
typedef struct szg_range {
    szg_interval min, max;
    double theta_min, theta_max;
    const char *method;
} szg_range;

/* A struct that you fill begins with the field `size`, so that a later release may lengthen it: a
 * library reads no more than `size` bytes and takes the rest as zero. In C its initialiser begins
 * with SZG_INIT, in C++ `size` is set already:
 *
 *     szg_spectra_options options = {SZG_INIT(szg_spectra_options), .want = SZG_WANT_RANGE};
 *     szg_spectra_options options = {};                                           // C++
 *
 * SZG_EINVAL: a size of 0, or a field set that the library is too old to know. */
#define SZG_INIT(type) .size = sizeof(type)
#ifdef __cplusplus
#define SZG_SIZE(type) size_t size = sizeof(type)
#else
#define SZG_SIZE(type) size_t size
#endif

/* Propagate a failure to the caller. For functions that own nothing yet. */
#define SZG_TRY(call)                                                                              \
    do {                                                                                           \
        szg_status szg_try_status_ = (call);                                                       \
        if (szg_try_status_ != SZG_OK)                                                             \
            return szg_try_status_;                                                                \
    } while (0)

/* Set `status` (a local variable) and jump to `label` on failure. For functions that clean up. */
#define SZG_TRY_GOTO(status, call, label)                                                          \
    do {                                                                                           \
        (status) = (call);                                                                         \
        if ((status) != SZG_OK)                                                                    \
            goto label;                                                                            \
    } while (0)

SZG_END_DECLS

#endif
