/* Each encoding against its formula written out naively, and against published values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rounding.h"
#include "npy_complex.h"
#include "suite.h"
#include "encoding/encoding.h"
#include "base/memory.h"
#include "formats/npy.h"
#include "toeplitz/toeplitz.h"

static const double EPS = 0x1p-52;

static szg_encoding *parse(const char *spec) {
    szg_encoding *encoding;
    ck_szg_ok(szg_encoding_parse(test_context(), spec, &encoding));
    return encoding;
}

static szg_kernel_facts facts_of(const szg_encoding *encoding, int64_t head, int64_t matrix) {
    szg_kernel_facts facts;
    ck_szg_ok(szg_encoding_facts(test_context(), encoding, head, matrix, &facts));
    return facts;
}

static szg_toeplitz *kernel(const szg_encoding *encoding, int64_t head, int64_t matrix, int64_t n) {
    szg_toeplitz *t;
    ck_szg_ok(szg_encoding_kernel(test_context(), encoding, head, matrix, n, &t));
    ck_assert_int_eq(szg_toeplitz_size(t), n);
    return t;
}

/* A file of the test's own folder; the name is overwritten by the next call. */
static const char *npy_file(int dims, const int64_t *shape, const double *data) {
    static char path[64];
    snprintf(path, sizeof path, "test_encoding_%d.npy", (int)getpid());
    ck_szg_ok(szgi_npy_write_real(test_context(), path, dims, shape, data));
    return path;
}

static char *spec_with(const char *format, const char *path) {
    static char spec[256];
    snprintf(spec, sizeof spec, format, path);
    return spec;
}

/* ---- Phases ---- */

START_TEST(phase_of_large_products) {
    szgi_stream stream = {.seed = test_seed()};
    for (int64_t trial = 0; trial < test_trials(2000); trial++) {
        int64_t k = szgi_random_below(&stream, (uint64_t)(2 * trial), (int64_t)1 << 40);
        double theta = szgi_random_uniform(&stream, (uint64_t)(2 * trial + 1)), c, s;
        szgi_lag_phase(k, theta, &c, &s);
        /* The product of 40 and 53 bits needs 93: long double has 64, and so the reference splits
         * k into two factors that long double multiplies exactly. */
        int64_t high = k >> 11 << 11, low = k - high;
        long double a = (long double)high * theta, b = (long double)low * theta;
        long double cosine = cosl(a) * cosl(b) - sinl(a) * sinl(b);
        long double sine = sinl(a) * cosl(b) + cosl(a) * sinl(b);
        /* |a| < 2^40 in 64 bits: an error of 2^-24 remains where the product is not exact. */
        double bound = 2 * EPS + (double)ldexpl(1, -63) * (double)fabsl(a);
        ck_close(c, (double)cosine, bound);
        ck_close(s, (double)sine, bound);
    }
    double c, s;
    szgi_lag_phase(1, 0.5, &c, &s);
    ck_close(c, cos(0.5), EPS);
    szgi_lag_phase(-3, 0.5, &c, &s);
    ck_close(s, -sin(1.5), EPS);
}
END_TEST

/* ---- ALiBi ---- */

static double slope_of(const szg_encoding *encoding, int64_t head) {
    szg_toeplitz *t = kernel(encoding, head, 0, 5);
    double slope = -szg_toeplitz_at(t, 1).re;
    for (int64_t k = -4; k <= 4; k++)
        ck_assert(szg_toeplitz_at(t, k).re == -slope * (double)llabs(k));
    szg_toeplitz_close(&t);
    ck_assert(facts_of(encoding, head, 0).parameter == slope);
    return slope;
}

/* get_slopes of the ALiBi authors' code, transcribed: powers of a ratio, recursion. */
static void published(int64_t n, double *slopes) {
    double levels = log2((double)n);
    if (levels == floor(levels)) {
        double start = pow(2, -pow(2, -(levels - 3)));
        for (int64_t i = 0; i < n; i++)
            slopes[i] = start * pow(start, (double)i);
        return;
    }
    int64_t closest = (int64_t)pow(2, floor(levels));
    double twice[256];
    published(closest, slopes);
    published(2 * closest, twice);
    for (int64_t i = closest; i < n; i++)
        slopes[i] = twice[2 * (i - closest)];
}

START_TEST(alibi_published) {
    for (int64_t heads = 1; heads <= 70; heads++) {
        char spec[64];
        double want[128];
        snprintf(spec, sizeof spec, "alibi:heads=%lld", (long long)heads);
        szg_encoding *encoding = parse(spec);
        ck_assert_int_eq(szg_encoding_heads(encoding), heads);
        published(heads, want);
        for (int64_t h = 0; h < heads; h++)
            ck_close(slope_of(encoding, h), want[h], 64 * EPS * want[h]);
        szg_encoding_close(&encoding);
    }
}
END_TEST

