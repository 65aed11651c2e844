/* Quantities that certificates compare: quantity.def has a row for each. */
#ifndef SZG_THEORY_QUANTITY_H
#define SZG_THEORY_QUANTITY_H

#include "ball/arb.h"

enum { INSTANCE_TERMS = 64, INSTANCE_SIZE = 64 };
#define INSTANCE_PHASE_MAX ((int64_t)1 << 40)

/* Exact inputs: weights w_0 .., phases theta_0 .. and a size n; what they mean depends on the
 * quantity. */
typedef struct instance {
    int64_t n;
    int64_t weights, phases; /* counts */
    const double *w;
    const szgi_phase *theta;
} instance;

typedef enum quantity {
#define SEARCH(constant, name, accepts, path) Q_##constant,
#define FORMULA(constant, name, accepts, path) Q_##constant,
#include "quantity.def"
#undef SEARCH
#undef FORMULA
    Q_COUNT
} quantity;

/* "max|f|", ...; never NULL for 0 <= q < Q_COUNT. */
const char *szgi_quantity_name(quantity q);
/* Q_COUNT if there is no such quantity. */
quantity szgi_quantity_find(const char *name);

/* Whether the numbers of weights and phases and n fit the quantity, as plain bounds; both paths
 * refuse what does not. */
bool szgi_quantity_accepts(quantity q, const instance *at);

/* The path of the checkers, at SZGI_BALL_BITS, and the one that checks them, at RECHECK_BITS.
 * Inputs that the quantity accepts. SZG_EDATA: a weight that is not finite, a phase that is none.
 */
enum { RECHECK_BITS = 2 * SZGI_BALL_BITS };
SZG_CHECK_RESULT szg_status szgi_quantity_enclose(szg_context *context, quantity q,
                                                  const instance *at, szg_interval *out);
SZG_CHECK_RESULT szg_status szgi_quantity_recheck(szg_context *context, quantity q,
                                                  const instance *at, szg_interval *out);

/* What the rows name: szgi_enclose_PATH and szgi_recheck_PATH. */
typedef szg_status quantity_search(szg_context *context, const instance *at, szg_interval *out);
typedef void quantity_formula(arb_t value, const instance *at);
#define SEARCH(constant, name, accepts, path)                                                      \
    quantity_search szgi_enclose_##path, szgi_recheck_##path;
#define FORMULA(constant, name, accepts, path)                                                     \
    quantity_formula szgi_enclose_##path, szgi_recheck_##path;
#include "quantity.def"
#undef SEARCH
#undef FORMULA

#endif
