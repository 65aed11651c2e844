/* Draws of random circuits. A draw depends on the seed, its number and its side (queries, keys,
 * values or output) alone: layers share their normals and differ in their gains, and parts, threads
 * and order change nothing. So several layers are drawn together, whose normals are made once.
 * Where no gain acts on the tokens' side, the d columns are not drawn: their triangle is. */
#include "baseline.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/random.h"
#include "base/sort.h"
#include "bound_kernels.h"
#include "linalg/linalg.h"
#include "problem.h"
#include "spectra/spectra.h"
#include "summary/summary.h"

/* Purposes of streams: a side's normals; those of chi numbers, and their uniform numbers. */
enum { PURPOSE = 0x0c1c0000, OF_CHI = 0x100, OF_UNIFORM = 0x200 };
typedef enum side_name { SIDE_QUERY, SIDE_KEY, SIDE_VALUE, SIDE_OUTPUT } side_name;

/* ---- Numbers ---- */

/* Chi of k >= 1 degrees of freedom: the root of twice a gamma number (Marsaglia and Tsang 2000),
 * which takes 1.05 tries at most. */
static double draw_chi(const szgi_stream *normals, const szgi_stream *uniforms, uint64_t index,
                       int64_t k) {
    const uint64_t tries = 1024;
    if (k == 1)
        return fabs(szgi_random_normal(normals, index * tries));
    double shape = (double)k / 2 - 1.0 / 3, spread = 1 / sqrt(9 * shape);
    for (uint64_t i = index * tries;; i++) {
        double x = szgi_random_normal(normals, i), root = 1 + spread * x, cube = root * root * root;
        if (!(cube > 0))
            continue;
        double limit = x * x / 2 + shape * (1 - cube + log(cube));
        if (log(szgi_random_uniform(uniforms, i)) < limit)
            return sqrt(2 * shape * cube);
    }
}

void szgi_baseline_triangle(uint64_t seed, int64_t draw, uint32_t side, int64_t e, int64_t d,
                            double *lower) {
    const szgi_stream below = {seed, (uint32_t)draw, PURPOSE + side},
                      chi = {seed, (uint32_t)draw, PURPOSE + OF_CHI + side},
                      uniform = {seed, (uint32_t)draw, PURPOSE + OF_UNIFORM + side};
    memset(lower, 0, (size_t)(e * e) * sizeof *lower);
    for (int64_t i = 0; i < e; i++) {
        szgi_random_fill_normal(&below, (uint64_t)(i * e), i, lower + i * e);
        lower[i * (e + 1)] = draw_chi(&chi, &uniform, (uint64_t)i, d - i);
    }
}

void szgi_baseline_gaussian(uint64_t seed, int64_t draw, uint32_t side, int64_t e, int64_t d,
                            double *rows) {
    const szgi_stream stream = {seed, (uint32_t)draw, PURPOSE + side};
    szgi_random_fill_normal_single(&stream, e * d, rows);
}

/* ---- One circuit of one layer ---- */

/* What is drawn: product of factors with e rows. */
typedef struct circuit_plan {
    int64_t layer; /* -1: every layer with this e and amplitude has the same numbers */
    int64_t e;
    bool ov;
    bool folds_a, folds_b; /* the input norm, on that factor */
    bool by_head;          /* heads differ in gains */
    bool gains;            /* norms of queries and keys */
    bool turns;            /* the distribution depends on the lag */
    szgi_rotary rotary;    /* of qk */
} circuit_plan;

/* The arrays of one worker: rows and normals are e x d, values e, the others e x e. */
typedef struct draw_work {
    double *memory; /* all of them; NULL: not open */
    double *rows, *normals[2], *a, *b, *left_a, *left_b, *turned, *core, *values;
    bool has[2]; /* the draw's normals of queries or output, of keys or values */
} draw_work;

/* Numbers of one plan: [variants][lags][quantities][draws], the factors' entries of variance 1. */
typedef struct drawn {
    circuit_plan plan;
    int64_t variants, lags;
    double *gain;        /* [2][d] of the folds, where the norm has no mean; NULL: it has one */
    double *value;       /* NULL: nothing is drawn yet */
    _Atomic bool failed; /* in a layer that nobody has asked for yet */
} drawn;

