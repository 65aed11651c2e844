/* Arrays that are no logits: masks of finite numbers, and attention weights, after dropout too. */
#include <math.h>
#include <string.h>

#include <szego/statistics.h>
#include "base/random.h"
#include "coupling/look.h"

#include "suite.h"

enum { N = 32 };

static char heard[1024];

static void hear(void *user, szg_severity severity, const char *text) {
    (void)user;
    if (severity == SZG_WARNING)
        snprintf(heard, sizeof heard, "%s", text);
}

static double uniform(uint64_t purpose, int at) {
    const szgi_stream stream = {.seed = test_seed(), .purpose = purpose};
    return szgi_random_uniform(&stream, (uint64_t)at);
}

/* Weights of a softmax over random logits, rounded to 32 bits; a share p of them is dropped. */
static void draw_weights(double p, bool causal, double *a) {
    for (int i = 0; i < N; i++) {
        int columns = causal ? i + 1 : N;
        double sum = 0;
        for (int j = 0; j < N; j++)
            a[i * N + j] = j < columns ? exp(4 * uniform(85, i * N + j)) : 0;
        for (int j = 0; j < columns; j++)
            sum += a[i * N + j];
        for (int j = 0; j < columns; j++) {
            bool dropped = uniform(86, i * N + j) < p;
            a[i * N + j] = dropped ? 0 : (float)(a[i * N + j] / sum / (1 - p));
        }
    }
}

START_TEST(weights_after_dropout) {
    static const double shares[] = {0, 0.05, 0.1, 0.2, 0.5};
    double a[N * N] = {0};
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++)
        for (int causal = 0; causal < 2; causal++) {
            draw_weights(shares[s], causal, a);
            const char *said = szgi_logits_weights(N, a, N, false);
            ck_assert_msg(said, "%g, %d", shares[s], causal);
            ck_assert_ptr_nonnull(strstr(said, s ? "dropout" : "sums to 1"));
            ck_assert_ptr_nonnull(szgi_logits_weights(N, a, N, causal));
            a[5 * N] -= 2; /* one number is negative */
            ck_assert_ptr_null(szgi_logits_weights(N, a, N, false));
        }
}
END_TEST

/* Not negative, with exact zeros, and no weights. */
START_TEST(numbers_that_are_no_weights) {
    double a[N * N] = {0};
    for (int which = 0; which < 7; which++) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double u = uniform(87, i * N + j), lag = i - j, *x = &a[i * N + j];
                *x = which == 0   ? fmax(0, u - 0.5) /* rows sum to 4 */
                     : which == 1 ? exp(-lag * lag)  /* 1.77 */
                     : which == 2 ? 2 * (i == j)
                     : which == 3 ? 0
                     : which == 4 ? u / (N / 2) * 0.8  /* no zeros */
                     : which == 5 ? (i == 0) * u       /* in the mean, but of one row */
                                  : (j < i) * 1.9 / N; /* rows of all sums */
            }
        ck_assert_msg(!szgi_logits_weights(N, a, N, false), "%d", which);
    }
}
END_TEST

START_TEST(statistics_of_arrays) {
    const szg_context_options listening = {SZG_INIT(szg_context_options), .message = hear};
    szg_context *context;
    double a[N * N] = {0};
    szg_statistics s;
    const szg_matrix matrix = szg_matrix_dense(N, N, a, N);
    ck_szg_ok(szg_context_open(&listening, &context));
    draw_weights(0.1, true, a);
    heard[0] = 0;
    ck_szg_ok(szg_statistics_compute(context, &matrix, NULL, &s));
    ck_assert_ptr_nonnull(strstr(heard, "logits: no number is negative"));
    for (int i = 0; i < N * N; i++)
        a[i] = i % N > i / N ? -1e9 : 3 * uniform(88, i) - 1;
    heard[0] = 0;
    ck_assert_int_eq(szg_statistics_compute(context, &matrix, NULL, &s), SZG_EDATA);
    ck_assert_ptr_nonnull(strstr(szg_context_message(context), "row 0, column 1 is -1e+09"));
    ck_assert_ptr_nonnull(strstr(szg_context_message(context), "`causal`"));
    const szg_statistics_options causal = {SZG_INIT(szg_statistics_options), .causal = true};
    ck_szg_ok(szg_statistics_compute(context, &matrix, &causal, &s));
    ck_assert(s.smallest >= -1);
    ck_assert_str_eq(heard, "");
    szg_context_close(&context);
}
END_TEST

TEST_FILE("look") {
    test_add(suite, "weights_after_dropout", weights_after_dropout);
    test_add(suite, "numbers_that_are_no_weights", numbers_that_are_no_weights);
    test_add(suite, "statistics_of_arrays", statistics_of_arrays);
}
