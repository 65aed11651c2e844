/* Draws of random circuits. A draw depends on the seed, its number and its side (queries, keys,
 * values or output) alone: layers share their normals and differ in their gains, and parts, threads
 * and order change nothing. Where no gain acts on the tokens' side, the d columns are not drawn:
 * their triangle is. */
#include "baseline.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/random.h"
#include "base/sort.h"
#include "linalg/linalg.h"
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

/* The arrays of one worker: rows is e x d, values e, the others e x e. */
typedef struct draw_work {
    double *memory; /* all of them; NULL: not open */
    double *rows, *a, *b, *left_a, *left_b, *turned, *core, *values;
} draw_work;

/* Numbers of one plan: [variants][lags][quantities][draws], the factors' entries of variance 1. */
typedef struct drawn {
    circuit_plan plan;
    int64_t variants, lags;
    double *value; /* NULL: nothing is drawn yet */
} drawn;

struct baseline {
    const szg_checkpoint *checkpoint;
    const szg_checkpoint_options *options;
    const head_part *part;
    const value_set *values;
    drawn qk, ov;
};

typedef struct draw_job {
    const baseline *own;
    drawn *out;
    draw_work *work; /* [threads] */
    _Atomic int64_t done;
} draw_job;

/* A factor's rows before anything acts on them from the left: its triangle. */
static szg_status draw_factor(szg_context *context, const draw_job *job, int64_t draw,
                              side_name side, bool folds, double *rows, double *lower) {
    const szg_checkpoint *checkpoint = job->own->checkpoint;
    int64_t e = job->out->plan.e, d = checkpoint->model_size;
    uint64_t seed = job->own->options->seed;
    double error;
    if (!folds && e <= d) {
        szgi_baseline_triangle(seed, draw, side, e, d, lower);
        return SZG_OK;
    }
    szgi_baseline_gaussian(seed, draw, side, e, d, rows);
    if (folds)
        SZG_TRY(szgi_fold_input(context, checkpoint, job->out->plan.layer, side == SIDE_QUERY, e,
                                rows, &error));
    return szgi_wide_l(context, e, d, rows, d, lower);
}

/* What acts on a factor's e dimensions: gains of the norm of queries or keys, and the rotation's
 * amplitude. */
static szg_status apply_left(szg_context *context, const draw_job *job, bool query, int64_t head,
                             const double *lower, double *out) {
    const circuit_plan *plan = &job->out->plan;
    const szgi_rotary *rotary = &plan->rotary;
    int64_t e = plan->e;
    memcpy(out, lower, (size_t)(e * e) * sizeof *out);
    if (plan->gains)
        SZG_TRY(szgi_fold_heads(context, job->own->checkpoint, plan->layer, query, head, e, out));
    for (int64_t i = 0; rotary->amplitude != 1 && i < 2 * rotary->pairs * e; i++)
        out[rotary->offset * e + i] *= rotary->amplitude;
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
    SZG_TRY(szgi_singular(context, e, e, work->core, e, work->values, NULL, 1, NULL, 1));
    SZG_TRY(szg_summary_of(context, NULL, &spectrum, &summary));
    out[BASELINE_SIGMA_MAX] = summary.sigma_max;
    out[BASELINE_STABLE_RANK] = summary.stable_rank;
    out[BASELINE_EFFECTIVE_RANK] = summary.effective_rank;
    return SZG_OK;
}

