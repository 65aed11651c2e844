/* OV: W_O W_V = A^T B with the rows A = (columns of W_O)^T and B = W_V, as W_Q^T W_K is in head.c.
 * QK at lag k: W_Q^T R(-k theta) W_K = (R(k theta) W_Q)^T W_K, and L of R W_Q is R L. */
#include "circuit.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/linalg.h"
#include "problem.h"
#include "scale.h"

/* Angles are lag times frequency, and frequencies have 53 bits: beyond this, half of them are left
 * for the angle. No model has a longer context. */
enum { LAG_MAX = 1 << 24 };

const int64_t *szgi_circuit_lags(const szg_checkpoint_options *options, int64_t *count) {
    static const int64_t zero = 0;
    *count = options->lag_count > 0 ? options->lag_count : 1;
    return options->lag_count > 0 ? options->lags : &zero;
}

static szg_status check_lags(szg_context *context, const szg_checkpoint_options *options) {
    int64_t count;
    const int64_t *lags = szgi_circuit_lags(options, &count);
    for (int64_t i = 0; i < count; i++) {
        if (lags[i] < -LAG_MAX || lags[i] > LAG_MAX)
            return szgi_fail(context, SZG_EINVAL,
                             "lag %" PRId64 ": at most %d positions are possible", lags[i],
                             LAG_MAX);
        for (int64_t j = 0; j < i; j++)
            if (lags[j] == lags[i])
                return szgi_fail(context, SZG_EINVAL, "lag %" PRId64 " is there twice", lags[i]);
    }
    return SZG_OK;
}

szg_status szgi_circuit_check(szg_context *context, const szg_checkpoint *checkpoint,
                              const szg_checkpoint_options *options) {
    if (options->draws < 0)
        return szgi_fail(context, SZG_EINVAL, "%" PRId64 " draws: a negative number",
                         options->draws);
    if (options->lag_count < 0 || (options->lag_count > 0 && !options->lags))
        return szgi_fail(context, SZG_EINVAL, "%" PRId64 " lags without a list of them",
                         options->lag_count);
    if (!options->circuits)
        return SZG_OK;
    if (!checkpoint->family)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: its architecture is unknown, so that no head has circuits: leave "
                         "`circuits` out",
                         checkpoint->source);
    if (options->lag_count > 0 && checkpoint->rotations == 0)
        szgi_say(context, SZG_WARNING,
                 "%s: nothing rotates in this model: circuits are the same at every lag, and have "
                 "one row without a lag",
                 checkpoint->source);
    return check_lags(context, options);
}

/* ---- A worker's arrays ---- */

static szg_status open_work(szg_context *context, const circuit_input *input, circuit_work *own) {
    const szg_checkpoint *checkpoint = input->head->checkpoint;
    int64_t e = checkpoint->head_size, d = checkpoint->model_size, v = input->values.size;
    int64_t most = v > e ? v : e, size, used = 0;
    struct {
        double **at;
        int64_t count;
    } arrays[] = {{&own->value, v * d},       {&own->value_lower, v * v},
                  {&own->output, v * d},      {&own->output_lower, v * v},
                  {&own->turned, e * d},      {&own->turned_lower, e * e},
                  {&own->inner, most * most}, {&own->core, most * most}};
    SZG_TRY(szgi_memory_product(context, 4 * most, d + 2 * most, &size)); /* more than all */
    SZG_TRY(szgi_memory_alloc(context, size, &own->memory));
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i].at = own->memory + used;
        used += arrays[i].count;
    }
    return SZG_OK;
}

void szgi_circuit_work_close(circuit_work *work) {
    szgi_memory_free(work->value_problem);
    szgi_memory_free(work->memory);
    *work = (circuit_work){0};
}

static void release_result(circuit_result *result) {
    szgi_memory_free(result->problem);
    szg_spectrum_close(&result->eigenvalues);
    szg_spectrum_close(&result->singular);
}