/* Layers that are drawn together, which an interruption loses, and numbers that they may have
 * together. */
enum { LAYERS = 8, NUMBERS = 1 << 20 };
typedef struct drawn_layers {
    drawn layer[LAYERS];
    int64_t count;
} drawn_layers;

struct baseline {
    const szg_checkpoint *checkpoint;
    const szg_checkpoint_options *options;
    const head_part *part;
    const value_set *values;
    drawn_layers qk, ov;
};

typedef struct draw_job {
    const baseline *own;
    drawn_layers *out;
    draw_work *work; /* [threads] */
    _Atomic int64_t done;
} draw_job;

/* The triangle L of e rows, from their Gram matrix where its condition allows: the error of a
 * factor is then its square times an ulp, below 1e-8 of what draws differ by. */
static szg_status triangle_of(szg_context *context, int64_t e, int64_t d, const double *rows,
                              double *upper, double *lower) {
    enum { BLOCK = 32 };
    double least = INFINITY, most = 0;
    for (int64_t i = 0; i < e; i += BLOCK) {
        int64_t count = e - i < BLOCK ? e - i : BLOCK;
        SZG_TRY(szgi_gemm(context, 'n', 't', count, e - i, d, 1, rows + i * d, d, rows + i * d, d,
                          0, upper + i * e + i, e));
    }
    bool ok = szgi_cholesky_upper(e, upper);
    for (int64_t i = 0; i < e && ok; i++) {
        least = fmin(least, upper[i * (e + 1)]);
        most = fmax(most, upper[i * (e + 1)]);
    }
    if (!ok || !(least > 1e-3 * most))
        return szgi_wide_l(context, e, d, rows, d, lower);
    for (int64_t i = 0; i < e; i++)
        for (int64_t j = 0; j < e; j++)
            lower[i * e + j] = j <= i ? upper[j * e + i] : 0;
    return SZG_OK;
}

/* A factor's rows before anything acts on them from the left: its triangle. */
static szg_status draw_factor(szg_context *context, const draw_job *job, const drawn *out,
                              int64_t draw, bool first, draw_work *work, double *lower) {
    const szg_checkpoint *checkpoint = job->own->checkpoint;
    const circuit_plan *plan = &out->plan;
    side_name side =
        first ? (plan->ov ? SIDE_OUTPUT : SIDE_QUERY) : (plan->ov ? SIDE_VALUE : SIDE_KEY);
    int64_t e = plan->e, d = checkpoint->model_size;
    bool folds = first ? plan->folds_a : plan->folds_b;
    uint64_t seed = job->own->options->seed;
    double error, *normals = work->normals[first ? 0 : 1];
    if (!folds && e <= d) {
        szgi_baseline_triangle(seed, draw, side, e, d, lower);
        return SZG_OK;
    }
    if (!work->has[first ? 0 : 1])
        szgi_baseline_gaussian(seed, draw, side, e, d, normals);
    work->has[first ? 0 : 1] = true;
    const double *gain = folds && out->gain ? out->gain + (first ? 0 : d) : NULL;
    for (int64_t i = 0; i < e && gain; i++)
        for (int64_t j = 0; j < d; j++)
            work->rows[i * d + j] = gain[j] * normals[i * d + j];
    if (!gain)
        memcpy(work->rows, normals, (size_t)(e * d) * sizeof *work->rows);
    if (folds && !gain)
        SZG_TRY(szgi_fold_input(context, checkpoint, plan->layer, side == SIDE_QUERY, e, work->rows,
                                &error));
    return triangle_of(context, e, d, work->rows, work->core, lower);
}

/* What acts on a factor's e dimensions: gains of the norm of queries or keys, and the rotation's
 * amplitude. */
static szg_status apply_left(szg_context *context, const draw_job *job, const circuit_plan *plan,
                             bool query, int64_t head, const double *lower, double *out) {
    const szgi_rotary *rotary = &plan->rotary;
    int64_t e = plan->e;
    memcpy(out, lower, (size_t)(e * e) * sizeof *out);
    if (plan->gains)
        SZG_TRY(szgi_fold_heads(context, job->own->checkpoint, plan->layer, query, head, e, out));
    for (int64_t i = 0; rotary->amplitude != 1 && i < 2 * rotary->pairs * e; i++)
        out[rotary->offset * e + i] *= rotary->amplitude;
    return SZG_OK;
}

