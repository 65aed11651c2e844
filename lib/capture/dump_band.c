/* What of a contraction is chance: the ratios of tokens that were relabelled before the encoding
 * acts. Without a mask, relabelling keeps every spectrum of the content. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/row.h"
#include "base/sort.h"
#include "contraction/lag_share.h"
#include "coupling/coupling.h"
#include "dump_private.h"

enum { PURPOSE = 0x1a640000, WIDTH = 0, NORM, NUCLEAR, RATIOS };

#define BAND(X, INDEX, NAME, OF)                                                                   \
    X(INDEX, NAME "_ratio", SZG_REAL, "1", "ratio of " OF, "as in contraction")                    \
    X(INDEX##_LOW, NAME "_low", SZG_REAL, "1", "low end by chance",                                \
      "quantile 0.025 of the ratio of relabelled tokens")                                          \
    X(INDEX##_HIGH, NAME "_high", SZG_REAL, "1", "high end by chance", "its quantile 0.975")       \
    X(INDEX##_P, NAME "_p", SZG_REAL, "1", "p of the contraction",                                 \
      "share of the relabellings, and of the logits themselves, whose ratio is as small")
#define BANDS(X)                                                                                   \
    SZGI_LOGITS_IDENTITY(X, AT)                                                                    \
    X(N, "n", SZG_INTEGER, "1", "order n", "order")                                                \
    X(DRAWS, "draws", SZG_INTEGER, "1", "relabellings", "number of relabellings")                  \
    BAND(X, WIDTH_RATIO, "width", "widths")                                                        \
    BAND(X, NORM_RATIO, "norm", "the largest singular values")                                     \
    BAND(X, NUCLEAR_RATIO, "nuclear", "the sums of singular values")                               \
    X(NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
#define BANDS_SCREEN                                                                               \
    SZGI_SHOW(3, source)                                                                           \
    SZGI_SHOW(1, step)                                                                             \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(2, probe)                                                                            \
    SZGI_SHOW(1, width_ratio)                                                                      \
    SZGI_SHOW(1, width_low)                                                                        \
    SZGI_SHOW(1, width_high)                                                                       \
    SZGI_SHOW(1, width_p)                                                                          \
    SZGI_SHOW(3, norm_ratio)                                                                       \
    SZGI_SHOW(3, norm_low)                                                                         \
    SZGI_SHOW(3, norm_high)                                                                        \
    SZGI_SHOW(3, norm_p)
SZGI_SCHEMA(band_columns, "bands", BANDS, BANDS_SCREEN);

szg_status szgi_dump_bands_table(szg_context *context, szg_table **out) {
    return szgi_schema_open(context, &band_columns_schema, out);
}

typedef struct band_job {
    const szgi_dump_options *options;
    int64_t draws;
    uint64_t seed;
    szg_table *table;
    /* Of the matrix at hand: */
    const dump_matrix *matrix;
    szg_factored content;    /* queries, the scale on them, and keys */
    double (*ratio)[RATIOS]; /* [draws + 2]: of the file, of its queries and keys, of the draws */
} band_job;

/* ---- Ratios ---- */

static szg_status put_ratios(szg_context *context, const szg_matrix *content,
                             const szg_matrix *coupled, double precision, double out[RATIOS]) {
    const szg_report_options how = {SZG_INIT(szg_report_options), .quick_symbol = true,
                                    .precision = precision};
    szg_spectrum unknown[2] = {{0}};
    szg_contraction found;
    SZG_TRY(szgi_contraction_compute(context, content, coupled, &how, unknown, &found));
    out[WIDTH] = found.ratios.width;
    out[NORM] = found.ratios.norm;
    out[NUCLEAR] = found.ratios.nuclear;
    szg_contraction_close(&found);
    return SZG_OK;
}

/* Queries and keys in the order of `token`, NULL: their own, coupled by the encoding. */
static szg_status couple(szg_context *context, const band_job *job, const int32_t *token,
                         double *sides, double out[RATIOS]) {
    const szg_factored *f = &job->content;
    double *q = sides, *k = sides + f->n * f->d;
    for (int64_t i = 0; i < f->n; i++) {
        int64_t from = token ? token[i] : i;
        memcpy(q + i * f->d, f->a + from * f->lda, (size_t)f->d * sizeof *q);
        memcpy(k + i * f->d, f->b + from * f->ldb, (size_t)f->d * sizeof *k);
    }
    const szgi_captured captured = {f->d, q, f->d, k, f->d, 1};
    szg_logits *logits;
    SZG_TRY(szgi_logits_open_captured(context, job->options->encoding, job->matrix->encoding_head,
                                      &captured, f->n, f->causal, &logits));
    const szg_matrix content = szg_logits_matrix(logits, SZG_LOGITS_CONTENT),
                     coupled = szg_logits_matrix(logits, SZG_LOGITS_COUPLED);
    szg_status status = put_ratios(context, &content, &coupled, 0, out);
    szg_logits_close(&logits);
    return status;
}

