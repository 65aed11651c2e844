/* What the npy readers and writers share. */
#ifndef SZG_FORMATS_NPY_PRIVATE_H
#define SZG_FORMATS_NPY_PRIVATE_H

#include <stdio.h>

#include "base/context.h"

/* The six bytes that every npy file begins with. */
#define SZGI_NPY_MAGIC "\x93NUMPY"

/* Magic, version, length, the ASCII dictionary, padding: data begins at a multiple of 64. */
void szgi_npy_emit_header(const char *dictionary, FILE *stream);

/* Is the file NumPy's archive (npz)? `names`: "q, k", the first of its arrays, for a message. False
 * of what cannot be read too. */
enum { NPZ_NAMES = 600 };
bool szgi_npz_names(szg_context *context, const char *path, char names[NPZ_NAMES]);

#endif
