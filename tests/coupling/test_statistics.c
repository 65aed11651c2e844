/* Statistics of a softmax against the same in two passes over all entries, in long double. */
#include <math.h>
#include <string.h>

#include <szego/statistics.h>
#include "toeplitz/toeplitz.h"

#include "rounding.h"
#include "suite.h"

enum { BLOCK = 512 }; /* keys that are summed by themselves */

/* ---- The oracle ---- */

/* Every field, and how far rounding may move it. */
typedef struct expected {
    long double largest, smallest, entropy, normalised, least, greatest, first, sinks, learned;
    double entropy_off, normalised_off, first_off, sinks_off, learned_off;
} expected;

/* One query's distribution, its entropy and what rounding does to both. */
typedef struct row {
    long double *p, entropy;
    double off;      /* of the entropy */
    double relative; /* of each weight, beside |t| u */
} row;

static double blocks_of(int64_t count) {
    return (double)((count + BLOCK - 1) / BLOCK + 1);
}

/* x: what the softmax is of, `count` numbers that are off by `error` each.
 *
 * The entropy is H = log Z + S, Z = sum e^t, S = sum |t| e^t / Z. Its gradient is -p (log p + H),
 * of 1-norm at most 2 H, so that the numbers' errors move it by at most 2 log(count) error. A term
 * of Z carries the roundings of t (|t| u, as e^t moves by that), of exp (2 u), of BLOCK sums in its
 * block and of one more a block, and where the maximum grows those of a factor e^delta: 3 u +
 * |delta| u, the deltas adding up to |t| at most. So Z is off by u ((BLOCK + 4 B + 2) + S) of
 * itself, and the terms of S by two roundings a block more and by |t| u, which adds E[t^2] u.
 * Products of errors: 1%. */
static row softmax(int64_t count, const long double *x, double error, long double *p) {
    long double top = x[0], z = 0, s = 0, square = 0;
    for (int64_t j = 1; j < count; j++)
        top = x[j] > top ? x[j] : top;
    for (int64_t j = 0; j < count; j++)
        z += p[j] = expl(x[j] - top);
    for (int64_t j = 0; j < count; j++) {
        p[j] /= z;
        s += p[j] > 0 ? (top - x[j]) * p[j] : 0;
        square += p[j] > 0 ? (top - x[j]) * (top - x[j]) * p[j] : 0;
    }
    row out = {.p = p, .entropy = logl(z) + s};
    double h = (double)out.entropy, sums = BLOCK + 4 * blocks_of(count) + 3;
    double rounding = sums + h + h * (2 * sums + 2 * blocks_of(count) + h) + (double)square + 2 * h;
    out.off = 2 * log((double)count) * error + 1.01 * UNIT * rounding;
    out.relative = expm1(2 * error) + 1.01 * UNIT * (2 * sums + 3 + h);
    return out;
}

/* |t| p is at most S, and S at most H. */
static double weight_off(const row *of, long double p) {
    return (double)p * of->relative + (p > 0 ? UNIT * (double)of->entropy : 0);
}

typedef struct oracle {
    int64_t n;
    const long double *x; /* n x n */
    bool causal;
    double error; /* of an entry */
    const szg_statistics_options *options;
} oracle;

static long double capped(const oracle *o, long double x) {
    double cap = o->options->soft_cap;
    return cap > 0 ? cap * tanhl(x / cap) : x;
}

/* Query i's numbers go to `x`; returns how many. */
static int64_t gather(const oracle *o, int64_t i, long double *x, expected *e) {
    int64_t keys = o->causal ? i + 1 : o->n;
    for (int64_t j = 0; j < keys; j++) {
        e->largest = fmaxl(e->largest, o->x[i * o->n + j]);
        e->smallest = fminl(e->smallest, o->x[i * o->n + j]);
        x[j] = capped(o, o->x[i * o->n + j]);
    }
    if (o->options->sink_logit)
        x[keys] = *o->options->sink_logit;
    return keys + (o->options->sink_logit != NULL);
}