/* One variant at every lag: it is on the left factor. */
static szg_status measure_lags(szg_context *context, const draw_job *job, int64_t draw,
                               int64_t variant, draw_work *work) {
    const drawn *out = job->out;
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

static bool is_wanted(const draw_job *job, int64_t variant) {
    return !job->out->plan.by_head || job->own->part->head[variant];
}

static szg_status open_work(szg_context *context, const draw_job *job, draw_work *work) {
    int64_t e = job->out->plan.e, d = job->own->checkpoint->model_size, size;
    SZG_TRY(szgi_memory_product(context, e, d + 6 * e + 1, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &work->memory));
    double **const square[] = {&work->a,      &work->b,      &work->left_a,
                               &work->left_b, &work->turned, &work->core};
    work->rows = work->memory;
    for (size_t i = 0; i < sizeof square / sizeof *square; i++)
        *square[i] = work->rows + e * d + (int64_t)i * e * e;
    work->values = work->core + e * e;
    return SZG_OK;
}

/* A head whose own gains are no numbers is skipped, and nobody asks for its draws. */
static szg_status draw_variant(szg_context *context, const draw_job *job, int64_t draw,
                               int64_t variant, draw_work *work) {
    const szg_checkpoint *checkpoint = job->own->checkpoint;
    int64_t group = checkpoint->heads / checkpoint->key_heads;
    szg_status status = apply_left(context, job, true, variant, work->a, work->left_a);
    if (status == SZG_OK)
        status = apply_left(context, job, false, variant / group, work->b, work->left_b);
    if (status == SZG_EDATA && job->out->plan.by_head)
        return SZG_OK;
    return status == SZG_OK ? measure_lags(context, job, draw, variant, work) : status;
}

static szg_status draw_block(szg_context *context, void *data, int64_t block, int worker) {
    draw_job *job = data;
    const circuit_plan *plan = &job->out->plan;
    draw_work *work = &job->work[worker];
    if (!work->memory)
        SZG_TRY(open_work(context, job, work));
    SZG_TRY(draw_factor(context, job, block, plan->ov ? SIDE_OUTPUT : SIDE_QUERY, plan->folds_a,
                        work->rows, work->a));
    SZG_TRY(draw_factor(context, job, block, plan->ov ? SIDE_VALUE : SIDE_KEY, plan->folds_b,
                        work->rows, work->b));
    for (int64_t i = 0; i < job->out->variants; i++) {
        if (!is_wanted(job, i))
            continue;
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(draw_variant(context, job, block, i, work));
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

static szg_status draw_plan(szg_context *context, const baseline *own, const circuit_plan *plan,
                            drawn *out) {
    int64_t count, size, draws = own->options->draws;
    draw_job job = {.own = own, .out = out};
    szgi_circuit_lags(own->options, &count);
    szgi_memory_free(out->value);
    *out = (drawn){.plan = *plan,
                   .variants = plan->by_head ? own->checkpoint->heads : 1,
                   .lags = plan->turns ? count : 1};
    SZG_TRY(szgi_memory_product(context, out->variants * out->lags * BASELINE_QUANTITIES, draws,
                                &size));
    SZG_TRY(szgi_memory_alloc(context, size, &out->value));
    SZG_TRY(szgi_memory_alloc(context, szg_context_threads(context), &job.work));
    szg_status status = szgi_pool_run(context, draws, draw_block, &job);
    for (int i = 0; i < szg_context_threads(context); i++)
        szgi_memory_free(job.work[i].memory);
    szgi_memory_free(job.work);
    if (status != SZG_OK) {
        szgi_memory_free(out->value);
        *out = (drawn){0};
        return status;
    }
    for (int64_t i = 0; i < size; i += draws)
        szgi_sort_reals(draws, out->value + i);
    return SZG_OK;
}

static bool is_same(const circuit_plan *a, const circuit_plan *b) {
    return a->layer == b->layer && a->e == b->e && a->rotary.amplitude == b->rotary.amplitude;
}

/* ---- Quantiles ---- */

/* Linear between neighbours (Hyndman and Fan 1996, type 7). NaN: a draw has no such number. */
static double quantile(int64_t count, const double *ascending, double at) {
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
            double value = (double)(times * quantile(draws, at + k * draws, quantiles[i]));
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

static szg_status draw_once(szg_context *context, const baseline *own, const circuit_plan *plan,
                            drawn *out) {
    return out->value && is_same(plan, &out->plan) ? SZG_OK : draw_plan(context, own, plan, out);
}

szg_status szgi_baseline_draw(szg_context *context, baseline *own, int64_t layer, bool ov) {
    szgi_rotary rotary;
    SZG_TRY(szgi_checkpoint_rotary(context, own->checkpoint, layer, &rotary));
    circuit_plan plan = plan_qk(own, layer, &rotary);
    SZG_TRY(draw_once(context, own, &plan, &own->qk));
    if (!ov)
        return SZG_OK;
    plan = plan_ov(own, layer);
    return draw_once(context, own, &plan, &own->ov);
}

szg_status szgi_baseline_qk(szg_context *context, baseline *own, int64_t layer, int64_t head,
                            int64_t lag, const circuit_norms *norms,
                            baseline_quantiles out[BASELINE_QUANTITIES]) {
    szgi_rotary rotary;
    SZG_TRY(szgi_checkpoint_rotary(context, own->checkpoint, layer, &rotary));
    circuit_plan plan = plan_qk(own, layer, &rotary);
    SZG_TRY(draw_once(context, own, &plan, &own->qk));
    take_quantiles(own, &own->qk, plan.by_head ? head : 0, lag,
                   deviation(own, &plan, norms->query) * deviation(own, &plan, norms->key), out);
    return SZG_OK;
}

szg_status szgi_baseline_ov(szg_context *context, baseline *own, int64_t layer,
                            const circuit_norms *norms,
                            baseline_quantiles out[BASELINE_QUANTITIES]) {
    circuit_plan plan = plan_ov(own, layer);
    SZG_TRY(draw_once(context, own, &plan, &own->ov));
    take_quantiles(own, &own->ov, 0, 0,
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
    szgi_memory_free((*own)->qk.value);
    szgi_memory_free((*own)->ov.value);
    szgi_memory_free(*own);
    *own = NULL;
}
