/* What arrays of logits are that are none: masked by finite numbers, or attention weights. */
#ifndef SZEGO_COUPLING_LOOK_H
#define SZEGO_COUPLING_LOOK_H

#include <szego/matrix.h>
#include "base/context.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* Is something hidden in the n x n logits, row i at a + i * lda, by a mask of finite numbers? *row
 * and *column: an entry that is. `causal`: entries above the diagonal are not looked at. */
bool szgi_logits_hidden(int64_t n, const double *a, int64_t lda, bool causal, int64_t *row,
                        int64_t *column);

/* Are they attention weights, which a softmax has made already? NULL: no; else what shows it, the
 * beginning of a sentence. Rows are not negative and sum to 1 to the rounding of 16-bit numbers;
 * after dropout they do so in the mean, up to what a share of exact zeros explains. */
const char *szgi_logits_weights(int64_t n, const double *a, int64_t lda, bool causal);

/* Both, of a caller's own array; other matrices pass. SZG_EDATA: a mask, with the entry's place and
 * `remedy`. Weights are warned of. `name`: what messages call the matrix. */
SZG_CHECK_RESULT szg_status szgi_logits_look(szg_context *context, const szg_matrix *matrix,
                                             const char *name, bool causal, const char *remedy);

SZGI_END_DECLS

#endif
