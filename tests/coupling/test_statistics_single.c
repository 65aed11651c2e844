/* Statistics of a softmax with products in single precision: the kernels against their bounds at
 * every level of the processor, and whole matrices against two passes in long double. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <szego/statistics.h>
#include "../../lib/coupling/softmax_kernel.h"
#include "toeplitz/toeplitz.h"

#include "rounding.h"
#include "suite.h"

static const double SINGLE = 0x1p-24; /* one rounding */

static double single_gamma(double k) {
    return k * SINGLE / (1 - k * SINGLE);
}

/* ---- Levels ---- */

static const char *const LEVELS[] = {"baseline", "avx2", "avx512"};

/* Whether the processor has level `level`, which is then the one that is used. */
static bool use_level(int level) {
    setenv("SZEGO_SIMD", LEVELS[level], 1);
    return (int)szgi_cpu_level_best() == level;
}

static const char *before; /* what the variable was */

static void begin_levels(void) {
    before = getenv("SZEGO_SIMD") ? strdup(getenv("SZEGO_SIMD")) : NULL;
}

static void end_levels(void) {
    if (before)
        setenv("SZEGO_SIMD", before, 1);
    else
        unsetenv("SZEGO_SIMD");
    free((void *)before);
}

/* ---- Kernels ---- */

/* Numbers of single precision whose sums cancel: every other one is nearly the one before it with
 * its sign changed. */
static void fill_cancelling(uint32_t step, int64_t count, float *x) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 95, .step = step};
    for (int64_t i = 0; i < count; i++)
        x[i] = i % 2 && i % 3 ? -x[i - 1] * (1 + 0x1p-20F * (float)(i % 5))
                              : (float)szgi_random_normal(&stream, (uint64_t)i);
}

/* 1 and a little more than u again and again: added to 1 one after the other, each is rounded up to
 * 2 u, and the sum is off by d - 1 roundings. */
static void fill_drifting(int64_t d, float *q, float *k) {
    for (int64_t t = 0; t < d; t++) {
        for (int64_t i = 0; i < SZGI_SOFTMAX_ROWS; i++)
            q[i * d + t] = 1;
        for (int64_t j = 0; j < SZGI_SOFTMAX_PANEL; j++)
            k[t * SZGI_SOFTMAX_PANEL + j] = t == 0 ? 1 : 0x1.01p-24F;
    }
}

/* Each within gamma_K sum |q| |k| of the exact one, K = szgi_softmax_roundings(d): 14 for d = 128,
 * not the 128 of one sum. */
START_TEST(products_keep_their_bound) {
    enum { PANELS = SZGI_SOFTMAX_KEYS / SZGI_SOFTMAX_PANEL, MOST = 300 };
    static const int64_t sizes[] = {1, 2, 7, 8, 9, 31, 32, 33, 40, 63, 64, 65, 100, 128, 130, MOST};
    static float q[SZGI_SOFTMAX_ROWS * MOST], k[SZGI_SOFTMAX_KEYS * MOST],
        x[SZGI_SOFTMAX_ROWS * SZGI_SOFTMAX_KEYS];
    ck_assert(szgi_softmax_roundings(128) == 14 && szgi_softmax_roundings(1) == 11);
    for (int level = 0; level < 3; level++)
        for (uint32_t c = 0; c < sizeof sizes / sizeof *sizes && use_level(level); c++) {
            const int64_t d = sizes[c], panels = 1 + c % PANELS;
            fill_cancelling(2 * c, SZGI_SOFTMAX_ROWS * d, q);
            fill_cancelling(2 * c + 1, SZGI_SOFTMAX_KEYS * d, k);
            fill_drifting(c % 2 ? d : 0, q, k);
            szgi_softmax_of((szgi_cpu_level)level)->products(panels, d, q, k, x);
            for (int64_t i = 0; i < SZGI_SOFTMAX_ROWS; i++)
                for (int64_t j = 0; j < panels * SZGI_SOFTMAX_PANEL; j++) {
                    const float *keys = k + j / SZGI_SOFTMAX_PANEL * SZGI_SOFTMAX_PANEL * d +
                                        j % SZGI_SOFTMAX_PANEL;
                    double sum = 0, size = 0;
                    for (int64_t t = 0; t < d; t++) {
                        double product = (double)q[i * d + t] * keys[t * SZGI_SOFTMAX_PANEL];
                        sum += product;
                        size += fabs(product);
                    }
                    ck_close((double)x[i * SZGI_SOFTMAX_KEYS + j], sum,
                             (single_gamma(szgi_softmax_roundings(d)) + gamma_of(MOST)) * size);
                }
        }
}
END_TEST

