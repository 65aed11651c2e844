/* Folded norms and bounds on the largest logit: closed forms, what is refused, and the spectral
 * norms from above that they rest on. Every family against transformers: test_families.c. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint/bound_kernels.h"
#include "checkpoint/bound_lags.h"
#include "checkpoint/bound_lanes.h"
#include "checkpoint/bound_norm.h"
#include "linalg/linalg.h"
#include "gguf_file.h"
#include "model.h"

/* ---- Spectral norms from above ---- */

static double *draw_rows(int64_t rows, int64_t columns, uint32_t purpose, double size) {
    szgi_stream stream = {.seed = test_seed(), .purpose = purpose};
    double *out = calloc((size_t)(rows * columns), sizeof *out);
    ck_assert_ptr_nonnull(out);
    for (int64_t i = 0; i < rows * columns; i++)
        out[i] = size * szgi_random_normal(&stream, (uint64_t)i);
    return out;
}

/* sigma_1 of an m x n matrix by the SVD, which destroys it. */
static double largest_singular(int64_t m, int64_t n, double *a) {
    double *values = calloc((size_t)(m < n ? m : n), sizeof *values);
    ck_szg_ok(szgi_singular(test_context(), m, n, a, n, values, NULL, 1, NULL, 1));
    double out = values[0];
    free(values);
    free(a);
    return out;
}

static double *copy_of(int64_t count, const double *x) {
    double *out = calloc((size_t)count, sizeof *out);
    memcpy(out, x, (size_t)count * sizeof *out);
    return out;
}

/* What the SVD of an n-sided matrix may be off by, relative: c(n) eps, c at most 8 n. */
static double svd_error(int64_t n) {
    return 8 * (double)n * DBL_EPSILON;
}

START_TEST(norms_are_above_and_close) {
    static const struct {
        int64_t e, da, db;
        double size_a, size_b;
        bool singular; /* rows 0 and 1 of A are the same, and B is orthogonal to the rest */
    } cases[] = {{8, 40, 40, 1, 1, false},          {1, 5, 3, 1, 1, false},
                 {16, 4, 9, 1, 1, false},           {32, 64, 64, 1e-20, 1e25, false},
                 {12, 30, 30, 1, 1, true},          {4, 6, 6, 0, 1, false},
                 {24, 24, 100, 1e-60, 1e-60, false}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int64_t e = cases[c].e, da = cases[c].da, db = cases[c].db;
        double *a = draw_rows(e, da, 700 + (uint32_t)c, cases[c].size_a);
        double *b = draw_rows(e, db, 800 + (uint32_t)c, cases[c].size_b);
        for (int64_t j = 0; j < da && cases[c].singular; j++)
            a[da + j] = a[j];
        double *room = calloc((size_t)(2 * e * e), sizeof *room), got;
        szgi_gram ga = {.value = room}, gb = {.value = room + e * e};
        ck_szg_ok(szgi_gram_make(test_context(), e, da, a, 0, 0, &ga));
        ck_szg_ok(szgi_gram_make(test_context(), e, db, b, 0, 0, &gb));
        ck_szg_ok(szgi_gram_product(test_context(), &ga, &gb, &got));
        double *product = calloc((size_t)(da * db), sizeof *product);
        for (int64_t i = 0; i < da; i++)
            for (int64_t j = 0; j < db; j++)
                for (int64_t r = 0; r < e; r++)
                    product[i * db + j] += a[r * da + i] * b[r * db + j];
        double sa = largest_singular(e, da, copy_of(e * da, a)),
               sb = largest_singular(e, db, copy_of(e * db, b)),
               sp = largest_singular(da, db, product);
        double low = 1 - svd_error(e + da + db);
        ck_assert_msg(ga.spectral >= sa * low && gb.spectral >= sb * low && got >= sp * low,
                      "case %zu: %.17g, %.17g and %.17g are above %.17g, %.17g and %.17g", c,
                      ga.spectral, gb.spectral, got, sa, sb, sp);
        /* Gram matrices double exponents: what rounding adds is sqrt(e d eps) of the product of
         * norms at most, and 1e-10 relative where the norm is not far below it. */
        double spare = 1e-10 * fmax(1, sa * sb / fmax(sp, DBL_MIN));
        ck_assert_msg(ga.spectral <= sa * (1 + 1e-10) + 1e-140 &&
                          gb.spectral <= sb * (1 + 1e-10) + 1e-140,
                      "case %zu: %.17g and %.17g are close to %.17g and %.17g", c, ga.spectral,
                      gb.spectral, sa, sb);
        ck_assert_msg(got <= sp * (1 + spare) + 1e-120, "case %zu: %.17g is close to %.17g", c, got,
                      sp);
        free(room);
        free(a);
        free(b);
    }
}
END_TEST

/* A solver that answers too little is caught: the eigenvalue is proved, not believed. */
START_TEST(an_eigenvalue_above_is_proved) {
    for (int64_t n = 1; n <= 40; n += 13) {
        double *rows = draw_rows(n, n + 5, 900 + (uint32_t)n, 1);
        double *g = calloc((size_t)(n * n), sizeof *g), out;
        ck_szg_ok(
            szgi_gemm(test_context(), 'n', 't', n, n, n + 5, 1, rows, n + 5, rows, n + 5, 0, g, n));
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < i; j++)
                g[j * n + i] = g[i * n + j];
        double top = largest_singular(n, n, copy_of(n * n, g));
        ck_szg_ok(szgi_eigenvalue_above(test_context(), n, g, &out));
        ck_assert_msg(out >= top * (1 - svd_error(2 * n)) && out <= top * (1 + 1e-10),
                      "n = %lld: %.17g for %.17g", (long long)n, out, top);
        free(rows);
        free(g);
    }
}
END_TEST

/* ---- The maximum over lags ---- */

/* U^T U is the matrix, and a matrix with a negative eigenvalue has no such U. */
START_TEST(cholesky_of_every_size) {
    for (int64_t n = 1; n <= 40; n++) {
        double *rows = draw_rows(n, n + 2, 950 + (uint32_t)n, 1);
        double *g = calloc((size_t)(2 * n * n), sizeof *g), *u = g + n * n;
        for (int64_t i = 0; i < n * n; i++)
            for (int64_t r = 0; r < n + 2; r++)
                g[i] += rows[i / n * (n + 2) + r] * rows[i % n * (n + 2) + r];
        memcpy(u, g, (size_t)(n * n) * sizeof *g);
        ck_assert(szgi_cholesky_upper(n, u));
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i; j < n; j++) {
                double sum = 0;
                for (int64_t k = 0; k <= i; k++)
                    sum += u[k * n + i] * u[k * n + j];
                /* Higham 2002, theorem 10.3, and the sums here */
                double off = 2 * (double)(n + 2) * DBL_EPSILON * sqrt(g[i * n + i] * g[j * n + j]);
                ck_assert_msg(fabs(sum - g[i * n + j]) <= off, "n = %lld, (%lld, %lld): %.17g",
                              (long long)n, (long long)i, (long long)j, sum - g[i * n + j]);
            }
        double least = largest_singular(n, n, copy_of(n * n, g)); /* above the least eigenvalue */
        memcpy(u, g, (size_t)(n * n) * sizeof *g);
        for (int64_t i = 0; i < n; i++)
            u[i * (n + 1)] -= 1.01 * least;
        ck_assert(!szgi_cholesky_upper(n, u));
        free(rows);
        free(g);
    }
}
END_TEST

