/* One verb, every structure: each question of each view against the same matrix written out. */
#include "toeplitz/factored.h"
#include "toeplitz/matrix.h"
#include "spectra/spectra_private.h"

#include "host_spectra.h"
#include "spectra_support.h"

enum { N = 11, COLUMNS = 3 };

/* What the views point to; the dense arrays are LAPACK's. */
typedef struct samples {
    double real[N * N], symmetric[N * N], a[N * COLUMNS], b[N * COLUMNS];
    szg_c64 complex[N * N], hermitian[N * N];
    double single[N * N]; /* real, rounded to single precision, for the device's numbers */
    double *room;
    szgi_logit_numbers numbers;
    szg_toeplitz *toeplitz[4], *bias;
} samples;

static const double theta[COLUMNS] = {0.3, 1, 2.5}, weight[COLUMNS] = {1, 0.5, 2};

static void open_toeplitz(const double *x, samples *s) {
    szg_c64 lags[2 * N - 1];
    for (int k = 0; k < 2 * N - 1; k++)
        lags[k] = (szg_c64){x[k], k == 0 ? 0 : x[N * N - 1 - k]};
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), N, N, x, &s->toeplitz[0]));
    ck_szg_ok(szg_toeplitz_open_hermitian(test_context(), N, N, lags, &s->toeplitz[1]));
    ck_szg_ok(szg_toeplitz_open_real(test_context(), N, N, x, &s->toeplitz[2]));
    ck_szg_ok(szg_toeplitz_open_complex(test_context(), N, N, lags, &s->toeplitz[3]));
    ck_szg_ok(szg_toeplitz_open_real(test_context(), N, 4, x, &s->bias));
}

static void open_samples(samples *s) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 61};
    double x[N * N];
    *s = (samples){.room = get(host_numbers_room(N), sizeof(double))};
    szgi_random_fill_normal(&stream, 0, N * N, x);
    memcpy(s->real, x, sizeof x);
    memcpy(s->a, x, sizeof s->a);
    memcpy(s->b, x + N * COLUMNS, sizeof s->b);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            int at = i * N + j, to = j * N + i;
            s->symmetric[at] = x[i < j ? at : to];
            s->complex[at] = (szg_c64){x[at], x[to]};
            s->hermitian[at] = (szg_c64){s->symmetric[at], i == j ? 0 : i < j ? x[to] : -x[at]};
            s->single[at] = (float)x[at];
        }
    open_toeplitz(x, s);
    ck_szg_ok(host_numbers(test_context(), N, s->single, s->room, &s->numbers));
}

static void close_samples(samples *s) {
    for (int i = 0; i < 4; i++)
        szg_toeplitz_close(&s->toeplitz[i]);
    szg_toeplitz_close(&s->bias);
    szgi_memory_free(s->room);
}

/* a_{i-j} of the views whose entries depend on i - j. */
static szg_c64 lag_of(const szg_matrix *m, int64_t k) {
    double sum = m->of.cosines.constant;
    switch (m->kind) {
    case SZG_MATRIX_TOEPLITZ:
        return szg_toeplitz_at(m->of.toeplitz, k);
    case SZG_MATRIX_KMS:
        return (szg_c64){pow(m->of.parameter, fabs((double)k)), 0};
    case SZG_MATRIX_DISTANCE:
        return (szg_c64){-m->of.parameter * fabs((double)k), 0};
    case SZG_MATRIX_COSINES:
        for (int64_t t = 0; t < m->of.cosines.count; t++)
            sum += (m->of.cosines.weight ? m->of.cosines.weight[t] : m->of.cosines.equal) *
                   cos((double)k * m->of.cosines.theta[t]);
        return (szg_c64){sum, 0};
    default:
        return (szg_c64){0, 0};
    }
}

