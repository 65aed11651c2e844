/* Logits against their formulas written out entry by entry. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "factored_size.h"
#include "meddle.h"
#include "coupling/coupling.h"
#include "base/memory.h"
#include "formats/npy.h"

enum { N = 13, D = 8 };
static const double EPS = 0x1p-52;

/* ---- Files with known numbers ---- */

static double tokens[N * D], plain_keys[N * D], wq[D * D], wk[D * D];

static void draw(double *out, int64_t count, uint32_t purpose) {
    szgi_stream stream = {.seed = test_seed(), .purpose = purpose};
    szgi_random_fill_normal(&stream, 0, count, out);
}

static const char *file_name(const char *which) {
    static char name[4][64];
    static int next;
    char *text = name[next++ % 4];
    snprintf(text, 64, "test_coupling_%s_%d.npy", which, (int)getpid());
    return text;
}

static void write_matrix(const char *which, int64_t rows, int64_t columns, const double *data) {
    int64_t shape[] = {rows, columns};
    ck_szg_ok(szgi_npy_write_real(test_context(), file_name(which), 2, shape, data));
}

static void remove_files(void) {
    static const char *const names[] = {"x", "wq", "wk", "q", "k"};
    for (int i = 0; i < 5; i++)
        unlink(file_name(names[i]));
}

/* Content x, W_Q, W_K from files, the same numbers in the arrays above. */
static szg_content *known_content(void) {
    char spec[256];
    szg_content *content;
    draw(tokens, N * D, 1);
    draw(wq, D * D, 2);
    draw(wk, D * D, 3);
    write_matrix("x", N, D, tokens);
    write_matrix("wq", D, D, wq);
    write_matrix("wk", D, D, wk);
    snprintf(spec, sizeof spec, "files:x=%s,wq=%s,wk=%s", file_name("x"), file_name("wq"),
             file_name("wk"));
    ck_szg_ok(szg_content_parse(test_context(), spec, 0, &content));
    remove_files();
    return content;
}

static szg_content *content_of(const char *spec) {
    szg_content *content;
    ck_szg_ok(szg_content_parse(test_context(), spec, test_seed(), &content));
    return content;
}

static szg_encoding *encoding_of(const char *spec) {
    szg_encoding *encoding;
    ck_szg_ok(szg_encoding_parse(test_context(), spec, &encoding));
    return encoding;
}

static szg_logits *logits_of(const char *spec, int64_t head, const szg_content *content, int64_t n,
                             const szg_logits_options *options) {
    szg_encoding *encoding = encoding_of(spec);
    szg_logits *logits;
    ck_szg_ok(szg_logits_open(test_context(), encoding, head, content, n, options, &logits));
    szg_encoding_close(&encoding);
    return logits;
}

/* ---- Oracles ---- */

/* Entry (i, j) of a factored matrix, from its definition. */
static double entry(const szg_factored *f, int64_t i, int64_t j) {
    double sum = f->bias ? szg_toeplitz_at(f->bias, i - j).re : 0;
    for (int64_t t = 0; t < f->d; t++)
        sum += f->a[i * f->lda + t] * f->b[j * f->ldb + t];
    return f->causal && j > i ? 0 : sum;
}

static void apply_weights(const double *w, const double *x, double *out) {
    for (int r = 0; r < D; r++) {
        out[r] = 0;
        for (int c = 0; c < D; c++)
            out[r] += w[r * D + c] * x[c];
    }
}

static double dot(const double *x, const double *y) {
    double sum = 0;
    for (int c = 0; c < D; c++)
        sum += x[c] * y[c];
    return sum;
}

/* The rotation of RoFormer as a matrix applied to `x`: pair t is (2t, 2t+1), or (t, t + pairs),
 * from dimension `offset` on. */
static void rotate_naively(int64_t position, const double *theta, int pairs, int offset, bool half,
                           double amplitude, double *x) {
    double out[D];
    memcpy(out, x, sizeof out);
    for (int t = 0; t < pairs; t++) {
        int i = offset + (half ? t : 2 * t), j = half ? i + pairs : i + 1;
        double c = cos((double)position * theta[t]), s = sin((double)position * theta[t]);
        out[i] = amplitude * (c * x[i] - s * x[j]);
        out[j] = amplitude * (s * x[i] + c * x[j]);
    }
    memcpy(x, out, sizeof out);
}