static szg_status run_block(szg_context *context, void *data, int64_t block, int worker) {
    const band_job *job = data;
    const szgi_contraction_pair *pair = &job->matrix->pair;
    const szg_factored *f = &job->content;
    int32_t *token;
    double *sides = NULL;
    (void)worker;
    if (block == 0)
        return put_ratios(context, &pair->content, &pair->coupled, pair->precision, job->ratio[0]);
    SZG_TRY(szgi_memory_alloc(context, f->n, &token));
    szgi_relabel(job->seed, PURPOSE, block, 0, f->n, token);
    szg_status status = szgi_memory_alloc(context, 2 * f->n * f->d, &sides);
    if (status == SZG_OK)
        status = couple(context, job, block == 1 ? NULL : token, sides, job->ratio[block]);
    szgi_memory_free(sides);
    szgi_memory_free(token);
    return status;
}

/* ---- Rows ---- */

static szg_status put_band(szg_context *context, szgi_row *row, const band_job *job, int which) {
    const double tie = 1 + 1e-9;
    const int64_t first = WIDTH_RATIO + 4 * which;
    double own = job->ratio[0][which], *draw;
    int64_t less = 0, cut = (job->draws + 1) / 40;
    SZG_TRY(szgi_memory_alloc(context, job->draws, &draw));
    for (int64_t i = 0; i < job->draws; i++) {
        draw[i] = job->ratio[i + 2][which];
        less += draw[i] <= own * tie;
    }
    szgi_sort_reals(job->draws, draw);
    cut = cut > 0 ? cut - 1 : 0;
    szgi_row_number(row, first, own);
    szgi_row_number(row, first + 1, draw[cut]);
    szgi_row_number(row, first + 2, draw[job->draws - 1 - cut]);
    if (!isnan(own))
        szgi_row_real(row, first + 3, (double)(less + 1) / (double)(job->draws + 1));
    szgi_memory_free(draw);
    return row->status;
}

/* Does the encoding make the file's own coupled logits of its queries and keys? To the rounding of
 * 16-bit numbers; a ratio of no content is NaN on both sides. */
static bool is_own_encoding(const band_job *job) {
    for (int i = 0; i < RATIOS; i++) {
        double file = job->ratio[0][i], here = job->ratio[1][i];
        if (!(fabs(file - here) <= 1e-2 * fabs(file)) && !(isnan(file) && isnan(here)))
            return false;
    }
    return true;
}

static szg_status fill_row(szg_context *context, band_job *job, szgi_row *row) {
    SZG_TRY(szgi_memory_alloc(context, job->draws + 2, &job->ratio));
    szg_status status = szgi_pool_run(context, job->draws + 2, run_block, job);
    if (status == SZG_OK && !is_own_encoding(job))
        szgi_row_note(row, "no band: %s makes other logits of q and k than the file has",
                      szg_encoding_spec(job->options->encoding));
    else
        for (int i = 0; i < RATIOS && status == SZG_OK; i++)
            status = put_band(context, row, job, i);
    szgi_memory_free(job->ratio);
    return status;
}

static szg_status add_row(szg_context *context, band_job *job, const dump_matrix *matrix) {
    szgi_row row = szgi_row_add(context, job->table);
    szgi_logits_identify(&row, &matrix->pair.labels);
    szgi_row_integer(&row, N, matrix->pair.coupled.rows);
    job->matrix = matrix;
    job->content = matrix->factored_content;
    if (matrix->problem[0]) {
        szgi_row_note(&row, SZGI_NOT_COMPUTED "%s", matrix->problem);
        return row.status;
    }
    if (!job->content.a || !job->options->encoding) {
        szgi_row_note(&row, "no band: it needs queries and keys from before the encoding acts, and "
                            "--pe SPEC");
        return row.status;
    }
    szgi_row_integer(&row, DRAWS, job->draws);
    SZG_TRY(row.status);
    szg_status status = fill_row(context, job, &row);
    if (status == SZG_EDATA || status == SZG_EDOMAIN || status == SZG_ENOCONV) {
        szgi_row_note(&row, SZGI_NOT_COMPUTED "%s", szg_context_message(context));
        status = SZG_OK;
    }
    return status == SZG_OK ? row.status : status;
}

static szg_status take(szg_context *context, void *user, int64_t count,
                       const dump_matrix *matrices) {
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(add_row(context, user, &matrices[i]));
    return SZG_OK;
}

szg_status szgi_dump_bands(szg_context *context, const szgi_dump *dump,
                           const szgi_dump_options *options, int64_t draws, uint64_t seed,
                           szg_table *table) {
    static const szgi_dump_options defaults;
    band_job job = {
        .options = options ? options : &defaults, .draws = draws, .seed = seed, .table = table};
    return szgi_dump_each(context, dump, options, DUMP_AGAIN, take, &job);
}