static void add_row(const oracle *o, int64_t i, int64_t last, const row *r, int64_t count,
                    expected *e) {
    e->entropy += r->entropy;
    e->entropy_off += r->off;
    if (count > 1) {
        e->normalised += r->entropy / logl(count);
        e->normalised_off += r->off / log((double)count);
        e->least = fminl(e->least, r->entropy);
        e->greatest = fmaxl(e->greatest, r->entropy);
    }
    if (i > 0) {
        e->first += r->p[0];
        e->first_off += weight_off(r, r->p[0]);
    }
    for (int64_t s = 0; s < o->options->sinks && i > last; s++) {
        e->sinks += r->p[o->options->sink[s]];
        e->sinks_off += weight_off(r, r->p[o->options->sink[s]]);
    }
    if (o->options->sink_logit) {
        e->learned += r->p[count - 1];
        e->learned_off += weight_off(r, r->p[count - 1]);
    }
}

static int64_t last_sink(const szg_statistics_options *options) {
    int64_t last = -1;
    for (int64_t s = 0; s < options->sinks; s++)
        last = options->sink[s] > last ? options->sink[s] : last;
    return last;
}

/* Tanh: the quotient, the function and the product move a number by at most 6 u cap. */
static expected expect(const oracle *o) {
    expected e = {
        .largest = -INFINITY, .smallest = INFINITY, .least = INFINITY, .greatest = -INFINITY};
    long double *x, *p;
    ck_szg_ok(szgi_memory_alloc(test_context(), o->n + 1, &x));
    ck_szg_ok(szgi_memory_alloc(test_context(), o->n + 1, &p));
    for (int64_t i = 0; i < o->n; i++) {
        int64_t count = gather(o, i, x, &e);
        row r = softmax(count, x, o->error + 6 * UNIT * o->options->soft_cap, p);
        add_row(o, i, last_sink(o->options), &r, count, &e);
    }
    szgi_memory_free(x);
    szgi_memory_free(p);
    return e;
}

/* A mean of `count` numbers that are off by `off` together: `count` further roundings. */
static void check_mean(double got, long double sum, double off, int64_t count) {
    if (count < 1) {
        ck_assert(isnan(got));
        return;
    }
    double want = (double)(sum / count);
    ck_close(got, want, off / (double)count + gamma_of((double)count + 3) * want);
}

static void check(const szg_statistics *s, const oracle *o) {
    expected e = expect(o);
    int64_t n = o->n, last = last_sink(o->options);
    int64_t several = n - (o->causal && !o->options->sink_logit) -
                      (!o->causal && !o->options->sink_logit && n == 1);
    ck_assert_int_eq(s->n, n);
    ck_close(s->largest, (double)e.largest, o->error + UNIT * fabs(s->largest));
    ck_close(s->smallest, (double)e.smallest, o->error + UNIT * fabs(s->smallest));
    /* The entry that they are of is off by no more. */
    ck_close(s->largest, (double)o->x[s->largest_query * n + s->largest_key],
             o->error + UNIT * fabs(s->largest));
    ck_close(s->smallest, (double)o->x[s->smallest_query * n + s->smallest_key],
             o->error + UNIT * fabs(s->smallest));
    check_mean(s->entropy_mean, e.entropy, e.entropy_off, n);
    check_mean(s->entropy_normalised, e.normalised, e.normalised_off, several);
    check_mean(s->first_share, e.first, e.first_off, n - 1);
    check_mean(s->sink_share, e.sinks, e.sinks_off, last < 0 ? 0 : n - 1 - last);
    check_mean(s->learned_share, e.learned, e.learned_off, o->options->sink_logit ? n : 0);
    if (several == 0) {
        ck_assert(isnan(s->entropy_min) && isnan(s->entropy_max));
        ck_assert_int_eq(s->entropy_min_query, -1);
        return;
    }
    /* An extreme moves no further than the entropy that moves most. */
    ck_close(s->entropy_min, (double)e.least, e.entropy_off);
    ck_close(s->entropy_max, (double)e.greatest, e.entropy_off);
    ck_assert(s->entropy_min >= 0 && s->entropy_min_query >= 0 && s->entropy_max_query < n);
}

/* ---- Factored logits ---- */

static szg_toeplitz *open_bias(int64_t n, uint32_t step) {
    szg_toeplitz *bias;
    double *c = new_numbers(2 * n - 1);
    szgi_stream stream = {.seed = test_seed(), .purpose = 81, .step = step};
    szgi_random_fill_normal(&stream, 0, 2 * n - 1, c);
    ck_szg_ok(szg_toeplitz_open_real(test_context(), n, n, c, &bias));
    szgi_memory_free(c);
    return bias;
}

