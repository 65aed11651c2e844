/* Encodings that a test opens, their kernels, and files for them. */
#ifndef SZG_TESTS_ENCODING_KERNELS_H
#define SZG_TESTS_ENCODING_KERNELS_H

#include <unistd.h>

#include "suite.h"
#include "encoding/encoding.h"
#include "formats/npy.h"
#include "toeplitz/toeplitz.h"

static const double EPS = 0x1p-52;

static inline szg_encoding *parse(const char *spec) {
    szg_encoding *encoding;
    ck_szg_ok(szg_encoding_parse(test_context(), spec, &encoding));
    return encoding;
}

static inline szg_kernel_facts facts_of(const szg_encoding *encoding, int64_t head,
                                        int64_t matrix) {
    szg_kernel_facts facts;
    ck_szg_ok(szg_encoding_facts(test_context(), encoding, head, matrix, &facts));
    return facts;
}

static inline szg_toeplitz *kernel(const szg_encoding *encoding, int64_t head, int64_t matrix,
                                   int64_t n) {
    szg_toeplitz *t;
    ck_szg_ok(szg_encoding_kernel(test_context(), encoding, head, matrix, n, &t));
    ck_assert_int_eq(szg_toeplitz_size(t), n);
    return t;
}

/* A file of the test's own folder; the name is overwritten by the next call. */
static inline const char *npy_file(int dims, const int64_t *shape, const double *data) {
    static char path[64];
    snprintf(path, sizeof path, "test_encoding_%d.npy", (int)getpid());
    ck_szg_ok(szgi_npy_write_real(test_context(), path, dims, shape, data));
    return path;
}

static inline char *spec_with(const char *format, const char *path) {
    static char spec[256];
    snprintf(spec, sizeof spec, format, path);
    return spec;
}

#endif