/* Eight lags at once against one after another: P shrinks from where each has a factor to where
 * none has. A lane within rounding of its limit has a chance of 1e-11. */
static void check_lanes(int64_t n, int64_t pairs, int *mixed) {
    enum { LANES = SZGI_LAG_LANES };
    double *h = draw_rows(n, n + 8, 1300 + (uint32_t)n, 1),
           *k = draw_rows(n, n + 8, 1400 + (uint32_t)n, 1),
           *p = calloc((size_t)(2 * n * n), sizeof *p), *q = p + n * n,
           *t = calloc((size_t)(n * n + 2 * n), sizeof *t), *c = t + n * n, *s = c + n, *room;
    ck_szg_ok(szgi_memory_alloc(test_context(), szgi_lanes_room(n) + 2 * LANES * n, &room));
    double *cosines = room + szgi_lanes_room(n), *sines = cosines + LANES * pairs;
    ck_szg_ok(szgi_gemm(test_context(), 'n', 't', n, n, n + 8, 1, k, n + 8, k, n + 8, 0, q, n));
    for (int64_t i = 0; i < LANES * pairs; i++) {
        cosines[i] = cos(7.0 * (double)(i * i));
        sines[i] = sin(7.0 * (double)(i * i));
    }
    unsigned wanted = 1;
    for (double factor = 1e3; wanted; factor *= 0.97) {
        ck_szg_ok(
            szgi_gemm(test_context(), 'n', 't', n, n, n + 8, factor, h, n + 8, h, n + 8, 0, p, n));
        wanted = 0;
        for (unsigned lane = 0; lane < LANES; lane++) {
            for (int64_t i = 0; i < pairs; i++) {
                c[i] = cosines[i * LANES + lane];
                s[i] = sines[i * LANES + lane];
            }
            szgi_rotated_rest(n, pairs, c, s, p, q, t);
            wanted |= szgi_cholesky_upper(n, t) ? 1U << lane : 0;
        }
        *mixed += wanted && wanted != ~(~0U << LANES);
        unsigned got = szgi_lanes_factored(n, pairs, cosines, sines, p, q, room);
        ck_assert_msg(got == wanted, "n = %lld, %lld pairs: lanes %x, one by one %x", (long long)n,
                      (long long)pairs, got, wanted);
    }
    p[0] = NAN;
    ck_assert_uint_eq(szgi_lanes_factored(n, pairs, cosines, sines, p, q, room), 0);
    szgi_memory_free(room);
    free(t);
    free(p);
    free(k);
    free(h);
}

START_TEST(lanes_against_one_by_one) {
    int mixed = 0;
    for (int64_t n = 1; n <= 24; n++)
        for (int64_t pairs = 0; pairs <= n / 2; pairs += n < 6 ? 1 : n / 2 - pairs > 3 ? 3 : 1)
            check_lanes(n, pairs, &mixed);
    check_lanes(64, 32, &mixed);
    check_lanes(67, 32, &mixed);
    ck_assert_int_gt(mixed, 100); /* the lanes were told apart */
}
END_TEST

typedef struct lag_case {
    int64_t e, d, offset, pairs, lags;
    szgi_pairing pairing;
    double size;  /* of the rows of A; those of B are over it */
    double decay; /* row i is e^(-decay i / e) times as large */
    double shift; /* length of what is added to queries, relative to the rows' largest product */
    bool both, equal_rows;
} lag_case;

/* R x of keys at a lag, by loops: query minus key is `lag`. */
static void turn_back(const szgi_rotary *rotary, int64_t columns, double lag, double *x) {
    bool half = rotary->pairing == SZGI_PAIRING_HALF;
    for (int64_t t = 0; t < rotary->pairs; t++) {
        double *a = x + (rotary->offset + (half ? t : 2 * t)) * columns;
        double *b = a + (half ? rotary->pairs : 1) * columns;
        double c = cos(lag * rotary->theta[t]), s = -sin(lag * rotary->theta[t]);
        for (int64_t j = 0; j < columns; j++) {
            double first = a[j];
            a[j] = c * first - s * b[j];
            b[j] = s * first + c * b[j];
        }
    }
}

/* max |(A n + b) . R B m| over unit n and m: of [A, b] with n' = (n, 1), by an ascent. */
static double ascend_shifted(int64_t e, int64_t d, const double *a, const double *shift,
                             const double *b) {
    double q[64], k[64], best = 0;
    for (int start = 0; start < 8; start++) {
        for (int64_t i = 0; i < e; i++)
            k[i] = sin((double)(7 * i + 3 * start + 1));
        for (int step = 0; step < 500; step++) {
            for (int side = 0; side < 2; side++) {
                const double *rows = side ? b : a, *other = side ? q : k;
                double *to = side ? k : q, length = 0, image[64];
                for (int64_t j = 0; j < d; j++) {
                    image[j] = 0;
                    for (int64_t i = 0; i < e; i++)
                        image[j] += rows[i * d + j] * other[i];
                    length += image[j] * image[j];
                }
                for (int64_t i = 0; i < e; i++) {
                    to[i] = side ? 0 : shift[i];
                    for (int64_t j = 0; j < d; j++)
                        to[i] += rows[i * d + j] * image[j] / sqrt(length);
                }
            }
            double sum = 0;
            for (int64_t i = 0; i < e; i++)
                sum += q[i] * k[i];
            best = fmax(best, fabs(sum));
        }
    }
    return best;
}

static double largest_at(const lag_case *own, const szgi_rotary *rotary, const double *a,
                         const double *shift, const double *b, double lag) {
    int64_t e = own->e, d = own->d;
    double *turned = copy_of(e * d, b), out;
    turn_back(rotary, d, lag, turned);
    if (own->shift > 0) {
        out = ascend_shifted(e, d, a, shift, turned);
    } else {
        double *product = calloc((size_t)(d * d), sizeof *product);
        for (int64_t i = 0; i < d * d; i++)
            for (int64_t r = 0; r < e; r++)
                product[i] += a[r * d + i / d] * turned[r * d + i % d];
        out = largest_singular(d, d, product);
    }
    free(turned);
    return out;
}

