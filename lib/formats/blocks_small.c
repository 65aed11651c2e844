/* Blocks of 32 elements with one scale. Elements 0 .. 15 are the low halves of the bytes, 16 .. 31
 * the high ones. */
#include <string.h>

#include "blocks.h"

enum { SMALL = 32, HALF = SMALL / 2 };

/* The unsigned number of four bits of element i. */
static int nibble(const unsigned char *bytes, int i) {
    return bytes[i % HALF] >> (i < HALF ? 0 : 4) & 15;
}

/* The same with a fifth bit, bit i of the little-endian word `high`. */
static int five_bits(const unsigned char *high, const unsigned char *bytes, int i) {
    return nibble(bytes, i) | (high[i / 8] >> i % 8 & 1) << 4;
}

/* Q4_0: scale, nibbles; a number q stands for scale (q - 8). */
void szgi_block_q4_0(const unsigned char *block, float *out) {
    float scale = szgi_block_half(block);
    for (int i = 0; i < SMALL; i++)
        out[i] = scale * (float)(nibble(block + 2, i) - 8);
}

/* Q4_1: scale, least value, nibbles. */
void szgi_block_q4_1(const unsigned char *block, float *out) {
    float scale = szgi_block_half(block), least = szgi_block_half(block + 2);
    for (int i = 0; i < SMALL; i++)
        out[i] = scale * (float)nibble(block + 4, i) + least;
}

/* Q5_0: scale, fifth bits, nibbles. */
void szgi_block_q5_0(const unsigned char *block, float *out) {
    float scale = szgi_block_half(block);
    for (int i = 0; i < SMALL; i++)
        out[i] = scale * (float)(five_bits(block + 2, block + 6, i) - 16);
}

/* Q5_1: scale, least value, fifth bits, nibbles. */
void szgi_block_q5_1(const unsigned char *block, float *out) {
    float scale = szgi_block_half(block), least = szgi_block_half(block + 2);
    for (int i = 0; i < SMALL; i++)
        out[i] = scale * (float)five_bits(block + 4, block + 8, i) + least;
}

/* Q8_0: scale, signed bytes. */
void szgi_block_q8_0(const unsigned char *block, float *out) {
    float scale = szgi_block_half(block);
    for (int i = 0; i < SMALL; i++)
        out[i] = scale * (float)(int8_t)block[2 + i];
}

/* The sixteen levels of IQ4_NL and IQ4_XS. */
static const int8_t levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                  1,    13,   25,  38,  53,  69,  89,  113};

static void read_levels(float scale, const unsigned char *bytes, float *out) {
    for (int i = 0; i < SMALL; i++)
        out[i] = scale * (float)levels[nibble(bytes, i)];
}

/* IQ4_NL: scale, indices of levels. */
void szgi_block_iq4_nl(const unsigned char *block, float *out) {
    read_levels(szgi_block_half(block), block + 2, out);
}

/* IQ4_XS: eight such blocks; scale, two high bits and four low bits of each block's own scale. */
void szgi_block_iq4_xs(const unsigned char *block, float *out) {
    float scale = szgi_block_half(block);
    unsigned high = (unsigned)(block[2] | block[3] << 8);
    for (int i = 0; i < 8; i++) {
        int own = (block[4 + i / 2] >> 4 * (i % 2) & 15) | (int)(high >> 2 * i & 3) << 4;
        read_levels(scale * (float)(own - 32), block + 8 + HALF * i, out + SMALL * i);
    }
}

/* Half of 2^(exponent - 127), as the elements are doubled: a subnormal for the exponents 0 and 1.
 */
static float half_power(unsigned exponent) {
    uint32_t bits = exponent < 2 ? (uint32_t)0x00200000 << exponent : (exponent - 1) << 23;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* MXFP4 (OCP microscaling): exponent, elements E2M1, here doubled. */
void szgi_block_mxfp4(const unsigned char *block, float *out) {
    static const int8_t doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
    float scale = half_power(block[0]);
    for (int i = 0; i < SMALL; i++)
        out[i] = scale * (float)doubled[nibble(block + 1, i)];
}
