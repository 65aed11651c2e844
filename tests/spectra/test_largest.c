/* The largest singular values with a stated error: matrices whose values are known beforehand. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "spectra/largest_private.h"

#include "rounding.h"
#include "suite.h"

enum { ROWS = 320, COLUMNS = 290, WANTED = 6, TRIALS = 12 };

/* A = (I - 2 u u^T) diag(sigma) (I - 2 v v^T), rows x columns. */
typedef struct sample {
    int64_t rows, columns, products;
    double *a, *sigma;
    double frobenius;
} sample;

static void reflect(int64_t count, int64_t step, const double *u, double *x) {
    double along = 0;
    for (int64_t i = 0; i < count; i++)
        along += u[i] * x[i * step];
    for (int64_t i = 0; i < count; i++)
        x[i * step] -= 2 * along * u[i];
}

static double *unit_vector(int64_t count, uint32_t step) {
    const szgi_stream stream = {.seed = test_seed(), .purpose = 77, .step = step};
    double *u = new_numbers(count);
    szgi_random_fill_normal(&stream, 0, count, u);
    double norm = norm_of(count, u);
    for (int64_t i = 0; i < count; i++)
        u[i] /= norm;
    return u;
}

/* given: NULL, or the unit vector of the reflection on the right. */
static sample make(int64_t rows, int64_t columns, uint32_t step, const double *sigma,
                   const double *given) {
    int64_t side = rows < columns ? rows : columns;
    sample out = {.rows = rows, .columns = columns};
    double *u = unit_vector(rows, 2 * step), *v = unit_vector(columns, 2 * step + 1);
    if (given)
        memcpy(v, given, (size_t)columns * sizeof *v);
    out.a = new_numbers(rows * columns);
    out.sigma = new_numbers(side);
    memcpy(out.sigma, sigma, (size_t)side * sizeof *sigma);
    for (int64_t i = 0; i < side; i++)
        out.a[i * (columns + 1)] = sigma[i];
    for (int64_t j = 0; j < columns; j++)
        reflect(rows, columns, u, out.a + j);
    for (int64_t i = 0; i < rows; i++)
        reflect(columns, 1, v, out.a + i * columns);
    out.frobenius = norm_of(rows * columns, out.a);
    szgi_memory_free(u);
    szgi_memory_free(v);
    return out;
}

static void drop(sample *s) {
    szgi_memory_free(s->a);
    szgi_memory_free(s->sigma);
}

static szg_status apply(szg_context *context, void *data, int64_t count, const double *x,
                        double *out) {
    sample *s = data;
    double *y;
    s->products++;
    SZG_TRY(szgi_memory_alloc(context, count * s->rows, &y));
    szg_status status = szgi_gemm(context, 'n', 't', count, s->rows, s->columns, 1, x, s->columns,
                                  s->a, s->columns, 0, y, s->rows);
    if (status == SZG_OK)
        status = szgi_gemm(context, 'n', 'n', count, s->columns, s->rows, 1, y, s->rows, s->a,
                           s->columns, 0, out, s->columns);
    szgi_memory_free(y);
    return status;
}

/* |fl(A x) - A x| <= gamma_columns |A| |x|, and once more with the rows. */
static szgi_block_operator operator_of(sample *s) {
    double square =
        s->frobenius * s->frobenius * (1 + 4 * gamma_of((double)(s->rows * s->columns)));
    return (szgi_block_operator){
        .n = s->columns,
        .apply = apply,
        .data = s,
        .error = 1.001 * (gamma_of((double)s->columns) + gamma_of((double)s->rows)) * square,
        .trace = square};
}

/* The stated errors hold; how far the entries of A are from those of the matrix with these values
 * is two reflections' rounding (Higham 2002, Lemma 19.2), which weyl covers. Returns how many
 * values are resolved. */
static int64_t check(sample *s, int64_t wanted, uint64_t seed, int64_t passes) {
    szgi_block_operator square = operator_of(s);
    const szgi_largest_options options = {
        .count = wanted, .seed = seed, .tolerance = 1e-6, .passes = passes};
    szgi_largest_value *value = calloc((size_t)wanted, sizeof *value);
    double made = weyl(s->rows, s->frobenius);
    int64_t resolved = 0, side = s->rows < s->columns ? s->rows : s->columns;
    ck_szg_ok(szgi_largest(test_context(), &square, &options, value));
    for (int64_t i = 0; i < wanted; i++) {
        double truth = i < side ? s->sigma[i] : 0, nearest = INFINITY;
        for (int64_t j = 0; j < s->columns; j++)
            nearest = fmin(nearest, fabs((j < side ? s->sigma[j] : 0) - value[i].sigma));
        ck_assert_msg(fabs(value[i].sigma - truth) <= value[i].error + made,
                      "seed %llu, value %lld: %.17g is %.17g, off by %.3g > %.3g",
                      (unsigned long long)seed, (long long)i, value[i].sigma, truth,
                      fabs(value[i].sigma - truth), value[i].error);
        ck_assert_msg(nearest <= value[i].residual + made,
                      "seed %llu, value %lld: none within %.3g of %.17g, but %.3g off",
                      (unsigned long long)seed, (long long)i, value[i].residual, value[i].sigma,
                      nearest);
        ck_assert(!value[i].resolved || value[i].error <= 1e-6 * value[0].sigma);
        resolved += value[i].resolved;
    }
    free(value);
    return resolved;
}

/* ---- Spectra ---- */

typedef double spectrum_of(int64_t i);