/* The entries, each a sum of products in long double. */
static long double *entries_of(const szg_factored *f) {
    long double *x;
    ck_szg_ok(szgi_memory_alloc(test_context(), f->n * f->n, &x));
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t j = 0; j < f->n; j++) {
            long double sum = f->bias ? szg_toeplitz_at(f->bias, i - j).re : 0;
            for (int64_t t = 0; t < f->d; t++)
                sum += (long double)f->a[i * f->lda + t] * f->b[j * f->ldb + t];
            x[i * f->n + j] = sum;
        }
    return x;
}

static double greatest_norm(int64_t n, int64_t d, int64_t ld, const double *x, double *rms) {
    double most = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double norm = norm_of(d, x + i * ld);
        most = fmax(most, norm);
        sum += norm * norm;
    }
    *rms = sqrt(sum / (double)n);
    return most;
}

/* Squares, their sums and roots: d + 4 roundings a norm, and n more of the mean. */
static void check_norms(const szg_statistics *s, const szg_factored *f, double scale) {
    double q_rms, k_rms;
    double q = greatest_norm(f->n, f->d, f->lda, f->a, &q_rms) / scale;
    double k = greatest_norm(f->n, f->d, f->ldb, f->b, &k_rms);
    double bound = gamma_of(2 * (double)(f->d + 8)), mean = gamma_of(2 * (double)(f->d + f->n + 8));
    ck_close(s->q_norm_max, q, bound * q);
    ck_close(s->k_norm_max, k, bound * k);
    ck_close(s->q_norm_rms, q_rms / scale, mean * q);
    ck_close(s->k_norm_rms, k_rms, mean * k);
    /* gamma_{d+3} |q| |k| and the largest bias: the bound of agreement. */
    double most = 0;
    for (int64_t lag = 1 - f->n; f->bias && lag < f->n; lag++)
        most = fmax(most, fabs(szg_toeplitz_at(f->bias, lag).re));
    double want = gamma_of((double)f->d + 3) * (scale * q * k + most);
    ck_close(s->error, want, 1e-9 * want + 0x1p-1060);
}

static void check_factored(const szg_factored *f, const szg_statistics_options *options) {
    const szg_matrix matrix = szg_matrix_factored(f);
    long double *x = entries_of(f);
    szg_statistics s;
    ck_szg_ok(szg_statistics_compute(test_context(), &matrix, options, &s));
    const oracle o = {f->n, x, f->causal || options->causal, s.error, options};
    check(&s, &o);
    check_norms(&s, f, options->scale > 0 ? options->scale : 1);
    szgi_memory_free(x);
}

/* Sizes at both ends of blocks of queries (128) and keys (512), of one token and one dimension;
 * sharp and flat weights. */
