/* The rotation of rotary encodings: frequencies, and how context extension changes them. */
#ifndef SZG_ENCODING_SCALING_H
#define SZG_ENCODING_SCALING_H

#include "encoding/encoding.h"

/* The double next to pi, which it is below. */
#define ROTATION_PI 3.14159265358979323846

/* Keys that every rotary encoding has, to be listed in its table (a macro, for static tables). */
#define ROTARY_KEYS                                                                                \
    {.name = "base",                                                                               \
     .type = SZGI_KEY_REAL,                                                                        \
     .fallback = "10000",                                                                          \
     .min = 1,                                                                                     \
     .max = 1e15,                                                                                  \
     .doc = "theta_t = base^(-2t/rotary), the angle of pair t per position"},                      \
        {.name = "pairing",                                                                        \
         .type = SZGI_KEY_CHOICE,                                                                  \
         .fallback = "interleaved",                                                                \
         .choices = "interleaved|half",                                                            \
         .doc = "which dimensions form pair t: 2t and 2t+1, or t and t+rotary/2"},                 \
        {.name = "scaling",                                                                        \
         .type = SZGI_KEY_CHOICE,                                                                  \
         .fallback = "none",                                                                       \
         .choices = "none|linear|ntk|dynamic|yarn|llama3|proportional",                            \
         .doc = "how context extension changes the frequencies"},                                  \
        {.name = "factor",                                                                         \
         .type = SZGI_KEY_REAL,                                                                    \
         .min = 1,                                                                                 \
         .max = 1e9,                                                                               \
         .doc = "the extension factor (proportional: default 1)"},                                 \
        {.name = "original",                                                                       \
         .type = SZGI_KEY_REAL,                                                                    \
         .min = 1,                                                                                 \
         .max = 1e12,                                                                              \
         .doc = "dynamic, yarn, llama3 (there 8192 by default): context length before"},           \
        {.name = "length",                                                                         \
         .type = SZGI_KEY_REAL,                                                                    \
         .min = 1,                                                                                 \
         .max = 1e18,                                                                              \
         .doc = "dynamic: context length in use"},                                                 \
        {.name = "low",                                                                            \
         .type = SZGI_KEY_REAL,                                                                    \
         .fallback = "1",                                                                          \
         .min = 1e-6,                                                                              \
         .max = 1e9,                                                                               \
         .doc = "llama3: low_freq_factor"},                                                        \
        {.name = "high",                                                                           \
         .type = SZGI_KEY_REAL,                                                                    \
         .fallback = "4",                                                                          \
         .min = 1e-6,                                                                              \
         .max = 1e9,                                                                               \
         .doc = "llama3: high_freq_factor"},                                                       \
        {.name = "beta_fast",                                                                      \
         .type = SZGI_KEY_REAL,                                                                    \
         .fallback = "32",                                                                         \
         .min = 1e-6,                                                                              \
         .max = 1e9,                                                                               \
         .doc = "yarn: rotations above which a frequency stays"},                                  \
        {.name = "beta_slow",                                                                      \
         .type = SZGI_KEY_REAL,                                                                    \
         .fallback = "1",                                                                          \
         .min = 1e-6,                                                                              \
         .max = 1e9,                                                                               \
         .doc = "yarn: rotations below which a frequency is divided by the factor"},               \
    {                                                                                              \
        .name = "attention_factor", .type = SZGI_KEY_REAL, .min = 1e-6, .max = 1e6,                \
        .doc = "yarn: multiplies rotated queries and keys (default 0.1 ln(factor) + 1)"            \
    }

typedef struct rotation {
    szgi_rotary rotary;
    double *theta; /* owned; rotary.theta points here */
    int64_t atoms; /* distinct points e^{+-i theta_t} */
} rotation;

/* From the keys above: of `dim` dimensions the first `rotary` from `offset` on rotate. Close it
 * also after a failure. */
SZG_CHECK_RESULT szg_status szgi_rotation_open(szg_context *context, const szgi_spec *spec,
                                               int64_t dim, int64_t offset, int64_t rotary,
                                               rotation *out);
void szgi_rotation_close(rotation *self);

#endif
