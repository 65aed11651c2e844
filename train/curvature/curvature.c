#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "base/row.h"
#include "linalg/ops.h"
#include "toeplitz/toeplitz.h"

#include "curvature.h"
#include "differences.h"
#include "top_vector.h"

enum { PURPOSE_START = 0x54524E03 };

/* Products for one step of the differences: of Lanczos, and three to judge its vector by. */
enum { PRODUCTS = 40, JUDGING = 3 };

/* Steps of the differences, of the parameters' norm: the first that gives a number counts. Each is
 * judged with one twice as long. Larger ones meet the loss's fourth derivative, smaller ones what
 * rounding, and ReLUs that switch within the step, leave in the gradients. AdamW's matrix moves
 * other parameters, and wants larger ones. */
enum { STEPS = 4 };
static const double plain_steps[STEPS] = {3e-5, 1e-4, 1e-5, 3e-4};
static const double adamw_steps[STEPS] = {1e-4, 3e-4, 3e-5, 1e-3};

/* Lanczos ends where its own residual is below the first. A number is given where two steps agree,
 * and what the vector misses is small, to the second. */
static const double TOLERANCE = 1e-3, RESOLVED = 0.01;

#define CURVATURE(X)                                                                               \
    X(STEP_DONE, "step", SZG_INTEGER, "1", "training step",                                        \
      "steps done; the parameters are those before the next one")                                  \
    X(HESSIAN_MAX, "hessian_max", SZG_REAL, "1", "largest eigenvalue of the Hessian",              \
      "largest eigenvalue of the Hessian of the loss on the fixed batch, without dropout; empty: " \
      "not resolved to 1%")                                                                        \
    X(HESSIAN_AGREEMENT, "hessian_agreement", SZG_REAL, "1", "agreement of steps",                 \
      "relative difference of its values with two steps of the central differences")               \
    X(HESSIAN_RESIDUAL, "hessian_residual", SZG_REAL, "1", "residual",                             \
      "norm of H x - hessian_max x for the vector x of norm 1 that was found, by hessian_max")     \
    X(ADAMW_MAX, "adamw_max", SZG_REAL, "1", "largest eigenvalue, preconditioned",                 \
      "the same of P^-1/2 H P^-1/2, P = sqrt(v / (1 - beta2^step)) + eps of AdamW; empty too: no " \
      "step is done")                                                                              \
    X(ADAMW_AGREEMENT, "adamw_agreement", SZG_REAL, "1", "agreement of steps, preconditioned",     \
      "as hessian_agreement")                                                                      \
    X(ADAMW_RESIDUAL, "adamw_residual", SZG_REAL, "1", "residual, preconditioned",                 \
      "as hessian_residual")                                                                       \
    X(PRODUCTS_MADE, "products", SZG_INTEGER, "1", "Hessian products",                             \
      "products of the Hessian with a vector, two gradients each")                                 \
    X(NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
SZGI_SCHEMA(columns, "curvature", CURVATURE, SZGI_NOT_SHOWN);

struct szgi_curvature {
    differences at;
    uint64_t seed;
    double *vector, *image, *scale; /* [n] */
};

bool szgi_curvature_measures(const szg_curvature_config *config, int64_t step) {
    return config->every > 0 && step % config->every == 0 &&
           (config->until == 0 || step < config->until);
}

/* ---- Opening ---- */

void szgi_curvature_close(szg_context *context, szgi_curvature **curvature) {
    szgi_curvature *self = *curvature;
    if (!self)
        return;
    szgi_differences_close(context, &self->at);
    szgi_memory_free(self->vector);
    szgi_memory_free(self->image);
    szgi_memory_free(self->scale);
    szgi_memory_free(self);
    *curvature = NULL;
}

static szg_status open_parts(szg_context *context, const szg_model *model,
                             const szg_examples *train, int64_t length, szgi_curvature *self) {
    SZG_TRY(szgi_differences_open(context, model, train, length, &self->at));
    SZG_TRY(szgi_memory_alloc(context, self->at.n, &self->vector));
    SZG_TRY(szgi_memory_alloc(context, self->at.n, &self->image));
    return szgi_memory_alloc(context, self->at.n, &self->scale);
}

szg_status szgi_curvature_open(szg_context *context, const szg_model *model,
                               const szg_examples *train, int64_t length, uint64_t seed,
                               szgi_curvature **out) {
    szgi_curvature *self;
    *out = NULL;
    if (szgi_device_records(context))
        return szgi_fail(context, SZG_EBACKEND,
                         "curvature.every: the backend %s records its steps, and the curvature is "
                         "not measured beside recorded steps: take --backend cpu, or "
                         "curvature.every=0",
                         szgi_backend_name(context));
    SZG_TRY(szgi_memory_alloc(context, 1, &self));
    self->seed = seed;
    szg_status status = open_parts(context, model, train, length, self);
    if (status == SZG_OK)
        *out = self;
    else
        szgi_curvature_close(context, &self);
    return status;
}

/* ---- One value ---- */

typedef struct top_value {
    double value, agreement, residual; /* NaN: there is none; the last two relative */
    double error;                      /* relative: what the vector misses of the eigenvalue */
    int64_t products;
} top_value;

/* The Rayleigh quotient x . H x, |x| = 1, for a step of the differences; image = H x. */
static szg_status quotient(szg_context *context, szgi_curvature *self, hessian *h, double step,
                           const double *x, double *out) {
    h->step = step;
    SZG_TRY(szgi_hessian_apply(context, h, x, self->image));
    *out = szgi_dot(self->at.n, x, self->image);
    return SZG_OK;
}

/* The residual H x - value x takes the vector's place, of norm 1; returns the norm it had. */
static double take_residual(szgi_curvature *self, double value) {
    int64_t n = self->at.n;
    double *x = self->vector;
    for (int64_t i = 0; i < n; i++)
        x[i] = self->image[i] - value * x[i];
    double norm = sqrt(szgi_dot(n, x, x));
    for (int64_t i = 0; i < n && norm > 0; i++)
        x[i] /= norm;
    return norm;
}

static szg_status judge(szg_context *context, szgi_curvature *self, hessian *h, double step,
                        top_value *out) {
    double other, residual, beyond;
    SZG_TRY(quotient(context, self, h, 2 * step, self->vector, &other));
    SZG_TRY(quotient(context, self, h, step, self->vector, &out->value));
    residual = take_residual(self, out->value);
    SZG_TRY(quotient(context, self, h, step, self->vector, &beyond));
    out->products += JUDGING;
    out->agreement = fabs(other - out->value) / fabs(out->value);
    out->residual = residual / fabs(out->value);
    out->error = szgi_top_missed(out->value, beyond, residual) / fabs(out->value);
    return SZG_OK;
}

static szg_status try_step(szg_context *context, szgi_curvature *self, hessian *h,
                           const szgi_stream *start, double step, top_value *out) {
    const top_options options = {*start, PRODUCTS - JUDGING, TOLERANCE};
    const szgi_operator s = {.n = self->at.n, .apply = szgi_hessian_apply, .data = h};
    top_vector top = {.vector = self->vector};
    h->step = step;
    SZG_TRY(szgi_top_vector(context, &s, &options, &top));
    out->value = out->agreement = out->residual = out->error = NAN;
    out->products += top.products;
    return top.found ? judge(context, self, h, step, out) : SZG_OK;
}

static bool is_resolved(const top_value *is) {
    return is->agreement <= RESOLVED && is->error <= RESOLVED;
}

/* Of the Hessian, or of S H S, S = diag(scale). */
static szg_status find_top(szg_context *context, szgi_curvature *self, const double *scale,
                           int64_t step, top_value *out) {
    const szgi_stream start = {self->seed, (uint32_t)step, PURPOSE_START};
    const double *steps = scale ? adamw_steps : plain_steps;
    hessian h = {.at = &self->at, .scale = scale};
    *out = (top_value){0};
    for (int i = 0; i < STEPS && (i == 0 || !is_resolved(out)); i++)
        SZG_TRY(try_step(context, self, &h, &start, steps[i], out));
    return SZG_OK;
}

/* ---- A row ---- */

szg_status szgi_curvature_table(szg_context *context, szg_table **out) {
    return szgi_schema_open(context, &columns_schema, out);
}

/* A value in the columns from `column` on: it, agreement, residual. */
static void put(szgi_row *row, int64_t column, const top_value *is) {
    const char *name = columns[column].name;
    if (is_resolved(is))
        szgi_row_number(row, column, is->value);
    szgi_row_number(row, column + 1, is->agreement);
    szgi_row_number(row, column + 2, is->residual);
    if (isnan(is->value))
        szgi_row_note(row, "%s: the gradient does not change, or is not finite", name);
    else if (!(is->agreement <= RESOLVED))
        szgi_row_note(row, "%s: two steps of the differences disagree", name);
    else if (!is_resolved(is))
        szgi_row_note(row, "%s: Lanczos has not converged", name);
}

/* P^-1/2 of AdamW after so many steps. */
static szg_status read_scale(szg_context *context, szgi_curvature *self, const szg_model *model,
                             const void *moment2, int64_t step) {
    const szg_loop_config *loop = &szgi_model_settings(model)->loop;
    double correction = 1 - pow(loop->beta2, (double)step);
    SZG_TRY(szgi_model_read(context, model, moment2, 0, self->at.n, self->scale));
    for (int64_t i = 0; i < self->at.n; i++)
        self->scale[i] = 1 / sqrt(sqrt(self->scale[i] / correction) + loop->eps);
    return SZG_OK;
}

szg_status szgi_curvature_add(szg_context *context, szgi_curvature *self, const szg_model *model,
                              const void *moment2, int64_t step, szg_table *table) {
    top_value plain, adamw = {0};
    SZG_TRY(szgi_differences_take(context, &self->at, model));
    SZG_TRY(find_top(context, self, NULL, step, &plain));
    if (step > 0) {
        SZG_TRY(read_scale(context, self, model, moment2, step));
        SZG_TRY(find_top(context, self, self->scale, step, &adamw));
    }
    szgi_row row = szgi_row_add(context, table);
    szgi_row_integer(&row, STEP_DONE, step);
    put(&row, HESSIAN_MAX, &plain);
    if (step > 0)
        put(&row, ADAMW_MAX, &adamw);
    szgi_row_integer(&row, PRODUCTS_MADE, plain.products + adamw.products);
    return row.status;
}