static void check_lags(size_t index, const lag_case *own) {
    int64_t e = own->e, d = own->d;
    double *a = draw_rows(e, d, 1000 + (uint32_t)index, own->size),
           *b = draw_rows(e, d, 1100 + (uint32_t)index, 1 / own->size),
           *shift = draw_rows(e, 1, 1200 + (uint32_t)index, own->size),
           *room = calloc((size_t)(2 * e * e), sizeof *room), theta[32], got, most = 0;
    for (int64_t i = 0; i < e * d; i++) {
        a[i] *= exp(-own->decay * (double)(i / d) / (double)e);
        b[i] *= exp(-own->decay * (double)((e - 1) - i / d) / (double)e);
        if (own->equal_rows)
            a[i] = a[i % d];
    }
    for (int64_t t = 0; t < own->pairs; t++)
        theta[t] = pow(100, -(double)t / (double)own->pairs);
    const szgi_rotary rotary = {.dim = e,
                                .offset = own->offset,
                                .pairs = own->pairs,
                                .theta = theta,
                                .pairing = own->pairing};
    szgi_gram ga = {.value = room}, gb = {.value = room + e * e};
    ck_szg_ok(szgi_gram_make(test_context(), e, d, a, 0, 0, &ga));
    ck_szg_ok(szgi_gram_make(test_context(), e, d, b, 0, 0, &gb));
    double length = 0;
    for (int64_t i = 0; i < e; i++)
        length += shift[i] * shift[i];
    for (int64_t i = 0; i < e; i++)
        shift[i] *= own->shift * ga.spectral / sqrt(length);
    double all = ga.spectral * (1 + own->shift) * gb.spectral * (1 + 1e-12);
    const szgi_lag_problem problem = {.q = {.gram = &ga, .root = 1, .shift = shift},
                                      .k = {.gram = &gb, .root = 1},
                                      .rotary = &rotary,
                                      .lags = own->lags,
                                      .both = own->both,
                                      .all = all};
    ck_szg_ok(szgi_bound_lags(test_context(), &problem, &got));
    for (int64_t lag = own->both ? 1 - own->lags : 0; lag < own->lags; lag++)
        most = fmax(most, largest_at(own, &rotary, a, shift, b, (double)lag));
    ck_assert_msg(got >= most * (1 - svd_error(e + 2 * d)) && got <= all,
                  "case %zu: %.17g is above %.17g and below %.17g", index, got, most, all);
    /* 0.5%, and what a ridge adds: at most 1e-4 of the trace over e to Q, which is singular where
     * rows are equal. A shift stands in an ellipsoid, which holds more than its queries. */
    double above = own->shift > 0 ? 1 + own->shift : own->equal_rows ? 1.01 : 1.0051;
    ck_assert_msg(got <= most * above, "case %zu: %.17g is close to %.17g", index, got, most);
    free(a);
    free(b);
    free(shift);
    free(room);
}

