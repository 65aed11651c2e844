/* What the fuzzers share. A fuzzer is one function, which libFuzzer or replay.c calls with the
 * bytes of a file; it aborts where the library breaks a promise. */
#ifndef SZG_FUZZ_FUZZ_H
#define SZG_FUZZ_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/context.h"
#include <szego/status.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A silent context with one thread, opened once. */
szg_context *fuzz_context(void);

/* For readers that take a path: a folder in memory. fuzz_clean removes it with all that is in it;
 * a fuzzer calls it at the end of each input, and a broken promise does. */
const char *fuzz_folder(void);
/* FOLDER/NAME with these bytes. The text is good until the call after the next seven. */
const char *fuzz_file(const char *name, const void *data, size_t size);
void fuzz_clean(void);

/* Aborts with a message that says which promise was broken. */
#define FUZZ_PROMISE(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: broken promise: %s: %s\n", __FILE__, __LINE__, #condition,     \
                    szg_context_message(fuzz_context()));                                          \
            fuzz_clean();                                                                          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* A refusal of hostile bytes: SZG_EDATA, and a message that begins with the file's name. */
#define FUZZ_REFUSED(status, name)                                                                 \
    FUZZ_PROMISE((status) == SZG_EDATA &&                                                          \
                 strncmp(szg_context_message(fuzz_context()), (name), strlen(name)) == 0)

#endif
