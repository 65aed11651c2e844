/* What `rope` and `rope+absolute` share. */
#ifndef SZG_ENCODING_ROPE_H
#define SZG_ENCODING_ROPE_H

#include "encoding/record.h"
#include "encoding/scaling.h"

/* Keys of both except those of the rotation: a macro, for static tables. */
#define ROPE_KEYS                                                                                  \
    {.name = "dim",                                                                                \
     .type = SZGI_KEY_INTEGER,                                                                     \
     .fallback = "64",                                                                             \
     .min = 2,                                                                                     \
     .max = 1048576,                                                                               \
     .doc = "head dimension"},                                                                     \
        {.name = "rotary",                                                                         \
         .type = SZGI_KEY_INTEGER,                                                                 \
         .min = 2,                                                                                 \
         .max = 1048576,                                                                           \
         .doc = "dimensions that rotate, even, the first ones (default: dim)"},                    \
        HEADS_KEY("1", "number of heads"), {                                                       \
        .name = "rotate", .type = SZGI_KEY_LIST, .min = 0, .max = 65535,                           \
        .doc = "heads that rotate, such as 0-3 (default: all)"                                     \
    }

/* The frequencies of one RoPE over all heads, `pairs` of the rotation to each head. */
typedef struct rope_bands {
    int64_t heads, shift; /* head h has band (h + shift) mod heads */
    double *theta;        /* [heads][pairs], by band; NULL: the heads share their frequencies */
    int64_t *atoms;       /* [heads], by band: distinct points, as in the rotation */
} rope_bands;

typedef struct rope {
    rotation rotation; /* of a head that rotates */
    bool *rotates;     /* [heads]; NULL: every head */
    rope_bands bands;
} rope;

/* Fills the state, without the bands, and the handle from the keys above. Close it also after a
 * failure. */
SZG_CHECK_RESULT szg_status szgi_rope_open(szg_context *context, szg_encoding *encoding, rope *out);
void szgi_rope_close(rope *self);

/* The rotation and the facts of the mean kernel of a head. */
void szgi_rope_rotary(const rope *self, int64_t head, szgi_rotary *out);
void szgi_rope_facts(const rope *self, int64_t head, szg_kernel_facts *facts);

#endif