START_TEST(alibi_known_values) {
    static const double eight[] = {.5, .25, .125, .0625, .03125, .015625, .0078125, .00390625};
    /* exp2(-0.5), exp2(-1.5), exp2(-2.5), exp2(-3.5): the extras of 12 heads. */
    static const double extra[] = {0.70710678118654757, 0.35355339059327379, 0.17677669529663689,
                                   0.088388347648318447};
    szg_encoding *encoding = parse("alibi");
    for (int64_t h = 0; h < 8; h++)
        ck_assert(slope_of(encoding, h) == eight[h]);
    szg_encoding_close(&encoding);
    encoding = parse("alibi:heads=12");
    for (int64_t h = 0; h < 12; h++)
        ck_close(slope_of(encoding, h), h < 8 ? eight[h] : extra[h - 8], EPS);
    szg_encoding_close(&encoding);
    encoding = parse("alibi:heads=16");
    ck_close(slope_of(encoding, 0), 0.70710678118654757, EPS);
    ck_assert(slope_of(encoding, 1) == .5);
    ck_assert(slope_of(encoding, 15) == 0x1p-8);
    szg_encoding_close(&encoding);
    encoding = parse("alibi:heads=4,slopes=exp");
    ck_assert(slope_of(encoding, 0) == 1);
    ck_close(slope_of(encoding, 3), 0.47236655274101469, EPS);
    szg_kernel_facts facts = facts_of(encoding, 0, 0);
    ck_assert_int_eq(facts.form, SZG_FORM_UNBOUNDED);
    ck_assert_int_eq(facts.structure, SZG_KERNEL_DISTANCE);
    ck_assert(!facts.summable);
    szg_encoding_close(&encoding);
    encoding = parse("alibi:heads=2,bias_max=16");
    ck_assert(slope_of(encoding, 0) == 0x1p-8);
    ck_assert(slope_of(encoding, 1) == 0x1p-16);
    szg_encoding_close(&encoding);
}
END_TEST

/* ---- T5 ---- */

enum { T5_SPAN = 300 };

/* Opens a T5 encoding whose bias is the bucket number. */
static szg_encoding *t5_buckets(int64_t buckets, const char *format) {
    double table[64 * 2];
    for (int64_t b = 0; b < buckets; b++) {
        table[2 * b] = (double)b;
        table[2 * b + 1] = -(double)b;
    }
    int64_t shape[] = {buckets, 2};
    const char *path = npy_file(2, shape, table);
    szg_encoding *encoding = parse(spec_with(format, path));
    unlink(path);
    ck_assert_int_eq(szg_encoding_heads(encoding), 2);
    return encoding;
}

/* Bucket of `distance` without logarithms: the largest m with (distance/exact)^(buckets - exact) >=
 * (max_distance/exact)^m, decided in long double powers with a margin for the equality cases. */
static int64_t naive_side(int64_t distance, int64_t buckets, int64_t max_distance) {
    int64_t exact = buckets / 2;
    if (distance < exact)
        return distance;
    long double left = powl((long double)distance / exact, buckets - exact);
    for (int64_t m = buckets - 1 - exact; m > 0; m--)
        if (left * (1 + 1e-15L) >= powl((long double)max_distance / exact, m))
            return exact + m;
    return exact;
}

static void check_t5(int64_t buckets, int64_t max_distance, bool causal, const char *format) {
    szg_encoding *encoding = t5_buckets(buckets, format);
    szg_toeplitz *t = kernel(encoding, 0, 0, T5_SPAN);
    double bias[2 * T5_SPAN - 1];
    ck_szg_ok(szgi_encoding_bias(test_context(), encoding, 1, T5_SPAN, bias));
    for (int64_t k = 1 - T5_SPAN; k < T5_SPAN; k++) {
        int64_t want;
        if (causal)
            want = k > 0 ? naive_side(k, buckets, max_distance) : 0;
        else
            want = (k < 0 ? buckets / 2 : 0) + naive_side(llabs(k), buckets / 2, max_distance);
        ck_assert_msg(szg_toeplitz_at(t, k).re == (double)want, "lag %lld: %g, not %lld",
                      (long long)k, szg_toeplitz_at(t, k).re, (long long)want);
        ck_assert(bias[k + T5_SPAN - 1] == -(double)want);
    }
    szg_kernel_facts facts = facts_of(encoding, 0, 0);
    ck_assert_int_eq(facts.kind, SZG_TOEPLITZ_REAL);
    for (int64_t k = facts.degree + 1; k < T5_SPAN; k++) {
        ck_assert(szg_toeplitz_at(t, k).re == facts.tail_plus);
        ck_assert(szg_toeplitz_at(t, -k).re == facts.tail_minus);
    }
    ck_assert(szg_toeplitz_at(t, facts.degree).re != facts.tail_plus);
    szg_toeplitz_close(&t);
    szg_encoding_close(&encoding);
}