START_TEST(factored_logits_meet_the_definition) {
    static const struct {
        int64_t n, d, sinks, sink[3];
        double sigma, cap, scale, learned;
        bool bias, causal, mask, has_learned;
    } cases[] = {
        {.n = 1, .d = 1, .sigma = 1},
        {.n = 1, .d = 3, .sigma = 1, .causal = true, .has_learned = true, .learned = 0.5},
        {.n = 2, .d = 1, .sigma = 1, .mask = true},
        {.n = 17, .d = 0, .sigma = 1, .bias = true, .sinks = 1, .sink = {3}},
        {.n = 33, .d = 4, .sigma = 3, .bias = true, .causal = true, .sinks = 2, .sink = {0, 7}},
        {.n = 127, .d = 5, .sigma = 1, .cap = 2, .has_learned = true, .learned = -1},
        {.n = 128, .d = 5, .sigma = 40, .mask = true, .sinks = 1, .sink = {127}},
        {.n = 129, .d = 8, .sigma = 1e-3, .scale = 0.25, .causal = true, .has_learned = true},
        {.n = 511, .d = 2, .sigma = 2, .bias = true, .sinks = 3, .sink = {510, 0, 1}},
        {.n = 512, .d = 2, .sigma = 2, .causal = true, .cap = 30, .sinks = 1, .sink = {511}},
        {.n = 513, .d = 3, .sigma = 2, .bias = true, .mask = true, .sinks = 2, .sink = {512, 0}},
        {.n = 513,
         .d = 3,
         .sigma = 9,
         .sinks = 1,
         .sink = {512},
         .has_learned = true,
         .learned = 60},
        {.n = 1100, .d = 4, .sigma = 2, .sinks = 2, .sink = {1, 0}},
        {.n = 1025, .d = 1, .sigma = 4, .causal = true, .bias = true, .sinks = 1, .sink = {600}}};
    for (uint32_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int64_t n = cases[c].n, d = cases[c].d, lda = d + 2, ldb = d + 1;
        double *a = new_numbers(n * lda), *b = new_numbers(n * ldb);
        szgi_stream stream = {.seed = test_seed(), .purpose = 80, .step = c};
        for (int64_t i = 0; i < n * lda; i++)
            a[i] = cases[c].sigma * szgi_random_normal(&stream, (uint64_t)i);
        for (int64_t i = 0; i < n * ldb; i++)
            b[i] = szgi_random_normal(&stream, (uint64_t)(n * lda + i));
        szg_toeplitz *bias = cases[c].bias ? open_bias(n, c) : NULL;
        const szg_factored f = {n, d, a, lda, b, ldb, bias, cases[c].causal};
        const szg_statistics_options options = {
            SZG_INIT(szg_statistics_options),
            .causal = cases[c].mask,
            .soft_cap = cases[c].cap,
            .scale = cases[c].scale,
            .sinks = cases[c].sinks,
            .sink = cases[c].sink,
            .sink_logit = cases[c].has_learned ? &cases[c].learned : NULL,
            .exact = true}; /* whatever the order: test_statistics_single.c has the other way */
        check_factored(&f, &options);
        szg_toeplitz_close(&bias);
        szgi_memory_free(a);
        szgi_memory_free(b);
    }
}
END_TEST

/* ---- Dense logits ---- */

static szg_statistics dense(int64_t n, const double *x, const szg_statistics_options *options) {
    const szg_matrix matrix = szg_matrix_dense(n, n, x, n);
    szg_statistics s;
    ck_szg_ok(szg_statistics_compute(test_context(), &matrix, options, &s));
    return s;
}

/* Corner-biased numbers; what the mask hides, and what follows a row, is not read. */
START_TEST(dense_logits_meet_the_definition) {
    enum { N = 530, LD = N + 3 };
    szgi_stream stream = {.seed = test_seed(), .purpose = 82};
    double *a = new_numbers(N * LD);
    long double *x;
    ck_szg_ok(szgi_memory_alloc(test_context(), N * N, &x));
    for (int i = 0; i < N * LD; i++)
        a[i] = i % LD < N ? test_real(&stream, (uint64_t)i) : NAN;
    const int64_t sink[] = {4};
    szg_statistics_options options = {SZG_INIT(szg_statistics_options), .sinks = 1, .sink = sink};
    for (int causal = 0; causal < 2; causal++) {
        for (int i = 0; i < N * N; i++) {
            if (causal && i % N > i / N)
                a[i / N * LD + i % N] = i % 2 ? -INFINITY : NAN;
            x[i] = a[i / N * LD + i % N];
        }
        const szg_matrix matrix = szg_matrix_dense(N, N, a, LD);
        options.causal = causal;
        szg_statistics s;
        ck_szg_ok(szg_statistics_compute(test_context(), &matrix, &options, &s));
        ck_assert(s.error == 0 && isnan(s.q_norm_max) && isnan(s.k_norm_rms));
        const oracle o = {N, x, causal, 0, &options};
        check(&s, &o);
    }
    szgi_memory_free(a);
    szgi_memory_free(x);
}
END_TEST

/* ---- Invariants ---- */

/* Equal logits, whatever they are: Z = n without rounding, so that the entropy is libm's log n; of
 * the zero matrix too. A causal query of i + 1 keys has log(i + 1): normalised it is 1. */