/* The singular values of e x e numbers, descending: roots of the eigenvalues of their Gram matrix
 * where all are far above its rounding, which costs half. `room` is e x e. */
static szg_status singular_values(szg_context *context, int64_t e, double *core, double *room,
                                  double *values) {
    SZG_TRY(szgi_gemm(context, 't', 'n', e, e, e, 1, core, e, core, e, 0, room, e));
    SZG_TRY(szgi_eigen_symmetric(context, e, room, e, values, false));
    if (!(values[0] > 1e-8 * values[e - 1]))
        return szgi_singular(context, e, e, core, e, values, NULL, 1, NULL, 1);
    for (int64_t i = 0; i < e; i++)
        values[i] = sqrt(values[i]);
    for (int64_t i = 0; i < e / 2; i++) {
        double value = values[i];
        values[i] = values[e - 1 - i];
        values[e - 1 - i] = value;
    }
    return SZG_OK;
}

static szg_status measure(szg_context *context, int64_t e, draw_work *work, const double *a,
                          const double *b, double out[BASELINE_QUANTITIES]) {
    szg_summary summary;
    szg_spectrum spectrum = {.n = e,
                             .count = e,
                             .rank = -1,
                             .kind = SZG_SPECTRUM_SINGULAR,
                             .re = work->values,
                             .trace = NAN};
    SZG_TRY(szgi_gemm(context, 't', 'n', e, e, e, 1, a, e, b, e, 0, work->core, e));
    SZG_TRY(singular_values(context, e, work->core, work->turned, work->values));
    SZG_TRY(szg_summary_of(context, NULL, &spectrum, &summary));
    out[BASELINE_SIGMA_MAX] = summary.sigma_max;
    out[BASELINE_STABLE_RANK] = summary.stable_rank;
    out[BASELINE_EFFECTIVE_RANK] = summary.effective_rank;
    return SZG_OK;
}

/* One variant at every lag: it is on the left factor. */
static szg_status measure_lags(szg_context *context, const draw_job *job, const drawn *out,
                               int64_t draw, int64_t variant, draw_work *work) {
    int64_t count, e = out->plan.e, draws = job->own->options->draws;
    const int64_t *lags = szgi_circuit_lags(job->own->options, &count);
    double found[BASELINE_QUANTITIES];
    for (int64_t i = 0; i < out->lags; i++) {
        memcpy(work->turned, work->left_a, (size_t)(e * e) * sizeof *work->turned);
        if (out->plan.turns)
            szgi_circuit_turn(&out->plan.rotary, lags[i], e, work->turned);
        SZG_TRY(measure(context, e, work, work->turned, work->left_b, found));
        double *at = out->value + (variant * out->lags + i) * BASELINE_QUANTITIES * draws;
        for (int64_t k = 0; k < BASELINE_QUANTITIES; k++)
            at[k * draws + draw] = found[k];
    }
    return SZG_OK;
}

static bool is_wanted(const draw_job *job, const drawn *out, int64_t variant) {
    return !out->plan.by_head || job->own->part->head[variant];
}

static szg_status open_work(szg_context *context, const draw_job *job, draw_work *work) {
    int64_t e = job->out->layer[0].plan.e, d = job->own->checkpoint->model_size, size;
    SZG_TRY(szgi_memory_product(context, e, 3 * d + 6 * e + 1, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &work->memory));
    double **const square[] = {&work->a,      &work->b,      &work->left_a,
                               &work->left_b, &work->turned, &work->core};
    work->rows = work->memory;
    work->normals[0] = work->rows + e * d;
    work->normals[1] = work->normals[0] + e * d;
    for (size_t i = 0; i < sizeof square / sizeof *square; i++)
        *square[i] = work->rows + 3 * e * d + (int64_t)i * e * e;
    work->values = work->core + e * e;
    return SZG_OK;
}