/* Entries are sums of D products of sums of D products of numbers of size ~1. */
static const double BOUND = 512 * D * D * 0x1p-52;

/* ---- Additive encodings ---- */

START_TEST(positions_are_added_before_the_weights) {
    szg_content *content = known_content();
    szg_logits *logits = logits_of("absolute:dim=8,base=50", 0, content, N, NULL);
    szg_encoding *encoding = encoding_of("absolute:dim=8,base=50");
    double p[N * D], scale = 1 / sqrt(D);
    ck_szg_ok(szgi_encoding_input(test_context(), encoding, N, p, D));
    szg_factored coupled = szgi_logits_coupled(logits), plain = szgi_logits_content(logits);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double qc[D], kc[D], q[D], k[D], x[D], y[D];
            apply_weights(wq, tokens + i * D, qc);
            apply_weights(wk, tokens + j * D, kc);
            for (int c = 0; c < D; c++) {
                x[c] = tokens[i * D + c] + p[i * D + c];
                y[c] = tokens[j * D + c] + p[j * D + c];
            }
            apply_weights(wq, x, q);
            apply_weights(wk, y, k);
            ck_close(entry(&coupled, i, j), scale * dot(q, k), 4 * BOUND);
            ck_close(entry(&plain, i, j), scale * dot(qc, kc), BOUND);
        }
    szg_encoding_close(&encoding);
    szg_logits_close(&logits);
    szg_content_close(&content);
}
END_TEST

START_TEST(bias_is_not_scaled) {
    szg_content *content = known_content();
    szg_logits_options unscaled = {SZG_INIT(szg_logits_options), .unscaled = true};
    szg_logits *logits = logits_of("alibi:heads=4", 1, content, N, NULL);
    szg_logits *raw = logits_of("alibi:heads=4", 1, content, N, &unscaled);
    szg_factored coupled = szgi_logits_coupled(logits), plain = szgi_logits_content(logits);
    szg_factored coupled_raw = szgi_logits_coupled(raw);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double q[D], k[D], slope = 0.0625; /* 2^(-8 * 2/4) */
            apply_weights(wq, tokens + i * D, q);
            apply_weights(wk, tokens + j * D, k);
            ck_close(entry(&coupled, i, j), dot(q, k) / sqrt(D) - slope * abs(i - j), BOUND);
            ck_close(entry(&coupled_raw, i, j), dot(q, k) - slope * abs(i - j), 4 * BOUND);
            ck_close(entry(&plain, i, j), dot(q, k) / sqrt(D), BOUND);
            ck_assert(szg_toeplitz_at(coupled.bias, i - j).re == -slope * abs(i - j));
        }
    szg_logits_close(&logits);
    szg_logits_close(&raw);
    szg_content_close(&content);
}
END_TEST

/* ---- Rotary encodings ---- */

typedef struct rotary_case {
    const char *spec;
    int pairs, offset;
    bool half, input;
    double base, size, amplitude;
    int first; /* theta_t = base^(-2 (first + t) / size) */
} rotary_case;

static const rotary_case rotary_cases[] = {
    {"rope:dim=8,base=30,pairing=interleaved", 4, 0, false, false, 30, 8, 1, 0},
    {"rope:dim=8,base=30,pairing=half", 4, 0, true, false, 30, 8, 1, 0},
    {"rope:dim=8,rotary=4,base=30,pairing=interleaved", 2, 0, false, false, 30, 4, 1, 0},
    {"rope:dim=8,rotary=4,base=30,pairing=half", 2, 0, true, false, 30, 4, 1, 0},
    {"mla:content=2,rope=6,base=30,pairing=interleaved", 3, 2, false, false, 30, 6, 1, 0},
    {"mla:content=2,rope=6,base=30,pairing=half", 3, 2, true, false, 30, 6, 1, 0},
    {"rope+absolute:dim=8,base=30,pairing=interleaved", 4, 0, false, true, 30, 8, 1, 0},
    {"rope+absolute:dim=8,base=30,pairing=half", 4, 0, true, true, 30, 8, 1, 0},
    /* a ramp that leaves every frequency alone, so that only the amplitude shows */
    {"rope:dim=8,base=30,scaling=yarn,factor=1,original=1000,attention_factor=1.5,pairing="
     "interleaved",
     4, 0, false, false, 30, 8, 1.5, 0},
    /* Two heads of four pairs: the first has the second band of eight pairs. */
    {"rope:dim=8,heads=2,base=30,bands=heads,band_shift=1,pairing=interleaved", 4, 0, false, false,
     30, 16, 1, 4},
    {"rope:dim=8,rotary=6,heads=2,base=30,bands=heads,pairing=interleaved", 3, 0, false, false, 30,
     12, 1, 0},
    {"rope:dim=8,theta=1,pairing=half", 4, 0, true, false, 30, INFINITY, 1, 0},
};

