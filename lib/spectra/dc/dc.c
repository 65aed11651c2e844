#include <math.h>

#include "base/memory.h"
#include "cost.h"
#include "dc.h"
#include "tree.h"
#include "verify.h"

/* Below LEAST_ORDER the halves by LAPACK take some ms, and no choice is worth its time. TOLERANCE
 * is relative to the norm: the entries carry their full relative accuracy, so that noise does not
 * fill the ranks. */
enum { LEAST_ORDER = 1024, ATTEMPTS = 3 };
static const int64_t leaves[] = {64, 128, 256};
static const int64_t samples_tried[ATTEMPTS] = {24, 64, SZGI_DC_MOST_RANK};
static const double TOLERANCE = 3e-15;

/* What is held at least, for each row: by the choice, whose transforms are in long doubles; by the
 * tree for each term, where 24 were measured at rank 7, n = 10^5, and 36 at rank 46, n = 32,768. */
enum { CHOICE_NUMBERS = 30, TERM_NUMBERS = 20 };

/* Two ascending lists into one. */
static void merge(const szgi_dc_tree *tree, double *w) {
    const szgi_dc_node *even = &tree->node[0][1], *odd = &tree->node[1][1];
    int64_t i = 0, j = 0;
    while (i < even->size || j < odd->size) {
        bool first = j == odd->size || (i < even->size && even->values[i] <= odd->values[j]);
        w[i + j] = first ? even->values[i] : odd->values[j];
        if (first)
            i++;
        else
            j++;
    }
}

/* Scales back and forth by a power of two, exactly unless a number underflows. */
static szg_status solve_tree(szg_context *context, szgi_dc_tree *tree, const double *lags,
                             double *w, bool *confirmed) {
    const szgi_dc_halves *halves = tree->halves;
    SZG_TRY(szgi_dc_tree_solve(context, tree));
    merge(tree, w);
    double *scaled = NULL;
    SZG_TRY(szgi_memory_alloc(context, halves->n, &scaled));
    for (int64_t j = 0; j < halves->n; j++)
        scaled[j] = ldexp(lags[j], -halves->exponent);
    szgi_dc_answer answer = {.n = halves->n, .lags = scaled, .norm = halves->norm, .all = w};
    answer.half[0] = tree->node[0][1].values;
    answer.half[1] = tree->node[1][1].values;
    szg_status status = szgi_dc_verify(context, &answer, confirmed);
    szgi_memory_free(scaled);
    for (int64_t j = 0; j < halves->n; j++)
        w[j] = ldexp(w[j], halves->exponent);
    return status;
}

/* One attempt; *too_high where more samples may help. It ends once the rest is expected to take
 * longer than `limit` seconds. */
static szg_status attempt(szg_context *context, const szgi_dc_halves *halves, const double *lags,
                          int64_t leaf, int64_t samples, double limit, double *w, bool *applicable,
                          bool *too_high, double *dropped) {
    szgi_dc_tree tree = {0};
    *dropped = 0;
    szg_status status =
        szgi_dc_tree_open(context, halves, leaf, samples, TOLERANCE * halves->norm, &tree);
    *too_high = status == SZG_OK && tree.too_high;
    if (status == SZG_OK && !tree.too_high)
        status = szgi_dc_tree_split(context, &tree);
    if (status == SZG_OK && !tree.too_high && szgi_dc_tree_seconds(&tree) < limit) {
        status = solve_tree(context, &tree, lags, w, applicable);
        if (status == SZG_OK && halves->norm > 0)
            *dropped = szgi_dc_tree_dropped(&tree) / halves->norm;
    }
    szgi_dc_tree_close(&tree);
    return status;
}

szg_status szgi_dc_lags(szg_context *context, int64_t n, const double *lags, int64_t leaf,
                        int64_t samples, double *w, bool *applicable, double *dropped) {
    *applicable = false;
    szgi_dc_halves halves;
    bool too_high;
    szg_status status = szgi_dc_halves_open(context, n, lags, &halves);
    if (status == SZG_OK)
        status = attempt(context, &halves, lags, leaf, samples, INFINITY, w, applicable, &too_high,
                         dropped);
    szgi_dc_halves_close(&halves);
    return status;
}