/* e^t for t in [-90, 0], and their sums: of 1, 2, .. numbers, so that vectors end in every lane;
 * what follows the numbers does not count. Terms are within 4 u, and t e^t has one rounding more.
 */
START_TEST(weights_keep_their_bound) {
    enum { MOST = SZGI_SOFTMAX_KEYS };
    static float x[MOST + 1], t[MOST];
    szgi_stream stream = {.seed = test_seed(), .purpose = 96};
    for (int level = 0; level < 3; level++)
        for (int64_t trial = 0; trial < test_trials(4000) && use_level(level); trial++) {
            const int64_t count = 1 + trial % MOST;
            const float top = trial % 2 ? 3 : 0;
            double weight = 1, slope = -1, sum = 1, slopes = -1;
            for (int64_t j = 0; j < MOST; j++)
                x[j] = j < count ? top - 90 * (float)pow(szgi_random_uniform(
                                                             &stream, (uint64_t)(trial * MOST + j)),
                                                         1 + (double)(trial % 7))
                                 : INFINITY;
            x[0] = top;
            for (int64_t j = 0; j < count; j++)
                t[j] = x[j] - top;
            szgi_softmax_of((szgi_cpu_level)level)->weights(count, top, x, &weight, &slope);
            ck_assert(x[0] == 1);
            for (int64_t j = 0; j < count; j++) {
                double want = exp((double)t[j]);
                if (t[j] < -87.33654F)
                    ck_assert(x[j] == 0);
                else
                    ck_close((double)x[j], want, 4 * SINGLE * want);
                sum += (double)x[j];
                slopes += (double)(t[j] * x[j]);
            }
            ck_close(weight, sum, gamma_of(MOST + 1) * sum);
            ck_close(slope, slopes, (SINGLE + gamma_of(MOST + 1)) * fabs(slopes));
        }
}
END_TEST

/* Consecutive numbers of single precision, in blocks over [-87.4, -2^-30]: at most 4 u off.
 * SZG_TEST_MULTIPLIER=300 takes all of them; the largest error is 1.8 u then. */
START_TEST(exponentials_of_numbers_in_a_row) {
    enum { BLOCK = SZGI_SOFTMAX_KEYS };
    const float first = -0x1p-30F, last = -87.4F;
    uint32_t from, to;
    memcpy(&from, &first, sizeof from);
    memcpy(&to, &last, sizeof to);
    const int64_t all = (to - from) / BLOCK + 1, blocks = test_trials(4000);
    for (int level = 0; level < 3; level++)
        for (int64_t b = 0; b < blocks && b < all && use_level(level); b++) {
            float x[BLOCK], t[BLOCK];
            double weight = 0, slope = 0;
            const uint32_t at = from + (uint32_t)(blocks < all ? b * (all / blocks) : b) * BLOCK;
            for (uint32_t i = 0; i < BLOCK; i++)
                memcpy(&t[i], &(uint32_t){at + i}, sizeof *t);
            memcpy(x, t, sizeof x);
            szgi_softmax_of((szgi_cpu_level)level)->weights(BLOCK, 0, x, &weight, &slope);
            for (int i = 0; i < BLOCK; i++) {
                double want = exp((double)t[i]);
                double off = fabs((double)x[i] - want);
                ck_assert_msg(t[i] < -87.33654F ? x[i] == 0 : off <= 4 * SINGLE * want,
                              "exp(%.9g) = %.9g at level %d", (double)t[i], (double)x[i], level);
            }
        }
}
END_TEST

START_TEST(caps_keep_their_bound) {
    enum { COUNT = 64 };
    static const float caps[] = {50, 1, 0x1p-100F, 0x1p60F, 3.3F, 2e-7F};
    float x[COUNT], y[COUNT];
    szgi_stream stream = {.seed = test_seed(), .purpose = 97};
    for (int level = 0; level < 3; level++)
        for (int64_t trial = 0; trial < test_trials(600) && use_level(level); trial++) {
            const float cap = caps[trial % 6];
            for (int64_t j = 0; j < COUNT; j++)
                x[j] = y[j] = (float)(test_real(&stream, (uint64_t)(trial * COUNT + j)) *
                                      (j % 2 ? (double)cap : 1));
            y[0] = x[0] = 0;
            szgi_softmax_of((szgi_cpu_level)level)->capped(COUNT - 1, cap, y);
            for (int64_t j = 0; j < COUNT - 1; j++)
                if (isfinite(x[j]))
                    ck_close((double)y[j], (double)cap * tanh((double)x[j] / (double)cap),
                             10 * SINGLE * (double)cap);
            ck_assert(y[0] == 0);
        }
}
END_TEST