static void naive_side(const rotary_case *c, const double *w, const double *p, int i, double *out) {
    double x[D], theta[D];
    for (int t = 0; t < c->pairs; t++)
        theta[t] = pow(c->base, -2 * (c->first + t) / c->size);
    for (int j = 0; j < D; j++)
        x[j] = tokens[i * D + j] + (c->input ? p[i * D + j] : 0);
    apply_weights(w, x, out);
    rotate_naively(i, theta, c->pairs, c->offset, c->half, c->amplitude, out);
}

static void check_rotary(const rotary_case *c, bool causal) {
    szg_content *content = known_content();
    szg_logits_options options = {SZG_INIT(szg_logits_options), .causal = causal};
    szg_logits *logits = logits_of(c->spec, 0, content, N, &options);
    szg_encoding *encoding = encoding_of(c->spec);
    double p[N * D] = {0};
    if (c->input)
        ck_szg_ok(szgi_encoding_input(test_context(), encoding, N, p, D));
    szg_factored coupled = szgi_logits_coupled(logits);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double q[D], k[D];
            naive_side(c, wq, p, i, q);
            naive_side(c, wk, p, j, k);
            double want = causal && j > i ? 0 : dot(q, k) / sqrt(D);
            ck_close(entry(&coupled, i, j), want, 8 * BOUND);
        }
    szg_encoding_close(&encoding);
    szg_logits_close(&logits);
    szg_content_close(&content);
}

START_TEST(rotary_against_rotation_matrices) {
    for (size_t i = 0; i < sizeof rotary_cases / sizeof *rotary_cases; i++) {
        check_rotary(&rotary_cases[i], false);
        check_rotary(&rotary_cases[i], true);
    }
}
END_TEST

/* The content matrix does not know positions: it is the same under every encoding. */
START_TEST(content_is_uncoupled) {
    szg_content *content = known_content();
    szg_logits *plain = logits_of("nope", 0, content, N, NULL);
    szg_factored want = szgi_logits_content(plain), nope = szgi_logits_coupled(plain);
    for (size_t c = 0; c < sizeof rotary_cases / sizeof *rotary_cases; c++) {
        szg_logits *logits = logits_of(rotary_cases[c].spec, 0, content, N, NULL);
        szg_factored got = szgi_logits_content(logits);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                ck_assert(entry(&got, i, j) == entry(&want, i, j));
                ck_assert(entry(&nope, i, j) == entry(&want, i, j));
            }
        szg_logits_close(&logits);
    }
    szg_logits_close(&plain);
    szg_content_close(&content);
}
END_TEST

/* B1's counterexample in theory.md: q = (1,1), k = (1,-1) as complex pairs, theta = (1, 0.01): the
 * Gram sum vanishes, but Re L at lag 3 is cos 3 - cos 0.03 = -1.9895. */
