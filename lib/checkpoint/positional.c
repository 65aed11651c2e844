#include "positional.h"

#include <math.h>

#include "base/memory.h"

const char *szgi_kernel_name(kernel_kind kind) {
    static const char *const names[] = {[KERNEL_SELF] = "self", [KERNEL_MEAN] = "mean"};
    return names[kind];
}

szg_status szgi_positional_open(szg_context *context, int64_t first, int64_t lags,
                                const lag_list *listed, head_positional *out) {
    *out = (head_positional){.first = first, .lags = lags, .slow = -1, .spread = NAN};
    SZG_TRY(szgi_memory_alloc(context, listed->count + 1, &out->listed.lag));
    SZG_TRY(szgi_memory_alloc(context, 2 * listed->count + 1, &out->value[KERNEL_SELF]));
    SZG_TRY(szgi_memory_alloc(context, KERNEL_KINDS * CHANCE_DRAWS, &out->memory));
    out->listed.count = listed->count;
    out->value[KERNEL_MEAN] = out->value[KERNEL_SELF] + listed->count;
    for (int64_t i = 0; i < listed->count; i++)
        out->listed.lag[i] = listed->lag[i];
    for (int64_t i = 0; i < 2 * listed->count; i++)
        out->value[KERNEL_SELF][i] = (kernel_value){NAN, NAN, NAN};
    for (int kind = 0; kind < KERNEL_KINDS; kind++)
        out->kernel[kind] = (kernel_facts){
            .share = NAN, .null = NAN, .p = NAN, .noise = NAN, .shape = {.carrier = -1}};
    return SZG_OK;
}

void szgi_positional_release(head_positional *out) {
    szgi_lag_list_close(&out->listed);
    szgi_memory_free(out->value[KERNEL_SELF]);
    szgi_memory_free(out->memory);
    *out = (head_positional){0};
}

/* To six digits: draws tell no more. */
static double round_end(double x) {
    if (!(x != 0) || !isfinite(x))
        return x;
    double unit = pow(10, 5 - floor(log10(fabs(x))));
    return isfinite(unit) && unit > 0 ? rint(x * unit) / unit : x;
}

void szgi_positional_scale(int exponent, head_positional *out) {
    for (int kind = 0; kind < KERNEL_KINDS; kind++) {
        kernel_facts *facts = &out->kernel[kind];
        facts->noise = ldexp(facts->noise, exponent);
        facts->shape.least = ldexp(facts->shape.least, exponent);
        facts->shape.greatest = ldexp(facts->shape.greatest, exponent);
    }
    out->spread = ldexp(out->spread, exponent);
    for (int64_t i = 0; i < 2 * out->listed.count; i++) {
        kernel_value *value = &out->value[KERNEL_SELF][i];
        *value =
            (kernel_value){ldexp(value->value, exponent), round_end(ldexp(value->low, exponent)),
                           round_end(ldexp(value->high, exponent))};
    }
}

void szgi_positional_compare(head_positional *out, kernel_kind kind, double compared,
                             double variance, double noise, const double draws[CHANCE_DRAWS]) {
    kernel_facts *facts = &out->kernel[kind];
    double factor = compared > 0 ? variance / compared : 1;
    out->drawn[kind] = out->memory + (int64_t)kind * CHANCE_DRAWS;
    for (int64_t i = 0; i < CHANCE_DRAWS; i++)
        out->drawn[kind][i] = szgi_share_of(draws[i] * factor, noise);
    chance_found found = szgi_chance_compare(draws, compared);
    facts->null = szgi_share_of(found.quantile * factor, noise);
    facts->p = found.p;
}
