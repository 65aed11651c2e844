/* Divide and conquer for random lags: far poles by interpolation, noise in the ranks, the choice of
 * the cheaper way, and the account of what was left out. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "spectra_support.h"
#include "spectra/dc/dc.h"
#include "spectra/dc/far.h"
#include "spectra/dc/kernels.h"
#include "spectra/dc/tree.h"
#include "spectra/dc/update.h"

static double *numbers(int64_t count) {
    double *block = NULL;
    ck_szg_ok(szgi_memory_alloc(test_context(), count, &block));
    return block;
}

/* ---- Interpolation ---- */

START_TEST(nodes_give_what_lies_two_radii_away) {
    enum { PLACES = SZGI_DC_PLACES, NODES = SZGI_DC_NODES };
    static const double poles[] = {2, -2, 2.5, -7, 1e6};
    double f[4 * NODES], places[PLACES], out[4 * PLACES], alone[4];
    for (size_t p = 0; p < sizeof poles / sizeof *poles; p++) {
        for (int q = 0; q < NODES; q++) {
            double kernel = 1 / (poles[p] - szgi_dc_nodes[q]);
            f[q] = kernel, f[NODES + q] = kernel * kernel, f[2 * NODES + q] = 1,
            f[3 * NODES + q] = 0;
        }
        for (int r = 0; r < PLACES; r++) /* both ends, two nodes, places between */
            places[r] = r < 2 ? 1 - 2 * r : r < 4 ? szgi_dc_nodes[9 * r] : cos(1 + 1.7 * r);
        memset(out, 0, sizeof out);
        szgi_dc_interpolate_rows(places, 4, f, out);
        for (int r = 0; r < PLACES; r++) {
            szgi_dc_interpolate(places[r], f, alone);
            double kernel = 1 / (poles[p] - places[r]);
            /* The barycentric formula is stable: a few roundings for each of the nodes, times a
             * Lebesgue constant below 3.2 and a ratio of values of at most 9. */
            double bound = 3.2 * 9 * NODES * DBL_EPSILON;
            for (int c = 0; c < 4; c++) {
                double want = c == 0 ? kernel : c == 1 ? kernel * kernel : c == 2 ? 1 : 0;
                ck_close(out[c * PLACES + r], want, bound * fabs(want));
                ck_close(alone[c], want, bound * fabs(want));
            }
        }
    }
}
END_TEST

/* Poles that make far ones: uniform, geometric, in clusters, near a square root's edge. */
static double pole_at(int kind, int64_t n, int64_t i) {
    double x = (double)i / (double)n;
    switch (kind) {
    case 0:
        return x;
    case 1:
        return pow(1e-9, 1 - x);
    case 2:
        return floor(8 * x) / 8 + 1e-7 * x;
    default:
        return x * x - 1;
    }
}
enum { KINDS = 4 };

/* The blocks hold every root once, and poles outside their reach are two radii away. */
static void check_plan(int64_t n, const double *d, const szgi_dc_plan *plan, int64_t *with_far) {
    int64_t next = 0;
    *with_far = 0;
    for (int64_t b = 0; b < plan->count; b++) {
        const szgi_dc_block *block = &plan->blocks[b];
        ck_assert_int_eq(block->first, next);
        next += block->count;
        for (int64_t i = 0; i < n; i++) {
            bool near = i >= block->low && i < block->high;
            bool own = i >= block->first && i < block->first + block->count;
            ck_assert(near || !own);
            ck_assert(near || fabs(d[i] - block->centre) >= 2 * block->radius);
            ck_assert(!own || fabs(d[i] - block->centre) <= block->radius);
        }
        *with_far += szgi_dc_has_far(block, n);
    }
    ck_assert_int_eq(next, n);
}

START_TEST(blocks_hold_every_root_and_far_poles_are_far) {
    for (int kind = 0; kind < KINDS; kind++) {
        for (int64_t n = 1; n <= 3000; n = n * 3 + 1) {
            double *d = numbers(n);
            for (int64_t i = 0; i < n; i++)
                d[i] = pole_at(kind, n, i);
            szgi_dc_plan plan;
            int64_t with_far;
            ck_szg_ok(szgi_dc_plan_open(test_context(), n, d, 0.1, 3, &plan));
            check_plan(n, d, &plan, &with_far);
            ck_assert(n < 1000 || with_far > plan.count / 2);
            szgi_dc_plan_close(&plan);
            szgi_memory_free(d);
        }
    }
}
END_TEST

/* ---- Ranks ---- */

/* A quarter of the rows has one neighbour, an eighth in the middle two. So its rank is the lower
 * one, unless noise fills it, which grows with the rows. */