START_TEST(equal_logits_have_the_logarithm) {
    enum { N = 600 };
    static const double values[] = {0, -3.25, 1e300, -1e300, 5e-324};
    double *x = new_numbers(N * N);
    for (int v = 0; v < 5; v++) {
        for (int i = 0; i < N * N; i++)
            x[i] = values[v];
        szg_statistics s = dense(N, x, NULL);
        ck_assert(s.entropy_min == log(N) && s.entropy_max == log(N));
        ck_close(s.entropy_mean, log(N), gamma_of(N) * log(N));
        ck_close(s.first_share, 1.0 / N, gamma_of(N + 1) / N);
        ck_assert(s.largest == values[v] && s.smallest == values[v]);
        ck_assert_int_eq(s.largest_query + s.largest_key + s.entropy_min_query, 0);
        const szg_statistics_options causal = {SZG_INIT(szg_statistics_options), .causal = true};
        s = dense(N, x, &causal);
        ck_assert(s.entropy_normalised == 1 && s.entropy_min == log(2));
        ck_assert_int_eq(s.entropy_min_query, 1);
        ck_assert_int_eq(s.entropy_max_query, N - 1);
    }
    szgi_memory_free(x);
    const szg_matrix zero = szg_matrix_zero(N);
    szg_statistics s;
    ck_szg_ok(szg_statistics_compute(test_context(), &zero, NULL, &s));
    ck_assert(s.entropy_max == log(N) && s.largest == 0 && isnan(s.q_norm_rms));
}
END_TEST

/* One logit above all others takes the whole weight, in whatever block it stands and whatever came
 * before it: even where differences overflow. */
START_TEST(one_huge_logit_takes_all) {
    enum { N = 1030 };
    static const int64_t places[] = {0, 1, 511, 512, 1029};
    static const double huge[] = {1e300, 1.7e308}, rest[] = {0, -1.7e308};
    double *x = new_numbers(N * N);
    for (int c = 0; c < 10; c++) {
        int64_t place = places[c % 5];
        for (int i = 0; i < N * N; i++)
            x[i] = i % N == place ? huge[c / 5] : rest[c / 5];
        const szg_statistics_options options = {SZG_INIT(szg_statistics_options), .sinks = 1,
                                                .sink = &places[c % 5]};
        szg_statistics s = dense(N, x, &options);
        ck_assert(s.entropy_mean == 0 && s.entropy_max == 0 && s.entropy_normalised == 0);
        ck_assert(s.first_share == (place == 0));
        ck_assert(place == N - 1 ? isnan(s.sink_share) : s.sink_share == 1);
        ck_assert(s.largest == huge[c / 5] && s.smallest == rest[c / 5]);
        ck_assert_int_eq(s.largest_key, place);
        ck_assert_int_eq(s.smallest_key, place == 0);
    }
    szgi_memory_free(x);
}
END_TEST

/* Whole numbers and a whole constant: nothing rounds, so nothing but the logits themselves moves.
 */
START_TEST(a_constant_changes_nothing) {
    enum { N = 550 };
    double *x = new_numbers(N * N);
    szgi_stream stream = {.seed = test_seed(), .purpose = 83};
    for (int i = 0; i < N * N; i++)
        x[i] = (double)(int64_t)(8 * szgi_random_normal(&stream, (uint64_t)i));
    szg_statistics before = dense(N, x, NULL);
    for (int i = 0; i < N * N; i++)
        x[i] += 1 << 30;
    szg_statistics after = dense(N, x, NULL);
    ck_assert(after.largest == before.largest + (1 << 30));
    ck_assert(after.smallest == before.smallest + (1 << 30));
    after.largest = before.largest;
    after.smallest = before.smallest;
    ck_assert(before.entropy_mean == after.entropy_mean);
    ck_assert(before.entropy_min == after.entropy_min && before.entropy_max == after.entropy_max);
    ck_assert(before.first_share == after.first_share);
    ck_assert_int_eq(before.largest_query, after.largest_query);
    ck_assert_int_eq(before.largest_key, after.largest_key);
    ck_assert_int_eq(before.entropy_min_query, after.entropy_min_query);
    szgi_memory_free(x);
}
END_TEST

/* A learned sink is one more key of every query: key n, of a query that nobody asks for. */
START_TEST(a_learned_sink_is_one_more_key) {
    enum { N = 40 };
    double *x = new_numbers(N * N), *y = new_numbers((N + 1) * (N + 1)), logit = 0.75;
    szgi_stream stream = {.seed = test_seed(), .purpose = 84};
    for (int i = 0; i < (N + 1) * (N + 1); i++) {
        y[i] = i % (N + 1) == N ? logit : szgi_random_normal(&stream, (uint64_t)i);
        if (i / (N + 1) < N && i % (N + 1) < N)
            x[i / (N + 1) * N + i % (N + 1)] = y[i];
        if (i / (N + 1) == N)
            y[i] = 0; /* the entropy of this query is log(N + 1) */
    }
    const szg_statistics_options options = {SZG_INIT(szg_statistics_options), .sink_logit = &logit};
    szg_statistics learned = dense(N, x, &options), key = dense(N + 1, y, NULL);
    double mean = (key.entropy_mean * (N + 1) - log(N + 1)) / N;
    ck_close(learned.entropy_mean, mean, 4 * gamma_of(N + 8) * log(N + 1));
    ck_assert(learned.entropy_min == key.entropy_min);
    szgi_memory_free(x);
    szgi_memory_free(y);
}
END_TEST

