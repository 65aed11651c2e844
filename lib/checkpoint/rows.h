/* The tables of an analysis. */
#ifndef SZG_CHECKPOINT_ROWS_H
#define SZG_CHECKPOINT_ROWS_H

#include "ball/ball.h"
#include "spectra/spectra.h"
#include "bound.h"
#include "checkpoint_private.h"

/* What a row is about. Negative layer and head: empty cells. */
typedef struct row_key {
    const char *source;
    int64_t layer, head;
    const char *matrix;
} row_key;

SZG_CHECK_RESULT szg_status szgi_rows_open(szg_context *context, const szg_checkpoint *checkpoint,
                                           const szg_checkpoint_options *options,
                                           szg_checkpoint_tables *tables);

/* A row of `summary` from singular values and eigenvalues (NULL: none), and the values as rows of
 * `spectra`. `side` is the matrix's larger side; `lost`: how many values lost digits. */
SZG_CHECK_RESULT szg_status szgi_rows_spectra(szg_context *context, szg_checkpoint_tables *tables,
                                              const row_key *key, const szg_spectrum *eigenvalues,
                                              const szg_spectrum *singular, int64_t side,
                                              int64_t lost);

/* Completes the latest row of `summary` with the gains that its matrix has (szgi_fold_name), and
 * whether its scale is arbitrary. */
SZG_CHECK_RESULT szg_status szgi_rows_folded(szg_context *context, szg_checkpoint_tables *tables,
                                             const char *folded, bool scale_free);

/* A row of `bounds`. */
SZG_CHECK_RESULT szg_status szgi_rows_bound(szg_context *context, szg_checkpoint_tables *tables,
                                            const row_key *key, const head_bound *bound);

/* Completes the latest row of `summary` with toeplitzness (NaN: none) and the range of |symbol|,
 * and adds a row of `range`. */
SZG_CHECK_RESULT szg_status szgi_rows_symbol(szg_context *context, szg_checkpoint_tables *tables,
                                             const row_key *key, const szg_tau *toeplitzness,
                                             const szg_range *range);
SZG_CHECK_RESULT szg_status szgi_rows_samples(szg_context *context, szg_checkpoint_tables *tables,
                                              const row_key *key, int64_t count,
                                              const szg_c64 *samples);
SZG_CHECK_RESULT szg_status szgi_rows_pairs(szg_context *context, szg_checkpoint_tables *tables,
                                            const row_key *key, int64_t count,
                                            const szgi_pair_coupling *pairs);

/* A row of `summary` that holds nothing but the reason why it is empty; a warning is sent. Of what
 * is another part's row, `tables` is NULL: the warning alone. */
SZG_CHECK_RESULT szg_status szgi_rows_problem(szg_context *context, szg_checkpoint_tables *tables,
                                              const row_key *key, const char *problem);

SZG_CHECK_RESULT szg_status szgi_rows_tensor(szg_context *context, szg_checkpoint_tables *tables,
                                             const char *source, const szgi_tensor *tensor,
                                             const char *use, const char *note);

#endif