START_TEST(lags_against_the_svd) {
    static const lag_case cases[] = {
        {8, 24, 0, 4, 40, SZGI_PAIRING_HALF, 1, 0, 0, false, false},
        {8, 24, 0, 4, 40, SZGI_PAIRING_INTERLEAVED, 1e-40, 2, 0, false, false},
        {8, 24, 0, 4, 40, SZGI_PAIRING_INTERLEAVED, 1, 2, 0, true, false},
        {12, 20, 4, 4, 70, SZGI_PAIRING_HALF, 1e30, 3, 0, false, false},
        {12, 20, 0, 2, 70, SZGI_PAIRING_INTERLEAVED, 1, 3, 0, false, false},
        {2, 6, 0, 1, 1, SZGI_PAIRING_HALF, 1, 0, 0, false, false},
        {10, 4, 0, 5, 30, SZGI_PAIRING_HALF, 1, 0, 0, false, false},
        {8, 24, 2, 3, 30, SZGI_PAIRING_HALF, 1, 1, 0, true, true},
        {8, 24, 0, 4, 20, SZGI_PAIRING_HALF, 1, 1, 0.3, false, false},
        {8, 24, 0, 4, 20, SZGI_PAIRING_INTERLEAVED, 1, 2, 2, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_lags(i, &cases[i]);
}
END_TEST

/* One direction each: |a . R b| is |cos| of the angle between them, and only the last lag aligns
 * them. A shift alone (rows 1e-9 times as long) is seen too: it is all that a query has. */
START_TEST(the_last_lag_counts) {
    for (int negative = 0; negative < 2; negative++) {
        enum { LAGS = 4 }; /* half a radian each: the last but one is at cos 1/2 */
        double theta = 1.5 / (LAGS - 1), got, room[8] = {0}, rows[4] = {1e-9, 0, 0, 1e-9},
               shift[2] = {1, 0}, angle = negative ? -1.5 : 1.5;
        double other[4] = {cos(angle), 0, sin(angle), 0};
        const szgi_rotary rotary = {.dim = 2, .pairs = 1, .theta = &theta};
        szgi_gram a = {.value = room}, b = {.value = room + 4};
        ck_szg_ok(szgi_gram_make(test_context(), 2, 2, rows, 0, 0, &a));
        ck_szg_ok(szgi_gram_make(test_context(), 2, 2, other, 0, 0, &b));
        szgi_lag_problem problem = {.q = {.gram = &a, .root = 1, .shift = shift},
                                    .k = {.gram = &b, .root = 1},
                                    .rotary = &rotary,
                                    .lags = LAGS,
                                    .both = negative,
                                    .all = 1.01};
        /* Keys turn by -lag theta: from 1.5 to 0, or, with negative lags, from -1.5. */
        for (int fewer = 0; fewer < 2; fewer++) {
            problem.lags = LAGS - fewer;
            ck_szg_ok(szgi_bound_lags(test_context(), &problem, &got));
            double wanted = fewer ? cos(theta) : 1;
            ck_assert_msg(got >= wanted && got <= wanted * 1.006, "%lld lags: %.17g, not %.17g",
                          (long long)problem.lags, got, wanted);
        }
        problem.lags = 1;
        ck_szg_ok(szgi_bound_lags(test_context(), &problem, &got));
        ck_assert_msg(got >= cos(1.5) && got <= cos(1.5) * 1.006, "one lag: %.17g", got);
    }
}
END_TEST

/* ---- Closed forms ---- */

enum { D = 4 };

/* One layer of two heads of size 2, width 4, whose rows of W_Q and W_K are `q` and `k` times those
 * of the unit matrix, with an input norm of gains 1, 2, 1, 1/2. */
static void add_layer(test_model *model, double q, double k) {
    static const double gains[D] = {1, 2, 1, 0.5};
    model_tensor *query =
        model_add(model, SZGI_DTYPE_F32, D, D, "model.layers.0.self_attn.q_proj.weight");
    model_tensor *key =
        model_add(model, SZGI_DTYPE_F32, D, D, "model.layers.0.self_attn.k_proj.weight");
    model_tensor *norm =
        model_add(model, SZGI_DTYPE_F32, D, -1, "model.layers.0.input_layernorm.weight");
    for (int64_t i = 0; i < D; i++)
        for (int64_t j = 0; j < D; j++) {
            query->value[i * D + j] = i == j ? q : 0;
            key->value[i * D + j] = i == j ? k : 0;
        }
    memcpy(norm->value, gains, sizeof gains);
}

static void set_vector(test_model *model, int64_t count, const char *name, const double *value) {
    model_tensor *tensor = model_add(model, SZGI_DTYPE_F32, count, -1, "%s", name);
    memcpy(tensor->value, value, (size_t)count * sizeof *value);
}

#define SIZES                                                                                      \
    "\"hidden_size\": 4, \"num_hidden_layers\": 1, \"num_attention_heads\": 2, "                   \
    "\"num_key_value_heads\": 2, \"head_dim\": 2, "

typedef struct bound_case {
    const char *config;
    double q, k;
    const char *vector[2]; /* names of two more tensors */
    int64_t count;         /* of each */
    double value[2][D];
    double bound[2]; /* of each head; NaN: none */
    const char *kind, *folded, *note;
    int scale_free;
} bound_case;

#define ROPE "\"rope_theta\": 10000"
#define NORMS                                                                                      \
    { "model.layers.0.self_attn.q_norm.weight", "model.layers.0.self_attn.k_norm.weight" }

static void check_case(const bound_case *own) {
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    char config[512];
    model_open(&model);
    add_layer(&model, own->q, own->k);
    for (int i = 0; i < 2 && own->vector[i]; i++)
        set_vector(&model, own->count, own->vector[i], own->value[i]);
    snprintf(config, sizeof config, "{%s%s}", SIZES, own->config);
    model_write(&model, config);
    model_analyse(&model, &checkpoint, &tables);
    for (int64_t h = 0; h < 2; h++) {
        double bound = cell(tables.bounds, h, "bound");
        /* a hundred operations, and Gram matrices of 4 columns: 1e-12 is far above their rounding
         */
        ck_assert_msg(
            isnan(own->bound[h]) ? isnan(bound)
                                 : bound >= own->bound[h] && bound <= own->bound[h] * (1 + 1e-12),
            "%s, head %lld: %.17g, not %.17g", own->config, (long long)h, bound, own->bound[h]);
        ck_assert_str_eq(cell_text(tables.bounds, h, "bound_kind"), own->kind);
        ck_assert_msg(!own->note || strstr(cell_text(tables.bounds, h, "note"), own->note),
                      "%s: '%s'", own->config, cell_text(tables.bounds, h, "note"));
        int64_t row = find_row(tables.summary, 0, h, "qk");
        ck_assert_str_eq(cell_text(tables.summary, row, "folded"), own->folded);
        ck_assert_int_eq((int)cell(tables.summary, row, "scale_free"), own->scale_free);
    }
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}

/* d = 4, e = 2, scale 1/sqrt 2. Head 0 has the gains 1 and 2, head 1 has 1 and 1/2: with rotation
 * sigma_1(W_Q D) sigma_1(W_K D), 4 and 1 times q k. */
#define ROOT 0.70710678118654752440
static const bound_case bound_cases[] = {
    {.config = "\"model_type\": \"llama\", " ROPE,
     .q = 3,
     .k = 5,
     .bound = {4 * 4 * 15 * ROOT, 4 * 15 * ROOT},
     .kind = "input-norm",
     .folded = "input"},
    /* gains 1 + w: 2 and 3, 2 and 3/2 */
    {.config = "\"model_type\": \"gemma\", " ROPE,
     .q = 1,
     .k = 1,
     .bound = {4 * 9 * ROOT, 4 * 4 * ROOT},
     .kind = "input-norm",
     .folded = "input"},
    /* biases (1, 1): (sqrt d sigma_1 + sqrt 2)^2 */
    {.config = "\"model_type\": \"qwen2\", " ROPE,
     .q = 1,
     .k = 1,
     .vector = {"model.layers.0.self_attn.q_proj.bias", "model.layers.0.self_attn.k_proj.bias"},
     .count = 4,
     .value = {{1, 1, 1, 1}, {1, 1, 1, 1}},
     .bound = {(4 + 2 * ROOT) * (4 + 2 * ROOT) * ROOT, (2 + 2 * ROOT) * (2 + 2 * ROOT) * ROOT},
     .kind = "input-norm",
     .folded = "input"},
    /* queries and keys normalised: e max over the one pair, whatever W is */
    {.config = "\"model_type\": \"qwen3\", " ROPE,
     .q = 3,
     .k = 5,
     .vector = NORMS,
     .count = 2,
     .value = {{3, -1}, {0.5, -4}},
     .bound = {2 * 12 * ROOT, 2 * 12 * ROOT},
     .kind = "qk-norm",
     .folded = "input+qk",
     .scale_free = 1},
    /* over the full width of 2 heads each: sqrt(2 * 2) more */
    {.config = "\"model_type\": \"olmo2\", " ROPE,
     .q = 3,
     .k = 5,
     .vector = NORMS,
     .count = 4,
     .value = {{3, -1, 1, 1}, {0.5, -4, 2, 1}},
     .bound = {2 * 2 * 12 * ROOT, 2 * 2 * 2 * ROOT},
     .kind = "qk-norm",
     .folded = "qk",
     .scale_free = 1},
    /* no rotation: sigma_1 of the product, d max 4 q k, and a cap below it */
    {.config = "\"model_type\": \"smollm3\", \"no_rope_layers\": [0], " ROPE,
     .q = -3,
     .k = 5,
     .bound = {4 * 4 * 15 * ROOT, 4 * 15 * ROOT},
     .kind = "input-norm",
     .folded = "input"},
    {.config = "\"model_type\": \"gemma2\", \"query_pre_attn_scalar\": 2, "
               "\"attn_logit_softcapping\": 7, " ROPE,
     .q = 9,
     .k = 9,
     .bound = {7, 7},
     .kind = "soft-cap",
     .folded = "input"},
    {.config = "\"model_type\": \"olmo\", \"clip_qkv\": 0.5, " ROPE,
     .q = 1,
     .k = 1,
     .vector = {"unused.vector"},
     .count = 1,
     .bound = {2 * 0.25 * ROOT, 2 * 0.25 * ROOT},
     .kind = "clip",
     .folded = "input"},
    /* what Llama ignores bounds nothing */
    {.config = "\"model_type\": \"llama\", \"clip_qkv\": 0.5, \"attn_logit_softcapping\": 7, " ROPE,
     .q = -3,
     .k = 5,
     .bound = {4 * 4 * 15 * ROOT, 4 * 15 * ROOT},
     .kind = "input-norm",
     .folded = "input"},
    /* gains of queries or keys that are not there, or too few */
    {.config = "\"model_type\": \"qwen3\", " ROPE,
     .q = 1,
     .k = 1,
     .vector = NORMS,
     .count = 1,
     .value = {{3}, {0.5}},
     .bound = {NAN, NAN},
     .kind = "none",
     .folded = "input",
     .note = "gains of the norm of queries or keys are missing",
     .scale_free = 1},
    /* a bias of another size is no number of any dimension, and acts all the same */
    {.config = "\"model_type\": \"qwen2\", " ROPE,
     .q = 1,
     .k = 1,
     .vector = {"model.layers.0.self_attn.q_proj.bias"},
     .count = 3,
     .value = {{9, 9, 9}},
     .bound = {NAN, NAN},
     .kind = "none",
     .folded = "input",
     .note = "a bias of queries or keys has another size or type"},
    /* refused by name */
    {.config = "\"model_type\": \"exaone4\", \"layer_types\": [\"full_attention\"], "
               "\"sliding_window\": null, " ROPE,
     .q = 1,
     .k = 1,
     .bound = {NAN, NAN},
     .kind = "none",
     .folded = "none",
     .note = "neither the layer's input nor queries and keys"},
    {.config = "\"model_type\": \"ministral3\", \"rope_parameters\": {\"rope_type\": \"default\", "
               "\"rope_theta\": 10000, \"llama_4_scaling_beta\": 0.1, "
               "\"original_max_position_embeddings\": 16}",
     .q = 1,
     .k = 1,
     .bound = {NAN, NAN},
     .kind = "none",
     .folded = "input",
     .note = "queries grow with their position"},
    /* a shift beside an RMS norm is another norm: not folded */
    {.config = "\"model_type\": \"llama\", " ROPE,
     .q = 1,
     .k = 1,
     .vector = {"model.layers.0.input_layernorm.bias"},
     .count = 4,
     .value = {{1, 1, 1, 1}},
     .bound = {NAN, NAN},
     .kind = "none",
     .folded = "none",
     .note = "neither"},
};

START_TEST(closed_forms_and_refusals) {
    for (size_t i = 0; i < sizeof bound_cases / sizeof *bound_cases; i++)
        check_case(&bound_cases[i]);
}
END_TEST

/* sigma_1^2 of the rows a (e_0 - m) and b (e_1 - m), where m is the mean of all four e_j or 0. */
static double two_rows(double a, double b, bool centred) {
    double own = centred ? 0.75 : 1, other = centred ? 0.25 : 0;
    double p = own * a * a, q = own * b * b;
    return (p + q + hypot(p - q, 2 * other * a * b)) / 2;
}

/* The first case as a GGUF file, whose norm of Gemma holds 1 + w. Falcon's norm has a mean; of two
 * norms in front of a layer the second is that of the attention. */
START_TEST(gguf_files_have_the_same_bounds) {
    static const struct {
        const char *architecture, *norm;
        bool centred, decoy;
    } cases[] = {{"llama", "attn_norm", false, false},
                 {"gemma", "attn_norm", false, false},
                 {"falcon", "attn_norm", true, false},
                 {"falcon", "attn_norm_2", true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *architecture = cases[i].architecture;
        gguf_file file = {.version = 0};
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        char key[64];
        float w[D * D] = {0};
        const float gains[D] = {1, 2, 1, 0.5f}, others[D] = {9, 9, 9, 9};
        for (int j = 0; j < D; j++)
            w[j * (D + 1)] = 3;
        gguf_key_text(&file, "general.architecture", architecture);
        const struct {
            const char *name;
            uint32_t value;
        } sizes[] = {{"block_count", 1},          {"embedding_length", D},
                     {"attention.head_count", 2}, {"attention.head_count_kv", 2},
                     {"attention.key_length", 2}, {"context_length", 3}};
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            snprintf(key, sizeof key, "%s.%s", architecture, sizes[j].name);
            gguf_key_u32(&file, key, sizes[j].value);
        }
        snprintf(key, sizeof key, "%s.rope.freq_base", architecture);
        gguf_key_f32(&file, key, 10000);
        gguf_tensor(&file, "blk.0.attn_q.weight", 0, 2, (int64_t[]){D, D}, w, sizeof w);
        gguf_tensor(&file, "blk.0.attn_k.weight", 0, 2, (int64_t[]){D, D}, w, sizeof w);
        snprintf(key, sizeof key, "blk.0.%s.weight", cases[i].norm);
        gguf_tensor(&file, key, 0, 1, (int64_t[]){D}, gains, sizeof gains);
        if (cases[i].decoy)
            gguf_tensor(&file, "blk.0.attn_norm.weight", 0, 1, (int64_t[]){D}, others,
                        sizeof others);
        gguf_write(&file, scratch_path("bounds.gguf"));
        ck_szg_ok(
            szg_checkpoint_open(test_context(), scratch_path("bounds.gguf"), NULL, &checkpoint));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
        for (int64_t h = 0; h < 2; h++) {
            double wanted = 4 * ROOT * two_rows(3, h ? 1.5 : 6, cases[i].centred);
            double got = cell(tables.bounds, h, "bound");
            ck_assert_msg(got >= wanted && got <= wanted * (1 + 1e-12),
                          "%s, head %lld: %.17g, not %.17g", architecture, (long long)h, got,
                          wanted);
            ck_assert_str_eq(cell_text(tables.summary, h, "folded"), "input");
        }
        szg_checkpoint_tables_close(&tables);
        const szg_checkpoint_options trained = {SZG_INIT(szg_checkpoint_options),
                                                .context = SZG_CONTEXT_TRAINED};
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &trained, &tables));
        ck_assert_int_eq((int64_t)cell(tables.bounds, 0, "lags"), 3);
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        gguf_free(&file);
    }
}
END_TEST