START_TEST(t5_bucket_rule) {
    check_t5(32, 128, false, "t5:table=%s");
    check_t5(32, 128, true, "t5:direction=causal,table=%s");
    check_t5(8, 20, false, "t5:buckets=8,max_distance=20,table=%s");
    check_t5(5, 9, true, "t5:buckets=5,max_distance=9,direction=causal,table=%s");
    check_t5(64, 256, true, "t5:buckets=64,max_distance=256,direction=causal,table=%s");
}
END_TEST

/* Values of the published function (relative position j - i, bucket). */
START_TEST(t5_known_values) {
    static const int both[][2] = {{0, 0},    {-1, 1},    {-7, 7},    {-8, 8},   {-11, 8},
                                  {-12, 9},  {-16, 10},  {-23, 11},  {-32, 12}, {-64, 14},
                                  {-91, 15}, {-128, 15}, {-299, 15}, {1, 17},   {7, 23},
                                  {8, 24},   {16, 26},   {128, 31}};
    static const int past[][2] = {{0, 0},    {5, 0},    {-1, 1},   {-15, 15},  {-16, 16},
                                  {-19, 17}, {-32, 21}, {-64, 26}, {-113, 31}, {-128, 31}};
    szg_encoding *encoding = t5_buckets(32, "t5:table=%s");
    szg_toeplitz *t = kernel(encoding, 0, 0, T5_SPAN);
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        ck_assert_msg(szg_toeplitz_at(t, -both[i][0]).re == both[i][1], "%d: %g", both[i][0],
                      szg_toeplitz_at(t, -both[i][0]).re);
    szg_toeplitz_close(&t);
    szg_encoding_close(&encoding);
    encoding = t5_buckets(32, "t5:direction=causal,table=%s");
    t = kernel(encoding, 0, 0, T5_SPAN);
    for (size_t i = 0; i < sizeof past / sizeof *past; i++)
        ck_assert_msg(szg_toeplitz_at(t, -past[i][0]).re == past[i][1], "%d: %g", past[i][0],
                      szg_toeplitz_at(t, -past[i][0]).re);
    szg_toeplitz_close(&t);
    szg_encoding_close(&encoding);
}
END_TEST

START_TEST(t5_symmetry_is_seen) {
    double table[8] = {5, 1, 2, 3, -7, 1, 2, 3}; /* bucket 4, lag 0 of the other side, is unused */
    int64_t shape[] = {8, 1};
    const char *path = npy_file(2, shape, table);
    szg_encoding *encoding = parse(spec_with("t5:buckets=8,max_distance=16,table=%s", path));
    szg_kernel_facts facts = facts_of(encoding, 0, 0);
    ck_assert_int_eq(facts.kind, SZG_TOEPLITZ_SYMMETRIC);
    ck_assert(facts.tail_plus == 3 && facts.tail_minus == 3);
    szg_toeplitz *t = kernel(encoding, 0, 0, 40);
    ck_assert_int_eq(szgi_toeplitz_kind_of(t), SZG_TOEPLITZ_SYMMETRIC);
    ck_assert(szg_toeplitz_at(t, 0).re == 5 && szg_toeplitz_at(t, -39).re == 3);
    szg_toeplitz_close(&t);
    szg_encoding_close(&encoding);
    unlink(path);
}
END_TEST

/* ---- Cosines ---- */

static void check_cosines(const char *spec, int64_t head, int64_t matrix, int64_t pairs,
                          const double *theta, double unrotated, double scale) {
    enum { N = 200 };
    szg_encoding *encoding = parse(spec);
    szg_toeplitz *t = kernel(encoding, head, matrix, N);
    szg_kernel_facts facts = facts_of(encoding, head, matrix);
    ck_assert_int_eq(facts.pairs, pairs);
    ck_assert_int_eq(facts.form, SZG_FORM_ATOMS);
    double norm = 2 * (double)pairs + unrotated;
    for (int64_t i = 0; i < pairs; i++)
        ck_close(facts.theta[i], theta[i], 32 * EPS * theta[i]);
    for (int64_t k = -N + 1; k < N; k++) {
        double sum = unrotated;
        for (int64_t i = 0; i < pairs; i++)
            sum += 2 * cos((double)k * theta[i]);
        /* k theta differs by 32 eps k, the sum of `norm` terms by norm eps. */
        ck_close(szg_toeplitz_at(t, k).re, scale * sum / norm, scale * 64 * EPS * (N + norm));
    }
    szg_toeplitz_close(&t);
    szg_encoding_close(&encoding);
}

static void powers(int64_t pairs, double base, double size, double *theta) {
    for (int64_t t = 0; t < pairs; t++)
        theta[t] = 1 / pow(base, 2 * (double)t / size);
}