/* Ranks grow with the block: random lags reach twice that of a probe. */
static int64_t samples_for(double rank) {
    int i = 0;
    while (i < ATTEMPTS - 1 && (double)samples_tried[i] < 8 + 2.2 * rank)
        i++;
    return samples_tried[i];
}

/* The best leaves and their cost for the rank at hand. */
static void predict(int64_t n, szgi_dc_choice *choice) {
    choice->samples = samples_for(choice->rank);
    choice->divide = INFINITY;
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        double seconds = szgi_dc_predicted_seconds(n, leaves[i], choice->rank, choice->samples);
        if (!(seconds < choice->divide))
            continue;
        choice->divide = seconds;
        choice->leaf = leaves[i];
    }
}

/* Few samples tell smooth kernels, and enough for the halves where their order is low: the rest
 * takes as many as a block of 64 rows can need. */
static szg_status choose(szg_context *context, const szgi_dc_halves *halves,
                         szgi_dc_choice *choice) {
    enum { FEW = 32, ALL = 72, SPARE = 8 };
    *choice = (szgi_dc_choice){.halves = szgi_dc_halves_seconds(halves->n)};
    double tolerance = TOLERANCE * halves->norm;
    SZG_TRY(szgi_dc_tree_probe(context, halves, FEW, tolerance, &choice->rank));
    predict(halves->n, choice);
    if (choice->rank > FEW - SPARE && choice->divide < choice->halves) {
        SZG_TRY(szgi_dc_tree_probe(context, halves, ALL, tolerance, &choice->rank));
        predict(halves->n, choice);
    }
    return SZG_OK;
}

szg_status szgi_dc_choose(szg_context *context, int64_t n, const double *lags,
                          szgi_dc_choice *choice) {
    szgi_dc_halves halves;
    szg_status status = szgi_dc_halves_open(context, n, lags, &halves);
    if (status == SZG_OK)
        status = choose(context, &halves, choice);
    szgi_dc_halves_close(&halves);
    return status;
}

/* Said before the work: it may take minutes until memory ends. */
static szg_status require(szg_context *context, int64_t n, int64_t numbers) {
    return szgi_memory_require(context, n, numbers, sizeof(double),
                               "all eigenvalues by divide and conquer",
                               "ask for the range or --k alone, or take a smaller order");
}

static szg_status solve_chosen(szg_context *context, const szgi_dc_halves *halves,
                               const double *lags, double *w, bool *applicable, double *dropped) {
    szgi_dc_choice choice;
    SZG_TRY(choose(context, halves, &choice));
    bool too_high = choice.divide < choice.halves;
    if (too_high)
        SZG_TRY(require(context, halves->n, TERM_NUMBERS * (int64_t)(choice.rank + 1)));
    for (int i = 0; i < ATTEMPTS && too_high; i++)
        if (samples_tried[i] >= choice.samples)
            SZG_TRY(attempt(context, halves, lags, choice.leaf, samples_tried[i], choice.halves, w,
                            applicable, &too_high, dropped));
    return SZG_OK;
}

szg_status szgi_dc_eigenvalues(szg_context *context, const szg_toeplitz *symmetric, double *w,
                               bool *applicable, double *dropped) {
    *applicable = false;
    if (szgi_toeplitz_kind_of(symmetric) != SZG_TOEPLITZ_SYMMETRIC)
        return szgi_fail(context, SZG_EINVAL,
                         "divide and conquer: the matrix must be real symmetric Toeplitz");
    int64_t n = szg_toeplitz_size(symmetric);
    if (n < LEAST_ORDER)
        return SZG_OK;
    double *lags = NULL;
    SZG_TRY(require(context, n, CHOICE_NUMBERS));
    SZG_TRY(szgi_memory_alloc(context, n, &lags));
    for (int64_t j = 0; j < n; j++)
        lags[j] = szg_toeplitz_at(symmetric, j).re;
    szgi_dc_halves halves;
    szg_status status = szgi_dc_halves_open(context, n, lags, &halves);
    if (status == SZG_OK)
        status = solve_chosen(context, &halves, lags, w, applicable, dropped);
    szgi_dc_halves_close(&halves);
    szgi_memory_free(lags);
    return status;
}
