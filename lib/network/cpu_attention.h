/* Attention of the cpu table. Work on one head of one sequence: its keys and values are packed once
 * (rotated), then tiles of queries pass over them. In the forward pass logits and weights lie key
 * by key, the lanes of a vector are queries: maxima and sums are taken lane by lane, and nothing
 * goes across lanes but the transposition of a tile's queries and of its result. Work for one head
 * of N positions: forward 2 N^2 (d_qk + d_v) operations and N^2 exponentials, backward 2 N^2 (3
 * d_qk + 2 d_v); N^2 words of Philox in each with dropout. All of it happens in the first two
 * levels of the cache: arithmetic bounds it, not memory. */
#ifndef SZG_NETWORK_CPU_ATTENTION_H
#define SZG_NETWORK_CPU_ATTENTION_H

#include "network/ops.h"

/* Queries of a tile; sizes are padded to whole vectors of the widest kind. */
enum { SZGI_ATTENTION_TILE = 32, SZGI_ATTENTION_PAD = 16 };

/* What one worker computes in. wide_x is x rounded up to SZGI_ATTENTION_PAD. */
typedef struct szgi_attention_scratch {
    int64_t wide_length, wide_qk, wide_v;
    float *k_rows;  /* [wide_length][wide_qk], rotated */
    float *k_lanes; /* [wide_qk][wide_length], the same transposed; backward, logits */
    float *v_rows;  /* [wide_length][wide_v] */
    float *v_lanes; /* [wide_v][wide_length]; backward */
    float *bias;    /* [2 length - 1 and a vector]: entry i - j + length - 1; backward: reversed */
    float *dbias;   /* entry j - i + length - 1; backward */
    float *dk, *dv; /* [wide_length][wide_qk], [wide_v]; backward */
    /* Of a tile of queries. */
    float *q, *q_lanes, *dq;  /* [tile][wide_qk], [wide_qk][tile], [tile][wide_qk] */
    float *out, *out_lanes;   /* [tile][wide_v], [wide_v][tile]: out, or dout */
    float *weights, *dlogits; /* [wide_length][tile]; backward, logits: [tile][wide_length] */
    uint32_t *words;          /* [wide_length and a vector][tile]; backward: of a row */
} szgi_attention_scratch;

/* One head of one sequence. */
typedef struct szgi_attention_head {
    const szgi_attention *attention;
    int64_t sequence, head;
    const szgi_attention_scratch *scratch;
} szgi_attention_head;

typedef struct szgi_attention_kernels {
    void (*forward)(const szgi_attention_head *head);
    /* dbias [2 length - 1] is written, entry j - i + length - 1; NULL: not wanted. */
    void (*backward)(const szgi_attention_head *head, const szgi_attention_gradient *gradient,
                     float *dbias);
    /* logits [length][length]. */
    void (*logits)(const szgi_attention_head *head, bool coupled, float *logits);
    /* The softmax's functions for their tests; count is a multiple of SZGI_ATTENTION_PAD. */
    void (*exponential)(int64_t count, const float *x, float *y);
    void (*logarithm)(int64_t count, const float *x, float *y);
} szgi_attention_kernels;
extern const szgi_attention_kernels szgi_attention_kernels_baseline, szgi_attention_kernels_avx2,
    szgi_attention_kernels_avx512;

#endif
