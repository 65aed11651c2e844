/* How a claim can be refuted: two quantities, the relation between them, and what the instance must
 * satisfy. Each claim's file lists its own (claims/claim.h). */
#ifndef SZG_THEORY_REFUTATION_H
#define SZG_THEORY_REFUTATION_H

#include "quantity.h"

typedef bool exact_test(const instance *at);
typedef szg_status proved_test(szg_context *context, const instance *at, bool *holds);

/* Of each path one of the two is there. */
typedef struct hypothesis {
    exact_test *exact, *recheck_exact;
    proved_test *proved, *recheck_proved;
} hypothesis;

typedef struct equality_rule {
    proved_test *decide;
    exact_test *recheck;
} equality_rule;

#define EXACT(name)                                                                                \
    exact_test szgi_hold_##name, szgi_recheck_hold_##name;                                         \
    extern const hypothesis szgi_hypothesis_##name;
#define PROVED(name)                                                                               \
    proved_test szgi_hold_##name, szgi_recheck_hold_##name;                                        \
    extern const hypothesis szgi_hypothesis_##name;
#define EQUALITY(name)                                                                             \
    proved_test szgi_equal_##name;                                                                 \
    exact_test szgi_recheck_equal_##name;                                                          \
    extern const equality_rule szgi_equality_##name;
#include "refutation.def"
#undef EXACT
#undef PROVED
#undef EQUALITY

enum { REFUTATION_HYPOTHESES = 4 };

typedef struct refutation {
    const char *kind; /* disjoint, exact, structural */
    quantity left;
    const char *relation; /* <, >, = or != */
    quantity right;
    const hypothesis *hypotheses[REFUTATION_HYPOTHESES]; /* up to the first NULL */
    const equality_rule *equal;                          /* where the relation is = */
    bool no_phases; /* neither side nor a hypothesis reads phases: certificates have none */
} refutation;

/* Both quantities accept the instance. */
bool szgi_refutation_accepts(const refutation *rule, const instance *at);

/* Whether the instance satisfies the hypotheses, by the path of the checkers and by the other. */
SZG_CHECK_RESULT szg_status szgi_refutation_hold(szg_context *context, const refutation *rule,
                                                 const instance *at, bool *hold);
SZG_CHECK_RESULT szg_status szgi_refutation_recheck(szg_context *context, const refutation *rule,
                                                    const instance *at, bool *hold);

#endif