/* A head whose own gains are no numbers is skipped, and nobody asks for its draws. */
static szg_status draw_variant(szg_context *context, const draw_job *job, const drawn *out,
                               int64_t draw, int64_t variant, draw_work *work) {
    const szg_checkpoint *checkpoint = job->own->checkpoint;
    int64_t group = checkpoint->heads / checkpoint->key_heads;
    szg_status status = apply_left(context, job, &out->plan, true, variant, work->a, work->left_a);
    if (status == SZG_OK)
        status =
            apply_left(context, job, &out->plan, false, variant / group, work->b, work->left_b);
    if (status == SZG_EDATA && out->plan.by_head)
        return SZG_OK;
    return status == SZG_OK ? measure_lags(context, job, out, draw, variant, work) : status;
}

static szg_status draw_layer(szg_context *context, const draw_job *job, const drawn *out,
                             int64_t draw, draw_work *work) {
    SZG_TRY(draw_factor(context, job, out, draw, true, work, work->a));
    SZG_TRY(draw_factor(context, job, out, draw, false, work, work->b));
    for (int64_t i = 0; i < out->variants; i++) {
        if (!is_wanted(job, out, i))
            continue;
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(draw_variant(context, job, out, draw, i, work));
    }
    return SZG_OK;
}

static szg_status draw_block(szg_context *context, void *data, int64_t block, int worker) {
    draw_job *job = data;
    draw_work *work = &job->work[worker];
    if (!work->memory)
        SZG_TRY(open_work(context, job, work));
    work->has[0] = work->has[1] = false;
    for (int64_t i = 0; i < job->out->count; i++) {
        drawn *out = &job->out->layer[i];
        if (out->failed)
            continue;
        szg_status status = draw_layer(context, job, out, block, work);
        if (i == 0 || (status != SZG_OK && !szgi_is_local_failure(status)))
            SZG_TRY(status);
        if (status != SZG_OK) /* another worker's draw may have failed already */
            out->failed = true;
    }
    szgi_progress(context, "draws", atomic_fetch_add(&job->done, 1) + 1, job->own->options->draws);
    return SZG_OK;
}

/* ---- What a layer's circuits are drawn as ---- */

static circuit_plan plan_qk(const baseline *own, int64_t layer, const szgi_rotary *rotary) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    const layer_weights *weights = &checkpoint->layer[layer];
    bool raw = own->options->raw;
    circuit_plan plan = {.layer = layer, .e = checkpoint->head_size, .rotary = *rotary};
    plan.folds_a = plan.folds_b = !raw && szgi_fold_has_input(checkpoint, layer);
    plan.gains = !raw && szgi_fold_has_heads(checkpoint, layer);
    plan.by_head =
        plan.gains && (checkpoint->family->norm == NORM_EACH || weights->q.norm->count > plan.e ||
                       weights->k.norm->count > plan.e);
    /* Gaussian rows rotated are Gaussian rows, unless rows have sizes of their own. */
    bool even = rotary->amplitude == 1 || 2 * rotary->pairs == plan.e;
    plan.turns = rotary->pairs > 0 && (plan.gains || !even);
    if (!plan.folds_a && !plan.gains && !plan.turns)
        plan.layer = -1;
    return plan;
}

static circuit_plan plan_ov(const baseline *own, int64_t layer) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    circuit_plan plan = {.layer = layer,
                         .e = own->values->layer[layer].size,
                         .ov = true,
                         .folds_b = !own->options->raw && checkpoint->layer[layer].k.folds,
                         .rotary = {.amplitude = 1}};
    if (!plan.folds_b)
        plan.layer = -1;
    return plan;
}

static bool is_same(const circuit_plan *a, const circuit_plan *b) {
    return a->layer == b->layer && a->e == b->e && a->rotary.amplitude == b->rotary.amplitude;
}

static void close_layers(drawn_layers *out) {
    for (int64_t i = 0; i < out->count; i++) {
        szgi_memory_free(out->layer[i].gain);
        szgi_memory_free(out->layer[i].value);
    }
    *out = (drawn_layers){.count = 0};
}

