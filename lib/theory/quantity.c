/* The table of quantities, and which inputs each accepts. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "quantity.h"

/* ---- What is accepted ---- */

static bool within(int64_t x, int64_t least, int64_t most) {
    return x >= least && x <= most;
}

static bool accepts_cosines(const instance *at) {
    return within(at->weights, 1, INSTANCE_TERMS) && at->n == at->weights &&
           (at->phases == 0 || at->phases == at->weights);
}

static bool accepts_toeplitz(const instance *at) {
    return within(at->weights, 1, INSTANCE_TERMS) && at->phases == at->weights &&
           within(at->n, at->weights, INSTANCE_SIZE);
}

static bool accepts_turned(const instance *at) {
    return within(at->weights, 1, INSTANCE_TERMS) && at->phases == at->weights &&
           within(at->n, 2, INSTANCE_SIZE);
}

static bool accepts_softmax(const instance *at) {
    return within(at->n, 2, INSTANCE_SIZE) && at->weights == 2 * at->n - 1 && at->phases == 0;
}

static bool accepts_rotated(const instance *at) {
    return within(at->weights, 1, INSTANCE_TERMS) && at->phases == at->weights &&
           within(at->n, 1, (int64_t)1 << 30);
}

static bool accepts_minor(const instance *at) {
    return at->weights == 2 && at->phases == 0 && at->n == 2;
}

static bool accepts_mla(const instance *at) {
    return at->weights == 2 && at->phases == 1 && at->n == 2;
}

static bool accepts_symbol(const instance *at) {
    return within(at->weights, 1, INSTANCE_TERMS) && at->phases == at->weights &&
           at->n == at->weights;
}

static bool accepts_position(const instance *at) {
    return at->weights == 4 && at->phases == 1 && at->n == 2;
}

static bool accepts_alibi(const instance *at) {
    return at->weights == 1 && at->phases == 0 && within(at->n, 2, (int64_t)1 << 40);
}

static bool accepts_tail(const instance *at) {
    return within(at->weights, 1, INSTANCE_TERMS) && at->phases == 0 &&
           within(at->n, at->weights, (int64_t)1 << 40);
}

static bool accepts_rotary(const instance *at) {
    return at->weights == 0 && at->phases >= 1 && at->n > 2 * at->phases && at->n <= INSTANCE_SIZE;
}

/* ---- The table ---- */

/* One of the two is there. */
typedef struct path {
    quantity_search *search;
    quantity_formula *formula;
} path;

static const struct {
    const char *name;
    bool (*accepts)(const instance *at);
    path enclose, recheck;
} quantities[Q_COUNT] = {
#define SEARCH(constant, name, accepts, path)                                                      \
    {name, accepts_##accepts, {szgi_enclose_##path, NULL}, {szgi_recheck_##path, NULL}},
#define FORMULA(constant, name, accepts, path)                                                     \
    {name, accepts_##accepts, {NULL, szgi_enclose_##path}, {NULL, szgi_recheck_##path}},
#include "quantity.def"
#undef SEARCH
#undef FORMULA
};

const char *szgi_quantity_name(quantity q) {
    return quantities[q].name;
}

quantity szgi_quantity_find(const char *name) {
    for (int q = 0; q < Q_COUNT; q++)
        if (strcmp(quantities[q].name, name) == 0)
            return (quantity)q;
    return Q_COUNT;
}

bool szgi_quantity_accepts(quantity q, const instance *at) {
    return quantities[q].accepts(at);
}

static szg_status check_inputs(szg_context *context, const instance *at) {
    for (int64_t i = 0; i < at->weights; i++)
        if (!isfinite(at->w[i]))
            return szgi_fail(context, SZG_EDATA, "weight %" PRId64 " is not finite (%g)", i,
                             at->w[i]);
    for (int64_t i = 0; i < at->phases; i++)
        SZG_TRY(szgi_check_phase(context, &at->theta[i], "phase", i));
    return SZG_OK;
}

static szg_status follow(szg_context *context, const path *way, const instance *at,
                         szg_interval *out) {
    SZG_TRY(check_inputs(context, at));
    if (way->search)
        return way->search(context, at, out);
    arb_t value;
    arb_init(value);
    way->formula(value, at);
    *out = szgi_interval_of(value);
    arb_clear(value);
    return SZG_OK;
}

szg_status szgi_quantity_enclose(szg_context *context, quantity q, const instance *at,
                                 szg_interval *out) {
    return follow(context, &quantities[q].enclose, at, out);
}

szg_status szgi_quantity_recheck(szg_context *context, quantity q, const instance *at,
                                 szg_interval *out) {
    return follow(context, &quantities[q].recheck, at, out);
}