START_TEST(counterexample_to_equation_10) {
    double q[4 * 4] = {0}, k[4 * 4] = {0};
    for (int i = 0; i < 4; i++) {
        q[4 * i] = q[4 * i + 2] = k[4 * i] = 1;
        k[4 * i + 2] = -1;
    }
    write_matrix("q", 4, 4, q);
    write_matrix("k", 4, 4, k);
    char spec[256];
    snprintf(spec, sizeof spec, "files:q=%s,k=%s", file_name("q"), file_name("k"));
    szg_content *content = content_of(spec);
    remove_files();
    szg_logits_options unscaled = {SZG_INIT(szg_logits_options), .unscaled = true};
    szg_logits *logits =
        logits_of("rope:dim=4,base=10000,pairing=interleaved", 0, content, 4, &unscaled);
    szg_factored coupled = szgi_logits_coupled(logits), plain = szgi_logits_content(logits);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            ck_assert(entry(&plain, i, j) == 0);
    ck_close(entry(&coupled, 3, 0), cos(3) - cos(0.03), 8 * EPS);
    ck_close(entry(&coupled, 3, 0), -1.9895, 5e-5); /* the digits of theory.md */
    szg_logits_close(&logits);
    szg_content_close(&content);
}
END_TEST

/* ---- Content ---- */

/* Constant content makes rotary logits a function of the lag: toeplitzness 1. */
START_TEST(constant_content) {
    szg_content *content = content_of("mean:mean=1");
    szg_logits *logits = logits_of("rope:dim=16", 0, content, 40, NULL);
    szg_factored coupled = szgi_logits_coupled(logits);
    double part = 0, whole = 0;
    for (int k = -39; k < 40; k++) {
        double sum = 0;
        int count = 0;
        for (int i = 0; i < 40; i++)
            if (i - k >= 0 && i - k < 40) {
                double value = entry(&coupled, i, i - k);
                sum += value;
                whole += value * value;
                count++;
            }
        part += sum * sum / count;
    }
    ck_assert(whole > 0);
    /* 40^2 squares in the one, 40 terms squared over 79 lags in the other; entries that are not
     * constant to rounding lower it by the square of that alone. */
    ck_close(part / whole, 1, gamma_of(40 * 40 + 2 * 40 + 79 + 2));
    szg_tau tau;
    ck_szg_ok(szg_factored_toeplitzness(test_context(), &coupled, &tau));
    ck_close(tau.value, 1, toeplitzness_error(&coupled, sqrt(whole)));
    ck_assert(tau.error <= 2 * EPS && !tau.sampled);
    szg_logits_close(&logits);
    szg_content_close(&content);
}
END_TEST

START_TEST(seeds) {
    enum { ROWS = 50, DIM = 6 };
    static const char *const specs[] = {"gaussian:seed=5", "lowrank:rank=3,seed=5", "mean:seed=5",
                                        "gaussian:weights=identity,seed=5"};
    static double q[2][ROWS * DIM], k[2][ROWS * DIM], other[ROWS * DIM], scratch[ROWS * DIM];
    for (int s = 0; s < 4; s++) {
        szg_content *content = content_of(specs[s]);
        ck_szg_ok(
            szgi_content_fill(test_context(), content, 0, ROWS, DIM, NULL, q[0], k[0], NULL, NULL));
        szg_content_close(&content);
        content = content_of(specs[s]);
        ck_szg_ok(
            szgi_content_fill(test_context(), content, 0, 9, DIM, NULL, q[1], k[1], NULL, NULL));
        /* A longer sequence begins with the shorter one, up to the rounding of products. */
        for (int i = 0; i < 9 * DIM; i++) {
            ck_close(q[0][i], q[1][i], 64 * EPS);
            ck_close(k[0][i], k[1][i], 64 * EPS);
        }
        ck_szg_ok(szgi_content_fill(test_context(), content, 1, ROWS, DIM, NULL, other, scratch,
                                    NULL, NULL));
        bool identity = s == 3; /* then heads share tokens, and queries equal keys */
        ck_assert((memcmp(other, q[0], sizeof other) == 0) == identity);
        ck_assert((memcmp(q[0], k[0], sizeof other) == 0) == identity);
        szg_content_close(&content);
        content = content_of("gaussian:seed=6");
        ck_szg_ok(szgi_content_fill(test_context(), content, 0, ROWS, DIM, NULL, other, scratch,
                                    NULL, NULL));
        ck_assert(memcmp(other, q[0], sizeof other) != 0);
        szg_content_close(&content);
    }
}
END_TEST

