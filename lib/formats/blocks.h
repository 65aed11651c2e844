/* Types of GGUF tensors; those of quantised blocks are read as float32. */
#ifndef SZG_FORMATS_BLOCKS_H
#define SZG_FORMATS_BLOCKS_H

#include <stdint.h>

#include "formats/safetensors.h"

enum { BLOCK_ELEMENTS = 256 }; /* the most that a block holds */

/* One type: `elements` of a row are stored together in `bytes`. */
struct szgi_block_type {
    const char *name;
    szgi_dtype dtype;
    int elements, bytes; /* 0: not known to szego */
    /* The elements of one block; NULL where `dtype` is not SZGI_DTYPE_BLOCKS. */
    void (*read)(const unsigned char *block, float *out);
};
typedef struct szgi_block_type szgi_block_type;

/* By the number that GGUF gives the type; of an unknown one the name is "". */
const szgi_block_type *szgi_block_type_find(uint32_t id);

static inline float szgi_block_half(const unsigned char *at) {
    return (float)szgi_real_from_half((uint16_t)(at[0] | at[1] << 8));
}

/* Each reads one block of its type. The order of float32 operations is part of the format's
 * meaning: products first, then the difference. */
void szgi_block_q4_0(const unsigned char *block, float *out);
void szgi_block_q4_1(const unsigned char *block, float *out);
void szgi_block_q5_0(const unsigned char *block, float *out);
void szgi_block_q5_1(const unsigned char *block, float *out);
void szgi_block_q8_0(const unsigned char *block, float *out);
void szgi_block_iq4_nl(const unsigned char *block, float *out);
void szgi_block_mxfp4(const unsigned char *block, float *out);
void szgi_block_q2_k(const unsigned char *block, float *out);
void szgi_block_q3_k(const unsigned char *block, float *out);
void szgi_block_q4_k(const unsigned char *block, float *out);
void szgi_block_q5_k(const unsigned char *block, float *out);
void szgi_block_q6_k(const unsigned char *block, float *out);
void szgi_block_iq4_xs(const unsigned char *block, float *out);
void szgi_block_tq1_0(const unsigned char *block, float *out);
void szgi_block_tq2_0(const unsigned char *block, float *out);

#endif