START_TEST(noise_does_not_fill_the_bases) {
    int64_t n = 4096;
    double *lags = numbers(n), mean[2] = {0, 0};
    szgi_stream stream = {.seed = test_seed(), .purpose = 34};
    for (int64_t k = 0; k < n; k++)
        lags[k] = szgi_random_normal(&stream, (uint64_t)k);
    szgi_dc_halves halves;
    szgi_dc_tree tree;
    ck_szg_ok(szgi_dc_halves_open(test_context(), n, lags, &halves));
    ck_szg_ok(szgi_dc_tree_open(test_context(), &halves, 64, 160, 3e-15 * halves.norm, &tree));
    ck_assert(!tree.too_high);
    for (int half = 0; half < 2; half++)
        for (int64_t i = 2; i < 8; i++)
            mean[i >= 4] += (double)tree.node[half][i].rank / (i >= 4 ? 8 : 4);
    ck_assert_msg(mean[0] < mean[1] && mean[1] < 100, "ranks %g, %g", mean[0], mean[1]);
    /* The root has no basis: it drops the first term below the tolerance, and nothing else. */
    ck_szg_ok(szgi_dc_tree_split(test_context(), &tree));
    for (int half = 0; half < 2; half++) {
        const szgi_dc_node *root = &tree.node[half][1];
        ck_assert(root->updates > 0 && root->updates < root[1].rank);
        ck_assert(root->dropped > 0 && root->dropped <= tree.tolerance);
    }
    szgi_dc_tree_close(&tree);
    szgi_dc_halves_close(&halves);
    szgi_memory_free(lags);
}
END_TEST

/* ---- Rank-one updates ---- */

typedef struct update_case {
    int64_t n;
    double *d0, *z0, *d, *z, *q, dropped;
} update_case;

static update_case solve_update(int kind, int64_t n, double tolerance) {
    update_case u = {n, numbers(n), numbers(n), numbers(n), numbers(n), numbers(n * n), 0};
    szgi_stream stream = {.seed = test_seed(), .step = (uint32_t)kind, .purpose = 31};
    for (int64_t i = 0; i < n; i++) {
        u.d0[i] = u.d[i] = pole_at(kind, n, i);
        u.z0[i] = u.z[i] = szgi_random_normal(&stream, (uint64_t)i) / sqrt((double)n);
        u.q[i * n + i] = 1;
    }
    ck_szg_ok(szgi_dc_rank_one(test_context(), n, tolerance, u.d, u.z, n < 160 ? n : 160, u.q, n,
                               &u.dropped));
    return u;
}

static void close_update(update_case *u) {
    szgi_memory_free(u->d0);
    szgi_memory_free(u->z0);
    szgi_memory_free(u->d);
    szgi_memory_free(u->z);
    szgi_memory_free(u->q);
}

/* Rows x = e_c become Q^T e_c: they must be orthonormal, and rebuild their part of the matrix. Both
 * as check_rank_one of test_dc.c bounds them. */
START_TEST(far_poles_keep_rows_orthonormal) {
    for (int kind = 0; kind < KINDS; kind++) {
        int64_t n = 900, rows = 160;
        update_case u = solve_update(kind, n, 2 * DBL_EPSILON);
        double bound = 16 * DBL_EPSILON * (double)n;
        for (int64_t i = 0; i < rows; i++) {
            for (int64_t j = 0; j <= i; j++) {
                double inner = 0, rebuilt = 0;
                for (int64_t k = 0; k < n; k++) {
                    inner += u.q[i * n + k] * u.q[j * n + k];
                    rebuilt += u.q[i * n + k] * u.d[k] * u.q[j * n + k];
                }
                ck_close(inner, i == j, bound);
                ck_close(rebuilt, (i == j ? u.d0[i] : 0) + u.z0[i] * u.z0[j], bound);
            }
        }
        close_update(&u);
    }
}
END_TEST

/* A coarse tolerance leaves much out: D + z z^T - Q diag(d) Q^T has a norm of at most `dropped`,
 * and `dropped` is not idle either. */
START_TEST(dropped_bounds_what_deflation_removed) {
    for (int kind = 0; kind < KINDS; kind++) {
        int64_t n = 120;
        update_case u = solve_update(kind, n, 3e-3);
        double *error = numbers(n * n), *w = numbers(n), rounding = 16 * DBL_EPSILON * (double)n;
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++) {
                double sum = (i == j ? u.d0[i] : 0) + u.z0[i] * u.z0[j];
                for (int64_t k = 0; k < n; k++)
                    sum -= u.q[i * n + k] * u.d[k] * u.q[j * n + k];
                error[i * n + j] = sum;
            }
        }
        ck_szg_ok(szgi_eigen_symmetric(test_context(), n, error, n, w, false));
        double norm = fmax(-w[0], w[n - 1]);
        ck_assert_msg(norm <= u.dropped + (double)n * rounding, "kind %d: %g above %g", kind, norm,
                      u.dropped);
        ck_assert(norm > rounding);
        /* Each term is at most the tolerance: 2 sqrt(n) of it by rotations, as much by parts of z.
         */
        ck_assert(u.dropped <= 4 * 3e-3 * sqrt((double)n));
        szgi_memory_free(w);
        szgi_memory_free(error);
        close_update(&u);
    }
}
END_TEST