/* The gains that both folds multiply by: what they make of ones. */
static szg_status read_gains(szg_context *context, const baseline *own, drawn *out) {
    int64_t d = own->checkpoint->model_size;
    const bool folds[] = {out->plan.folds_a, out->plan.folds_b};
    double error;
    if (szgi_fold_centres(own->checkpoint) || (!folds[0] && !folds[1]))
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, 2 * d, &out->gain));
    for (int64_t i = 0; i < 2 * d; i++)
        out->gain[i] = 1;
    for (int side = 0; side < 2; side++)
        if (folds[side])
            SZG_TRY(szgi_fold_input(context, own->checkpoint, out->plan.layer,
                                    side == 0 && !out->plan.ov, 1, out->gain + side * d, &error));
    return SZG_OK;
}

/* Room for one more plan, unless there is none, or its gains are no numbers. */
static szg_status add_plan(szg_context *context, const baseline *own, const circuit_plan *plan,
                           drawn_layers *out) {
    int64_t count, size, draws = own->options->draws;
    szgi_circuit_lags(own->options, &count);
    drawn *next = &out->layer[out->count];
    *next = (drawn){.plan = *plan,
                    .variants = plan->by_head ? own->checkpoint->heads : 1,
                    .lags = plan->turns ? count : 1};
    SZG_TRY(szgi_memory_product(context, next->variants * next->lags * BASELINE_QUANTITIES, draws,
                                &size));
    if (out->count > 0 && size > NUMBERS / LAYERS)
        return SZG_OK;
    szg_status status = read_gains(context, own, next);
    if (status == SZG_OK)
        status = szgi_memory_alloc(context, size, &next->value);
    if (status == SZG_OK)
        out->count++;
    else
        szgi_memory_free(next->gain);
    return out->count > 0 && szgi_is_local_failure(status) ? SZG_OK : status;
}

/* The plans of further layers whose normals are the same. */
static szg_status add_layers(szg_context *context, const baseline *own, int64_t layer, bool ov,
                             drawn_layers *out) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    const int64_t e = out->layer[0].plan.e;
    for (int64_t i = layer + 1; i < checkpoint->layers && out->count < LAYERS; i++) {
        szgi_rotary rotary;
        const layer_weights *weights = &checkpoint->layer[i];
        if (!own->part->layer[i] || weights->absent || weights->problem ||
            (ov && own->values->layer[i].problem))
            continue;
        SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, i, &rotary));
        circuit_plan plan = ov ? plan_ov(own, i) : plan_qk(own, i, &rotary);
        if (plan.layer == i && plan.e == e)
            SZG_TRY(add_plan(context, own, &plan, out));
    }
    return SZG_OK;
}

static void sort_layers(const baseline *own, drawn_layers *out) {
    int64_t draws = own->options->draws;
    for (int64_t i = 0; i < out->count; i++) {
        const drawn *layer = &out->layer[i];
        for (int64_t k = 0; k < layer->variants * layer->lags * BASELINE_QUANTITIES; k++)
            szgi_sort_reals(draws, layer->value + k * draws);
    }
}

static szg_status draw_layers(szg_context *context, const baseline *own, drawn_layers *out) {
    draw_job job = {.own = own, .out = out};
    SZG_TRY(szgi_memory_alloc(context, szg_context_threads(context), &job.work));
    szg_status status = szgi_pool_run(context, own->options->draws, draw_block, &job);
    for (int i = 0; i < szg_context_threads(context); i++)
        szgi_memory_free(job.work[i].memory);
    szgi_memory_free(job.work);
    if (status == SZG_OK)
        sort_layers(own, out);
    return status;
}

/* The numbers of this plan, drawn with those of later layers where they are not there yet. */
static szg_status draw_once(szg_context *context, const baseline *own, int64_t layer,
                            const circuit_plan *plan, drawn_layers *out, const drawn **found) {
    for (int64_t i = 0; i < out->count; i++) {
        *found = &out->layer[i];
        if (is_same(plan, &out->layer[i].plan) && !out->layer[i].failed)
            return SZG_OK;
    }
    close_layers(out);
    szg_status status = add_plan(context, own, plan, out);
    if (status == SZG_OK && plan->layer == layer)
        status = add_layers(context, own, layer, plan->ov, out);
    if (status == SZG_OK)
        status = draw_layers(context, own, out);
    if (status != SZG_OK)
        close_layers(out);
    *found = &out->layer[0];
    return status;
}

/* ---- Quantiles ---- */