/* A row of `bounds` that holds at `lags` lags: 0.5% above `wanted` at most, and `all` at any. */
static void check_lag_row(const szg_checkpoint_tables *tables, int64_t row, int64_t lags,
                          double wanted, double all) {
    double bound = cell(tables->bounds, row, "bound"), any = cell(tables->bounds, row, "bound_all");
    ck_assert_int_eq((int64_t)cell(tables->bounds, row, "lags"), lags);
    ck_assert_msg(bound >= wanted * (1 - 4 * DBL_EPSILON) && bound <= wanted * 1.0051,
                  "row %lld: %.17g, not %.17g", (long long)row, bound, wanted);
    ck_assert_msg(any >= all * (1 - 4 * DBL_EPSILON) && any <= all * (1 + 1e-12),
                  "row %lld: at any lag %.17g, not %.17g", (long long)row, any, all);
}

#define PLAIN "\"model_type\": \"llama\", " ROPE
#define LONGROPE                                                                                   \
    PLAIN ", \"max_position_embeddings\": 64, \"rope_scaling\": {\"rope_type\": \"longrope\", "    \
          "\"short_factor\": [1], \"long_factor\": [2], \"attention_factor\": 1, "                 \
          "\"original_max_position_embeddings\": 1}"

/* Head 0: A = diag(3, 6) and B = diag(5, 5/4), so that 15 counts at lag 0 and 30 at any; head 1:
 * diag(3, 3/2) and diag(5, 5/2), which are aligned. At two lags the keys of head 0 turn by one. */
