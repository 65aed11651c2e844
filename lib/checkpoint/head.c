/* W_Q^T W_K = A B^T with A = W_Q^T, B = W_K^T: the rows of W are those of A^T. With W = L Q the
 * singular values are those of L_Q^T L_K, and the eigenvalues those of W_K W_Q^T, all e x e. A key
 * head is read and factored once for the query heads that share it. */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "base/memory.h"
#include "toeplitz/symbol.h"
#include "toeplitz/toeplitz.h"
#include "fold.h"
#include "head.h"
#include "scale.h"

/* ---- A worker's arrays ---- */

/* Hands out `count` numbers of the block, or only counts them where it is NULL. */
static double *take(double *block, int64_t *used, int64_t count) {
    double *out = block ? block + *used : NULL;
    *used += count;
    return out;
}

static void lay_side(double *block, int64_t e, int64_t d, int64_t n, int64_t *used,
                     head_side *side) {
    side->rows = take(block, used, e * d);
    side->lower = take(block, used, e * e);
    side->gram = (szgi_pair_gram *)(void *)take(block, used, 3 * (e / 2)); /* three numbers each */
    if (n == 0)
        return;
    side->at_rows = take(block, used, e * n);
    side->at_lower = take(block, used, e * e);
}

static int64_t lay_out(double *block, const head_input *input, head_work *work) {
    int64_t e = input->checkpoint->head_size, d = input->checkpoint->model_size, used = 0;
    lay_side(block, e, d, input->positions, &used, &work->q);
    lay_side(block, e, d, input->positions, &used, &work->k);
    work->inner = take(block, &used, e * e);
    work->core = take(block, &used, e * e);
    work->known.mean = take(block, &used, e);
    work->known.covariance = take(block, &used, e * e);
    work->room = take(block, &used, szgi_positional_room(e));
    return used;
}

szg_status szgi_head_work_open(szg_context *context, const head_input *input, head_work *work) {
    int64_t e = input->checkpoint->head_size, d = input->checkpoint->model_size, size;
    *work = (head_work){0};
    SZG_TRY(szgi_memory_product(context, 8 * e, d + e + 2 * CHANCE_DRAWS + input->positions,
                                &size)); /* no overflow */
    SZG_TRY(szgi_memory_alloc(context, lay_out(NULL, input, work), &work->memory));
    lay_out(work->memory, input, work);
    return SZG_OK;
}

void szgi_head_work_close(head_work *work) {
    szgi_memory_free(work->memory);
    szgi_bound_side_release(&work->q.bound);
    szgi_bound_side_release(&work->k.bound);
    szgi_latent_release(&work->q.kept);
    szgi_latent_release(&work->k.kept);
    *work = (head_work){0};
}

void szgi_head_release(head_result *result) {
    szgi_memory_free(result->problem);
    szg_spectrum_close(&result->eigenvalues);
    szg_spectrum_close(&result->singular);
    szg_spectrum_close(&result->position_eigenvalues);
    szg_spectrum_close(&result->position_singular);
    szgi_memory_free(result->samples);
    szgi_memory_free(result->pairs);
    szgi_positional_release(&result->positional);
    *result = (head_result){.status = SZG_OK};
}

/* ---- Spectra ---- */

static void transpose(int64_t rows, int64_t columns, const double *a, double *out) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            out[j * rows + i] = a[i * columns + j];
}

static double norm(int64_t count, const double *x) {
    return sqrt(szgi_dot(count, x, x));
}

/* Proportional rows, up to rounding of their entries, have a cosine within 1e-6 of 1 or -1: it
 * differs by at most 128 e n eps^2 for the rows and some (e + n) eps for the sums. */
static bool may_be_symmetric(int64_t e, const double *inner, const double *l_a, const double *l_b) {
    double trace = 0;
    for (int64_t i = 0; i < e; i++)
        trace += inner[i * (e + 1)];
    return fabs(trace) >= (1 - 1e-6) * norm(e * e, l_a) * norm(e * e, l_b);
}