START_TEST(rotary_kernels) {
    double theta[64];
    powers(32, 10000, 64, theta);
    check_cosines("rope", 0, 0, 32, theta, 0, 1);
    check_cosines("rope:pairing=half", 0, 0, 32, theta, 0, 1);
    check_cosines("rope+absolute", 0, 0, 32, theta, 0, 1);
    check_cosines("rope+absolute", 0, 1, 32, theta, 0, 32);
    check_cosines("absolute", 0, 0, 32, theta, 0, 32);
    check_cosines("mla:content=7", 0, 0, 32, theta, 7, 1);
    powers(4, 500, 8, theta);
    check_cosines("rope:dim=13,rotary=8,base=500", 0, 0, 4, theta, 5, 1);
    check_cosines("rope:dim=8,base=500,heads=3,rotate=1", 1, 0, 4, theta, 0, 1);
    check_cosines("rope:dim=8,base=500,heads=3,rotate=1", 0, 0, 0, theta, 8, 1);
    check_cosines("rope:dim=8,base=500,heads=3,rotate=1", 2, 0, 0, theta, 8, 1);
}
END_TEST

/* The scaling family in the form in which the model code states it. */
START_TEST(rotary_scaling) {
    enum { P = 32 };
    const double pi = acos(-1);
    double theta[P], base[P];
    powers(P, 10000, 64, base);
    for (int t = 0; t < P; t++)
        theta[t] = base[t] / 4;
    check_cosines("rope:scaling=linear,factor=4", 0, 0, P, theta, 0, 1);
    powers(P, 10000 * pow(4, 64.0 / 62), 64, theta);
    check_cosines("rope:scaling=ntk,factor=4", 0, 0, P, theta, 0, 1);
    powers(P, 10000 * pow(4 * 8192.0 / 2048 - 3, 64.0 / 62), 64, theta);
    check_cosines("rope:scaling=dynamic,factor=4,original=2048,length=8192", 0, 0, P, theta, 0, 1);
    check_cosines("rope:scaling=dynamic,factor=4,original=2048,length=100", 0, 0, P, base, 0, 1);
    for (int t = 0; t < P; t++) {
        double wavelength = 2 * pi / base[t];
        double smooth = (8192 / wavelength - 1) / (4 - 1);
        theta[t] = wavelength < 8192 / 4.0 ? base[t]
                   : wavelength > 8192     ? base[t] / 8
                                           : (1 - smooth) * base[t] / 8 + smooth * base[t];
    }
    check_cosines("rope:scaling=llama3,factor=8,original=8192", 0, 0, P, theta, 0, 1);
    check_cosines("rope:scaling=llama3,factor=8", 0, 0, P, theta, 0, 1);
    /* YaRN, d = 64, base 10000, original 4096: pairs 10 (from 10.49) to 23 (from 22.51). */
    for (int t = 0; t < P; t++) {
        double ramp = t <= 10 ? 0 : t >= 23 ? 1 : (t - 10) / 13.0;
        theta[t] = base[t] / 16 * ramp + base[t] * (1 - ramp);
    }
    check_cosines("rope:scaling=yarn,factor=16,original=4096", 0, 0, P, theta, 0, 1);
    memset(theta, 0, sizeof theta);
    powers(8, 10000, 64, theta);
    check_cosines("rope:rotary=16,scaling=proportional", 0, 0, P, theta, 0, 1);
    for (int t = 0; t < 8; t++)
        theta[t] /= 4;
    check_cosines("rope:rotary=16,scaling=proportional,factor=4", 0, 0, P, theta, 0, 1);
    szg_encoding *encoding = parse("rope:scaling=yarn,factor=16,original=4096");
    szgi_rotary rotary;
    ck_szg_ok(szgi_encoding_rotary(test_context(), encoding, 0, &rotary));
    ck_close(rotary.amplitude, 1 + 0.1 * log(16), EPS);
    szg_encoding_close(&encoding);
    encoding = parse("rope:scaling=yarn,factor=16,original=4096,attention_factor=2");
    ck_szg_ok(szgi_encoding_rotary(test_context(), encoding, 0, &rotary));
    ck_assert(rotary.amplitude == 2);
    szg_encoding_close(&encoding);
}
END_TEST