START_TEST(a_context_chooses_lags) {
    static const struct {
        const char *config;
        int64_t context, lags;
        double head;
    } cases[] = {
        {PLAIN, 1, 1, 15},
        {PLAIN ", \"max_position_embeddings\": 1", SZG_CONTEXT_TRAINED, 1, 15},
        {LONGROPE, 64, 1, 15}, /* its short factors hold no further */
        {PLAIN, 2, 2, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options),
                                                .context = cases[i].context};
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        char config[512];
        model_open(&model);
        add_layer(&model, 3, 5);
        model_find(&model, "model.layers.0.self_attn.k_proj.weight")->value[D + 1] = 5.0 / 8;
        snprintf(config, sizeof config, "{%s%s}", SIZES, cases[i].config);
        model_write(&model, config);
        ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
        double turned[4] = {15 * cos(1), 3.75 * sin(1), -30 * sin(1), 7.5 * cos(1)};
        double head = isnan(cases[i].head) ? fmax(15, largest_singular(2, 2, copy_of(4, turned)))
                                           : cases[i].head;
        check_lag_row(&tables, 0, cases[i].lags, 4 * head * ROOT, 4 * 30 * ROOT);
        check_lag_row(&tables, 1, cases[i].lags, 4 * 15 * ROOT, 4 * 15 * ROOT);
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

/* Frequencies of the type "dynamic" change beyond the length in the configuration. */
START_TEST(lags_end_where_frequencies_change) {
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .context = 64};
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_open(&model);
    add_layer(&model, 3, 5);
    model_write(&model, "{\"model_type\": \"llama\", \"hidden_size\": 4, "
                        "\"num_hidden_layers\": 1, \"num_attention_heads\": 1, "
                        "\"num_key_value_heads\": 1, \"head_dim\": 4, \"rope_theta\": 10000, "
                        "\"max_position_embeddings\": 9, "
                        "\"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 2}}");
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    ck_assert_int_eq((int64_t)cell(tables.bounds, 0, "lags"), 9);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

/* Without the length, --context trained says which key is missing and what to do. */
START_TEST(an_unknown_length_is_refused) {
    const szg_checkpoint_options trained = {SZG_INIT(szg_checkpoint_options),
                                            .context = SZG_CONTEXT_TRAINED},
                                 negative = {SZG_INIT(szg_checkpoint_options), .context = -2},
                                 raw = {SZG_INIT(szg_checkpoint_options), .context = 4,
                                        .raw = true};
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_open(&model);
    add_layer(&model, 3, 5);
    model_write(&model, "{" SIZES PLAIN ",\"max_position_embeddings\":null}");
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    ck_assert_int_eq(szg_checkpoint_analyse(test_context(), checkpoint, &trained, &tables),
                     SZG_EDATA);
    ck_assert(strstr(szg_context_message(test_context()), "max_position_embeddings is missing"));
    ck_assert(strstr(szg_context_message(test_context()), "--context N"));
    ck_assert_int_eq(szg_checkpoint_analyse(test_context(), checkpoint, &negative, &tables),
                     SZG_EINVAL);
    ck_assert_int_eq(szg_checkpoint_analyse(test_context(), checkpoint, &raw, &tables), SZG_EINVAL);
    ck_assert(strstr(szg_context_message(test_context()), "--raw bounds none"));
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

/* Latent attention, one head: queries a and b times the latent (2 numbers, gains 1 and 3), keys c
 * times theirs (gains 2 and 1), rotary keys the first two of the normalised input (gains 1 and 2).
 * The bound is s sqrt r_q [sqrt r_kv sigma_1(D_q W_UQ^T W_UK D_kv) + sqrt d sigma_1(W_UR D_q)
 * sigma_1(W_KR D)], s = 1/2. */
START_TEST(latents_in_closed_form) {
    static const char config[] =
        "{\"model_type\": \"deepseek_v3\", \"hidden_size\": 4, \"num_hidden_layers\": 1, "
        "\"num_attention_heads\": 1, \"num_key_value_heads\": 1, \"q_lora_rank\": 2, "
        "\"kv_lora_rank\": 2, \"qk_nope_head_dim\": 2, \"qk_rope_head_dim\": 2, \"v_head_dim\": 1, "
        "\"rope_theta\": 10000}";
    const double a = 5, b = 7, c = 11;
    const struct {
        const char *name;
        int64_t rows, columns;
        double value[16];
    } tensors[] = {
        {"self_attn.q_a_proj.weight", 2, 4, {1, 0, 0, 0, 0, 1, 0, 0}},
        {"self_attn.q_a_layernorm.weight", 2, -1, {1, 3}},
        {"self_attn.q_b_proj.weight", 4, 2, {a, 0, 0, a, b, 0, 0, b}},
        {"self_attn.kv_a_proj_with_mqa.weight", 4, 4, {1, 0, 0, 0, 0, 1, 0, 0, 8, 0, 0, 0, 0, 1}},
        {"self_attn.kv_a_layernorm.weight", 2, -1, {2, 1}},
        {"self_attn.kv_b_proj.weight", 3, 2, {c, 0, 0, c, 1, 1}},
        {"input_layernorm.weight", 4, -1, {1, 2, 8, 8}},
    };
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_open(&model);
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        model_tensor *tensor = model_add(&model, SZGI_DTYPE_F32, tensors[i].rows,
                                         tensors[i].columns, "model.layers.0.%s", tensors[i].name);
        memcpy(tensor->value, tensors[i].value, (size_t)tensor->count * sizeof(double));
    }
    model_write(&model, config);
    model_analyse(&model, &checkpoint, &tables);
    /* a c max(1 * 2, 3 * 1); 3 b and 8 */
    double wanted = 0.5 * sqrt(2) * (sqrt(2) * a * c * 3 + 2 * 3 * b * 8);
    double got = cell(tables.bounds, 0, "bound");
    ck_assert_msg(got >= wanted * (1 - 4 * DBL_EPSILON) && got <= wanted * (1 + 1e-12),
                  "%.17g, not %.17g", got, wanted);
    ck_assert_str_eq(cell_text(tables.bounds, 0, "bound_kind"), "latent-norm");
    ck_assert_str_eq(cell_text(tables.summary, 0, "folded"), "input+latent");
    ck_assert_int_eq((int)cell(tables.summary, 0, "scale_free"), 1);
    /* M is diagonal: 2 a c + 8 b, 12 a c + 12 b. */
    ck_close(cell(tables.summary, 0, "sigma_max"), 0.5 * 12 * (a * c + b), 1e-11);
    szg_checkpoint_tables_close(&tables);
    /* At lag 0 the rotary part is diagonal: b max(1 * 8, 3 * 2). */
    const szg_checkpoint_options one = {SZG_INIT(szg_checkpoint_options), .context = 1};
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &one, &tables));
    check_lag_row(&tables, 0, 1, 0.5 * sqrt(2) * (sqrt(2) * a * c * 3 + 2 * b * 8), wanted);
    szg_checkpoint_tables_close(&tables);
    /* Without any gain: a c + 8 b and a c + b. */
    const szg_checkpoint_options raw = {SZG_INIT(szg_checkpoint_options), .raw = true};
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &raw, &tables));
    ck_assert_str_eq(cell_text(tables.summary, 0, "folded"), "none");
    ck_close(cell(tables.summary, 0, "sigma_max"), 0.5 * (a * c + 8 * b), 1e-12);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

/* ---- --raw ---- */