/* Of the n x e factors themselves, where the rank is full or the matrix may be symmetric. */
static szg_status factored_spectra(szg_context *context, int64_t n, int64_t e, const double *a_rows,
                                   const double *b_rows, szg_spectrum *eigenvalues,
                                   szg_spectrum *singular) {
    double *a;
    SZG_TRY(szgi_memory_alloc(context, 2 * n * e, &a));
    double *b = a + n * e;
    transpose(e, n, a_rows, a);
    transpose(e, n, b_rows, b);
    const szg_factored factored = {.n = n, .d = e, .a = a, .lda = e, .b = b, .ldb = e};
    const szg_matrix matrix = szg_matrix_factored(&factored);
    szg_status status =
        szg_spectrum_compute(context, &matrix, SZG_QUESTION_EIGENVALUES, NULL, eigenvalues);
    if (status == SZG_OK)
        status = szg_spectrum_compute(context, &matrix, SZG_QUESTION_SINGULAR, NULL, singular);
    szgi_memory_free(a);
    return status;
}

static szg_status multiply_rows(szg_context *context, const row_product *product) {
    int64_t n = product->n, e = product->e;
    return szgi_gemm(context, 'n', 't', e, e, n, 1, product->b, n, product->a, n, 0, product->inner,
                     e);
}

szg_status szgi_head_spectra(szg_context *context, const row_product *product,
                             szg_spectrum *eigenvalues, szg_spectrum *singular) {
    int64_t n = product->n, e = product->e;
    const double *a = product->a, *b = product->b;
    SZG_TRY(multiply_rows(context, product));
    if (e >= n || may_be_symmetric(e, product->inner, product->l_a, product->l_b))
        return factored_spectra(context, n, e, a, b, eigenvalues, singular);
    SZG_TRY(szgi_low_rank_eigen(context, n, e, product->inner, eigenvalues));
    SZG_TRY(szgi_gemm(context, 't', 'n', e, e, e, 1, product->l_a, e, product->l_b, e, 0,
                      product->core, e));
    return szgi_low_rank_singular(context, n, e, product->core, singular);
}

static row_product product_of(const head_input *input, const head_work *work) {
    return (row_product){.n = input->checkpoint->model_size,
                         .e = input->checkpoint->head_size,
                         .a = work->q.rows,
                         .l_a = work->q.lower,
                         .b = work->k.rows,
                         .l_b = work->k.lower,
                         .inner = work->inner,
                         .core = work->core};
}

static szg_status analyse_qk(szg_context *context, const head_input *input, const head_work *work,
                             head_result *result) {
    const row_product product = product_of(input, work);
    SZG_TRY(szgi_head_spectra(context, &product, &result->eigenvalues, &result->singular));
    return szgi_scale_return_spectra(context, "W_Q^T W_K", work->q.exponent + work->k.exponent,
                                     &result->eigenvalues, &result->singular, &result->lost);
}

/* What kernels need of the same matrix, without its spectra; where queries and keys are normalised
 * they have products of their own. */
static szg_status multiply_qk(szg_context *context, const head_input *input, int64_t layer,
                              const head_work *work) {
    const row_product product = product_of(input, work);
    return szgi_fold_is_normed(input->checkpoint, layer) ? SZG_OK
                                                         : multiply_rows(context, &product);
}

/* ---- Positions ---- */

static szg_status analyse_symbol(szg_context *context, const szg_factored *factored,
                                 int64_t samples, head_result *result) {
    szg_toeplitz *part;
    szg_status status;
    SZG_TRY(szgi_factored_toeplitz_part(context, factored, &part));
    if (szgi_toeplitz_degree(part) <= SZG_SYMBOL_RANGE_LIMIT)
        SZG_TRY_GOTO(status, szg_symbol_modulus_range(context, part, &result->range), done);
    if (samples > 0) {
        SZG_TRY_GOTO(status, szgi_memory_alloc(context, samples, &result->samples), done);
        status = szg_symbol_samples(context, part, samples, result->samples);
    }
done:
    szg_toeplitz_close(&part);
    return status;
}