START_TEST(ranges_and_sums_of_every_length) {
    enum { MOST = 70 };
    float x[MOST + 16], y[MOST + 16], bias[MOST + 16];
    szgi_stream stream = {.seed = test_seed(), .purpose = 98};
    for (int level = 0; level < 3; level++)
        for (int64_t count = 1; count <= MOST && use_level(level); count++) {
            float least = INFINITY, greatest = -INFINITY, low, high;
            const szgi_softmax_kernels *kernels = szgi_softmax_of((szgi_cpu_level)level);
            for (int64_t j = 0; j < MOST + 16; j++) {
                x[j] = (float)szgi_random_normal(&stream, (uint64_t)(count * 100 + j));
                y[j] = x[j];
                bias[j] = (float)j;
                if (j < count) {
                    least = fminf(least, x[j]);
                    greatest = fmaxf(greatest, x[j]);
                }
            }
            x[count] = 1e30F;
            x[count + 1] = -1e30F;
            kernels->range(count, x, &low, &high);
            ck_assert(low == least && high == greatest);
            kernels->add(count, bias, y);
            for (int64_t j = 0; j < count; j++)
                ck_assert(y[j] == x[j] + bias[j]);
        }
}
END_TEST

/* ---- The oracle ---- */

typedef struct wanted {
    long double largest, smallest, entropy, normalised, least, greatest, first, sinks, learned;
} wanted;

static long double entry(const szg_factored *f, int64_t i, int64_t j) {
    long double sum = f->bias ? szg_toeplitz_at(f->bias, i - j).re : 0;
    for (int64_t t = 0; t < f->d; t++)
        sum += (long double)f->a[i * f->lda + t] * f->b[j * f->ldb + t];
    return sum;
}

static long double capped(const szg_statistics_options *options, long double x) {
    return options->soft_cap > 0 ? options->soft_cap * tanhl(x / options->soft_cap) : x;
}

static void add_row(const szg_factored *f, const szg_statistics_options *o, int64_t i, int64_t last,
                    long double *x, wanted *out) {
    const int64_t keys = f->causal || o->causal ? i + 1 : f->n, count = keys + !!o->sink_logit;
    long double top = -INFINITY, z = 0, h = 0;
    for (int64_t j = 0; j < keys; j++) {
        x[j] = entry(f, i, j);
        out->largest = fmaxl(out->largest, x[j]);
        out->smallest = fminl(out->smallest, x[j]);
        x[j] = capped(o, x[j]);
    }
    if (o->sink_logit)
        x[keys] = *o->sink_logit;
    for (int64_t j = 0; j < count; j++)
        top = fmaxl(top, x[j]);
    for (int64_t j = 0; j < count; j++)
        z += expl(x[j] - top);
    for (int64_t j = 0; j < count; j++) {
        h += (top - x[j]) * expl(x[j] - top) / z;
        x[j] = expl(x[j] - top) / z;
    }
    h += logl(z);
    out->entropy += h / f->n;
    out->normalised += count > 1 ? h / logl(count) : 0;
    out->least = count > 1 ? fminl(out->least, h) : out->least;
    out->greatest = count > 1 ? fmaxl(out->greatest, h) : out->greatest;
    out->first += i > 0 ? x[0] / (f->n - 1) : 0;
    for (int64_t s = 0; s < o->sinks && i > last; s++)
        out->sinks += x[o->sink[s]] / (f->n - 1 - last);
    out->learned += o->sink_logit ? x[keys] / f->n : 0;
}

static wanted want(const szg_factored *f, const szg_statistics_options *o) {
    wanted out = {
        .largest = -INFINITY, .smallest = INFINITY, .least = INFINITY, .greatest = -INFINITY};
    int64_t last = -1;
    long double *x;
    ck_szg_ok(szgi_memory_alloc(test_context(), f->n + 1, &x));
    for (int64_t s = 0; s < o->sinks; s++)
        last = o->sink[s] > last ? o->sink[s] : last;
    for (int64_t i = 0; i < f->n; i++)
        add_row(f, o, i, last, x, &out);
    out.sinks = last < f->n - 1 ? out.sinks : 0;
    out.normalised /= (f->causal || o->causal) && !o->sink_logit ? f->n - 1 : f->n;
    szgi_memory_free(x);
    return out;
}

static szg_statistics compute(const szg_factored *f, const szg_statistics_options *options) {
    const szg_matrix matrix = szg_matrix_factored(f);
    szg_statistics s;
    ck_szg_ok(szg_statistics_compute(test_context(), &matrix, options, &s));
    return s;
}

