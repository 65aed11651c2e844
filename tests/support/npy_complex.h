/* A complex npy file, byte by byte as NumPy's format says (version 1.0): the program reads such
 * files and writes none. */
#ifndef SZG_TESTS_NPY_COMPLEX_H
#define SZG_TESTS_NPY_COMPLEX_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"

/* The header ends with a newline at byte 128, where the numbers begin. */
static void write_npy_complex(const char *path, int dims, const int64_t *shape,
                              const szg_c64 *data) {
    enum { PREFIX = 10, BEGIN = 128 };
    char list[64] = "", header[BEGIN + 1];
    int64_t count = 1;
    for (int i = 0; i < dims; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%" PRId64 ",", shape[i]);
        count *= shape[i];
    }
    int length = snprintf(header, sizeof header,
                          "{'descr': '<c16', 'fortran_order': False, 'shape': (%s)}", list);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    fwrite("\x93NUMPY\1\0\x76\0", 1, PREFIX, file); /* 0x76 = 118 = BEGIN - PREFIX */
    fprintf(file, "%s%*s\n", header, BEGIN - PREFIX - length - 1, "");
    ck_assert_uint_eq(fwrite(data, sizeof *data, (size_t)count, file), (size_t)count);
    ck_assert_int_eq(fclose(file), 0);
}

#endif
