/* NumPy arrays in .npy files, versions 1 to 3. */
#ifndef SZEGO_FORMATS_NPY_H
#define SZEGO_FORMATS_NPY_H

#include <stdio.h>
#include "base/table.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

enum { SZGI_NPY_DIMS = 32 };

/* An array in a file: booleans, integers of 1 to 8 bytes, reals of 2 to 8, complex of 8 and 16,
 * either byte order, C or Fortran order. */
typedef struct szgi_npy szgi_npy;

/* Opens a file and checks its header; elements are read as they are asked for; an array in Fortran
 * order is read whole. SZG_EDATA: not npy, a version above 3, a header that is not the dictionary
 * NumPy writes, an element type outside the list (objects and structures among them; the message
 * names the remedy), more than 32 dimensions, sizes that overflow, a file shorter or longer than
 * its shape says. SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_npy_open(szg_context *context, const char *path, szgi_npy **out);

/* As szgi_npy_open, from bytes that the caller keeps; `name` is for messages. */
SZG_CHECK_RESULT szg_status szgi_npy_open_bytes(szg_context *context, const char *name,
                                                const void *data, int64_t size, szgi_npy **out);
void szgi_npy_close(szgi_npy **npy);

/* SZG_EIO where the file was changed since it was opened: what was read may be of two versions. */
SZG_CHECK_RESULT szg_status szgi_npy_check(szg_context *context, const szgi_npy *npy);

int szgi_npy_dims(const szgi_npy *npy);             /* 0: a single number */
const int64_t *szgi_npy_shape(const szgi_npy *npy); /* [dims] */
int64_t szgi_npy_count(const szgi_npy *npy);        /* product of the shape */
bool szgi_npy_is_complex(const szgi_npy *npy);
/* Unit roundoff of the element type: 2^-11, 2^-24, 2^-53; 0 for integers. */
double szgi_npy_roundoff(const szgi_npy *npy);

/* Elements start .. start + count - 1, counted in row-major order whatever the file's order is, as
 * doubles. SZG_EINVAL (outside the array; read_real of a complex array), SZG_EDATA (an integer that
 * no double holds exactly, with its index). */
SZG_CHECK_RESULT szg_status szgi_npy_read_real(szg_context *context, const szgi_npy *npy,
                                               int64_t start, int64_t count, double *out);
SZG_CHECK_RESULT szg_status szgi_npy_read_complex(szg_context *context, const szgi_npy *npy,
                                                  int64_t start, int64_t count, szg_c64 *out);

/* Writes a row-major array as <f8, atomically. SZG_EINVAL, SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_npy_write_real(szg_context *context, const char *path, int dims,
                                                const int64_t *shape, const double *data);

/* Prints a table as a structured array, one field a column: integers <i8, reals <f8, texts UTF-8
 * bytes |S as wide as the longest. An integer column with empty cells is <f8 with NaN in them;
 * SZG_EDATA where that would not be the same number. An empty text and an empty cell are both b"".
 * Write errors are left to the stream. */
SZG_CHECK_RESULT szg_status szgi_npy_print_table(szg_context *context, const szg_table *table,
                                                 FILE *stream);
SZGI_END_DECLS

#endif