static void check_within(const char *name, double got, long double value, double bound) {
    double off = fabs(got - (double)value);
    ck_assert_msg(off <= bound, "%s: %.17g, not %.17g: off by %g, bound %g", name, got,
                  (double)value, off, bound);
}

/* Numbers within the bounds that the answer states; `observed`: and within that of themselves. */
static void check_numbers(const szg_statistics *s, const szg_statistics_options *o, const wanted *w,
                          double observed) {
    const struct {
        const char *name;
        double got;
        long double value;
    } rows[] = {{"entropy_mean", s->entropy_mean, w->entropy},
                {"entropy_normalised", s->entropy_normalised, w->normalised},
                {"entropy_min", s->entropy_min, w->least},
                {"entropy_max", s->entropy_max, w->greatest},
                {"first_share", s->first_share, w->first},
                {"sink_share", isnan(s->sink_share) ? 0 : s->sink_share, w->sinks},
                {"learned_share", o->sink_logit ? s->learned_share : 0, w->learned}};
    const double least = ((double)s->n + 8) * 0x1p-51;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double size = (double)fabsl(rows[i].value);
        check_within(rows[i].name, rows[i].got, rows[i].value, s->weight_error * size + least);
        if (observed > 0)
            check_within(rows[i].name, rows[i].got, rows[i].value, observed * size + least);
    }
}

/* The extremes are products in double precision in either way. */
static void check_extremes(const szg_statistics *s, const szg_statistics *exact,
                           const szg_factored *f, const wanted *w) {
    check_within("largest", s->largest, w->largest, exact->error + UNIT * fabs(s->largest));
    check_within("smallest", s->smallest, w->smallest, exact->error + UNIT * fabs(s->smallest));
    check_within("largest at its place", s->largest, entry(f, s->largest_query, s->largest_key),
                 exact->error + UNIT * fabs(s->largest));
    check_within("smallest at its place", s->smallest, entry(f, s->smallest_query, s->smallest_key),
                 exact->error + UNIT * fabs(s->smallest));
    if (f->causal)
        ck_assert(s->largest_key <= s->largest_query && s->smallest_key <= s->smallest_query);
}

static void check_both(const szg_factored *f, szg_statistics_options *options, double observed) {
    const wanted w = want(f, options);
    options->exact = true;
    const szg_statistics exact = compute(f, options);
    options->exact = false;
    ck_assert(!exact.single);
    check_numbers(&exact, options, &w, 0);
    for (int level = 0; level < 3; level++)
        if (use_level(level)) {
            const szg_statistics s = compute(f, options);
            ck_assert_msg(s.single, "n = %lld, d = %lld", (long long)f->n, (long long)f->d);
            ck_assert(s.error <= 1e-3 && s.error > exact.error);
            check_numbers(&s, options, &w, observed);
            check_extremes(&s, &exact, f, &w);
            ck_assert(s.q_norm_max == exact.q_norm_max && s.k_norm_rms == exact.k_norm_rms);
        }
}

/* ---- Matrices ---- */

typedef enum shape {
    NORMAL,
    CANCELLING, /* large terms whose sum is small */
    SHARP,      /* a key of its own for each query, far above the others */
    DEAD,       /* half of the queries are zero */
    REPEATED    /* 50 queries and keys again and again: equal logits, the extremes among them */
} shape;

static void fill_sides(shape kind, uint32_t step, int64_t n, int64_t d, double sigma, double *a,
                       double *b) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 99, .step = step};
    for (int64_t i = 0; i < n * d; i++) {
        int64_t from = kind == REPEATED ? i % (50 * d) : i;
        a[i] = sigma * szgi_random_normal(&stream, (uint64_t)from);
        b[i] = szgi_random_normal(&stream, (uint64_t)(n * d + from));
        if (kind == CANCELLING && i % d % 2) {
            a[i] = -a[i - 1] * 1.1;
            b[i] = b[i - 1];
        }
        if (kind == DEAD && i / d % 2)
            a[i] = 0;
        if (kind == SHARP)
            a[i] = sigma * b[i];
    }
}

static szg_toeplitz *open_bias(int64_t n, double size) {
    szg_toeplitz *bias;
    double *c = new_numbers(2 * n - 1);
    szgi_stream stream = {.seed = test_seed(), .purpose = 100};
    for (int64_t i = 0; i < 2 * n - 1; i++)
        c[i] = size * szgi_random_normal(&stream, (uint64_t)i);
    ck_szg_ok(szg_toeplitz_open_real(test_context(), n, n, c, &bias));
    szgi_memory_free(c);
    return bias;
}