/* Second moments of the documented distributions, within five standard errors. */
START_TEST(moments) {
    enum { ROWS = 4000, DIM = 8 };
    static double q[ROWS * DIM], k[ROWS * DIM];
    static const struct {
        const char *spec;
        double common; /* squared share of the common vector */
    } cases[] = {{"gaussian:weights=identity", 0}, {"mean:mean=0.6,weights=identity", 0.36}};
    for (int c = 0; c < 2; c++) {
        szg_content *content = content_of(cases[c].spec);
        ck_szg_ok(szgi_content_fill(test_context(), content, 0, ROWS, DIM, NULL, q, k, NULL, NULL));
        double spread = 0;
        for (int j = 0; j < DIM; j++) {
            double sum = 0, square = 0;
            for (int i = 0; i < ROWS; i++) {
                sum += q[i * DIM + j];
                square += q[i * DIM + j] * q[i * DIM + j];
            }
            spread += square / ROWS - (sum / ROWS) * (sum / ROWS);
        }
        ck_close(spread / DIM, 1 - cases[c].common, 5 * sqrt(2.0 / (ROWS * DIM)));
        szg_content_close(&content);
    }
}
END_TEST

START_TEST(low_rank) {
    enum { ROWS = 6, DIM = 5 };
    double q[ROWS * DIM], k[ROWS * DIM];
    szg_content *content = content_of("lowrank:rank=1,weights=identity");
    ck_szg_ok(szgi_content_fill(test_context(), content, 0, ROWS, DIM, NULL, q, k, NULL, NULL));
    for (int i = 1; i < ROWS; i++) /* every 2 x 2 minor with row 0 vanishes */
        for (int j = 1; j < DIM; j++)
            ck_close(q[0] * q[i * DIM + j], q[j] * q[i * DIM], 64 * EPS);
    szg_content_close(&content);
}
END_TEST

/* 3-D files hold one block a head. */
START_TEST(files_by_head) {
    enum { HEADS = 2, ROWS = 3, DIM = 2 };
    double data[HEADS * ROWS * DIM], q[ROWS * DIM], k[ROWS * DIM], p[ROWS * DIM] = {0}, qp[6],
                                                                            kp[6];
    for (int i = 0; i < HEADS * ROWS * DIM; i++)
        data[i] = i;
    p[3] = 7;
    int64_t shape[] = {HEADS, ROWS, DIM};
    ck_szg_ok(szgi_npy_write_real(test_context(), file_name("q"), 3, shape, data));
    char spec[256];
    snprintf(spec, sizeof spec, "files:q=%s,k=%s", file_name("q"), file_name("q"));
    szg_content *content = content_of(spec);
    ck_assert_int_eq(szgi_content_dimension(content), DIM);
    ck_szg_ok(szgi_content_fill(test_context(), content, 1, ROWS, DIM, p, q, k, qp, kp));
    ck_assert_mem_eq(q, data + ROWS * DIM, sizeof q);
    ck_assert_mem_eq(k, data + ROWS * DIM, sizeof k);
    ck_assert_mem_eq(qp, p, sizeof p); /* positions enter unprojected */
    ck_assert_mem_eq(kp, p, sizeof p);
    ck_szg_fails(SZG_EDOMAIN, "has 2 heads, not head 2",
                 szgi_content_fill(test_context(), content, 2, ROWS, DIM, NULL, q, k, NULL, NULL));
    szg_content_close(&content);
    data[4] = INFINITY;
    ck_szg_ok(szgi_npy_write_real(test_context(), file_name("q"), 3, shape, data));
    ck_szg_fails(SZG_EDATA, "row 2, column 0",
                 szg_content_parse(test_context(), spec, 0, &content));
    ck_szg_ok(szgi_npy_write_real(test_context(), file_name("q"), 1, shape, data));
    ck_szg_fails(SZG_EDATA, "[rows, dim]", szg_content_parse(test_context(), spec, 0, &content));
    remove_files();
}
END_TEST

/* ---- Bad input, memory ---- */

/* Captured queries and keys couple as the same numbers from files do, whatever their rows'
 * distance; the files' way is tested against the formulas above. */
