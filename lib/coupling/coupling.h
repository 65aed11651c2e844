/* What the house alone uses of <szego/coupling.h>. */
#ifndef SZEGO_COUPLING_COUPLING_H
#define SZEGO_COUPLING_COUPLING_H

#include <szego/coupling.h>
#include <szego/statistics.h>
#include "encoding/encoding.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* ---- Content ---- */

/* The kinds of content and their keys, 0 <= index < classes. */
int64_t szgi_content_classes(void);
const szgi_spec_class *szgi_content_class_at(int64_t index);

/* The dimension the content fixes (a file's, or dim=), 0 where any will do. */
int64_t szgi_content_dimension(const szg_content *content);

/* Do its numbers come from outside: files, or arrays of the caller? */
bool szgi_content_is_given(const szg_content *content);

/* Queries and keys of tokens 0 .. n-1 of head `head`, each n x d row-major, and, where p is not
 * NULL (n x d), the projected positions W_Q p_i and W_K p_i into qp and kp. SZG_EINVAL: d differs
 * from the content's dimension; SZG_EDOMAIN: a file has fewer than n rows. */
SZG_CHECK_RESULT szg_status szgi_content_fill(szg_context *context, const szg_content *content,
                                              int64_t head, int64_t n, int64_t d, const double *p,
                                              double *q, double *k, double *qp, double *kp);

/* ---- Rotation ---- */

/* Rotates rows 0 .. n-1 of x (rotary->dim wide, leading dimension ldx) in place: row i to position
 * first + i. SZG_EINVAL: sizes. */
SZG_CHECK_RESULT szg_status szgi_rotary_rotate(szg_context *context, const szgi_rotary *rotary,
                                               int64_t first, int64_t n, double *x, int64_t ldx);

/* ---- Logits ---- */

/* Queries and keys that a model computed, before the encoding acts on them: row i of q at q + i *
 * ldq, d numbers; `scale` multiplies the dot products. */
typedef struct szgi_captured {
    int64_t d;
    const double *q;
    int64_t ldq;
    const double *k;
    int64_t ldk;
    double scale;
} szgi_captured;

/* Logits from captured queries and keys, rotated and biased by the encoding; they are copied.
 * SZG_EDOMAIN: an encoding that adds rows to the tokens; SZG_EINVAL: another dimension; else as
 * szg_logits_open. A SPEC without pairing= has the default: whose queries these are, the caller
 * knows. */
SZG_CHECK_RESULT szg_status szgi_logits_open_captured(szg_context *context,
                                                      const szg_encoding *encoding, int64_t head,
                                                      const szgi_captured *captured, int64_t n,
                                                      bool causal, szg_logits **out);

/* All of the following borrow from `logits` and keep its mask and scale. */

/* The two matrices of szg_logits_matrix as factors. */
szg_factored szgi_logits_content(const szg_logits *logits);
szg_factored szgi_logits_coupled(const szg_logits *logits);

/* szg_statistics_compute of numbers that were looked at (look.h). */
SZG_CHECK_RESULT szg_status szgi_statistics_compute(szg_context *context, const szg_matrix *logits,
                                                    const szg_statistics_options *options,
                                                    szg_statistics *out);

SZGI_END_DECLS

#endif