/* Squares of such norms overflow, or vanish. */
START_TEST(norms_of_any_size) {
    static const double size[] = {1e200, 1e-200};
    for (int c = 0; c < 2; c++) {
        const double a[] = {3 * size[c], 4 * size[c], 0, 0}, b[] = {0, 5 / size[c], 0, 0};
        const szg_factored f = {.n = 2, .d = 2, .a = a, .lda = 2, .b = b, .ldb = 2};
        const szg_matrix matrix = szg_matrix_factored(&f);
        szg_statistics s;
        ck_szg_ok(szg_statistics_compute(test_context(), &matrix, NULL, &s));
        ck_close(s.q_norm_max, 5 * size[c], gamma_of(8) * 5 * size[c]);
        ck_close(s.q_norm_rms, 5 * size[c] / sqrt(2), gamma_of(12) * 5 * size[c]);
        ck_close(s.k_norm_max, 5 / size[c], gamma_of(8) * 5 / size[c]);
        ck_close(s.largest, 20, s.error + gamma_of(4) * 20);
    }
}
END_TEST

/* ---- Threads, memory, cancellation ---- */

static szg_matrix drawn_matrix(szg_factored *f, double *x, int64_t n, int64_t d) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 85};
    szgi_random_fill_normal(&stream, 0, 2 * n * d, x);
    *f = (szg_factored){.n = n, .d = d, .a = x, .lda = d, .b = x + n * d, .ldb = d, .causal = true};
    return szg_matrix_factored(f);
}

START_TEST(same_bits_at_every_thread_count) {
    enum { N = 900, D = 7 };
    double *x = new_numbers(2 * N * D);
    szg_factored f;
    const szg_matrix matrix = drawn_matrix(&f, x, N, D);
    szg_statistics one;
    for (int threads = 1; threads <= 5; threads++) {
        const szg_context_options options = {SZG_INIT(szg_context_options), .threads = threads};
        szg_context *context;
        ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
        szg_statistics s;
        ck_assert_int_eq(szg_statistics_compute(context, &matrix, NULL, &s), SZG_OK);
        if (threads == 1)
            one = s;
        ck_assert(memcmp(&s, &one, sizeof s) == 0);
        szg_context_close(&context);
    }
    szgi_memory_free(x);
}
END_TEST

START_TEST(allocations_fail_and_work_stops) {
    enum { N = 300, D = 3 };
    double *x = new_numbers(2 * N * D);
    szg_factored f;
    szg_toeplitz *bias = open_bias(N, 99);
    szg_matrix matrix = drawn_matrix(&f, x, N, D);
    matrix.of.factored.bias = bias;
    szg_statistics s;
    ck_survives_failed_allocations(4, szg_statistics_compute(test_context(), &matrix, NULL, &s));
    szg_context_cancel(test_context());
    ck_assert_int_eq(szg_statistics_compute(test_context(), &matrix, NULL, &s), SZG_ECANCEL);
    szg_toeplitz_close(&bias);
    szgi_memory_free(x);
}
END_TEST

/* ---- Refused ---- */

START_TEST(bad_numbers_are_named) {
    enum { N = 600 };
    double *x = new_numbers(N * N);
    szg_matrix matrix = szg_matrix_dense(N, N, x, N);
    szg_statistics s;
    static const struct {
        double value;
        const char *words;
    } cases[] = {{NAN, "query 530 and key 520 is nan: give logits before mask"},
                 {-INFINITY, "query 530 and key 520 is -inf: give logits before mask"},
                 {INFINITY, "query 530 and key 520 is inf"}};
    for (int c = 0; c < 3; c++) {
        x[530 * N + 520] = cases[c].value;
        ck_szg_fails(SZG_EDATA, cases[c].words,
                     szg_statistics_compute(test_context(), &matrix, NULL, &s));
    }
    szgi_memory_free(x);
    double a[] = {1e200, 1}, b[] = {1, 1e200};
    const szg_factored f = {.n = 2, .d = 1, .a = a, .lda = 1, .b = b, .ldb = 1};
    matrix = szg_matrix_factored(&f);
    ck_szg_fails(SZG_EDATA, "query 0 and key 1 is inf: the dot product overflows",
                 szg_statistics_compute(test_context(), &matrix, NULL, &s));
    a[1] = NAN;
    ck_szg_fails(SZG_EDATA, "A: row 1, column 0 is nan",
                 szg_statistics_compute(test_context(), &matrix, NULL, &s));
}
END_TEST