START_TEST(captured_as_from_files) {
    static const char *const specs[] = {"rope:dim=8,pairing=interleaved",
                                        "rope:dim=8,rotary=4,pairing=half", "alibi:heads=2",
                                        "mla:content=4,rope=4,pairing=half", "nope"};
    enum { WIDE = D + 3 };
    double q[N * WIDE], k[N * WIDE], from_files[N * N], captured[N * N];
    draw(q, N * WIDE, 21);
    draw(k, N * WIDE, 22);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j++) {
            tokens[i * D + j] = q[i * WIDE + j];
            plain_keys[i * D + j] = k[i * WIDE + j];
        }
    write_matrix("q", N, D, tokens);
    write_matrix("k", N, D, plain_keys);
    char spec[256];
    snprintf(spec, sizeof spec, "files:q=%s,k=%s", file_name("q"), file_name("k"));
    szg_content *content = content_of(spec);
    remove_files();
    const szgi_captured both = {D, q, WIDE, k, WIDE, 1 / sqrt((double)D)};
    for (int s = 0; s < 5; s++)
        for (int causal = 0; causal < 2; causal++) {
            szg_encoding *encoding = encoding_of(specs[s]);
            int64_t head = szg_encoding_heads(encoding) - 1;
            szg_logits_options options = {SZG_INIT(szg_logits_options), .causal = causal};
            szg_logits *a, *b;
            ck_szg_ok(szg_logits_open(test_context(), encoding, head, content, N, &options, &a));
            ck_szg_ok(
                szgi_logits_open_captured(test_context(), encoding, head, &both, N, causal, &b));
            szg_factored pairs[2][2] = {{szgi_logits_coupled(a), szgi_logits_content(a)},
                                        {szgi_logits_coupled(b), szgi_logits_content(b)}};
            for (int m = 0; m < 2; m++) {
                ck_szg_ok(szgi_factored_dense(test_context(), &pairs[0][m], from_files, N));
                ck_szg_ok(szgi_factored_dense(test_context(), &pairs[1][m], captured, N));
                for (int i = 0; i < N * N; i++)
                    ck_assert(from_files[i] == captured[i]);
            }
            szg_logits_close(&a);
            szg_logits_close(&b);
            szg_encoding_close(&encoding);
        }
    szg_content_close(&content);
}
END_TEST

/* ---- Arrays ---- */

/* Queries and keys of arrays, copied row by row, are those that files would have. */
START_TEST(arrays_as_from_files) {
    enum { WIDE = D + 3 };
    double q[N * WIDE], k[N * D], from[4][N * D];
    draw(q, N * WIDE, 31);
    draw(k, N * D, 32);
    for (int i = 0; i < N; i++)
        memcpy(tokens + i * D, q + i * WIDE, D * sizeof *q);
    write_matrix("q", N, D, tokens);
    write_matrix("k", N, D, k);
    char spec[256];
    snprintf(spec, sizeof spec, "files:q=%s,k=%s", file_name("q"), file_name("k"));
    szg_content *files = content_of(spec), *arrays;
    remove_files();
    ck_szg_ok(szg_content_open_qk(test_context(), N, D, q, WIDE, k, D, &arrays));
    memset(q, 0, sizeof q);
    memset(k, 0, sizeof k);
    ck_assert_int_eq(szgi_content_dimension(arrays), D);
    ck_assert_str_eq(szg_content_spec(arrays), "q and k");
    for (int head = 0; head < 2; head++) {
        ck_szg_ok(szgi_content_fill(test_context(), files, head, N, D, NULL, from[0], from[1], NULL,
                                    NULL));
        ck_szg_ok(szgi_content_fill(test_context(), arrays, head, N, D, NULL, from[2], from[3],
                                    NULL, NULL));
        ck_assert_mem_eq(from[0], from[2], sizeof from[0]);
        ck_assert_mem_eq(from[1], from[3], sizeof from[1]);
    }
    ck_szg_fails(
        SZG_EINVAL, "the content q and k has dimension 8, the encoding 6",
        szgi_content_fill(test_context(), arrays, 0, N, 6, NULL, from[0], from[1], NULL, NULL));
    ck_szg_fails(
        SZG_EDOMAIN, "rows",
        szgi_content_fill(test_context(), arrays, 0, N + 1, D, NULL, from[0], from[1], NULL, NULL));
    szg_content_close(&files);
    szg_content_close(&arrays);
}
END_TEST