/* Both ends of blocks of queries (192) and keys (256), of chunks (8) and segments (32) of d; flat
 * and sharp weights, logits of 45, entropies near 0. */
START_TEST(statistics_meet_the_definition) {
    static const struct {
        int64_t n, d, sinks, sink[3];
        shape shape;
        double sigma, cap, bias, learned, observed;
        bool causal, has_learned;
    } cases[] = {
        {.n = 1024,
         .d = 128,
         .sigma = 0.1,
         .causal = true,
         .sinks = 2,
         .sink = {0, 5},
         .observed = 1e-5},
        {.n = 1025, .d = 64, .sigma = 1, .sinks = 1, .sink = {1024}, .observed = 1e-5},
        {.n = 1151,
         .d = 9,
         .sigma = 4,
         .causal = true,
         .has_learned = true,
         .learned = -1,
         .observed = 1e-5},
        {.n = 1152,
         .d = 32,
         .sigma = 0.3,
         .bias = 2,
         .has_learned = true,
         .learned = 60,
         .observed = 1e-5},
        {.n = 1153,
         .d = 33,
         .sigma = 0.3,
         .bias = 2,
         .causal = true,
         .sinks = 3,
         .sink = {256, 255, 0},
         .observed = 1e-5},
        {.n = 1280, .d = 1, .sigma = 3, .causal = true, .cap = 2, .observed = 1e-5},
        {.n = 1100, .d = 100, .sigma = 1, .cap = 50, .bias = 1, .observed = 1e-5},
        {.n = 1100, .d = 130, .sigma = 2, .shape = CANCELLING, .causal = true},
        {.n = 1025, .d = 128, .sigma = 0.35, .shape = SHARP, .causal = true, .observed = 1e-5},
        {.n = 1100, .d = 40, .sigma = 3, .shape = SHARP, .cap = 30},
        {.n = 1100, .d = 7, .sigma = 1, .shape = DEAD, .causal = true, .observed = 1e-5},
        {.n = 1100, .d = 16, .sigma = 1, .shape = REPEATED, .causal = true, .observed = 1e-5},
        {.n = 1100, .d = 16, .sigma = 1e-9, .shape = NORMAL, .observed = 1e-5},
        {.n = 1100, .d = 0, .sigma = 1, .bias = 3, .causal = true, .observed = 1e-5}};
    begin_levels();
    for (uint32_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const int64_t n = cases[c].n, d = cases[c].d;
        double *a = new_numbers(n * d), *b = new_numbers(n * d);
        fill_sides(cases[c].shape, c, n, d, cases[c].sigma, a, b);
        szg_toeplitz *bias = cases[c].bias > 0 ? open_bias(n, cases[c].bias) : NULL;
        const szg_factored f = {n, d, a, d, b, d, bias, cases[c].causal};
        szg_statistics_options options = {
            SZG_INIT(szg_statistics_options), .soft_cap = cases[c].cap, .sinks = cases[c].sinks,
            .sink = cases[c].sink, .sink_logit = cases[c].has_learned ? &cases[c].learned : NULL};
        check_both(&f, &options, cases[c].observed);
        szg_toeplitz_close(&bias);
        szgi_memory_free(a);
        szgi_memory_free(b);
    }
    end_levels();
}
END_TEST

/* The same logits, to the bit, from queries and keys whose sizes single precision does not have. */
START_TEST(sizes_beyond_single_precision) {
    enum { N = 1024, D = 12 };
    static const int powers[] = {100, -100, 140, 600, -600, -1000};
    double *a = new_numbers(N * D), *b = new_numbers(N * D);
    fill_sides(NORMAL, 50, N, D, 1, a, b);
    const szg_factored f = {.n = N, .d = D, .a = a, .lda = D, .b = b, .ldb = D, .causal = true};
    const szg_statistics one = compute(&f, NULL);
    ck_assert(one.single);
    for (int p = 0; p < 6; p++) {
        for (int i = 0; i < N * D; i++) {
            a[i] = ldexp(a[i], powers[p]);
            b[i] = ldexp(b[i], -powers[p]);
        }
        szg_statistics s = compute(&f, NULL);
        ck_assert(s.single && s.entropy_mean == one.entropy_mean && s.largest == one.largest &&
                  s.entropy_min == one.entropy_min && s.first_share == one.first_share);
        for (int i = 0; i < N * D; i++) {
            a[i] = ldexp(a[i], -powers[p]);
            b[i] = ldexp(b[i], powers[p]);
        }
    }
    /* Logits of 1e-27 are as good as equal ones; the extremes stay. */
    for (int i = 0; i < N * D; i++)
        a[i] = ldexp(a[i], -90);
    szg_statistics s = compute(&f, NULL);
    ck_assert(s.single && s.largest == ldexp(one.largest, -90) &&
              fabs(s.entropy_normalised - 1) <= gamma_of(N + 2));
    ck_assert_int_eq(s.largest_key, one.largest_key);
    szgi_memory_free(a);
    szgi_memory_free(b);
}
END_TEST

