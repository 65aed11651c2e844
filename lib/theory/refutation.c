/* The rows of refutation.def, and walks over a refutation's hypotheses. */
#include "refutation.h"

#define EXACT(name)                                                                                \
    const hypothesis szgi_hypothesis_##name = {szgi_hold_##name, szgi_recheck_hold_##name, NULL,   \
                                               NULL};
#define PROVED(name)                                                                               \
    const hypothesis szgi_hypothesis_##name = {NULL, NULL, szgi_hold_##name,                       \
                                               szgi_recheck_hold_##name};
#define EQUALITY(name)                                                                             \
    const equality_rule szgi_equality_##name = {szgi_equal_##name, szgi_recheck_equal_##name};
#include "refutation.def"
#undef EXACT
#undef PROVED
#undef EQUALITY

bool szgi_refutation_accepts(const refutation *rule, const instance *at) {
    return szgi_quantity_accepts(rule->left, at) && szgi_quantity_accepts(rule->right, at);
}

static szg_status test(szg_context *context, exact_test *exact, proved_test *proved,
                       const instance *at, bool *holds) {
    if (!exact)
        return proved(context, at, holds);
    *holds = exact(at);
    return SZG_OK;
}

szg_status szgi_refutation_hold(szg_context *context, const refutation *rule, const instance *at,
                                bool *hold) {
    *hold = true;
    for (int i = 0; i < REFUTATION_HYPOTHESES && rule->hypotheses[i] && *hold; i++)
        SZG_TRY(test(context, rule->hypotheses[i]->exact, rule->hypotheses[i]->proved, at, hold));
    return SZG_OK;
}

szg_status szgi_refutation_recheck(szg_context *context, const refutation *rule, const instance *at,
                                   bool *hold) {
    *hold = true;
    for (int i = 0; i < REFUTATION_HYPOTHESES && rule->hypotheses[i] && *hold; i++)
        SZG_TRY(test(context, rule->hypotheses[i]->recheck_exact,
                     rule->hypotheses[i]->recheck_proved, at, hold));
    return SZG_OK;
}