void szgi_circuit_release(head_circuits *circuits) {
    for (int64_t i = 0; circuits->qk && i < circuits->lags; i++)
        release_result(&circuits->qk[i]);
    release_result(&circuits->ov);
    szgi_memory_free(circuits->qk);
    *circuits = (head_circuits){0};
}

/* ---- Rotation ---- */

void szgi_circuit_turn(const szgi_rotary *rotary, int64_t lag, int64_t columns, double *rows) {
    bool half = rotary->pairing == SZGI_PAIRING_HALF;
    for (int64_t t = 0; t < rotary->pairs; t++) {
        double cosine, sine;
        double *a = rows + (rotary->offset + (half ? t : 2 * t)) * columns;
        double *b = a + (half ? rotary->pairs : 1) * columns;
        szgi_lag_phase(lag, rotary->theta[t], &cosine, &sine);
        for (int64_t j = 0; j < columns; j++) {
            double first = a[j], second = b[j];
            a[j] = cosine * first - sine * second;
            b[j] = sine * first + cosine * second;
        }
    }
}

/* ---- A head ---- */

static fold_kind fold_of(const circuit_input *input) {
    return input->head->options->raw ? FOLD_NONE : FOLD_ALL;
}

/* Rows of queries or keys as a baseline's norm counts them; `turned` is free for them. */
static szg_status read_norm(szg_context *context, const circuit_input *input, int64_t layer,
                            bool query, int64_t head, circuit_work *work, long double *out) {
    const szg_checkpoint *checkpoint = input->head->checkpoint;
    fold_kind fold = input->head->options->raw ? FOLD_NONE : FOLD_LATENT;
    *out = 0;
    if (input->head->options->draws == 0)
        return SZG_OK;
    SZG_TRY(query ? szgi_fold_queries(context, checkpoint, layer, head, fold, work->turned, NULL)
                  : szgi_fold_keys(context, checkpoint, layer, head, fold, work->turned, NULL));
    *out = szgi_values_norm(checkpoint->head_size * checkpoint->model_size, work->turned);
    return SZG_OK;
}

static bool has_values(const circuit_input *input, int64_t layer) {
    return !input->values.problem && !input->values.layer[layer].problem;
}

static szg_status read_values(szg_context *context, const circuit_input *input, int64_t layer,
                              int64_t key_head, circuit_work *work) {
    const layer_values *values = &input->values.layer[layer];
    int64_t d = input->head->checkpoint->model_size;
    SZG_TRY(szgi_values_rows(context, input->head->checkpoint, values, layer, key_head,
                             fold_of(input), work->value, &work->norms.value));
    work->value_exponent = szgi_scale_take(values->size * d, work->value);
    return szgi_wide_l(context, values->size, d, work->value, d, work->value_lower);
}

/* A local failure is kept, with the tensors that it is about; others end the job. */
static szg_status keep(szg_context *context, const layer_values *values, szg_status status,
                       char **problem) {
    if (status == SZG_OK || !szgi_is_local_failure(status))
        return status;
    return szgi_text_append(context, problem, "%s, %s: %s", values->value->name,
                            values->output->name, szg_context_message(context));
}

szg_status szgi_circuit_read_key(szg_context *context, const circuit_input *input, int64_t layer,
                                 int64_t key_head, circuit_work *work) {
    if (!work->memory)
        SZG_TRY(open_work(context, input, work));
    szgi_memory_free(work->value_problem);
    work->value_problem = NULL;
    work->value_status = SZG_OK;
    work->norms = (circuit_norms){0};
    SZG_TRY(read_norm(context, input, layer, false, key_head, work, &work->norms.key));
    if (!has_values(input, layer))
        return SZG_OK;
    work->value_status = read_values(context, input, layer, key_head, work);
    return keep(context, &input->values.layer[layer], work->value_status, &work->value_problem);
}

