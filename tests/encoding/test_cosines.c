/* Rotary and sinusoidal encodings against sums of cosines written out naively. */
#include <math.h>
#include <string.h>

#include "kernels.h"

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
    powers(32, 500, 64, theta);
    check_cosines("rope-bias:base=500", 0, 0, 32, theta, 0, 1);
    powers(4, 10000, 8, theta);
    check_cosines("rope-bias:dim=8,scale=2.5,heads=3", 2, 0, 4, theta, 0, 2.5);
}
END_TEST

/* One angle for all pairs: cos(k theta), and beside it what does not rotate. */
START_TEST(equal_angles) {
    static const double angles[] = {1e-300, 0x1p-20, 0.7, 2, 0x1.921fb54442d18p+1};
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        const double theta[] = {angles[i], angles[i], angles[i], angles[i]};
        char spec[128];
        snprintf(spec, sizeof spec, "rope:dim=8,theta=%.17g", angles[i]);
        check_cosines(spec, 0, 0, 4, theta, 0, 1);
        snprintf(spec, sizeof spec, "rope:dim=13,rotary=6,heads=2,rotate=1,theta=%.17g", angles[i]);
        check_cosines(spec, 1, 0, 3, theta, 7, 1);
        check_cosines(spec, 0, 0, 0, theta, 13, 1);
    }
}
END_TEST

/* theta of head h and pair t is base^(-(h' n + t) / (n H)), h' = (h + band_shift) mod H. */
static void check_bands(int64_t heads, int64_t pairs, double base, int64_t shift,
                        const char *more) {
    char spec[128];
    double theta[64];
    snprintf(spec, sizeof spec, "rope:dim=%d,heads=%d,base=%.17g,bands=heads,band_shift=%d%s",
             (int)(2 * pairs), (int)heads, base, (int)shift, more);
    for (int64_t h = 0; h < heads; h++) {
        int64_t band = h + shift < heads ? h + shift : h + shift - heads;
        for (int64_t t = 0; t < pairs; t++)
            theta[t] = pow(base, -(double)(band * pairs + t) / (double)(pairs * heads));
        bool rotates = !*more || h == heads - 1; /* `more` lets the last head alone rotate */
        check_cosines(spec, h, 0, rotates ? pairs : 0, theta, rotates ? 0 : 2 * (double)pairs, 1);
    }
}

START_TEST(bands) {
    check_bands(1, 4, 500, 0, "");
    check_bands(2, 1, 1e15, 1, "");
    check_bands(3, 5, 10000, 0, "");
    check_bands(3, 5, 10000, 2, "");
    check_bands(4, 32, 500000, 3, "");
    /* The band is that of the head's number, whether the heads before it rotate or not. */
    check_bands(4, 3, 50, 1, ",rotate=3");
}
END_TEST

/* Frequencies of a base next to 1 are equal in some bands and not in others: each band has its own
 * rank, and a dimension that does not rotate adds one. */
START_TEST(ranks_of_bands) {
    static const double bases[] = {1, 1 + 0x1p-52, 1 + 0x1p-51, 50};
    int64_t least = INT64_MAX, most = 0;
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        char spec[128];
        snprintf(spec, sizeof spec, "rope:dim=7,rotary=6,heads=3,bands=heads,base=%.17g", bases[i]);
        szg_encoding *encoding = parse(spec);
        for (int64_t h = 0; h < 3; h++) {
            szg_kernel_facts facts = facts_of(encoding, h, 0);
            int64_t distinct = 0; /* they descend */
            for (int64_t t = 0; t < 3; t++)
                distinct += t == 0 || facts.theta[t] != facts.theta[t - 1];
            ck_assert_int_eq(facts.rank_bound, 2 * distinct + 1);
            least = distinct < least && i == 1 ? distinct : least;
            most = distinct > most && i == 1 ? distinct : most;
        }
        szg_encoding_close(&encoding);
    }
    ck_assert(least < most); /* base 1 + 2^-52 tells bands apart */
}
END_TEST

/* The heads' bands are the frequencies of one RoPE over the whole width, each once: the mean over
 * the heads of their kernels is its kernel, and a shift permutes the kernels. */
START_TEST(bands_share_out_one_rope) {
    enum { HEADS = 5, N = 64 };
    szg_encoding *whole = parse("rope:dim=30,base=77");
    szg_encoding *dealt = parse("rope:dim=6,base=77,heads=5,bands=heads");
    szg_encoding *shifted = parse("rope:dim=6,base=77,heads=5,bands=heads,band_shift=2");
    szg_toeplitz *want = kernel(whole, 0, 0, N), *band[HEADS], *moved[HEADS];
    for (int h = 0; h < HEADS; h++) {
        band[h] = kernel(dealt, h, 0, N);
        moved[h] = kernel(shifted, h, 0, N);
    }
    for (int64_t k = 0; k < N; k++) {
        double sum = 0;
        for (int h = 0; h < HEADS; h++) {
            sum += szg_toeplitz_at(band[h], k).re;
            ck_assert(szg_toeplitz_at(moved[h], k).re ==
                      szg_toeplitz_at(band[(h + 2) % HEADS], k).re);
        }
        /* 15 cosines of phases that differ by a rounding of theta, and their sums. */
        ck_close(sum / HEADS, szg_toeplitz_at(want, k).re, EPS * (8 * (double)k + 2 * 15 + 8));
    }
    for (int h = 0; h < HEADS; h++) {
        szg_toeplitz_close(&band[h]);
        szg_toeplitz_close(&moved[h]);
    }
    szg_toeplitz_close(&want);
    szg_encoding_close(&whole);
    szg_encoding_close(&dealt);
    szg_encoding_close(&shifted);
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
                 {"rope:theta=0.5", 2},
                 {"rope:theta=3.141592653589793", 2},
                 {"rope:theta=0.5,rotary=2", 3},
                 {"rope:theta=0.5,heads=2,rotate=1", 1},
                 {"rope:dim=6,heads=3,bands=heads", 6},
                 {"rope:dim=7,rotary=6,heads=3,bands=heads,base=1", 3},
                 {"rope:dim=6,heads=3,bands=heads,rotate=1-2", 1},
                 {"rope-bias:dim=10", 10},
                 {"rope-bias:dim=10,base=1", 2},
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

TEST_FILE("cosines") {
    test_add(suite, "phase_of_large_products", phase_of_large_products);
    test_add(suite, "rotary_kernels", rotary_kernels);
    test_add(suite, "equal_angles", equal_angles);
    test_add(suite, "bands", bands);
    test_add(suite, "ranks_of_bands", ranks_of_bands);
    test_add(suite, "bands_share_out_one_rope", bands_share_out_one_rope);
    test_add(suite, "rotary_scaling", rotary_scaling);
    test_add(suite, "ranks_of_atoms", ranks_of_atoms);
    test_add(suite, "rotation_factors", rotation_factors);
    test_add(suite, "sinusoidal_rows", sinusoidal_rows);
}