static szg_status open_arrays(const double *q, const double *k) {
    szg_content *content;
    szg_status status = szg_content_open_qk(test_context(), 3, 4, q, 4, k, 4, &content);
    ck_assert_int_eq(status != SZG_OK, !content);
    szg_content_close(&content);
    return status;
}

START_TEST(arrays_refused) {
    double q[12] = {0}, k[12] = {0};
    szg_content *content;
    ck_survives_failed_allocations(3, open_arrays(q, k));
    k[2 * 4 + 3] = INFINITY;
    ck_szg_fails(SZG_EDATA, "k: row 2, column 3 is not a finite number", open_arrays(q, k));
    q[1 * 4 + 0] = NAN;
    ck_szg_fails(SZG_EDATA, "q: row 1, column 0 is not a finite number", open_arrays(q, k));
    ck_szg_fails(SZG_EINVAL, "q: 0 rows",
                 szg_content_open_qk(test_context(), 0, 4, q, 4, k, 4, &content));
    ck_szg_fails(SZG_EINVAL, "of dimension -1",
                 szg_content_open_qk(test_context(), 3, -1, q, 4, k, 4, &content));
    q[4] = 0;
    ck_szg_fails(SZG_EINVAL, "k: leading dimension 3",
                 szg_content_open_qk(test_context(), 3, 4, q, 4, k, 3, &content));
    ck_szg_fails(SZG_ENOMEM, "",
                 szg_content_open_qk(test_context(), INT64_MAX / 2, 4, q, 4, k, 4, &content));
    ck_assert_ptr_null(content);
}
END_TEST

static szg_status couple_captured(const szg_encoding *encoding, const szgi_captured *captured) {
    szg_logits *logits;
    szg_status status =
        szgi_logits_open_captured(test_context(), encoding, 0, captured, N, false, &logits);
    szg_logits_close(&logits);
    return status;
}

START_TEST(captured_refused) {
    double x[N * D] = {0};
    szg_logits *logits;
    szgi_captured both = {D, x, D, x, D, 1};
    szg_encoding *encoding = encoding_of("absolute:dim=8");
    ck_szg_fails(SZG_EDOMAIN, "position table zeroed",
                 szgi_logits_open_captured(test_context(), encoding, 0, &both, N, false, &logits));
    szg_encoding_close(&encoding);
    encoding = encoding_of("rope:dim=6");
    ck_szg_fails(SZG_EINVAL, "dimension 8",
                 szgi_logits_open_captured(test_context(), encoding, 0, &both, N, false, &logits));
    szg_encoding_close(&encoding);
    encoding = encoding_of("rope:dim=8");
    both.ldk = 7;
    ck_szg_fails(SZG_EINVAL, "leading dimension",
                 szgi_logits_open_captured(test_context(), encoding, 0, &both, N, false, &logits));
    both.ldk = D;
    ck_survives_failed_allocations(5, couple_captured(encoding, &both));
    szg_encoding_close(&encoding);
}
END_TEST

START_TEST(bad_content) {
    static const struct {
        const char *spec, *words;
    } cases[] = {
        {"uniform", "content \"uniform\" is unknown: the known ones are gaussian, lowrank"},
        {"gaussian:rank=3", "the known ones are dim, seed, weights"},
        {"mean:mean=1.5", "outside its range"},
        {"mean:mean=nan", "not a finite number"},
        {"lowrank:rank=0", "outside its range"},
        {"files", "give x=FILE"},
        {"files:q=a", "give x=FILE"},
        {"files:x=a,wq=b", "give x=FILE"},
        {"files:x=a,q=b,k=c", "give x=FILE"}};
    szg_content *content;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_szg_fails(SZG_EINVAL, cases[i].words,
                     szg_content_parse(test_context(), cases[i].spec, 0, &content));
    ck_szg_fails(SZG_EIO, "/nonexistent",
                 szg_content_parse(test_context(), "files:x=/nonexistent.npy", 0, &content));
}
END_TEST

