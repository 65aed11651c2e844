/* Blocks of 256 elements: a scale in half precision over small integer scales, one for each 16 or
 * 32 elements. */
#include "blocks.h"

/* Element i of the types with two-bit digits: i = 128 half + 32 shift + place. */
typedef struct spot {
    int byte;  /* of its digit: 32 half + place */
    int shift; /* digit within the byte, 0 .. 3 */
    int place; /* 0 .. 31 */
    int group; /* of 16 elements */
} spot;

static spot spot_of(int i) {
    return (spot){i / 128 * 32 + i % 32, i / 32 % 4, i % 32, i / 16};
}

static int two_bits(const unsigned char *bytes, spot at) {
    return bytes[at.byte] >> 2 * at.shift & 3;
}

/* Q2_K: 16 bytes (low half: scale, high half: offset), digits, scale and scale of the offsets. */
void szgi_block_q2_k(const unsigned char *block, float *out) {
    float scale = szgi_block_half(block + 80), offset = szgi_block_half(block + 82);
    for (int i = 0; i < 256; i++) {
        spot at = spot_of(i);
        float own = scale * (float)(block[at.group] & 15);
        float less = offset * (float)(block[at.group] >> 4);
        out[i] = own * (float)two_bits(block + 16, at) - less;
    }
}

/* Scale `group` of Q3_K's sixteen, six bits each: four in the first 8 bytes, two in the last 4. */
static int q3_scale(const unsigned char *bytes, int group) {
    int low = bytes[group % 8] >> (group < 8 ? 0 : 4) & 15;
    return (low | (bytes[8 + group % 4] >> 2 * (group / 4) & 3) << 4) - 32;
}

/* Q3_K: third bits (clear: 4 less), digits, scales, scale. */
void szgi_block_q3_k(const unsigned char *block, float *out) {
    float scale = szgi_block_half(block + 108);
    for (int i = 0; i < 256; i++) {
        spot at = spot_of(i);
        int high = block[at.place] >> i / 32 & 1;
        int digit = two_bits(block + 32, at) - (high ? 0 : 4);
        out[i] = scale * (float)q3_scale(block + 96, at.group) * (float)digit;
    }
}

/* Scale and offset of the 32 elements `group` of Q4_K and Q5_K: six bits each in 12 bytes. */
static void q4_scale(const unsigned char *bytes, int group, int *scale, int *offset) {
    if (group < 4) {
        *scale = bytes[group] & 63;
        *offset = bytes[group + 4] & 63;
        return;
    }
    *scale = (bytes[group + 4] & 15) | bytes[group - 4] >> 6 << 4;
    *offset = bytes[group + 4] >> 4 | bytes[group] >> 6 << 4;
}

/* Q4_K and, where `high` is not NULL, Q5_K. 64 elements are the low and then the high halves of 32
 * bytes; bit `group` of high[place] is the fifth. */
static void read_q4_q5(const unsigned char *block, const unsigned char *high,
                       const unsigned char *digits, float *out) {
    float scale = szgi_block_half(block), offset = szgi_block_half(block + 2);
    for (int group = 0; group < 8; group++) {
        int own_scale, own_offset;
        q4_scale(block + 4, group, &own_scale, &own_offset);
        float own = scale * (float)own_scale, less = offset * (float)own_offset;
        for (int i = 0; i < 32; i++) {
            int digit = digits[group / 2 * 32 + i] >> 4 * (group % 2) & 15;
            if (high)
                digit |= (high[i] >> group & 1) << 4;
            out[32 * group + i] = own * (float)digit - less;
        }
    }
}

/* Q4_K: scale, scale of the offsets, 12 bytes of scales and offsets, nibbles. */
void szgi_block_q4_k(const unsigned char *block, float *out) {
    read_q4_q5(block, NULL, block + 16, out);
}

/* Q5_K: the same with the fifth bits before the nibbles. */
void szgi_block_q5_k(const unsigned char *block, float *out) {
    read_q4_q5(block, block + 16, block + 48, out);
}

/* Q6_K: nibbles, upper two bits, signed scales, scale. */
void szgi_block_q6_k(const unsigned char *block, float *out) {
    float scale = szgi_block_half(block + 208);
    for (int i = 0; i < 256; i++) {
        spot at = spot_of(i);
        int low = block[i / 128 * 64 + i % 64] >> (at.shift < 2 ? 0 : 4) & 15;
        int digit = (low | two_bits(block + 128, at) << 4) - 32;
        out[i] = scale * (float)(int8_t)block[192 + at.group] * (float)digit;
    }
}

/* TQ2_0: digits 0, 1, 2 for -1, 0, 1; scale. */
void szgi_block_tq2_0(const unsigned char *block, float *out) {
    float scale = szgi_block_half(block + 64);
    for (int i = 0; i < 256; i++)
        out[i] = scale * (float)(two_bits(block, spot_of(i)) - 1);
}

/* Ternary digit `power` of a byte, which holds 256/243 of a number of five such digits. */
static int three_way(unsigned char byte, int power) {
    static const unsigned powers[] = {1, 3, 9, 27, 81};
    return (int)((byte * powers[power] & 255) * 3 >> 8) - 1;
}

/* TQ1_0: 32 bytes with five digits each, 16 with five, 4 with four; scale. */
void szgi_block_tq1_0(const unsigned char *block, float *out) {
    float scale = szgi_block_half(block + 52);
    for (int i = 0; i < 256; i++) {
        int digit = i < 160   ? three_way(block[i % 32], i / 32)
                    : i < 240 ? three_way(block[32 + i % 16], (i - 160) / 16)
                              : three_way(block[48 + i % 4], (i - 240) / 4);
        out[i] = scale * (float)digit;
    }
}
