/* A caller's own arrays of logits. */
#include <math.h>
#include <string.h>

#include <szego/contraction.h>

#include "suite.h"

static void hear_weights(void *user, szg_severity severity, const char *text) {
    *(bool *)user |= severity == SZG_WARNING && strstr(text, "content: every row is not negative");
}

/* A caller's arrays are looked at as dumps are. */
START_TEST(arrays_that_are_no_logits) {
    enum { M = 12 };
    bool warned = false;
    double a[M * M] = {0}, b[M * M] = {0};
    szg_contraction c;
    szg_context *context;
    const szg_context_options listening = {SZG_INIT(szg_context_options), .message = hear_weights,
                                           .user = &warned};
    const szg_matrix x = szg_matrix_dense(M, M, a, M), y = szg_matrix_dense(M, M, b, M);
    ck_szg_ok(szg_context_open(&listening, &context));
    for (int i = 0; i < M * M; i++) {
        a[i] = sin(i);
        b[i] = i % M > i / M ? -1e9 : cos(i);
    }
    ck_assert_int_eq(szg_contraction_compute(context, &x, &y, NULL, &c), SZG_EDATA);
    ck_assert_ptr_nonnull(
        strstr(szg_context_message(context), "coupled: row 0, column 1 is -1e+09"));
    ck_assert_int_eq(szg_contraction_compute(context, &y, &x, NULL, &c), SZG_EDATA);
    ck_assert_ptr_nonnull(strstr(szg_context_message(context), "content: row 0, column 1"));
    for (int i = 0; i < M * M; i++)
        b[i] = i % M > i / M ? 0 : cos(i);
    ck_szg_ok(szg_contraction_compute(context, &x, &y, NULL, &c));
    szg_contraction_close(&c);
    ck_assert(!warned);
    for (int i = 0; i < M * M; i++)
        a[i] = 1.0 / M;
    ck_szg_ok(szg_contraction_compute(context, &x, &y, NULL, &c));
    szg_contraction_close(&c);
    ck_assert(warned);
    szg_context_close(&context);
}
END_TEST

TEST_FILE("arrays") {
    test_add(suite, "arrays_that_are_no_logits", arrays_that_are_no_logits);
}