START_TEST(a_file_that_changes_meanwhile) {
    char spec[128];
    szg_content *content;
    draw(tokens, N * D, 1);
    write_matrix("x", N, D, tokens);
    snprintf(spec, sizeof spec, "files:x=%s", file_name("x"));
    ck_notices_changes(file_name("x"), 3, szg_content_parse(test_context(), spec, 0, &content));
    remove_files();
}
END_TEST

START_TEST(bad_arguments) {
    szg_content *content = known_content();
    szg_encoding *encoding = encoding_of("rope:dim=16,pairing=half");
    szg_logits *logits;
    szg_context *context = test_context();
    ck_szg_fails(SZG_EINVAL, "has dimension 8, the encoding 16",
                 szg_logits_open(context, encoding, 0, content, N, NULL, &logits));
    szg_encoding_close(&encoding);
    encoding = encoding_of("rope+absolute:dim=8,input=16");
    ck_szg_fails(SZG_EDOMAIN, "rows of 16 numbers to vectors of 8",
                 szg_logits_open(context, encoding, 0, content, N, NULL, &logits));
    szg_encoding_close(&encoding);
    encoding = encoding_of("rope:dim=8,pairing=half");
    ck_szg_fails(SZG_EDOMAIN, "13 rows, 14 are needed",
                 szg_logits_open(context, encoding, 0, content, N + 1, NULL, &logits));
    ck_szg_fails(SZG_EINVAL, "head 1",
                 szg_logits_open(context, encoding, 1, content, N, NULL, &logits));
    ck_szg_fails(SZG_EINVAL, "at least 1",
                 szg_logits_open(context, encoding, 0, content, 0, NULL, &logits));
    ck_szg_fails(SZG_ENOMEM, "",
                 szg_logits_open(context, encoding, 0, content, (int64_t)1 << 58, NULL, &logits));
    szg_encoding_close(&encoding);
    szg_content_close(&content);
    szgi_rotary rotary = {.dim = 4, .pairs = 3};
    double x[4];
    ck_szg_fails(SZG_EINVAL, "do not fit", szgi_rotary_rotate(context, &rotary, 0, 1, x, 4));
}
END_TEST

static szg_status everything(szg_context *context, const char *content_spec, const char *spec) {
    szg_content *content = NULL;
    szg_encoding *encoding = NULL;
    szg_logits *logits = NULL;
    szg_status status = szg_content_parse(context, content_spec, 1, &content);
    if (status == SZG_OK)
        status = szg_encoding_parse(context, spec, &encoding);
    if (status == SZG_OK)
        status = szg_logits_open(context, encoding, 0, content, N, NULL, &logits);
    szg_logits_close(&logits);
    szg_encoding_close(&encoding);
    szg_content_close(&content);
    return status;
}

START_TEST(allocation_failures) {
    static const char *const contents[] = {"gaussian", "lowrank", "mean:weights=identity"};
    static const char *const specs[] = {"rope+absolute:dim=8", "alibi", "mla"};
    for (int i = 0; i < 3; i++)
        ck_survives_failed_allocations(5, everything(test_context(), contents[i], specs[i]));
}
END_TEST

TEST_FILE("coupling") {
    test_add(suite, "positions_are_added_before_the_weights",
             positions_are_added_before_the_weights);
    test_add(suite, "bias_is_not_scaled", bias_is_not_scaled);
    test_add(suite, "rotary_against_rotation_matrices", rotary_against_rotation_matrices);
    test_add(suite, "content_is_uncoupled", content_is_uncoupled);
    test_add(suite, "counterexample_to_equation_10", counterexample_to_equation_10);
    test_add(suite, "constant_content", constant_content);
    test_add(suite, "seeds", seeds);
    test_add(suite, "moments", moments);
    test_add(suite, "low_rank", low_rank);
    test_add(suite, "files_by_head", files_by_head);
    test_add(suite, "captured_as_from_files", captured_as_from_files);
    test_add(suite, "captured_refused", captured_refused);
    test_add(suite, "arrays_as_from_files", arrays_as_from_files);
    test_add(suite, "arrays_refused", arrays_refused);
    test_add(suite, "bad_content", bad_content);
    test_add(suite, "a_file_that_changes_meanwhile", a_file_that_changes_meanwhile);
    test_add(suite, "bad_arguments", bad_arguments);
    test_add(suite, "allocation_failures", allocation_failures);
}