/* Of equal logits the first is named, by query, then by key; one that is larger by less than single
 * precision sees is found wherever it is. */
START_TEST(extremes_have_their_places) {
    enum { N = 1300, D = 16 };
    static const int64_t equal[][2] = {{700, 2}, {700, 301}, {700, 700}, {1299, 2}, {1299, 1299}};
    double *a = new_numbers(N * D), *b = new_numbers(N * D);
    szgi_stream stream = {.seed = test_seed(), .purpose = 101};
    for (int sign = -1; sign <= 1; sign += 2)
        for (int larger = -1; larger < 5; larger++) {
            for (int i = 0; i < N * D; i++) { /* at most 0.5 in modulus together */
                a[i] = i % D < 2 ? 0 : 0.1 * szgi_random_uniform(&stream, (uint64_t)i);
                b[i] = i % D < 2 ? 0 : 0.1 * szgi_random_uniform(&stream, (uint64_t)(N * D + i));
            }
            for (int e = 0; e < 5; e++) { /* the same query and key, in two numbers of their own */
                double *q = a + equal[e][0] * D, *k = b + equal[e][1] * D;
                memset(q, 0, D * sizeof *q);
                memset(k, 0, D * sizeof *k);
                q[0] = 3;
                k[0] = sign;
            }
            if (larger >= 0) { /* the second number: 3 + 1e-12 for one pair alone */
                a[equal[larger][0] * D + 1] = 1e-6;
                b[equal[larger][1] * D + 1] = sign * 1e-6;
            }
            const szg_factored f = {
                .n = N, .d = D, .a = a, .lda = D, .b = b, .ldb = D, .causal = true};
            szg_statistics s = compute(&f, NULL);
            int64_t query = sign > 0 ? s.largest_query : s.smallest_query;
            int64_t key = sign > 0 ? s.largest_key : s.smallest_key;
            ck_assert_msg(s.single, "%d, %d", sign, larger);
            ck_close(sign > 0 ? s.largest : -s.smallest, 3 + (larger < 0 ? 0 : 1e-12), 4 * UNIT);
            ck_assert_int_eq(query, larger < 0 ? 700 : equal[larger][0]);
            ck_assert_int_eq(key, larger < 0 ? 2 : equal[larger][1]);
        }
    szgi_memory_free(a);
    szgi_memory_free(b);
}
END_TEST

/* Logits of 3 + r 1e-9, each a sum of other numbers, r once each: single precision has them in
 * another order. Of one key, then of one query. */
START_TEST(extremes_closer_than_single_precision) {
    enum { N = 1024, D = 24, CLOSE = 40 };
    double *a = new_numbers(N * D), *b = new_numbers(N * D);
    szgi_stream stream = {.seed = test_seed(), .purpose = 102};
    for (int side = 0; side < 4; side++) {
        double *many = side % 2 ? b : a, *one = side % 2 ? a : b, sign = side / 2 ? -1 : 1;
        const int64_t place = side % 2 ? 1000 : 3;
        for (int i = 0; i < N * D; i++) {
            many[i] = 0.1 * szgi_random_normal(&stream, (uint64_t)i);
            one[i] = i / D == place ? 0.1 + szgi_random_uniform(&stream, (uint64_t)i) : 0;
        }
        int best = 0;
        for (int c = 0; c < CLOSE; c++) {
            const int at = 20 * c + 10, rank = c * 17 % CLOSE;
            double *row = many + at * D, rest = 0;
            for (int t = 1; t < D; t++)
                rest += row[t] * one[place * D + t];
            row[0] = (sign * (3 + 1e-9 * rank) - rest) / one[place * D];
            best = rank == CLOSE - 1 ? at : best;
        }
        const szg_factored f = {.n = N, .d = D, .a = a, .lda = D, .b = b, .ldb = D, .causal = true};
        const szg_statistics s = compute(&f, NULL);
        const int64_t query = sign > 0 ? s.largest_query : s.smallest_query;
        const int64_t key = sign > 0 ? s.largest_key : s.smallest_key;
        ck_assert(s.single && s.error > 1e-7);
        ck_close(sign > 0 ? s.largest : -s.smallest, 3 + 1e-9 * (CLOSE - 1), 1e-12);
        ck_assert_int_eq(query, side % 2 ? place : best);
        ck_assert_int_eq(key, side % 2 ? best : place);
    }
    szgi_memory_free(a);
    szgi_memory_free(b);
}
END_TEST