static szg_c64 entry(const samples *s, const szg_matrix *m, int64_t i, int64_t j) {
    const szg_factored *f = &m->of.factored;
    double sum = 0;
    switch (m->kind) {
    case SZG_MATRIX_DENSE:
    case SZG_MATRIX_SYMMETRIC:
        return (szg_c64){m->of.dense.a[i * N + j], 0};
    case SZG_MATRIX_COMPLEX:
    case SZG_MATRIX_HERMITIAN:
        return m->of.complex_dense.a[i * N + j];
    case SZG_MATRIX_DEVICE:
        return (szg_c64){s->single[i * N + j], 0};
    case SZG_MATRIX_FACTORED:
        for (int64_t t = 0; t < f->d; t++)
            sum += f->a[i * f->lda + t] * f->b[j * f->ldb + t];
        sum += f->bias ? szg_toeplitz_at(f->bias, i - j).re : 0;
        return (szg_c64){f->causal && i < j ? 0 : sum, 0};
    default:
        return lag_of(m, i - j);
    }
}

/* Largest first, structural zeros in their place. */
static void expand(const szg_spectrum *s, double *out) {
    ck_assert_int_eq(s->count + s->zeros, N);
    ck_assert_ptr_null(s->im);
    memset(out, 0, N * sizeof *out);
    memcpy(out, s->re, (size_t)s->count * sizeof *out);
    szgi_sort_descending(N, out);
}

static void same_values(const szg_spectrum *got, const szg_spectrum *want, double bound,
                        const char *name) {
    double x[N], y[N];
    expand(got, x);
    expand(want, y);
    for (int i = 0; i < N; i++)
        ck_assert_msg(fabs(x[i] - y[i]) <= bound, "%s: value %d is %.17g, not %.17g", name, i, x[i],
                      y[i]);
}

/* Eigenvalues without symmetry: their sum and that of their squares. */
static void same_moments(const szg_spectrum *got, const szg_c64 *l, double norm) {
    double sum[2] = {0}, square[2] = {0};
    for (int64_t i = 0; i < got->count; i++) {
        double re = got->re[i], im = got->im ? got->im[i] : 0;
        sum[0] += re, sum[1] += im;
        square[0] += re * re - im * im, square[1] += 2 * re * im;
    }
    for (int i = 0; i < N; i++) {
        sum[0] -= l[i * (N + 1)].re, sum[1] -= l[i * (N + 1)].im;
        for (int j = 0; j < N; j++) {
            szg_c64 x = l[i * N + j], y = l[j * N + i];
            square[0] -= x.re * y.re - x.im * y.im;
            square[1] -= x.re * y.im + x.im * y.re;
        }
    }
    /* tr(L + E) - tr L and tr (L + E)^2 - tr L^2, ||E|| as in weyl. */
    ck_close(hypot(sum[0], sum[1]), 0, N * weyl(N, norm));
    ck_close(hypot(square[0], square[1]), 0, 2 * N * norm * weyl(N, norm));
}

static void check_view(const samples *s, const szg_matrix *view, const char *name) {
    szg_c64 l[N * N], h[N * N];
    double size = view->kind == SZG_MATRIX_FACTORED
                      ? norm_of(N * COLUMNS, s->a) * norm_of(N * COLUMNS, s->b)
                      : 0;
    bool symmetric = true;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            szg_c64 x = l[i * N + j] = entry(s, view, i, j), y = entry(s, view, j, i);
            h[i * N + j] = (szg_c64){(x.re + y.re) / 2, (x.im - y.im) / 2};
            symmetric = symmetric && x.re == y.re && x.im == -y.im;
        }
    double norm = size + norm_of(2 * N * N, (double *)l), bound = 2 * weyl(N, norm);
    szg_spectrum got, want;
    ck_szg_ok(singular_of(test_context(), *view, NULL, &got));
    ck_szg_ok(singular_of(test_context(), szg_matrix_complex(N, N, l, N), NULL, &want));
    ck_assert_int_eq(got.kind, SZG_SPECTRUM_SINGULAR);
    /* A device has squares: docs/explanation/methods.md, sqrt(12 n eps) ||L||_F. */
    same_values(&got, &want, view->kind == SZG_MATRIX_DEVICE ? szgi_squares_error(N, norm) : bound,
                name);
    szg_spectrum_close(&got);
    szg_spectrum_close(&want);
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_hermitian(N, h, N), NULL, &want));
    if (view->kind != SZG_MATRIX_COMPLEX) {
        ck_szg_ok(part_of(test_context(), *view, NULL, &got));
        same_values(&got, &want, bound, name);
        szg_spectrum_close(&got);
    }
    if (view->kind != SZG_MATRIX_DEVICE) {
        ck_szg_ok(eigenvalues_of(test_context(), *view, NULL, &got));
        ck_assert_int_eq(got.kind, SZG_SPECTRUM_EIGENVALUE);
        if (symmetric && view->kind != SZG_MATRIX_COMPLEX)
            same_values(&got, &want, bound, name);
        else
            same_moments(&got, l, norm);
        szg_spectrum_close(&got);
    }
    szg_spectrum_close(&want);
}