/* ---- Whole answers ---- */

typedef double lag_fn(const szgi_stream *stream, int64_t k);
static double gaussian(const szgi_stream *stream, int64_t k) {
    return szgi_random_normal(stream, (uint64_t)k);
}
static double signs(const szgi_stream *stream, int64_t k) { /* repeated lags */
    return (double)(szgi_random_word(stream, (uint64_t)k) % 3) - 1;
}
static double clustered(const szgi_stream *stream, int64_t k) { /* every eigenvalue near 1 */
    return (k == 0) + 1e-10 * gaussian(stream, k);
}
static double nearly_diagonal(const szgi_stream *stream, int64_t k) {
    return (k == 0) + (k == 1 ? 0.3 : 0) + 1e-15 * gaussian(stream, k);
}
static double repeating(const szgi_stream *stream, int64_t k) { /* a period: many zeros */
    return gaussian(stream, k % 7);
}
static double tiny(const szgi_stream *stream, int64_t k) {
    return ldexp(gaussian(stream, k), -990);
}
static double huge(const szgi_stream *stream, int64_t k) {
    return ldexp(gaussian(stream, k), 990);
}
static double decaying(const szgi_stream *stream, int64_t k) {
    return gaussian(stream, k) / (1 + (double)k);
}
static double growing(const szgi_stream *stream, int64_t k) {
    return gaussian(stream, k) * pow(1.05, (double)k);
}
/* The growing ones may be refused: where the last lags outweigh the first, the pivots of Durbin's
 * recursion, which counts eigenvalues, lose their digits. */
static const struct {
    const char *name;
    lag_fn *at;
    bool may_refuse;
} random_lags[] = {{"Gaussian", gaussian, false},   {"signs", signs, false},
                   {"clustered", clustered, false}, {"nearly diagonal", nearly_diagonal, false},
                   {"repeating", repeating, false}, {"tiny", tiny, false},
                   {"huge", huge, false},           {"decaying", decaying, false},
                   {"growing", growing, true}};
enum { RANDOM_LAGS = sizeof random_lags / sizeof *random_lags };

static double *draw(int which, int64_t n) {
    double *lags = numbers(n);
    szgi_stream stream = {.seed = test_seed(), .step = (uint32_t)which, .purpose = 32};
    for (int64_t k = 0; k < n; k++)
        lags[k] = random_lags[which].at(&stream, k);
    return lags;
}

/* NULL: refused. */
static double *divide(int which, int64_t n, const double *lags, double *dropped) {
    double *w = numbers(n);
    bool applicable;
    ck_szg_ok(szgi_dc_lags(test_context(), n, lags, 64, 160, w, &applicable, dropped));
    ck_assert_msg(applicable || random_lags[which].may_refuse, "%s, n %lld refused",
                  random_lags[which].name, (long long)n);
    if (!applicable) {
        szgi_memory_free(w);
        w = NULL;
    }
    return w;
}

/* LAPACK's error is a modest multiple of sqrt(n) eps ||T|| in practice; ours is at most what it
 * left out and as much again in rounding. The norm is scaled against overflow of the squares. */
START_TEST(random_lags_agree_with_lapack) {
    int64_t n = 700;
    for (int which = 0; which < RANDOM_LAGS; which++) {
        double *lags = draw(which, n), dropped, *w = divide(which, n, lags, &dropped);
        if (!w) {
            szgi_memory_free(lags);
            continue;
        }
        double *a = numbers(n * n), *want = numbers(n);
        for (int64_t i = 0; i < n * n; i++) {
            int64_t k = i / n - i % n;
            a[i] = lags[k < 0 ? -k : k];
        }
        ck_szg_ok(szgi_eigen_symmetric(test_context(), n, a, n, want, false));
        double norm = fmax(fabs(want[0]), fabs(want[n - 1]));
        ck_assert_msg(dropped > 0 && dropped <= 1e-12, "%s: %g", random_lags[which].name, dropped);
        for (int64_t i = 0; i < n; i++)
            ck_close(w[i], want[i], (dropped + 32 * sqrt((double)n) * DBL_EPSILON) * norm);
        szgi_memory_free(want);
        szgi_memory_free(a);
        szgi_memory_free(w);
        szgi_memory_free(lags);
    }
}
END_TEST