static double separated(int64_t i) {
    return i < 10 ? 10.0 - (double)i : 0.5 + 0.4 * (double)(COLUMNS - i) / COLUMNS;
}
static double clustered(int64_t i) {
    return i < 4 ? 1 + 1e-9 * (double)(4 - i) : i < 40 ? 0.5 : 0.1;
}
static double graded(int64_t i) {
    return pow(10, -0.5 * (double)i);
}
static double low_rank(int64_t i) {
    return i < 4 ? 4.0 - (double)i : 0;
}
static double identity(int64_t i) {
    (void)i;
    return 1;
}
/* A naive range of a few products takes what the bulk shows for the largest value. */
static double hidden(int64_t i) {
    return i == 0 ? 1.004 : 1 - 1e-4 * (double)i;
}
static double bulk(int64_t i) {
    return 1 - (double)i / COLUMNS;
}

static const struct {
    const char *name;
    spectrum_of *of;
    int64_t resolved; /* of WANTED, at least */
} spectra[] = {{"separated", separated, WANTED},
               {"clustered", clustered, 0},
               {"graded", graded, WANTED},
               {"low rank", low_rank, 4},
               {"identity", identity, 0},
               {"hidden", hidden, 0},
               {"bulk", bulk, WANTED}};
enum { SPECTRA = sizeof spectra / sizeof *spectra };

/* Few passes leave much unknown: the errors say how much. */
START_TEST(stated_errors_hold) {
    static const int64_t passes[] = {100, 1, 3, 10};
    double sigma[COLUMNS];
    for (int64_t i = 0; i < COLUMNS; i++)
        sigma[i] = spectra[_i].of(i);
    for (int64_t trial = 0; trial < test_trials(TRIALS); trial++) {
        sample s = make(ROWS, COLUMNS, (uint32_t)trial, sigma, NULL);
        for (size_t p = 0; p < sizeof passes / sizeof *passes; p++) {
            int64_t resolved = check(&s, WANTED, test_seed() + (uint64_t)trial, passes[p]);
            ck_assert_msg(p > 0 || resolved >= spectra[_i].resolved, "%s: %lld values resolved",
                          spectra[_i].name, (long long)resolved);
        }
        drop(&s);
    }
}
END_TEST

/* A vector that is orthogonal to the whole random start: iteration does not see the largest value,
 * which is four times the others, until rounding does. The vectors that look for it are others. */
START_TEST(a_direction_that_the_start_lacks) {
    int64_t n = COLUMNS, width = szgi_largest_width(n, WANTED), unseen = 0;
    double sigma[COLUMNS], *start = new_numbers((width + 1) * n), *v = start + width * n;
    for (int64_t i = 0; i < n; i++)
        sigma[i] = i == 0 ? 4 : 1 - (double)i / (2 * COLUMNS);
    for (int64_t trial = 0; trial < test_trials(TRIALS); trial++) {
        uint64_t seed = test_seed() + (uint64_t)trial;
        const szgi_stream range = {.seed = seed, .purpose = LARGEST_RANGE};
        szgi_random_fill_normal(&range, 0, width * n, start);
        szgi_random_fill_normal(&(szgi_stream){.seed = seed, .purpose = 78}, 0, n, v);
        szgi_largest_orthonormalise(&range, n, width + 1, start);
        v[0] -= 1; /* I - 2 v v^T takes the first unit vector to the row */
        double norm = norm_of(n, v);
        for (int64_t i = 0; i < n; i++)
            v[i] /= norm;
        sample s = make(ROWS, COLUMNS, (uint32_t)trial, sigma, v);
        unseen += check(&s, WANTED, seed, 1) == 0;
        drop(&s);
    }
    ck_assert_int_eq(unseen, test_trials(TRIALS));
    szgi_memory_free(start);
}
END_TEST

/* The first pass finds the second value's vector, and half of the first one's: what is left out
 * alone, and what is found alone, are both below the second value. What couples them is not. */
START_TEST(a_direction_that_the_start_has_half) {
    int64_t n = COLUMNS, width = szgi_largest_width(n, WANTED);
    double *basis = new_numbers((width + 1) * n), *outside = basis + width * n;
    const szgi_stream range = {.seed = test_seed(), .purpose = LARGEST_RANGE};
    szgi_random_fill_normal(&range, 0, width * n, basis);
    szgi_random_fill_normal(&(szgi_stream){.seed = test_seed(), .purpose = 79}, 0, n, outside);
    szgi_largest_orthonormalise(&range, n, width + 1, basis);
    sample s = {.rows = 2, .columns = n, .a = new_numbers(2 * n), .sigma = new_numbers(2)};
    s.sigma[0] = 1, s.sigma[1] = 0.9;
    for (int64_t j = 0; j < n; j++) {
        s.a[j] = (basis[j] + outside[j]) / sqrt(2);
        s.a[n + j] = 0.9 * basis[n + j];
    }
    s.frobenius = norm_of(2 * n, s.a);
    check(&s, WANTED, test_seed(), 1);
    drop(&s);
    szgi_memory_free(basis);
}
END_TEST

START_TEST(numbers_of_values_that_are_none) {
    sample s = {.rows = 3, .columns = 3};
    const szgi_block_operator square = {.n = 3, .apply = apply, .data = &s};
    szgi_largest_value value[4];
    for (int64_t count = 0; count < 5; count += 4)
        ck_szg_fails(SZG_EINVAL, "of an operator of order 3",
                     szgi_largest(test_context(), &square,
                                  &(szgi_largest_options){.count = count, .passes = 1}, value));
}
END_TEST

TEST_FILE("largest") {
    test_add_loop(suite, "stated_errors_hold", stated_errors_hold, SPECTRA);
    test_add(suite, "a_direction_that_the_start_lacks", a_direction_that_the_start_lacks);
    test_add(suite, "a_direction_that_the_start_has_half", a_direction_that_the_start_has_half);
    test_add(suite, "numbers_of_values_that_are_none", numbers_of_values_that_are_none);
}