START_TEST(bad_arguments_are_named) {
    static const double x[6] = {0}, nan_sink = NAN;
    static const int64_t beyond[] = {2}, below[] = {-1}, twice[] = {1, 0, 1};
    static const struct {
        const char *words;
        szg_statistics_options options;
    } cases[] = {
        {"soft_cap is -1", {SZG_INIT(szg_statistics_options), .soft_cap = -1}},
        {"soft_cap is nan", {SZG_INIT(szg_statistics_options), .soft_cap = NAN}},
        {"soft_cap is inf", {SZG_INIT(szg_statistics_options), .soft_cap = INFINITY}},
        {"scale is -2", {SZG_INIT(szg_statistics_options), .scale = -2}},
        {"sink_logit is nan", {SZG_INIT(szg_statistics_options), .sink_logit = &nan_sink}},
        {"without their tokens", {SZG_INIT(szg_statistics_options), .sinks = 1}},
        {"without their tokens", {SZG_INIT(szg_statistics_options), .sinks = -1}},
        {"sink 2 is no token: they are 0 .. 1",
         {SZG_INIT(szg_statistics_options), .sinks = 1, .sink = beyond}},
        {"sink -1 is no token", {SZG_INIT(szg_statistics_options), .sinks = 1, .sink = below}},
        {"sink 1 is there twice", {SZG_INIT(szg_statistics_options), .sinks = 3, .sink = twice}},
        {"SZG_INIT", {.soft_cap = 1}}};
    szg_matrix matrix = szg_matrix_dense(2, 2, x, 2);
    szg_statistics s;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        ck_szg_fails(SZG_EINVAL, cases[c].words,
                     szg_statistics_compute(test_context(), &matrix, &cases[c].options, &s));
    matrix = szg_matrix_dense(2, 3, x, 3);
    ck_szg_fails(SZG_EINVAL, "2 x 3 numbers: logits are square",
                 szg_statistics_compute(test_context(), &matrix, NULL, &s));
    matrix = szg_matrix_dense(2, 2, x, 1);
    ck_szg_fails(SZG_EINVAL, "leading dimension 1 is below 2",
                 szg_statistics_compute(test_context(), &matrix, NULL, &s));
    matrix = szg_matrix_kms(4, 0.5);
    ck_szg_fails(SZG_EDOMAIN, "give dense logits, or queries and keys",
                 szg_statistics_compute(test_context(), &matrix, NULL, &s));
    matrix = (szg_matrix){0};
    ck_szg_fails(SZG_EDOMAIN, "give dense logits",
                 szg_statistics_compute(test_context(), &matrix, NULL, &s));
}
END_TEST

TEST_FILE("statistics") {
    test_add(suite, "factored_logits_meet_the_definition", factored_logits_meet_the_definition);
    test_add(suite, "dense_logits_meet_the_definition", dense_logits_meet_the_definition);
    test_add(suite, "equal_logits_have_the_logarithm", equal_logits_have_the_logarithm);
    test_add(suite, "one_huge_logit_takes_all", one_huge_logit_takes_all);
    test_add(suite, "a_constant_changes_nothing", a_constant_changes_nothing);
    test_add(suite, "a_learned_sink_is_one_more_key", a_learned_sink_is_one_more_key);
    test_add(suite, "norms_of_any_size", norms_of_any_size);
    test_add(suite, "same_bits_at_every_thread_count", same_bits_at_every_thread_count);
    test_add(suite, "allocations_fail_and_work_stops", allocations_fail_and_work_stops);
    test_add(suite, "bad_numbers_are_named", bad_numbers_are_named);
    test_add(suite, "bad_arguments_are_named", bad_arguments_are_named);
}