START_TEST(ranks_of_atoms) {
    static const struct {
        const char *spec;
        int64_t rank;
    } cases[] = {{"rope", 64},
                 {"rope:base=1", 2},
                 {"rope:base=1,rotary=2", 3},
                 {"rope:rotary=32", 33},
                 {"rope:rotary=16,scaling=proportional", 17},
                 {"rope:heads=2,rotate=1", 1},
                 {"mla", 65},
                 {"absolute:dim=10", 10},
                 {"kms:rho=0.5", INT64_MAX},
                 {"nope", 0},
                 {"learned:seed=1,dim=3", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_encoding *encoding = parse(cases[i].spec);
        ck_assert_msg(facts_of(encoding, 0, 0).rank_bound == cases[i].rank, "%s", cases[i].spec);
        szg_encoding_close(&encoding);
    }
}
END_TEST

START_TEST(rotation_factors) {
    enum { N = 50 };
    szg_encoding *encoding =
        parse("rope:dim=10,rotary=6,scaling=yarn,factor=2,original=500,heads=2,"
              "rotate=1");
    szg_c64 factors[N * 3];
    szgi_rotary rotary;
    ck_szg_ok(szgi_encoding_rotary(test_context(), encoding, 0, &rotary));
    ck_assert_int_eq(rotary.pairs, 0);
    ck_assert_int_eq(rotary.unrotated, 10);
    ck_szg_ok(szgi_encoding_rotary(test_context(), encoding, 1, &rotary));
    ck_assert_int_eq(rotary.pairs, 3);
    ck_assert_int_eq(rotary.unrotated, 4);
    ck_szg_ok(szgi_encoding_factors(test_context(), encoding, 1, N, factors));
    for (int i = 0; i < N; i++)
        for (int t = 0; t < 3; t++) {
            ck_close(factors[3 * i + t].re, rotary.amplitude * cos(i * rotary.theta[t]),
                     8 * EPS * N);
            ck_close(factors[3 * i + t].im, rotary.amplitude * sin(i * rotary.theta[t]),
                     8 * EPS * N);
        }
    szg_encoding_close(&encoding);
    encoding = parse("mla:content=5,rope=4,heads=3");
    ck_assert_int_eq(szg_encoding_heads(encoding), 3);
    ck_szg_ok(szgi_encoding_rotary(test_context(), encoding, 0, &rotary));
    ck_assert_int_eq(rotary.offset, 5);
    ck_assert_int_eq(rotary.dim, 9);
    szg_encoding_close(&encoding);
}
END_TEST

/* P as the paper prints it (Eq. 1), and P P^T = the kernel (claim R3.2). */
START_TEST(sinusoidal_rows) {
    enum { N = 60, D = 12 };
    double p[N * 16], *row = p;
    szg_encoding *encoding = parse("absolute:dim=12,base=100");
    ck_szg_ok(szgi_encoding_input(test_context(), encoding, N, p, 16));
    szg_toeplitz *t = kernel(encoding, 0, 0, N);
    for (int i = 0; i < N; i++, row += 16) {
        for (int c = 0; c < D; c++) {
            double angle = i / pow(100, 2 * (c / 2) / (double)D);
            ck_close(row[c], c % 2 ? cos(angle) : sin(angle), 4 * EPS * (1 + angle));
        }
        for (int j = 0; j <= i; j++) {
            double dot = 0;
            for (int c = 0; c < D; c++)
                dot += row[c] * p[j * 16 + c];
            ck_close(dot, szg_toeplitz_at(t, i - j).re, 64 * EPS * D);
        }
    }
    szg_toeplitz_close(&t);
    szg_encoding_close(&encoding);
}
END_TEST

/* ---- Tables ---- */

START_TEST(position_tables) {
    enum { N = 7, D = 3 };
    double table[N * D], p[N * D];
    for (int i = 0; i < N * D; i++)
        table[i] = i * i;
    int64_t shape[] = {N, D};
    const char *path = npy_file(2, shape, table);
    szg_encoding *encoding = parse(spec_with("learned:table=%s", path));
    ck_assert_int_eq(szgi_encoding_dimension(encoding), D);
    ck_szg_ok(szgi_encoding_input(test_context(), encoding, N, p, D));
    ck_assert_mem_eq(p, table, sizeof p);
    ck_szg_fails(SZG_EDOMAIN, "beyond the 7 positions",
                 szgi_encoding_input(test_context(), encoding, N + 1, p, D));
    szg_toeplitz *t;
    ck_szg_fails(SZG_EDOMAIN, "no symbol",
                 szg_encoding_kernel(test_context(), encoding, 0, 0, N, &t));
    ck_assert_int_eq(facts_of(encoding, 0, 0).form, SZG_FORM_NOT_TOEPLITZ);
    szg_encoding_close(&encoding);
    ck_szg_fails(
        SZG_EINVAL, "has 3 columns",
        szg_encoding_parse(test_context(), spec_with("random:dim=4,table=%s", path), &encoding));
    ck_szg_fails(SZG_EINVAL, "has 7 rows",
                 szg_encoding_parse(test_context(), spec_with("t5:table=%s", path), &encoding));
    table[4] = NAN;
    path = npy_file(2, shape, table);
    ck_szg_fails(SZG_EDATA, "row 1, column 1",
                 szg_encoding_parse(test_context(), spec_with("random:table=%s", path), &encoding));
    path = npy_file(1, shape, table);
    ck_szg_fails(SZG_EDATA, "[positions, dim]",
                 szg_encoding_parse(test_context(), spec_with("random:table=%s", path), &encoding));
    unlink(path);
}
END_TEST

START_TEST(drawn_tables) {
    enum { N = 4000, D = 5 };
    static double p[N * D], again[N * D];
    szg_encoding *encoding = parse("random:dim=5,seed=7,std=2");
    ck_szg_ok(szgi_encoding_input(test_context(), encoding, N, p, D));
    szg_encoding_close(&encoding);
    encoding = parse("random:seed=7,dim=5,std=2");
    ck_szg_ok(szgi_encoding_input(test_context(), encoding, 10, again, D));
    ck_assert_mem_eq(p, again, 10 * D * sizeof *p); /* a longer table begins with the shorter */
    szg_encoding_close(&encoding);
    encoding = parse("random:seed=8,dim=5,std=2");
    ck_szg_ok(szgi_encoding_input(test_context(), encoding, 10, again, D));
    ck_assert(memcmp(p, again, 10 * D * sizeof *p) != 0);
    szg_encoding_close(&encoding);
    double sum = 0, square = 0;
    for (int i = 0; i < N * D; i++) {
        sum += p[i];
        square += p[i] * p[i];
    }
    ck_close(sum / (N * D), 0, 5 * 2 / sqrt(N * D)); /* five standard errors */
    ck_close(square / (N * D), 4, 5 * 4 * sqrt(2.0 / (N * D)));
}
END_TEST

START_TEST(relative_tables) {
    enum { M = 4 };
    double table[2 * (2 * M - 1)];
    for (int i = 0; i < 2 * (2 * M - 1); i++)
        table[i] = i + 1;
    int64_t shape[] = {2, 2 * M - 1};
    const char *path = npy_file(2, shape, table);
    szg_encoding *encoding = parse(spec_with("relative:table=%s", path));
    ck_assert_int_eq(szg_encoding_heads(encoding), 2);
    szg_toeplitz *t = kernel(encoding, 1, 0, 3);
    for (int k = -2; k <= 2; k++)
        ck_assert(szg_toeplitz_at(t, k).re == 2 * M - 1 + M + k);
    szg_toeplitz_close(&t);
    ck_szg_fails(SZG_EDOMAIN, "beyond the 4 positions",
                 szg_encoding_kernel(test_context(), encoding, 0, 0, 5, &t));
    szg_encoding_close(&encoding);
    unlink(path);
    encoding = parse("relative:seed=3,heads=2");
    szg_toeplitz *longer = kernel(encoding, 1, 0, 300);
    t = kernel(encoding, 1, 0, 20);
    for (int k = -19; k <= 19; k++)
        ck_assert(szg_toeplitz_at(t, k).re == szg_toeplitz_at(longer, k).re);
    ck_assert(szg_toeplitz_at(t, 1).re != szg_toeplitz_at(t, -1).re);
    szg_toeplitz_close(&t);
    szg_toeplitz_close(&longer);
    szg_encoding_close(&encoding);
}
END_TEST

START_TEST(coefficient_files) {
    double a[2 * 5] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    int64_t shape[] = {2, 5};
    const char *path = npy_file(2, shape, a);
    szg_encoding *encoding = parse(spec_with("file:path=%s", path));
    szg_toeplitz *t = kernel(encoding, 1, 0, 12);
    for (int k = -11; k < 12; k++)
        ck_assert(szg_toeplitz_at(t, k).re == (abs(k) < 5 ? a[5 + abs(k)] : 0));
    ck_assert_int_eq(facts_of(encoding, 0, 0).degree, 4);
    szg_toeplitz_close(&t);
    szg_encoding_close(&encoding);
    encoding = parse(spec_with("file:lags=full,path=%s", path));
    for (int64_t n = 1; n < 5; n++) { /* n below, at and above the file's lags */
        t = kernel(encoding, 0, 0, n);
        double bias[9];
        ck_szg_ok(szgi_encoding_bias(test_context(), encoding, 0, n, bias));
        for (int64_t k = 1 - n; k < n; k++) {
            ck_assert(szg_toeplitz_at(t, k).re == (llabs(k) < 3 ? (double)(3 + k) : 0));
            ck_assert(bias[k + n - 1] == szg_toeplitz_at(t, k).re);
        }
        szg_toeplitz_close(&t);
    }
    szg_encoding_close(&encoding);
    /* Both sides given: of two heads the first is symmetric, the second is not. */
    double sides[2 * 5] = {-4, .5, 1, .5, -4, -4, .5, 1, .5, 4};
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 2, shape, sides));
    encoding = parse(spec_with("file:lags=full,path=%s", path));
    for (int head = 0; head < 2; head++) {
        szg_toeplitz_kind kind = head ? SZG_TOEPLITZ_REAL : SZG_TOEPLITZ_SYMMETRIC;
        ck_assert_int_eq(facts_of(encoding, head, 0).kind, kind);
        for (int64_t n = 1; n < 5; n++) {
            t = kernel(encoding, head, 0, n);
            ck_assert_int_eq(szgi_toeplitz_kind_of(t), kind);
            for (int64_t k = 1 - n; k < n; k++)
                ck_assert(szg_toeplitz_at(t, k).re == (llabs(k) < 3 ? sides[5 * head + 2 + k] : 0));
            szg_toeplitz_close(&t);
        }
    }
    szg_encoding_close(&encoding);
    szg_c64 both[] = {{0, -3}, {1, 1}, {2, 0}, {1, -1}, {0, 3}};
    int64_t five[] = {5};
    for (int real = 1; real >= 0; real--) { /* then with a diagonal that is not real */
        both[2].im = real ? 0 : 1;
        write_npy_complex(path, 1, five, both);
        encoding = parse(spec_with("file:lags=full,path=%s", path));
        ck_assert_int_eq(facts_of(encoding, 0, 0).kind,
                         real ? SZG_TOEPLITZ_HERMITIAN : SZG_TOEPLITZ_COMPLEX);
        t = kernel(encoding, 0, 0, 4);
        for (int k = -3; k < 4; k++)
            ck_assert(abs(k) == 3 || (szg_toeplitz_at(t, k).re == both[k + 2].re &&
                                      szg_toeplitz_at(t, k).im == both[k + 2].im));
        szg_toeplitz_close(&t);
        szg_encoding_close(&encoding);
    }
    szg_c64 z[] = {{2, 0}, {1, -1}, {0, 3}};
    int64_t one[] = {3};
    write_npy_complex(path, 1, one, z);
    encoding = parse(spec_with("file:path=%s", path));
    t = kernel(encoding, 0, 0, 3);
    ck_assert_int_eq(szgi_toeplitz_kind_of(t), SZG_TOEPLITZ_HERMITIAN);
    ck_assert(szg_toeplitz_at(t, -2).im == -3);
    ck_assert_int_eq(szgi_encoding_attaches(encoding), 0);
    szg_toeplitz_close(&t);
    szg_encoding_close(&encoding);
    unlink(path);
}
END_TEST