static void add_wide(test_model *model) {
    for (int layer = 0; layer < 1; layer++) {
        model_add(model, SZGI_DTYPE_F32, 4, 6, "model.layers.%d.self_attn.q_proj.weight", layer);
        model_add(model, SZGI_DTYPE_F32, 4, 6, "model.layers.%d.self_attn.k_proj.weight", layer);
        model_add(model, SZGI_DTYPE_F32, 6, -1, "model.layers.%d.input_layernorm.weight", layer);
        model_add(model, SZGI_DTYPE_F32, 6, -1, "model.layers.%d.input_layernorm.bias", layer);
    }
}

static const char starcoder[] =
    "{\"model_type\": \"starcoder2\", \"hidden_size\": 6, \"num_hidden_layers\": 1, "
    "\"num_attention_heads\": 2, \"num_key_value_heads\": 2, \"head_dim\": 2, "
    "\"rope_theta\": 10000}";

/* W D (I - 11^T/d), by loops; `fold` false: W. */
static oracle_head make_oracle(const test_model *model, int64_t head, bool fold) {
    oracle_head out = {
        .e = 2, .d = 6, .q = calloc(12, sizeof(double)), .k = calloc(12, sizeof(double))};
    const double *gain = model_value(model, "model.layers.0.input_layernorm.weight");
    for (int side = 0; side < 2; side++) {
        const double *w =
            model_value(model, "model.layers.0.self_attn.%c_proj.weight", side ? 'k' : 'q');
        double *to = side ? out.k : out.q;
        for (int64_t r = 0; r < 2; r++) {
            double mean = 0;
            for (int64_t j = 0; j < 6; j++)
                mean += w[(2 * head + r) * 6 + j] * gain[j] / 6;
            for (int64_t j = 0; j < 6; j++) {
                double value = w[(2 * head + r) * 6 + j] * (fold ? gain[j] : 1) - (fold ? mean : 0);
                to[r * 6 + j] = value * (side ? 1 : sqrt(0.5));
            }
        }
    }
    return out;
}

START_TEST(raw_leaves_the_gains_out) {
    test_model model;
    szg_checkpoint *checkpoint;
    model_open(&model);
    add_wide(&model);
    model_write(&model, starcoder);
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    for (int raw = 0; raw < 2; raw++) {
        szg_checkpoint_tables tables;
        const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .raw = raw};
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
        ck_assert((tables.bounds == NULL) == raw);
        for (int64_t h = 0; h < 2; h++) {
            oracle_head head = make_oracle(&model, h, !raw);
            double *dense = oracle_product(&head, 0, NULL);
            check_spectra(&tables, 0, h, "qk", 6, dense, oracle_error(&head, 0, NULL));
            int64_t row = find_row(tables.summary, 0, h, "qk");
            ck_assert_str_eq(cell_text(tables.summary, row, "folded"), raw ? "none" : "input");
            free(dense);
            free(head.q);
            free(head.k);
        }
        szg_checkpoint_tables_close(&tables);
    }
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

/* Of GPT-2 the rows of `qk` change with --raw, and those of `position` do not. */
START_TEST(positions_have_no_gains) {
    char folder[512];
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables[2];
    snprintf(folder, sizeof folder, "%s/gpt2", getenv("SZG_FAMILIES"));
    ck_szg_ok(szg_checkpoint_open(test_context(), folder, NULL, &checkpoint));
    for (int raw = 0; raw < 2; raw++) {
        const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .raw = raw};
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables[raw]));
    }
    for (int64_t row = 0; row < szg_table_rows(tables[0].summary); row++) {
        bool position = strcmp(cell_text(tables[0].summary, row, "matrix"), "position") == 0;
        double folded = cell(tables[0].summary, row, "sigma_max"),
               raw = cell(tables[1].summary, row, "sigma_max");
        ck_assert_msg((folded == raw) == position, "row %lld: %.17g and %.17g", (long long)row,
                      folded, raw);
        ck_assert_str_eq(cell_text(tables[0].summary, row, "folded"), position ? "none" : "input");
    }
    szg_checkpoint_facts facts = szg_checkpoint_describe(checkpoint);
    int64_t e = facts.head_size, d = facts.model_size, n = facts.position_rows;
    const oracle_head head = {.e = e,
                              .d = d,
                              .q = calloc((size_t)(e * d), sizeof(double)),
                              .k = calloc((size_t)(e * d), sizeof(double))};
    double *p = calloc((size_t)(n * d), sizeof *p);
    ck_szg_ok(szgi_checkpoint_queries(test_context(), checkpoint, 1, 2, head.q));
    ck_szg_ok(szgi_checkpoint_keys(test_context(), checkpoint, 1, 2, head.k));
    ck_szg_ok(szgi_checkpoint_positions(test_context(), checkpoint, n, p));
    double *dense = oracle_product(&head, n, p);
    check_spectra(&tables[0], 1, 2, "position", n, dense, oracle_error(&head, n, p));
    free(dense);
    free(p);
    free(head.q);
    free(head.k);
    for (int raw = 0; raw < 2; raw++)
        szg_checkpoint_tables_close(&tables[raw]);
    szg_checkpoint_close(&checkpoint);
}
END_TEST

/* Analyses what was written: all heads are bad, and the first row names the number. --raw does
 * without it. */
static void check_bad_number(const test_model *model, const char *words) {
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_analyse(model, &checkpoint, &tables);
    ck_assert_int_eq(tables.bad, 2);
    ck_noted(&tables, 0, 0, "qk", words);
    ck_noted(&tables, 0, 0, "qk", "--raw");
    szg_checkpoint_tables_close(&tables);
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .raw = true};
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    ck_assert_int_eq(tables.bad, 0);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
}