/* Zeros are exact: the first pair is both extremes, and nothing is computed again but one logit a
 * query; whatever the size of the other side, which single precision may not have. */
START_TEST(zeros_are_exact) {
    enum { N = 1100, D = 5 };
    static const double sizes[] = {1, 1e39, 1e300, 1e-300};
    double *a = new_numbers(N * D), *b = new_numbers(N * D);
    for (int side = 0; side < 8; side++) {
        memset(a, 0, N * D * sizeof *a);
        memset(b, 0, N * D * sizeof *b);
        for (int i = 0; i < N * D; i++)
            (side % 2 ? a : b)[i] = sizes[side / 2] * (i % 7 - 3);
        const szg_factored f = {.n = N, .d = D, .a = a, .lda = D, .b = b, .ldb = D, .causal = true};
        szg_statistics s = compute(&f, NULL);
        ck_assert(s.single && s.largest == 0 && s.smallest == 0 &&
                  fabs(s.entropy_normalised - 1) <= gamma_of(N + 2));
        ck_assert(s.largest_query + s.largest_key + s.smallest_query + s.smallest_key == 0);
    }
    szgi_memory_free(a);
    szgi_memory_free(b);
}
END_TEST

/* Norms of queries, A without the scale, that doubles have not: bounds are of A itself, the bits of
 * no scale. */
START_TEST(bounds_do_not_depend_on_the_scale) {
    enum { N = 1024, D = 6 };
    static const double scales[] = {1e-320, 1e-290, 1e290, 1.7e308};
    double *a = new_numbers(N * D), *b = new_numbers(N * D);
    fill_sides(NORMAL, 90, N, D, 1, a, b);
    for (int i = 0; i < N * D; i++) {
        a[i] = ldexp(a[i], -100);
        b[i] = ldexp(b[i], 100);
    }
    const szg_factored f = {.n = N, .d = D, .a = a, .lda = D, .b = b, .ldb = D, .causal = true};
    for (int exact = 0; exact < 2; exact++) {
        szg_statistics_options options = {SZG_INIT(szg_statistics_options), .exact = exact};
        const szg_statistics one = compute(&f, &options);
        ck_assert(one.single == !exact && one.error > 0);
        for (int i = 0; i < 4; i++) {
            options.scale = scales[i];
            const szg_statistics s = compute(&f, &options);
            ck_assert_msg(s.single == one.single && s.error == one.error &&
                              s.weight_error == one.weight_error && s.largest == one.largest &&
                              s.largest_key == one.largest_key &&
                              s.entropy_mean == one.entropy_mean,
                          "scale %g: error %g, not %g", scales[i], s.error, one.error);
            ck_assert(s.q_norm_max == one.q_norm_max / scales[i] &&
                      s.q_norm_rms == one.q_norm_rms / scales[i]);
        }
    }
    szgi_memory_free(a);
    szgi_memory_free(b);
}
END_TEST

/* ---- Double precision instead ---- */

static bool same(const szg_statistics *a, const szg_statistics *b) {
    return a->single == b->single && a->error == b->error &&
           memcmp(&a->weight_error, &b->weight_error, sizeof a->weight_error) == 0 && /* or NaN */
           a->largest == b->largest && a->largest_key == b->largest_key &&
           a->entropy_mean == b->entropy_mean && a->entropy_min == b->entropy_min &&
           a->first_share == b->first_share && a->q_norm_rms == b->q_norm_rms;
}

/* A bound above 0.001, a cap beyond single precision, fewer than 1,024 tokens, and so many equal
 * logits that most would be computed again: the bits of `exact`, and the answer says so. */
