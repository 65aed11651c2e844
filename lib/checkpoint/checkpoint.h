/* What the house alone uses of <szego/checkpoint.h>. */
#ifndef SZEGO_CHECKPOINT_CHECKPOINT_H
#define SZEGO_CHECKPOINT_CHECKPOINT_H

#include <szego/checkpoint.h>
#include "encoding/encoding.h"
#include "formats/safetensors.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* The two parts of szg_checkpoint_facts.note: what is said of the model, and what W_Q^T W_K leaves
 * out. "": nothing. */
const char *szgi_checkpoint_note(const szg_checkpoint *checkpoint);
const char *szgi_checkpoint_left_out(const szg_checkpoint *checkpoint);

/* Every table of an analysis, in the order of the result. */
enum { SZGI_CHECKPOINT_TABLES = 18 };
void szgi_checkpoint_tables_list(szg_checkpoint_tables *tables,
                                 szg_table **out[SZGI_CHECKPOINT_TABLES]);
/* Appends the rows of another stack, and takes the tables that are missing in `to`. The caller
 * closes both. SZG_EINVAL (other columns), SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_checkpoint_tables_join(szg_context *context,
                                                        szg_checkpoint_tables *to,
                                                        szg_checkpoint_tables *from);

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
 * 2 Re(rotation e^{i k theta_t}): the rotation is the coefficient of the head's self kernel at
 * frequency theta_t, and the reflection averages out. */
typedef struct szgi_pair_coupling {
    double theta; /* radians a position, after any scaling of the encoding */
    szg_c64 rotation, reflection;
    double energy;       /* ||C_t||_F^2 = 2 |rotation|^2 + 2 |reflection|^2 */
    double model_energy; /* ||Q_t^T K_t||_F^2, the pair's d x d matrix at lag 0 */
} szgi_pair_coupling;

/* The rows of pair t within a head. */
void szgi_pair_rows(const szgi_rotary *rotary, int64_t t, int64_t *first, int64_t *second);

/* A pair's part of q^T R_k k is Re(z e^{i k theta_t}). This is z, by the products of the pair's
 * rows: query_key of the first (a) and the second (b). */
static inline szg_c64 szgi_pair_wave(double a_a, double a_b, double b_a, double b_b) {
    return (szg_c64){a_a + b_b, b_a - a_b};
}

/* Inner products of a pair's two rows. */
typedef struct szgi_pair_gram {
    double first, cross, second; /* of the first with itself, with the second, .. */
} szgi_pair_gram;

/* Of rotary->pairs pairs of q or of k, rotary->dim x d, d >= 1. */
void szgi_checkpoint_pair_grams(const szgi_rotary *rotary, int64_t d, const double *rows,
                                szgi_pair_gram *out);

/* The couplings of rotary->pairs pairs from k q^T, e x e with e = rotary->dim, and the inner
 * products within pairs of q and of k. */
void szgi_checkpoint_couple(const szgi_rotary *rotary, int64_t e, const double *k_q,
                            const szgi_pair_gram *q, const szgi_pair_gram *k,
                            szgi_pair_coupling *out);

SZGI_END_DECLS

#endif