/* Linear between neighbours (Hyndman and Fan 1996, type 7). NaN: a draw has no such number. */
double szgi_baseline_quantile(int64_t count, const double *ascending, double at) {
    double place = at * (double)(count - 1);
    int64_t below = (int64_t)place, above = below + 1 < count ? below + 1 : below;
    for (int64_t i = 0; i < count; i++)
        if (isnan(ascending[i]))
            return NAN;
    return ascending[below] + (place - (double)below) * (ascending[above] - ascending[below]);
}

static void take_quantiles(const baseline *own, const drawn *from, int64_t variant, int64_t lag,
                           long double size, baseline_quantiles out[BASELINE_QUANTITIES]) {
    int64_t draws = own->options->draws;
    const double *at = from->value + (variant * from->lags + (from->lags > 1 ? lag : 0)) *
                                         BASELINE_QUANTITIES * draws;
    for (int64_t k = 0; k < BASELINE_QUANTITIES; k++) {
        long double times = k == BASELINE_SIGMA_MAX ? size : 1;
        double *const place[] = {&out[k].low, &out[k].median, &out[k].high};
        static const double quantiles[] = {0.025, 0.5, 0.975};
        for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
            double value =
                (double)(times * szgi_baseline_quantile(draws, at + k * draws, quantiles[i]));
            *place[i] = isfinite(value) ? value : NAN;
        }
    }
}

/* The root of the mean square of a factor's entries, where those that rotate have the amplitude
 * besides: the Gaussian entries' standard deviation. */
static long double deviation(const baseline *own, const circuit_plan *plan, long double norm) {
    double amplitude = plan->rotary.amplitude,
           rows = (double)plan->e + 2 * (double)plan->rotary.pairs * (amplitude * amplitude - 1);
    return norm / sqrtl((long double)rows * (long double)own->checkpoint->model_size);
}

szg_status szgi_baseline_draw(szg_context *context, baseline *own, int64_t layer, bool ov) {
    const drawn *found;
    szgi_rotary rotary;
    SZG_TRY(szgi_checkpoint_rotary(context, own->checkpoint, layer, &rotary));
    circuit_plan plan = plan_qk(own, layer, &rotary);
    SZG_TRY(draw_once(context, own, layer, &plan, &own->qk, &found));
    if (!ov)
        return SZG_OK;
    plan = plan_ov(own, layer);
    return draw_once(context, own, layer, &plan, &own->ov, &found);
}

szg_status szgi_baseline_qk(szg_context *context, baseline *own, int64_t layer, int64_t head,
                            int64_t lag, const circuit_norms *norms,
                            baseline_quantiles out[BASELINE_QUANTITIES]) {
    const drawn *found;
    szgi_rotary rotary;
    SZG_TRY(szgi_checkpoint_rotary(context, own->checkpoint, layer, &rotary));
    circuit_plan plan = plan_qk(own, layer, &rotary);
    SZG_TRY(draw_once(context, own, layer, &plan, &own->qk, &found));
    take_quantiles(own, found, plan.by_head ? head : 0, lag,
                   deviation(own, &plan, norms->query) * deviation(own, &plan, norms->key), out);
    return SZG_OK;
}

szg_status szgi_baseline_ov(szg_context *context, baseline *own, int64_t layer,
                            const circuit_norms *norms,
                            baseline_quantiles out[BASELINE_QUANTITIES]) {
    const drawn *found;
    circuit_plan plan = plan_ov(own, layer);
    SZG_TRY(draw_once(context, own, layer, &plan, &own->ov, &found));
    take_quantiles(own, found, 0, 0,
                   deviation(own, &plan, norms->output) * deviation(own, &plan, norms->value), out);
    return SZG_OK;
}

szg_status szgi_baseline_open(szg_context *context, const szg_checkpoint *checkpoint,
                              const szg_checkpoint_options *options, const head_part *part,
                              const value_set *values, baseline **out) {
    SZG_TRY(szgi_memory_alloc(context, 1, out));
    **out =
        (baseline){.checkpoint = checkpoint, .options = options, .part = part, .values = values};
    return SZG_OK;
}

void szgi_baseline_close(baseline **own) {
    if (!*own)
        return;
    close_layers(&(*own)->qk);
    close_layers(&(*own)->ov);
    szgi_memory_free(*own);
    *own = NULL;
}