/* A gain, a shift or a bias that is no number costs its heads, by name. */
START_TEST(a_bad_gain_is_named) {
    static const struct {
        const char *tensor, *words;
    } cases[] = {{"model.layers.0.input_layernorm.weight", "number 3 is nan, and a norm's gain"},
                 {"model.layers.0.input_layernorm.bias", "number 3 is nan, and a norm's shift"},
                 {"model.layers.0.self_attn.q_proj.bias", "number 1 is nan, and a bias"},
                 {"model.layers.0.self_attn.k_proj.bias", "number 1 is nan, and a bias"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_model model;
        char words[128];
        model_open(&model);
        add_wide(&model);
        if (strstr(cases[i].tensor, "proj.bias")) /* two numbers of each head */
            model_add(&model, SZGI_DTYPE_F32, 4, -1, "%s", cases[i].tensor)->value[1] = NAN;
        model_find(&model, cases[i].tensor)->value[3] = NAN;
        snprintf(words, sizeof words, "tensor %s: %s", cases[i].tensor, cases[i].words);
        model_write(&model, starcoder);
        check_bad_number(&model, words);
        model_close(&model);
    }
}
END_TEST

/* One layer of T5 with two heads of size 2 and a table of four lags. */
static const char t5_config[] =
    "{\"model_type\": \"t5\", \"d_model\": 4, \"d_kv\": 2, \"num_heads\": 2, "
    "\"num_layers\": 1, \"num_decoder_layers\": 1}";

static double *add_t5(test_model *model) {
    static const char *const names[] = {"SelfAttention.q.weight", "SelfAttention.k.weight"};
    for (int side = 0; side < 2; side++) {
        model_tensor *weight =
            model_add(model, SZGI_DTYPE_F32, D, D, "encoder.block.0.layer.0.%s", names[side]);
        for (int64_t i = 0; i < D * D; i++)
            weight->value[i] = i % (D + 1) == 0;
    }
    model_tensor *gain =
        model_add(model, SZGI_DTYPE_F32, D, -1, "encoder.block.0.layer.0.layer_norm.weight");
    for (int64_t i = 0; i < D; i++)
        gain->value[i] = 1;
    return model_add(model, SZGI_DTYPE_F32, 4, 2,
                     "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight")
        ->value;
}

/* d sigma_1(W_Q D) sigma_1(W_K D) = 4, and the largest number of the head's column. */
START_TEST(a_table_by_the_lag_is_added) {
    static const double table[8] = {-100, 1, 3, -7, 2, 0, 1, 0.5};
    for (int bad = 0; bad < 2; bad++) {
        test_model model;
        model_open(&model);
        double *values = add_t5(&model);
        memcpy(values, table, sizeof table);
        if (bad) /* behind a large number, in front of small ones */
            values[2] = NAN;
        model_write(&model, t5_config);
        if (bad) {
            check_bad_number(&model, "relative_attention_bias.weight: number 2 is nan");
        } else {
            szg_checkpoint *checkpoint;
            szg_checkpoint_tables tables;
            model_analyse(&model, &checkpoint, &tables);
            for (int64_t h = 0; h < 2; h++) {
                double want = h == 0 ? 104 : 11, got = cell(tables.bounds, h, "bound");
                ck_assert_msg(got >= want && got <= want * (1 + 1e-12), "head %d: %.17g, not %.17g",
                              (int)h, got, want);
            }
            szg_checkpoint_tables_close(&tables);
            szg_checkpoint_close(&checkpoint);
        }
        model_close(&model);
    }
}
END_TEST

/* A norm that the family has and the file does not is said. */
START_TEST(a_missing_norm_is_said) {
    test_model model;
    szg_checkpoint *checkpoint;
    model_open(&model);
    model_add(&model, SZGI_DTYPE_F32, 4, 6, "model.layers.0.self_attn.q_proj.weight");
    model_add(&model, SZGI_DTYPE_F32, 4, 6, "model.layers.0.self_attn.k_proj.weight");
    model_write(&model, starcoder);
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    ck_assert(strstr(szg_checkpoint_describe(checkpoint).note,
                     "input norms are not folded in 1 of 1 layers"));
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

START_TEST(bounds_survive_refused_allocations) {
    static const char *const families[] = {"starcoder2", "deepseek_v3", "phi", "stablelm", "t5"};
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .context = 3};
    test_model model;
    model_open(&model);
    add_wide(&model);
    model_write(&model, starcoder);
    ck_survives_failed_allocations(1, model_try(model.folder, &options));
    model_close(&model);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        char folder[512];
        snprintf(folder, sizeof folder, "%s/%s", getenv("SZG_FAMILIES"), families[i]);
        ck_survives_failed_allocations(1, model_try(folder, &options));
    }
}
END_TEST

/* Rows of one head alone are those of the whole run, to the bit: what a worker keeps from the head
 * or the layer before is what it would have read. */
START_TEST(what_is_kept_changes_nothing) {
    static const char *const families[] = {"deepseek_v3", "deepseek_v2-lite", "minicpm3", "phi",
                                           "starcoder2"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        char folder[512], layer[32], head[32];
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables all, one;
        snprintf(folder, sizeof folder, "%s/%s", getenv("SZG_FAMILIES"), families[i]);
        ck_szg_ok(szg_checkpoint_open(test_context(), folder, NULL, &checkpoint));
        szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .context = 5};
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &all));
        ck_assert_int_ge(szg_table_rows(all.bounds), 4);
        for (int64_t row = 0; row < szg_table_rows(all.bounds); row++) {
            int64_t l = (int64_t)cell(all.bounds, row, "layer"),
                    h = (int64_t)cell(all.bounds, row, "head");
            snprintf(layer, sizeof layer, "%lld", (long long)l);
            snprintf(head, sizeof head, "%lld", (long long)h);
            options.layers = layer;
            options.heads = head;
            ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &one));
            double wanted[3] = {cell(one.bounds, 0, "bound"), cell(one.bounds, 0, "bound_all"),
                                cell(one.summary, find_row(one.summary, l, h, "qk"), "sigma_max")};
            double got[3] = {cell(all.bounds, row, "bound"), cell(all.bounds, row, "bound_all"),
                             cell(all.summary, find_row(all.summary, l, h, "qk"), "sigma_max")};
            for (int j = 0; j < 3; j++)
                ck_assert_msg(got[j] == wanted[j], "%s: layer %lld, head %lld, %d: %.17g and %.17g",
                              families[i], (long long)l, (long long)h, j, got[j], wanted[j]);
            szg_checkpoint_tables_close(&one);
        }
        szg_checkpoint_tables_close(&all);
        szg_checkpoint_close(&checkpoint);
    }
}
END_TEST

TEST_FILE("bounds") {
    test_add(suite, "norms_are_above_and_close", norms_are_above_and_close);
    test_add(suite, "an_eigenvalue_above_is_proved", an_eigenvalue_above_is_proved);
    test_add(suite, "cholesky_of_every_size", cholesky_of_every_size);
    test_add(suite, "lanes_against_one_by_one", lanes_against_one_by_one);
    test_add(suite, "lags_against_the_svd", lags_against_the_svd);
    test_add(suite, "the_last_lag_counts", the_last_lag_counts);
    test_add(suite, "closed_forms_and_refusals", closed_forms_and_refusals);
    test_add(suite, "gguf_files_have_the_same_bounds", gguf_files_have_the_same_bounds);
    test_add(suite, "a_context_chooses_lags", a_context_chooses_lags);
    test_add(suite, "lags_end_where_frequencies_change", lags_end_where_frequencies_change);
    test_add(suite, "an_unknown_length_is_refused", an_unknown_length_is_refused);
    test_add(suite, "latents_in_closed_form", latents_in_closed_form);
    test_add(suite, "raw_leaves_the_gains_out", raw_leaves_the_gains_out);
    test_add(suite, "positions_have_no_gains", positions_have_no_gains);
    test_add(suite, "a_bad_gain_is_named", a_bad_gain_is_named);
    test_add(suite, "a_table_by_the_lag_is_added", a_table_by_the_lag_is_added);
    test_add(suite, "a_missing_norm_is_said", a_missing_norm_is_said);
    test_add(suite, "what_is_kept_changes_nothing", what_is_kept_changes_nothing);
    test_add(suite, "bounds_survive_refused_allocations", bounds_survive_refused_allocations);
}