static szg_status analyse_toeplitz_part(szg_context *context, const head_input *input,
                                        const head_work *work, int exponent, head_result *result) {
    int64_t n = input->positions, e = input->checkpoint->head_size;
    double *a;
    SZG_TRY(szgi_memory_alloc(context, 2 * n * e, &a));
    double *b = a + n * e;
    transpose(e, n, work->q.at_rows, a);
    transpose(e, n, work->k.at_rows, b);
    const szg_factored factored = {.n = n, .d = e, .a = a, .lda = e, .b = b, .ldb = e};
    szg_status status;
    SZG_TRY_GOTO(status, analyse_symbol(context, &factored, input->options->samples, result), done);
    szgi_scale_return_range(exponent, &result->range);
    if (result->samples)
        szgi_scale_return_samples(exponent, input->options->samples, result->samples);
    status = szg_factored_toeplitzness(context, &factored, &result->toeplitzness);
    if (status == SZG_EDOMAIN) /* the zero matrix: NaN */
        status = SZG_OK;
done:
    szgi_memory_free(a);
    return status;
}

/* P W_Q^T W_K P^T = A B^T with A = P W_Q^T, B = P W_K^T, n x e. */
static szg_status analyse_positions(szg_context *context, const head_input *input,
                                    const head_work *work, head_result *result) {
    int64_t n = input->positions, e = input->checkpoint->head_size;
    int exponent = work->q.at_exponent + work->k.at_exponent + 2 * input->p_exponent;
    result->has_positions = true;
    const row_product product = {.n = n,
                                 .e = e,
                                 .a = work->q.at_rows,
                                 .l_a = work->q.at_lower,
                                 .b = work->k.at_rows,
                                 .l_b = work->k.at_lower,
                                 .inner = work->inner,
                                 .core = work->core};
    SZG_TRY(szgi_head_spectra(context, &product, &result->position_eigenvalues,
                              &result->position_singular));
    SZG_TRY(szgi_scale_return_spectra(context, "P W_Q^T W_K P^T", exponent,
                                      &result->position_eigenvalues, &result->position_singular,
                                      &result->position_lost));
    return analyse_toeplitz_part(context, input, work, exponent, result);
}

/* ---- A head ---- */

static szg_status analyse_pairs(szg_context *context, const head_input *input,
                                const head_work *work, head_result *result) {
    result->rotary = work->rotary;
    if (work->rotary.pairs == 0)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, work->rotary.pairs, &result->pairs));
    szgi_checkpoint_couple(&work->rotary, input->checkpoint->head_size, work->inner, work->q.gram,
                           work->k.gram, result->pairs);
    szgi_scale_return_pairs(work->q.exponent + work->k.exponent, work->rotary.pairs, result->pairs);
    return SZG_OK;
}

/* What of a head's side is read. */
typedef struct side_place {
    int64_t layer, head; /* the key head, of keys */
    bool query;
} side_place;

static szg_status read_side(szg_context *context, const head_input *input, const side_place *place,
                            fold_kind fold, head_side *side) {
    side->error = 0;
    return place->query
               ? szgi_fold_queries_kept(context, input->checkpoint, place->layer, place->head, fold,
                                        &side->kept, side->rows, &side->error)
               : szgi_fold_keys_kept(context, input->checkpoint, place->layer, place->head, fold,
                                     &side->kept, side->rows, &side->error);
}

/* Positions are added to the input before its norm, which is not linear: their term has the rows
 * without gains. */
