/* Logit matrices from content and encoding, before softmax, always factored: L = M o (A B^T + T).
 *
 * Tokens are x_i = c_i + p_i, queries W_Q x_i, keys W_K x_i. Additive encodings (Eq. 8):
 * L = G_{qc,kc} + G_{qc,kp} + G_{qp,kc} + G_{qp,kp} + B. Rotary ones (claim B1c):
 * L = Re sum_t G_t o E_t, (G_t)_ij = q_i^(t) conj(k_j^(t)), (E_t)_ij = e^{i(i-j) theta_t}; in real
 * arithmetic L = A B^T with A and B the rotated queries and keys. MLA (claim E12c):
 * L = Re{G^C + sum_t G^R_t o E_t}, content and rotary dimensions having contents of their own. */
#ifndef SZEGO_COUPLING_H
#define SZEGO_COUPLING_H

#include <szego/encoding.h>
#include <szego/matrix.h>

SZG_BEGIN_DECLS

/* ---- Content ---- */

typedef struct szg_content szg_content;

/* Parses `KIND:key=value,...`:
 * - gaussian: c_i independent standard normal vectors;
 * - lowrank:  c_i = V z_i / sqrt(rank), z_i in R^rank and V standard normal: E|c_i|^2 = dim;
 * - mean:     c_i = mean mu + sqrt(1 - mean^2) z_i with one common mu; mean=1 is constant content;
 * - files:    x=FILE (tokens, n x dim), with wq=FILE, wk=FILE (dim x dim, row-major, q = W_Q x), or
 *             q=FILE and k=FILE (queries and keys themselves; positions then enter unprojected);
 *             .npy, 2-D, or 3-D with one block per head.
 * `weights=gaussian` draws W_Q and W_K apart for each head with entries normal(0, 1/dim);
 * `weights=identity` makes queries equal keys. `seed` is used where the SPEC has no key seed=.
 * SZG_EINVAL, SZG_EDATA, SZG_EIO, SZG_ENOMEM as szg_encoding_parse. */
SZG_CHECK_RESULT szg_status szg_content_parse(szg_context *context, const char *spec, uint64_t seed,
                                              szg_content **out);

/* The same as `files:q=FILE,k=FILE` of arrays: n queries and n keys of dimension d, row i of q at
 * q + i * ldq and of k at k + i * ldk. They are copied: the arrays may go at once. All heads have
 * them; positions enter unprojected. SZG_EINVAL: n or d below 1, a leading dimension below d;
 * SZG_EDATA: a number that is not finite, which the message names by row and column; SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szg_content_open_qk(szg_context *context, int64_t n, int64_t d,
                                                const double *q, int64_t ldq, const double *k,
                                                int64_t ldk, szg_content **out);
void szg_content_close(szg_content **content);

/* The canonical SPEC; "q and k" of arrays. Valid until the content is closed. */
const char *szg_content_spec(const szg_content *content);

/* ---- Logits ---- */

typedef struct szg_logits szg_logits;

typedef struct szg_logits_options {
    SZG_SIZE(szg_logits_options);
    bool causal;   /* zeros above the diagonal */
    bool unscaled; /* leave out the factor 1/sqrt(d) of the dot products (never on the bias) */
} szg_logits_options;

/* Builds the n x n logits of one head in O(n d) memory. `options` may be NULL. SZG_EINVAL: n < 1, a
 * head out of range, dimensions of content and encoding that differ, a rotary encoding whose SPEC
 * leaves out pairing= where the content is arrays or files, which do not show it; SZG_EDOMAIN: a
 * table too short for n; SZG_ENOMEM. The caller closes it; the encoding may be closed before. */
SZG_CHECK_RESULT szg_status szg_logits_open(szg_context *context, const szg_encoding *encoding,
                                            int64_t head, const szg_content *content, int64_t n,
                                            const szg_logits_options *options, szg_logits **out);
void szg_logits_close(szg_logits **logits);

/* Both borrow from `logits` and keep its mask and scale. */

typedef enum szg_logits_part {
    SZG_LOGITS_CONTENT, /* the Gram matrix q^c_i . k^c_j, without position, rotation, bias */
    SZG_LOGITS_COUPLED  /* everything included */
} szg_logits_part;

/* The matrix as an argument, called "content" or "logits". */
szg_matrix szg_logits_matrix(const szg_logits *logits, szg_logits_part part);

SZG_END_DECLS

#endif