START_TEST(every_question_of_every_structure) {
    samples s;
    open_samples(&s);
    szg_factored plain = {.n = N, .d = COLUMNS, .a = s.a, .lda = COLUMNS, .b = s.b, .ldb = COLUMNS};
    szg_factored gram = plain, masked = plain, biased = plain;
    gram.b = s.a;
    masked.causal = true;
    masked.bias = biased.bias = s.bias;
    const szg_matrix views[] = {
        szg_matrix_zero(N),
        szg_matrix_dense(N, N, s.real, N),
        szg_matrix_dense(N, N, s.symmetric, N),
        szg_matrix_symmetric(N, s.symmetric, N),
        szg_matrix_complex(N, N, s.complex, N),
        szg_matrix_complex(N, N, s.hermitian, N),
        szg_matrix_hermitian(N, s.hermitian, N),
        szg_matrix_toeplitz(s.toeplitz[0]),
        szg_matrix_toeplitz(s.toeplitz[1]),
        szg_matrix_toeplitz(s.toeplitz[2]),
        szg_matrix_toeplitz(s.toeplitz[3]),
        szg_matrix_factored(&plain),
        szg_matrix_factored(&gram),
        szg_matrix_factored(&masked),
        szg_matrix_factored(&biased),
        szg_matrix_cosines(N, COLUMNS, weight, theta),
        szg_matrix_rotary_mean(N, COLUMNS, theta, 2),
        szg_matrix_kms(N, -0.6),
        szg_matrix_distance(N, 0.25),
        szgi_matrix_device(N, &s.numbers),
    };
    bool seen[SZG_MATRIX_KINDS] = {true}; /* that of no matrix */
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        char name[64];
        snprintf(name, sizeof name, "view %d, %s", (int)i, szg_matrix_kind_name(views[i].kind));
        check_view(&s, &views[i], name);
        seen[views[i].kind] = true;
    }
    for (int kind = 0; kind < SZG_MATRIX_KINDS; kind++)
        ck_assert_msg(seen[kind], "no %s matrix was tried",
                      szg_matrix_kind_name((szg_matrix_kind)kind));
    close_samples(&s);
}
END_TEST

/* A dense array is looked at: one that is symmetric up to rounding has real eigenvalues, and of one
 * that is not, nothing is lost. */
START_TEST(dense_is_looked_at) {
    double a[4] = {1, 2, 2 + 4 * DBL_EPSILON, 1};
    szg_spectrum s;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_dense(2, 2, a, 2), NULL, &s));
    ck_assert_int_eq(s.method, SZG_METHOD_DENSE_SYMMETRIC);
    ck_assert(s.normal && !s.im);
    szg_spectrum_close(&s);
    a[2] = -2; /* eigenvalues 1 +- 2i */
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_dense(2, 2, a, 2), NULL, &s));
    ck_assert_int_eq(s.method, SZG_METHOD_DENSE_GENERAL);
    ck_close(s.re[0], 1, weyl(2, norm_of(4, a)));
    ck_close(fabs(s.im[0]), 2, weyl(2, norm_of(4, a)));
    szg_spectrum_close(&s);
}
END_TEST

/* A = c B has real eigenvalues, also where the arrays are two: those of c B^T B. */
START_TEST(proportional_factors) {
    samples s;
    open_samples(&s);
    for (int i = 0; i < N * COLUMNS; i++)
        s.b[i] = -0.75 * s.a[i];
    const szg_factored f = {
        .n = N, .d = COLUMNS, .a = s.a, .lda = COLUMNS, .b = s.b, .ldb = COLUMNS};
    szg_spectrum got;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_factored(&f), NULL, &got));
    ck_assert_int_eq(got.method, SZG_METHOD_GRAM);
    ck_assert(got.normal && got.zeros == N - COLUMNS && got.re[COLUMNS - 1] < 0);
    szg_spectrum_close(&got);
    close_samples(&s);
}
END_TEST

