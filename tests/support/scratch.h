/* Files for tests: a folder that is removed at the end, and bytes in and out. */
#ifndef SZG_TESTS_SCRATCH_H
#define SZG_TESTS_SCRATCH_H

#include "suite.h"

/* Path of `name` in the scratch folder, in a buffer that lives until four calls later. */
const char *scratch_path(const char *name);

/* Writes bytes, or a text, to the scratch file `name` and returns its path. */
const char *scratch_bytes(const char *name, const void *data, size_t size);
const char *scratch_text(const char *name, const char *text);

/* The whole file as a text that the caller frees with free; fails the test if it cannot be read. */
char *scratch_read(const char *path, size_t *size);

/* A new folder in the scratch folder, in a buffer that lives until four calls later; and its
 * removal with all that is in it, where the end of the program is too late. */
const char *scratch_folder(void);
void scratch_remove(const char *folder);

/* Number of entries of a folder. */
int scratch_entries(const char *folder);

#endif
