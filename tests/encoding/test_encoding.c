/* Encodings that are a function of the distance, against their formulas and published values; and
 * what every encoding refuses. */
#include <math.h>
#include <stdlib.h>

#include "kernels.h"
#include "rounding.h"
#include "base/memory.h"

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
                           "rope:heads=4,rotate=0-2,bands=heads,band_shift=1",
                           "rope-bias:heads=2,scale=2",
                           "rope+absolute:dim=6",
                           "mla",
                           "kms:rho=0.5",
                           NULL,
                           NULL,
                           NULL};
    enum { FIXED = 10 };
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
    test_add(suite, "alibi_published", alibi_published);
    test_add(suite, "alibi_known_values", alibi_known_values);
    test_add(suite, "t5_bucket_rule", t5_bucket_rule);
    test_add(suite, "t5_known_values", t5_known_values);
    test_add(suite, "t5_symmetry_is_seen", t5_symmetry_is_seen);
    test_add(suite, "kms_symbol", kms_symbol);
    test_add(suite, "arguments", arguments);
    test_add(suite, "allocation_failures", allocation_failures);
}