/* ---- KMS ---- */

START_TEST(kms_symbol) {
    static const char *const specs[] = {"kms:rho=0.9", "kms:rho=-0.7", "kms:rho=0", "kms:rho=0.99"};
    static const double rhos[] = {0.9, -0.7, 0, 0.99};
    for (int i = 0; i < 4; i++) {
        szg_encoding *encoding = parse(specs[i]);
        szg_interval min, max;
        double at_min, at_max, value, rho = rhos[i];
        ck_szg_ok(szgi_encoding_symbol_range(test_context(), encoding, 0, 0, &min, &max, &at_min,
                                             &at_max));
        for (int j = 0; j <= 64; j++) {
            double theta = acos(-1) * j / 32, sum = 1, slack = 16 * EPS * max.hi;
            for (int k = 1; k < 6000; k++) { /* what follows is below 1e-23 */
                sum += 2 * pow(rho, k) * cos(k * theta);
                slack += 2 * pow(fabs(rho), k) * gamma_of(k * theta + 6000 + 4);
            }
            ck_szg_ok(szgi_encoding_symbol(test_context(), encoding, 0, 0, theta, &value));
            ck_close(value, sum, slack);
            ck_assert(value >= min.lo * (1 - 8 * EPS) && value <= max.hi * (1 + 8 * EPS));
        }
        ck_szg_ok(szgi_encoding_symbol(test_context(), encoding, 0, 0, at_min, &value));
        ck_close(value, min.lo, 16 * EPS * min.hi);
        ck_szg_ok(szgi_encoding_symbol(test_context(), encoding, 0, 0, at_max, &value));
        ck_close(value, max.lo, 16 * EPS * max.hi);
        long double exact = (1 + fabsl((long double)rho)) / (1 - fabsl((long double)rho));
        ck_assert(min.lo <= 1 / exact && 1 / exact <= min.hi);
        ck_assert(max.lo <= exact && exact <= max.hi);
        szg_toeplitz *t = kernel(encoding, 0, 0, 50);
        for (int k = 0; k < 50; k++)
            ck_close(szg_toeplitz_at(t, -k).re, pow(rho, k), 4 * EPS);
        szg_toeplitz_close(&t);
        szg_encoding_close(&encoding);
    }
}
END_TEST

