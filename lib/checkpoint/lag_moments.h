/* Moments, over the lags a model was trained for, of the waves that rotary kernels are sums of:
 * docs/explanation/theory.md, "Positional heads". */
#ifndef SZG_CHECKPOINT_LAG_MOMENTS_H
#define SZG_CHECKPOINT_LAG_MOMENTS_H

#include "lag_list.h"

/* Lag k, of 0 .. lags - 1 or of both signs, has the weight 1 / (1 + |k|), divided by the sum of
 * all. Wave 2t is cos(k theta_t) - 1, which stays exact for pairs that hardly turn; wave 2t + 1 is
 * sin(k theta_t). */
typedef struct lag_moments {
    int64_t pairs, lags;
    bool both; /* signs of the lag */
    double *memory;
    const double *mean;   /* [2 pairs] of the waves */
    const double *second; /* [2 pairs, 2 pairs]: means of products of two waves */
    int64_t rank;
    const double *root; /* [rank, 2 pairs]: covariances of the waves are root^T root, but for
                         * directions with less than 1e-12 of the largest */
    lag_list listed;
    const double *wave;    /* [listed.count, 2 pairs]: the waves there, */
    const double *centred; /* and those less their means */
    int64_t blocks; /* of LAG_BLOCK lags each, which begin at the first; the last may be short */
    const double *near; /* [LAG_BLOCK, 2 pairs]: the waves of lags 0 .. LAG_BLOCK - 1, */
    const double *far;  /* [blocks, 2 pairs]: and those where blocks begin */
} lag_moments;

enum { LAG_BLOCK = 64 };

/* Lags from the first one, 0 or 1 - lags, to the last. */
static inline int64_t szgi_lag_moments_count(const lag_moments *moments) {
    return moments->both ? 2 * moments->lags - 1 : moments->lags;
}

/* lags >= 1; dense: of the listed lags. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_lag_moments_open(szg_context *context, const szgi_rotary *rotary,
                                                  int64_t lags, bool both, int64_t dense,
                                                  lag_moments *out);
void szgi_lag_moments_close(lag_moments *moments);

/* The moments of a checkpoint's rotations and lengths, each once. */
typedef struct lag_moments_list {
    int64_t count;
    struct lag_moments_entry {
        int rotation;
        lag_moments moments;
    } * entry;
} lag_moments_list;

/* Lags of a layer: its window, and the length that the model was trained for, or 2048 where that is
 * not known; 131072 at most. */
int64_t szgi_lag_count(const szg_checkpoint *checkpoint, int64_t layer);

/* The lags of a model whose trained length is not known. */
enum { LAGS_UNKNOWN_LENGTH = 2048 };

/* Those of every layer that rotates. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_lag_moments_list_open(szg_context *context,
                                                       const szg_checkpoint *checkpoint,
                                                       int64_t dense, lag_moments_list *out);
void szgi_lag_moments_list_close(lag_moments_list *list);
/* NULL: the layer does not rotate. */
const lag_moments *szgi_lag_moments_find(const lag_moments_list *list,
                                         const szg_checkpoint *checkpoint, int64_t layer);

/* Weighted variance over the lags of sum_w coefficient_w wave_w. */
double szgi_lag_moments_variance(const lag_moments *moments, const double *coefficient);

/* Mean over the lags of e^{i k (theta_s - theta_t)}, and of e^{i k (theta_s + theta_t)}. A negative
 * index is a plane that does not turn. */
void szgi_lag_moments_phases(const lag_moments *moments, int64_t s, int64_t t, szg_c64 *difference,
                             szg_c64 *sum);

#endif