/* Trace and norm, and Cauchy's interlacing with the leading block, which is Toeplitz too: nothing
 * of LAPACK's. 1e-14 of the norm is the error promised of each value. */
START_TEST(random_lags_keep_trace_norm_and_interlacing) {
    int64_t n = 1301;
    double *lags = draw(0, n), dropped, *w = divide(0, n, lags, &dropped);
    double *inner = divide(0, n - 1, lags, &dropped);
    long double sum = 0, squares = 0, frobenius = (long double)n * lags[0] * lags[0];
    for (int64_t k = 1; k < n; k++)
        frobenius += 2 * (long double)(n - k) * lags[k] * lags[k];
    for (int64_t i = 0; i < n; i++) {
        sum += w[i];
        squares += (long double)w[i] * w[i];
    }
    double norm = fmax(-w[0], w[n - 1]), bound = 1e-14 * norm;
    ck_close((double)sum, (double)n * lags[0], sqrt((double)n) * bound);
    ck_close((double)squares, (double)frobenius, 2 * norm * sqrt((double)n) * bound);
    for (int64_t i = 0; i + 1 < n; i++) {
        ck_assert(w[i] <= inner[i] + 2 * bound);
        ck_assert(inner[i] <= w[i + 1] + 2 * bound);
    }
    szgi_memory_free(inner);
    szgi_memory_free(w);
    szgi_memory_free(lags);
}
END_TEST

/* ---- The choice ---- */

static double smooth(const szgi_stream *stream, int64_t k) {
    (void)stream;
    return 1 / (1 + (double)k * (double)k);
}
static double kms(const szgi_stream *stream, int64_t k) {
    (void)stream;
    return pow(0.9, (double)k);
}

/* Which way measurements found faster, beyond doubt (docs/explanation/methods.md): the prediction
 * must find it too, by the factor given, and the solver must follow the prediction. */
static const struct {
    lag_fn *at;
    int64_t n;
    bool divide;
    double factor;
} choices[] = {
    {gaussian, 1024, false, 1.5}, {gaussian, 2048, false, 1.2}, {gaussian, 8192, true, 1.1},
    {gaussian, 16384, true, 2},   {gaussian, 32768, true, 4},   {smooth, 2048, true, 1.5},
    {smooth, 4096, true, 5},      {smooth, 16384, true, 20},    {kms, 1024, true, 1.2},
    {decaying, 1024, false, 1.3}, {decaying, 16384, true, 2}};

static void check_followed(int64_t n, const double *lags, const szgi_dc_choice *choice) {
    szg_toeplitz *t = NULL;
    double *w = numbers(n), dropped;
    bool applicable;
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), n, n, lags, &t));
    ck_szg_ok(szgi_dc_eigenvalues(test_context(), t, w, &applicable, &dropped));
    ck_assert(applicable == (choice->divide < choice->halves));
    szg_toeplitz_close(&t);
    szgi_memory_free(w);
}

START_TEST(the_cheaper_way_is_taken) {
    for (size_t c = 0; c < sizeof choices / sizeof *choices; c++) {
        int64_t n = choices[c].n;
        double *lags = numbers(n);
        szgi_stream stream = {.seed = test_seed(), .step = (uint32_t)c, .purpose = 33};
        for (int64_t k = 0; k < n; k++)
            lags[k] = choices[c].at(&stream, k);
        szgi_dc_choice choice;
        ck_szg_ok(szgi_dc_choose(test_context(), n, lags, &choice));
        double better = choices[c].divide ? choice.divide : choice.halves;
        double worse = choices[c].divide ? choice.halves : choice.divide;
        ck_assert_msg(worse >= choices[c].factor * better, "case %zu: %g s, not %g", c, better,
                      worse);
        if (n <= 2048)
            check_followed(n, lags, &choice);
        szgi_memory_free(lags);
    }
}
END_TEST

TEST_FILE("dc_random") {
    test_before_each(use_tested_backend);
    test_add(suite, "nodes_give_what_lies_two_radii_away", nodes_give_what_lies_two_radii_away);
    test_add(suite, "blocks_hold_every_root_and_far_poles_are_far",
             blocks_hold_every_root_and_far_poles_are_far);
    test_add(suite, "noise_does_not_fill_the_bases", noise_does_not_fill_the_bases);
    test_add(suite, "far_poles_keep_rows_orthonormal", far_poles_keep_rows_orthonormal);
    test_add(suite, "dropped_bounds_what_deflation_removed", dropped_bounds_what_deflation_removed);
    test_add(suite, "random_lags_agree_with_lapack", random_lags_agree_with_lapack);
    test_add(suite, "random_lags_keep_trace_norm_and_interlacing",
             random_lags_keep_trace_norm_and_interlacing);
    test_add(suite, "the_cheaper_way_is_taken", the_cheaper_way_is_taken);
}