START_TEST(double_precision_where_single_is_of_no_use) {
    static const struct {
        int64_t n;
        double sigma, cap, bias;
        bool constant, single;
    } cases[] = {{.n = 1024, .sigma = 10, .single = true},
                 {.n = 1023, .sigma = 10},
                 {.n = 1024, .sigma = 1000},
                 {.n = 1024, .sigma = 1e150},
                 {.n = 1024, .sigma = 1, .cap = 500, .single = true},
                 {.n = 1024, .sigma = 1, .cap = 2000},
                 {.n = 1024, .sigma = 1, .cap = 1e-40},
                 {.n = 1024, .sigma = 1, .cap = 1e60},
                 {.n = 1024, .sigma = 1, .bias = 100, .single = true},
                 {.n = 1024, .sigma = 1, .bias = 3000},
                 {.n = 1024, .sigma = 1, .constant = true}};
    enum { D = 6 };
    for (uint32_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const int64_t n = cases[c].n;
        double *a = new_numbers(n * D), *b = new_numbers(n * D);
        fill_sides(NORMAL, 60 + c, n, D, cases[c].sigma, a, b);
        for (int64_t i = 0; i < n * D && cases[c].constant; i++)
            a[i] = b[i] = 1 + (double)(i % D) / 3;
        szg_toeplitz *bias = cases[c].bias > 0 ? open_bias(n, cases[c].bias) : NULL;
        const szg_factored f = {n, D, a, D, b, D, bias, true};
        szg_statistics_options options = {SZG_INIT(szg_statistics_options),
                                          .soft_cap = cases[c].cap};
        const szg_statistics s = compute(&f, &options);
        options.exact = true;
        const szg_statistics exact = compute(&f, &options);
        ck_assert_msg(s.single == cases[c].single, "case %u", c);
        ck_assert_msg(s.single || same(&s, &exact), "case %u", c);
        szg_toeplitz_close(&bias);
        szgi_memory_free(a);
        szgi_memory_free(b);
    }
}
END_TEST

/* ---- Threads, memory, cancellation ---- */

START_TEST(same_bits_at_every_thread_count) {
    enum { N = 1500, D = 20 };
    double *a = new_numbers(N * D), *b = new_numbers(N * D);
    fill_sides(REPEATED, 70, N, D, 1, a, b);
    const szg_factored f = {.n = N, .d = D, .a = a, .lda = D, .b = b, .ldb = D, .causal = true};
    const szg_matrix matrix = szg_matrix_factored(&f);
    szg_statistics one;
    for (int threads = 1; threads <= 4; threads++) {
        const szg_context_options options = {SZG_INIT(szg_context_options), .threads = threads};
        szg_context *context;
        szg_statistics s;
        memset(&s, 0, sizeof s);
        ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
        ck_assert_int_eq(szg_statistics_compute(context, &matrix, NULL, &s), SZG_OK);
        if (threads == 1)
            one = s;
        ck_assert(s.single && same(&s, &one));
        szg_context_close(&context);
    }
    szgi_memory_free(a);
    szgi_memory_free(b);
}
END_TEST

START_TEST(allocations_fail_and_work_stops) {
    enum { N = 1024, D = 3 };
    double *a = new_numbers(N * D), *b = new_numbers(N * D);
    fill_sides(NORMAL, 80, N, D, 1, a, b);
    szg_toeplitz *bias = open_bias(N, 1);
    const szg_factored f = {N, D, a, D, b, D, bias, true};
    const szg_matrix matrix = szg_matrix_factored(&f);
    szg_statistics s;
    ck_survives_failed_allocations(8, szg_statistics_compute(test_context(), &matrix, NULL, &s));
    ck_assert(s.single);
    szg_context_cancel(test_context());
    ck_assert_int_eq(szg_statistics_compute(test_context(), &matrix, NULL, &s), SZG_ECANCEL);
    szg_toeplitz_close(&bias);
    szgi_memory_free(a);
    szgi_memory_free(b);
}
END_TEST

TEST_FILE("statistics_single") {
    test_add(suite, "products_keep_their_bound", products_keep_their_bound);
    test_add(suite, "weights_keep_their_bound", weights_keep_their_bound);
    test_add(suite, "exponentials_of_numbers_in_a_row", exponentials_of_numbers_in_a_row);
    test_add(suite, "caps_keep_their_bound", caps_keep_their_bound);
    test_add(suite, "ranges_and_sums_of_every_length", ranges_and_sums_of_every_length);
    test_add(suite, "statistics_meet_the_definition", statistics_meet_the_definition);
    test_add(suite, "sizes_beyond_single_precision", sizes_beyond_single_precision);
    test_add(suite, "extremes_have_their_places", extremes_have_their_places);
    test_add(suite, "extremes_closer_than_single_precision", extremes_closer_than_single_precision);
    test_add(suite, "zeros_are_exact", zeros_are_exact);
    test_add(suite, "bounds_do_not_depend_on_the_scale", bounds_do_not_depend_on_the_scale);
    test_add(suite, "double_precision_where_single_is_of_no_use",
             double_precision_where_single_is_of_no_use);
    test_add(suite, "same_bits_at_every_thread_count", same_bits_at_every_thread_count);
    test_add(suite, "allocations_fail_and_work_stops", allocations_fail_and_work_stops);
}