/* ---- Arguments and memory ---- */

START_TEST(arguments) {
    szg_toeplitz *t;
    szg_kernel_facts facts;
    szgi_rotary rotary;
    double value;
    szg_encoding *encoding = parse("rope:heads=2");
    szg_context *context = test_context();
    ck_szg_fails(SZG_EINVAL, "at least 1", szg_encoding_kernel(context, encoding, 0, 0, 0, &t));
    ck_szg_fails(SZG_EINVAL, "at least 1", szg_encoding_kernel(context, encoding, 0, 0, -5, &t));
    ck_szg_fails(SZG_EINVAL, "0 .. 1", szg_encoding_kernel(context, encoding, 2, 0, 5, &t));
    ck_szg_fails(SZG_EINVAL, "matrix 1", szg_encoding_facts(context, encoding, 0, 1, &facts));
    ck_szg_fails(SZG_EINVAL, "head -1", szgi_encoding_rotary(context, encoding, -1, &rotary));
    ck_szg_fails(SZG_ENOMEM, "closed form",
                 szg_encoding_kernel(context, encoding, 0, 0, (int64_t)1 << 40, &t));
    ck_szg_fails(SZG_EDOMAIN, "no bias", szgi_encoding_bias(context, encoding, 0, 4, &value));
    ck_szg_fails(SZG_EDOMAIN, "no input", szgi_encoding_input(context, encoding, 4, &value, 1));
    ck_szg_fails(SZG_EDOMAIN, "closed form",
                 szgi_encoding_symbol(context, encoding, 0, 0, 0, &value));
    szg_encoding_close(&encoding);
    encoding = parse("nope");
    ck_szg_fails(SZG_EDOMAIN, "no rotation", szgi_encoding_rotary(context, encoding, 0, &rotary));
    ck_szg_ok(szg_encoding_kernel(context, encoding, 0, 0, 9, &t));
    ck_assert_int_eq(szgi_toeplitz_degree(t), 0);
    ck_assert(szg_toeplitz_at(t, 0).re == 0);
    szg_toeplitz_close(&t);
    szg_encoding_close(&encoding);
}
END_TEST

