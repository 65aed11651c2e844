/* What the house alone uses of <szego/checkpoint.h>. */
#ifndef SZEGO_CHECKPOINT_CHECKPOINT_H
#define SZEGO_CHECKPOINT_CHECKPOINT_H

#include <szego/checkpoint.h>
#include "encoding/encoding.h"
#include "formats/safetensors.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* Query rows times the layer's scale, and the rows of a key head; each e x d, row-major, so that
 * q_i . k_j = x_i^T q^T k x_j. Rotated rows of both carry YaRN's attention factor. SZG_EINVAL: an
 * index out of range, or the architecture is unknown; SZG_EDATA: a tensor that is missing, has
 * another shape or an integer type, and the like; SZG_EDOMAIN: a layer without queries and keys. */
SZG_CHECK_RESULT szg_status szgi_checkpoint_queries(szg_context *context,
                                                    const szg_checkpoint *checkpoint, int64_t layer,
                                                    int64_t head, double *q);
SZG_CHECK_RESULT szg_status szgi_checkpoint_keys(szg_context *context,
                                                 const szg_checkpoint *checkpoint, int64_t layer,
                                                 int64_t key_head, double *k);

/* Both, with the key head that attention pairs with query head `head` (grouped heads:
 * head / (heads / key_heads)). */
SZG_CHECK_RESULT szg_status szgi_checkpoint_head(szg_context *context,
                                                 const szg_checkpoint *checkpoint, int64_t layer,
                                                 int64_t head, double *q, double *k);

/* The first n position vectors, n x d. SZG_EDOMAIN: no positions, or fewer than n; SZG_EDATA. */
SZG_CHECK_RESULT szg_status szgi_checkpoint_positions(szg_context *context,
                                                      const szg_checkpoint *checkpoint, int64_t n,
                                                      double *p);

/* The rotation of a layer; pairs = 0 in a layer that does not rotate. SZG_EINVAL: the layer. */
SZG_CHECK_RESULT szg_status szgi_checkpoint_rotary(szg_context *context,
                                                   const szg_checkpoint *checkpoint, int64_t layer,
                                                   szgi_rotary *out);

/* How one rotary pair couples queries to keys. Q_t, K_t: its two rows of q and of k (2 x d),
 * already scaled. The coupling block is C_t = Q_t K_t^T, split into a rotation-scaling and a
 * reflection:
 *
 *     C_t = [[a, -b], [b, a]] + [[c, d], [d, -c]],   rotation = a + ib, reflection = c + id.
 *
 * At lag k = i - j the pair contributes x_i^T Q_t^T R(-k theta_t) K_t x_j, R(phi) the rotation by
 * phi. For tokens with E[x_i x_j^T] = I its mean is <C_t, R(-k theta_t)> =
 * 2 Re(rotation e^{i k theta_t}): the rotation is the coefficient of the head's mean kernel at
 * frequency theta_t, and the reflection averages out. */
typedef struct szgi_pair_coupling {
    double theta; /* radians a position, after any scaling of the encoding */
    szg_c64 rotation, reflection;
    double energy;       /* ||C_t||_F^2 = 2 |rotation|^2 + 2 |reflection|^2 */
    double model_energy; /* ||Q_t^T K_t||_F^2, the pair's d x d matrix at lag 0 */
} szgi_pair_coupling;

/* The couplings of rotary->pairs pairs from q and k (rotary->dim x d, as szgi_checkpoint_head gives
 * them). SZG_EINVAL: d < 1. */
SZG_CHECK_RESULT szg_status szgi_checkpoint_couple(szg_context *context, const szgi_rotary *rotary,
                                                   int64_t d, const double *q, const double *k,
                                                   szgi_pair_coupling *out);

SZGI_END_DECLS

#endif