static szg_status analyse_ov(szg_context *context, const circuit_input *input, int64_t layer,
                             int64_t head, circuit_work *work, circuit_result *out) {
    const layer_values *values = &input->values.layer[layer];
    int64_t e = values->size, d = input->head->checkpoint->model_size;
    SZG_TRY(szgi_values_output(context, input->head->checkpoint, values, head, work->output));
    work->norms.output = szgi_values_norm(e * d, work->output);
    int exponent = szgi_scale_take(e * d, work->output) + work->value_exponent;
    SZG_TRY(szgi_wide_l(context, e, d, work->output, d, work->output_lower));
    const row_product product = {.n = d,
                                 .e = e,
                                 .a = work->output,
                                 .l_a = work->output_lower,
                                 .b = work->value,
                                 .l_b = work->value_lower,
                                 .inner = work->inner,
                                 .core = work->core};
    SZG_TRY(szgi_head_spectra(context, &product, &out->eigenvalues, &out->singular));
    return szgi_scale_return_spectra(context, "W_O W_V", exponent, &out->eigenvalues,
                                     &out->singular, &out->lost);
}

/* The head's OV circuit, or why it has none. */
static szg_status make_ov(szg_context *context, const circuit_input *input, int64_t layer,
                          int64_t head, circuit_work *work, circuit_result *out) {
    if (!has_values(input, layer))
        return SZG_OK;
    out->status = work->value_status;
    if (out->status != SZG_OK)
        return szgi_memory_copy_text(context, work->value_problem, &out->problem);
    szg_status status = analyse_ov(context, input, layer, head, work, out);
    SZG_TRY(keep(context, &input->values.layer[layer], status, &out->problem));
    out->status = status;
    return SZG_OK;
}

static szg_status turn_qk(szg_context *context, const circuit_input *input, int64_t lag,
                          const head_work *rows, const circuit_work *work, circuit_result *out) {
    int64_t e = input->head->checkpoint->head_size, d = input->head->checkpoint->model_size;
    memcpy(work->turned, rows->q.rows, (size_t)(e * d) * sizeof *work->turned);
    memcpy(work->turned_lower, rows->q.lower, (size_t)(e * e) * sizeof *work->turned);
    szgi_circuit_turn(&rows->rotary, lag, d, work->turned);
    szgi_circuit_turn(&rows->rotary, lag, e, work->turned_lower);
    const row_product product = {.n = d,
                                 .e = e,
                                 .a = work->turned,
                                 .l_a = work->turned_lower,
                                 .b = rows->k.rows,
                                 .l_b = rows->k.lower,
                                 .inner = work->inner,
                                 .core = work->core};
    SZG_TRY(szgi_head_spectra(context, &product, &out->eigenvalues, &out->singular));
    return szgi_scale_return_spectra(context, "W_Q^T R W_K", rows->q.exponent + rows->k.exponent,
                                     &out->eigenvalues, &out->singular, &out->lost);
}

/* The lags at which the head's own `qk` is not the answer. A failure is that of the lag alone. */
static szg_status make_qk(szg_context *context, const circuit_input *input, int64_t layer,
                          const head_work *rows, const circuit_work *work, head_circuits *out) {
    int64_t count;
    const int64_t *lags = szgi_circuit_lags(input->head->options, &count);
    if (rows->rotary.pairs == 0)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, count, &out->qk));
    out->lags = count;
    for (int64_t i = 0; i < count; i++) {
        if (lags[i] == 0)
            continue;
        out->qk[i].status = turn_qk(context, input, lags[i], rows, work, &out->qk[i]);
        if (out->qk[i].status == SZG_OK)
            continue;
        if (!szgi_is_local_failure(out->qk[i].status))
            return out->qk[i].status;
        SZG_TRY(szgi_layer_problem(context, &input->head->checkpoint->layer[layer],
                                   &out->qk[i].problem));
    }
    return SZG_OK;
}

szg_status szgi_circuit_analyse(szg_context *context, const circuit_input *input, int64_t layer,
                                int64_t head, const head_work *rows, circuit_work *work,
                                head_circuits *out) {
    SZG_TRY(make_qk(context, input, layer, rows, work, out));
    SZG_TRY(read_norm(context, input, layer, true, head, work, &work->norms.query));
    work->norms.output = 0;
    SZG_TRY(make_ov(context, input, layer, head, work, &out->ov));
    out->norms = work->norms;
    return SZG_OK;
}