static szg_status everything(szg_context *context, const char *spec) {
    szg_encoding *encoding = NULL;
    szg_toeplitz *t = NULL;
    SZG_TRY(szg_encoding_parse(context, spec, &encoding));
    szg_status status = szg_encoding_kernel(context, encoding, 0, 0, 9, &t);
    szg_toeplitz_close(&t);
    szg_encoding_close(&encoding);
    return status;
}

START_TEST(allocation_failures) {
    double table[32] = {0};
    int64_t shape[] = {32, 1};
    const char *path = npy_file(2, shape, table);
    const char *specs[] = {"nope",
                           "absolute",
                           "relative:seed=1",
                           "alibi:heads=3",
                           "rope:heads=4,rotate=0-2,scaling=yarn,factor=2,original=512",
                           "rope+absolute:dim=6",
                           "mla",
                           "kms:rho=0.5",
                           NULL,
                           NULL,
                           NULL};
    enum { FIXED = 8 };
    char files[3][128];
    snprintf(files[0], sizeof files[0], "t5:table=%s", path);
    snprintf(files[1], sizeof files[1], "file:path=%s", path);
    snprintf(files[2], sizeof files[2], "relative:heads=32,table=%s", path);
    for (int i = 0; i < 3; i++)
        specs[FIXED + i] = files[i];
    for (int i = 0; i < FIXED + 3; i++) {
        int64_t limit = i == FIXED + 2 ? 1 : 9; /* the last has one lag: EDOMAIN at n = 9 */
        int64_t countdown = 1;
        for (;; countdown = test_next_refusal(countdown)) {
            szgi_memory_fail_after(test_context(), countdown);
            szg_status status = everything(test_context(), specs[i]);
            szgi_memory_fail_after(test_context(), 0);
            if (status != SZG_ENOMEM) {
                ck_assert_msg(status == (limit == 1 ? SZG_EDOMAIN : SZG_OK), "%s: %s", specs[i],
                              szg_context_message(test_context()));
                break;
            }
        }
        ck_assert_int_gt(countdown, 2);
    }
    unlink(path);
}
END_TEST

TEST_FILE("encoding") {
    test_add(suite, "phase_of_large_products", phase_of_large_products);
    test_add(suite, "alibi_published", alibi_published);
    test_add(suite, "alibi_known_values", alibi_known_values);
    test_add(suite, "t5_bucket_rule", t5_bucket_rule);
    test_add(suite, "t5_known_values", t5_known_values);
    test_add(suite, "t5_symmetry_is_seen", t5_symmetry_is_seen);
    test_add(suite, "rotary_kernels", rotary_kernels);
    test_add(suite, "rotary_scaling", rotary_scaling);
    test_add(suite, "ranks_of_atoms", ranks_of_atoms);
    test_add(suite, "rotation_factors", rotation_factors);
    test_add(suite, "sinusoidal_rows", sinusoidal_rows);
    test_add(suite, "position_tables", position_tables);
    test_add(suite, "drawn_tables", drawn_tables);
    test_add(suite, "relative_tables", relative_tables);
    test_add(suite, "coefficient_files", coefficient_files);
    test_add(suite, "kms_symbol", kms_symbol);
    test_add(suite, "arguments", arguments);
    test_add(suite, "allocation_failures", allocation_failures);
}
