/* The tables of an analysis. */
#ifndef SZG_CHECKPOINT_ROWS_H
#define SZG_CHECKPOINT_ROWS_H

#include "ball/ball.h"
#include "spectra/spectra.h"
#include "summary/summary.h"
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

/* The table `tensors` alone. */
SZG_CHECK_RESULT szg_status szgi_rows_open_tensors(szg_context *context,
                                                   szg_checkpoint_tables *tables);
/* The table `bounds` alone. */
SZG_CHECK_RESULT szg_status szgi_rows_open_bounds(szg_context *context,
                                                  szg_checkpoint_tables *tables);

/* The values (eigenvalues NULL: none) as rows of `spectra`. */
SZG_CHECK_RESULT szg_status szgi_rows_spectra(szg_context *context, szg_checkpoint_tables *tables,
                                              const row_key *key, const szg_spectrum *eigenvalues,
                                              const szg_spectrum *singular);

/* The values alone, as rows of `spectra`; the lag (NULL: none) in a column that circuits add. */
SZG_CHECK_RESULT szg_status szgi_rows_values(szg_context *context, szg_checkpoint_tables *tables,
                                             const row_key *key, const int64_t *lag,
                                             const szg_spectrum *spectrum);

/* A row of `bounds`. */
SZG_CHECK_RESULT szg_status szgi_rows_bound(szg_context *context, szg_checkpoint_tables *tables,
                                            const row_key *key, const head_bound *bound);

/* A row of `range`, unless there is none. */
SZG_CHECK_RESULT szg_status szgi_rows_symbol(szg_context *context, szg_checkpoint_tables *tables,
                                             const row_key *key, const szg_range *range);
SZG_CHECK_RESULT szg_status szgi_rows_samples(szg_context *context, szg_checkpoint_tables *tables,
                                              const row_key *key, int64_t count,
                                              const szg_c64 *samples);
SZG_CHECK_RESULT szg_status szgi_rows_pairs(szg_context *context, szg_checkpoint_tables *tables,
                                            const row_key *key, int64_t count,
                                            const szgi_pair_coupling *pairs);

/* Says how many of `skipped` were passed over without a warning, if there are any; `where`: the
 * table that has them all. */
enum { SAID_MOST = 20 };
void szgi_rows_unsaid(szg_context *context, int64_t skipped, const char *where);

SZG_CHECK_RESULT szg_status szgi_rows_tensor(szg_context *context, szg_checkpoint_tables *tables,
                                             const char *source, const szgi_tensor *tensor,
                                             const char *use, const char *note);

/* ---- rows_summary.c: `summary` and `notes` ---- */

SZG_CHECK_RESULT szg_status szgi_rows_open_summary(szg_context *context,
                                                   const szg_checkpoint *checkpoint,
                                                   szg_checkpoint_tables *tables);

/* What a row of `summary` says about a head's matrix. */
typedef struct head_facts {
    const szg_spectrum *eigenvalues, *singular;
    int64_t lost;       /* how many values lost digits */
    const char *folded; /* the gains that the matrix has: szgi_fold_name */
    bool scale_free;    /* its scale is arbitrary */
} head_facts;
SZG_CHECK_RESULT szg_status szgi_rows_head(szg_context *context, const szg_checkpoint *checkpoint,
                                           szg_checkpoint_tables *tables, const row_key *key,
                                           const head_facts *facts);
/* Completes the latest row with toeplitzness (NaN: none) and the range of |symbol|. */
SZG_CHECK_RESULT szg_status szgi_rows_toeplitz(szg_context *context, szg_checkpoint_tables *tables,
                                               const row_key *key, const szg_tau *toeplitzness,
                                               const szg_range *range);

/* The row of a tensor of an unknown architecture. */
SZG_CHECK_RESULT szg_status szgi_rows_weight(szg_context *context, szg_checkpoint_tables *tables,
                                             const char *source, const szgi_tensor *tensor,
                                             const szg_spectrum *singular, int64_t lost);

/* The same from what is known of it (NaN, rank -1: empty cells), of `values` singular values. */
SZG_CHECK_RESULT szg_status szgi_rows_weight_numbers(szg_context *context,
                                                     szg_checkpoint_tables *tables,
                                                     const char *source, const szgi_tensor *tensor,
                                                     const szg_summary *summary, int64_t values,
                                                     int64_t lost);

/* What is skipped, once it is counted in `tables`: a row that holds no number, and the reason in
 * `notes`; of what is another part's row (`own` false) neither. The first SAID_MOST are warnings
 * too. */
SZG_CHECK_RESULT szg_status szgi_rows_problem(szg_context *context,
                                              const szg_checkpoint *checkpoint,
                                              szg_checkpoint_tables *tables, const row_key *key,
                                              bool own, const char *problem);

/* A row of `notes`. */
SZG_PRINTF(4, 5)
SZG_CHECK_RESULT szg_status szgi_rows_note(szg_context *context, szg_checkpoint_tables *tables,
                                           const row_key *key, const char *format, ...);

#endif