/* Singular values from the ends of a spectrum: of two signs, the least is not known. */
START_TEST(ends_of_closed_forms) {
    const szg_spectra_options range = {SZG_INIT(szg_spectra_options), .want = SZG_WANT_RANGE};
    szg_spectrum got, want;
    ck_szg_ok(singular_of(test_context(), szg_matrix_kms(N, 0.5), &range, &got));
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_kms(N, 0.5), &range, &want));
    ck_assert(got.re[0] == want.re[1] && got.re[1] == want.re[0] && !got.note);
    szg_spectrum_close(&got);
    szg_spectrum_close(&want);
    ck_szg_ok(singular_of(test_context(), szg_matrix_distance(N, 1), &range, &got));
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_distance(N, 1), &range, &want));
    ck_assert(got.re[0] == -want.re[0] && isnan(got.re[1]));
    ck_assert(strstr(got.note, "not established"));
    szg_spectrum_close(&got);
    szg_spectrum_close(&want);
}
END_TEST

START_TEST(questions_without_an_answer) {
    szg_context *ctx = test_context();
    const double a[6] = {1, 2, 3, 4, 5, 6};
    const szg_c64 z[1] = {{1, 1}};
    const szg_matrix wide = szg_matrix_dense(2, 3, a, 3), one = szg_matrix_dense(1, 1, a, 1);
    const szg_matrix none = {.kind = SZG_MATRIX_NONE, .rows = 1, .columns = 1};
    const szg_matrix unknown = {.kind = SZG_MATRIX_KINDS, .rows = 1, .columns = 1};
    szg_spectrum s;
    ck_szg_fails(SZG_EDOMAIN, "dense complex matrix: no solver; form the Hermitian part",
                 part_of(ctx, szg_matrix_complex(1, 1, z, 1), NULL, &s));
    ck_szg_fails(SZG_EINVAL, "2 x 3 matrix: it is not square; ask for its singular values",
                 eigenvalues_of(ctx, wide, NULL, &s));
    ck_szg_fails(SZG_EINVAL, "not square", part_of(ctx, wide, NULL, &s));
    ck_szg_ok(singular_of(ctx, wide, NULL, &s));
    ck_assert_int_eq(s.n, 2);
    szg_spectrum_close(&s);
    ck_szg_fails(SZG_EINVAL, "no matrix", eigenvalues_of(ctx, none, NULL, &s));
    ck_szg_fails(SZG_EINVAL, "no matrix", eigenvalues_of(ctx, unknown, NULL, &s));
    ck_szg_fails(SZG_EINVAL, "no matrix",
                 szg_spectrum_compute(ctx, NULL, SZG_QUESTION_SINGULAR, NULL, &s));
    ck_szg_fails(SZG_EINVAL, "unknown question",
                 szg_spectrum_compute(ctx, &one, SZG_QUESTIONS, NULL, &s));
    ck_szg_fails(SZG_EINVAL, "without an array",
                 eigenvalues_of(ctx, szg_matrix_dense(2, 2, NULL, 2), NULL, &s));
    ck_szg_fails(SZG_EINVAL, "0 x 0 of a path distance matrix",
                 eigenvalues_of(ctx, szg_matrix_distance(0, 1), NULL, &s));
}
END_TEST

/* The device kept the Hermitian part's: the message says what to ask. */
START_TEST(device_keeps_the_part) {
    samples s;
    szg_spectrum got;
    open_samples(&s);
    ck_szg_fails(SZG_EDOMAIN, "ask for these, or for singular values",
                 eigenvalues_of(test_context(), szgi_matrix_device(N, &s.numbers), NULL, &got));
    close_samples(&s);
}
END_TEST

TEST_FILE("compute") {
    test_before_each(use_tested_backend);
    test_add(suite, "every_question_of_every_structure", every_question_of_every_structure);
    test_add(suite, "dense_is_looked_at", dense_is_looked_at);
    test_add(suite, "proportional_factors", proportional_factors);
    test_add(suite, "ends_of_closed_forms", ends_of_closed_forms);
    test_add(suite, "questions_without_an_answer", questions_without_an_answer);
    test_add(suite, "device_keeps_the_part", device_keeps_the_part);
}