static szg_status factor_positions(szg_context *context, const head_input *input,
                                   const side_place *place, head_side *side) {
    int64_t e = input->checkpoint->head_size, d = input->checkpoint->model_size;
    int64_t n = input->positions;
    SZG_TRY(read_side(context, input, place, FOLD_NONE, side));
    side->at_exponent = szgi_scale_take(e * d, side->rows);
    SZG_TRY(
        szgi_gemm(context, 'n', 't', e, n, d, 1, side->rows, d, input->p, d, 0, side->at_rows, n));
    return szgi_wide_l(context, e, n, side->at_rows, n, side->at_lower);
}

/* The rows, and what follows from them alone. */
static szg_status factor(szg_context *context, const head_input *input, const side_place *place,
                         head_work *work, head_side *side) {
    int64_t e = input->checkpoint->head_size, d = input->checkpoint->model_size;
    fold_kind fold = input->options->raw ? FOLD_NONE : FOLD_ALL;
    if (input->positions > 0)
        SZG_TRY(factor_positions(context, input, place, side));
    SZG_TRY(read_side(context, input, place, fold, side));
    side->exponent = szgi_scale_take(e * d, side->rows);
    SZG_TRY(szgi_wide_l(context, e, d, side->rows, d, side->lower));
    szgi_checkpoint_pair_grams(&work->rotary, d, side->rows, side->gram);
    return SZG_OK;
}

/* With --raw no gain is folded, and no logit is bounded. */
static szg_status prepare_bound(szg_context *context, const head_input *input,
                                const side_place *place, head_side *side) {
    const bound_place at = {.layer = place->layer, .head = place->head, .query = place->query};
    const bound_rows rows = {.value = side->rows, .error = side->error, .exponent = side->exponent};
    return input->options->raw ? SZG_OK
                               : szgi_bound_side_make(context, input->checkpoint, &at, &rows,
                                                      &side->kept, &side->bound);
}

static szg_status bound_head(szg_context *context, const head_input *input, int64_t layer,
                             int64_t head, const head_work *work, head_result *result) {
    return input->options->raw
               ? SZG_OK
               : szgi_bound_head(context, input->checkpoint, layer, head, input->lags,
                                 &work->q.bound, &work->k.bound, &result->bound);
}

/* Are positions added to what this layer reads? */
static bool enters_first(const head_input *input, int64_t layer) {
    return layer == 0 && input->checkpoint->position_kind != SZG_POSITIONS_NONE;
}

/* Of a model that neither rotates nor adds positions or biases: it may place tokens otherwise. */
static const char *why_unplaced(const szg_checkpoint *checkpoint) {
    const model_family *family = checkpoint->family;
    if (family->stack && strcmp(family->stack, "cross") == 0)
        return "queries read keys of another sequence: there is no lag";
    if (checkpoint->rotations > 0)
        return "this layer does not rotate, and nothing else says where a token stands";
    if (checkpoint->position_note)
        return "positions are added before a projection of the embeddings: not covered";
    if (checkpoint->added && family->added_unread)
        return family->added_unread;
    return checkpoint->family->two_coordinates
               ? "patches rotate by their row and column: not covered"
               : "nothing says where a token stands";
}

/* Why there are no numbers of a layer that does not rotate. */
static const char *why_none(const head_input *input, int64_t layer) {
    const szg_checkpoint *checkpoint = input->checkpoint;
    if (input->bias.why)
        return input->bias.why;
    if (input->table.used)
        return szgi_lag_table_refusal(&input->table, checkpoint, layer);
    if (input->bias.value && !enters_first(input, layer))
        return szgi_law_refusal(checkpoint, layer);
    if (checkpoint->position_kind == SZG_POSITIONS_NONE)
        return why_unplaced(checkpoint);
    return layer > 0
               ? "positions are added before layer 0, and weights do not tell what is left of "
                 "them in this layer"
               : input->absolute.why;
}

