/* Which p-values are kept, by the definition of Benjamini and Hochberg. */
#include <math.h>

#include "base/random.h"
#include "summary/discoveries.h"

#include "suite.h"

enum { MOST = 30 };

/* Is p kept? By the adjusted value: the least of p_j m / rank(j) over the p_j that are no smaller.
 */
static bool is_kept(int64_t count, const double *p, int64_t i) {
    double adjusted = INFINITY;
    int64_t known = 0;
    for (int64_t j = 0; j < count; j++)
        known += !isnan(p[j]);
    for (int64_t j = 0; j < count; j++) {
        int64_t rank = 0;
        if (!(p[j] >= p[i]))
            continue;
        for (int64_t k = 0; k < count; k++)
            rank += p[k] <= p[j];
        adjusted = fmin(adjusted, p[j] * (double)known / (double)rank);
    }
    return adjusted <= 0.05 * (1 + 1e-12);
}

/* p-values of few draws have many ties. */
START_TEST(kept_by_definition) {
    int64_t some = 0, none = 0;
    for (uint32_t round = 0; round < 400; round++) {
        const szgi_stream stream = {.seed = test_seed(), .step = round, .purpose = 71};
        double p[MOST], sorted[MOST];
        int64_t count = 1 + round % MOST, kept = 0;
        szgi_random_fill_uniform(&stream, 0, count, p);
        for (int64_t i = 0; i < count; i++) {
            p[i] = i % 7 == 3 ? NAN : ceil(200 * pow(p[i], 1 + round % 5)) / 200;
            sorted[i] = p[i];
        }
        double limit = szgi_discoveries_limit(count, sorted);
        for (int64_t i = 0; i < count; i++) {
            kept += p[i] <= limit;
            ck_assert_msg(isnan(p[i]) || (p[i] <= limit) == is_kept(count, p, i),
                          "round %u: %g of %lld with limit %g", round, p[i], (long long)count,
                          limit);
        }
        some += kept > 0;
        none += kept == 0;
    }
    ck_assert(some > 50 && none > 50);
}
END_TEST

START_TEST(no_p_value) {
    double p[2] = {NAN, NAN};
    ck_assert(szgi_discoveries_limit(0, p) == -1);
    ck_assert(szgi_discoveries_limit(2, p) == -1);
}
END_TEST

TEST_FILE("discoveries") {
    test_add(suite, "kept_by_definition", kept_by_definition);
    test_add(suite, "no_p_value", no_p_value);
}
