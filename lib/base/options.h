/* Structs that callers fill and that later releases may lengthen: their first field says how much
 * of one the caller's headers know. */
#ifndef SZEGO_BASE_OPTIONS_H
#define SZEGO_BASE_OPTIONS_H

#include "base/context.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

typedef enum szgi_options_fault {
    SZGI_OPTIONS_FIT,    /* none */
    SZGI_OPTIONS_UNSET,  /* no initialiser set the size */
    SZGI_OPTIONS_UNKNOWN /* a field of a later release is set */
} szgi_options_fault;

/* szgi_options_copy without a message, for what has no context yet. */
SZG_CHECK_RESULT szgi_options_fault szgi_options_fit(const void *from, void *to, size_t size);

/* Copies the caller's struct into `to`, one of `size` bytes as this library knows it: at most the
 * caller's `size` bytes are read, and what the caller does not have is zero. from NULL: all of it
 * is zero. SZG_EINVAL names the struct and SZG_INIT: a size that no initialiser set, or one of a
 * later release with a field set that this library does not know. Callers use SZGI_OPTIONS. */
SZG_CHECK_RESULT szg_status szgi_options_copy(szg_context *context, const char *type,
                                              const void *from, void *to, size_t size);

/* `type`: a struct that begins with the field `size`. */
#define SZGI_OPTIONS(context, type, from, to)                                                      \
    szgi_options_copy(context, #type, (const type *){from}, (type *){to}, sizeof(type))

SZGI_END_DECLS

#endif