/* Why one of the kernels of a head that has numbers is missing. */
static const char *why_one(const head_input *input, int64_t layer, const head_positional *found) {
    if (!szgi_positional_has(found, KERNEL_SELF))
        return "nothing rotates in this layer";
    if (szgi_positional_has(found, KERNEL_MEAN))
        return NULL;
    return layer == 0 && input->vocabulary.why
               ? input->vocabulary.why
               : "the mean token of this layer is not known from weights, and biases add nothing";
}

static szg_status find_position(szg_context *context, const head_input *input, int64_t layer,
                                int64_t head, head_work *work, head_result *result) {
    const szg_checkpoint *checkpoint = input->checkpoint;
    const law_side q = {work->q.rows, work->q.bound.shift, work->q.lower, work->q.exponent};
    const law_side k = {work->k.rows, work->k.bound.shift, work->k.lower, work->k.exponent};
    bool turns = checkpoint->layer[layer].rotation >= 0;
    if (input->unplaced)
        return SZG_OK;
    result->positional.why = input->options->raw ? "no gain of a norm is folded (--raw)"
                             : turns             ? szgi_law_refusal(checkpoint, layer)
                                                 : why_none(input, layer);
    const shared_norm *shared = input->shared ? &input->shared[layer] : NULL;
    if (shared && !result->positional.why)
        result->positional.why = shared->why;
    if (result->positional.why)
        return SZG_OK;
    const absolute_head added = {
        .checkpoint = checkpoint,
        .input = &input->absolute,
        .q = q,
        .k = k,
        .seed = input->options->seed,
        .bias = input->bias.value ? szgi_lag_bias_of(&input->bias, layer, head) - input->bias.first
                                  : NULL};
    const law_input law = {
        .checkpoint = checkpoint,
        .layer = layer,
        .head = head,
        .rotary = &work->rotary,
        .tokens = &input->tokens,
        .known = layer == 0 && input->vocabulary.memory ? &input->vocabulary.tokens : NULL,
        .keys = &work->known,
        .shared = shared,
        .q = q,
        .k = k,
        .k_q = work->inner};
    const positional_input found = {.head = law,
                                    .moments =
                                        szgi_lag_moments_find(&input->moments, checkpoint, layer),
                                    .room = work->room,
                                    .seed = input->options->seed};
    SZG_TRY(turns               ? szgi_positional_find(context, &found, &result->positional)
            : input->table.used ? szgi_lag_table_find(context, &law, &input->table,
                                                      input->options->seed, &result->positional)
            : enters_first(input, layer)
                ? szgi_absolute_find(context, &added, &result->positional)
                : szgi_lag_bias_find(context, &law, &input->bias, &result->positional));
    result->positional.counted = input->counts.value != NULL;
    result->positional.lack = why_one(input, layer, &result->positional);
    return SZG_OK;
}

szg_status szgi_head_read_key(szg_context *context, const head_input *input, int64_t layer,
                              int64_t key_head, head_work *work) {
    const side_place place = {.layer = layer, .head = key_head};
    work->known.made = false;
    SZG_TRY(szgi_checkpoint_rotary(context, input->checkpoint, layer, &work->rotary));
    SZG_TRY(factor(context, input, &place, work, &work->k));
    return prepare_bound(context, input, &place, &work->k);
}

szg_status szgi_head_analyse(szg_context *context, const head_input *input, int64_t layer,
                             int64_t head, head_work *work, head_result *result) {
    const side_place place = {.layer = layer, .head = head, .query = true};
    SZG_TRY(factor(context, input, &place, work, &work->q));
    SZG_TRY(prepare_bound(context, input, &place, &work->q));
    if (input->bare) {
        SZG_TRY(multiply_qk(context, input, layer, work));
        return find_position(context, input, layer, head, work, result);
    }
    SZG_TRY(analyse_qk(context, input, work, result));
    SZG_TRY(analyse_pairs(context, input, work, result));
    SZG_TRY(bound_head(context, input, layer, head, work, result));
    SZG_TRY(find_position(context, input, layer, head, work, result));
    return input->positions > 0 ? analyse_positions(context, input, work, result) : SZG_OK;
}
