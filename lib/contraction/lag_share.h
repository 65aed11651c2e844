/* How much of the captured logits of one head the lag explains, and whether that is more than
 * chance: docs/explanation/theory.md, "The lag's share from data".
 */
#ifndef SZEGO_CONTRACTION_LAG_SHARE_H
#define SZEGO_CONTRACTION_LAG_SHARE_H

#include <szego/context.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* The largest order that is taken, and draws of the null: fewer above SZGI_LAG_MANY tokens, since
 * each reads every entry once. Both numbers have the ranks 0.025, 0.95 and 0.975. */
enum { SZGI_LAG_ORDER = 4096, SZGI_LAG_DRAWS = 199, SZGI_LAG_MANY = 1024, SZGI_LAG_FEW_DRAWS = 39 };

/* The sequences of one head, added up. */
typedef struct szgi_lags szgi_lags;

/* For sequences of at most n tokens, 1 <= n <= SZGI_LAG_ORDER. `causal`: only the keys before a
 * query count. The seed is that of the relabellings. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_lags_open(szg_context *context, int64_t n, bool causal,
                                           uint64_t seed, szgi_lags **out);
void szgi_lags_close(szgi_lags **lags);

/* Adds the n x n logits of a sequence, row i of query i, which are overwritten. `whole`: what lies
 * above the diagonal was captured too. One causal sequence where it was not takes the null from the
 * head. The numbers do not depend on the threads. SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_lags_add(szg_context *context, szgi_lags *lags, int64_t n,
                                          bool whole, double *x);

typedef struct szgi_lag_share {
    int64_t sequences, entries, draws; /* draws: 0 without a null */
    int64_t lags;                      /* that have entries */
    int64_t peak;                      /* lag that explains most */
    double share, null, p;             /* NaN: there is none */
} szgi_lag_share;

/* `share` is NaN with fewer than two lags, or where all entries are equal. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_lags_share(szg_context *context, const szgi_lags *lags,
                                            szgi_lag_share *out);

/* The logits of a lag: their mean, its standard error, and the quantiles 0.025 and 0.975 of the
 * mean under the null. NaN: there is none. */
typedef struct szgi_lag {
    int64_t lag, entries;
    double mean, error, low, high;
} szgi_lag;

/* As many lags as szgi_lag_share says, ascending; free with szgi_memory_free. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_lags_kernel(szg_context *context, const szgi_lags *lags,
                                             szgi_lag **out);

/* A permutation of first .. n - 1, n - first numbers. */
void szgi_relabel(uint64_t seed, uint32_t purpose, int64_t draw, int64_t first, int64_t n,
                  int32_t *out);

SZGI_END_DECLS

#endif
