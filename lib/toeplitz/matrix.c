/* Views of matrices. */
#include "toeplitz/matrix.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

#include "base/memory.h"

typedef struct matrix_store {
    szg_toeplitz *toeplitz;
    double *numbers;
} matrix_store;

static const char *const names[SZG_MATRIX_KINDS] = {
    [SZG_MATRIX_NONE] = "no matrix",
    [SZG_MATRIX_ZERO] = "zero",
    [SZG_MATRIX_DENSE] = "dense",
    [SZG_MATRIX_SYMMETRIC] = "dense symmetric",
    [SZG_MATRIX_COMPLEX] = "dense complex",
    [SZG_MATRIX_HERMITIAN] = "dense Hermitian",
    [SZG_MATRIX_TOEPLITZ] = "Toeplitz",
    [SZG_MATRIX_FACTORED] = "factored",
    [SZG_MATRIX_COSINES] = "sum of cosines",
#define SZG_CLOSED_FORM(NAME, name, words, method) [SZG_MATRIX_##NAME] = words,
#include <szego/closed_forms.def>
    [SZG_MATRIX_DEVICE] = "device",
};

static bool is_known(szg_matrix_kind kind) {
    return (int)kind >= 0 && kind < SZG_MATRIX_KINDS;
}

const char *szg_matrix_kind_name(szg_matrix_kind kind) {
    return is_known(kind) ? names[kind] : "unknown";
}

static szg_matrix square(szg_matrix_kind kind, int64_t n) {
    return (szg_matrix){.kind = kind, .rows = n, .columns = n};
}

szg_matrix szg_matrix_zero(int64_t n) {
    return square(SZG_MATRIX_ZERO, n);
}

szg_matrix szg_matrix_dense(int64_t m, int64_t n, const double *a, int64_t lda) {
    return (szg_matrix){
        .kind = SZG_MATRIX_DENSE, .rows = m, .columns = n, .of = {.dense = {.a = a, .lda = lda}}};
}

szg_matrix szg_matrix_symmetric(int64_t n, const double *a, int64_t lda) {
    szg_matrix matrix = szg_matrix_dense(n, n, a, lda);
    matrix.kind = SZG_MATRIX_SYMMETRIC;
    return matrix;
}

szg_matrix szg_matrix_complex(int64_t m, int64_t n, const szg_c64 *a, int64_t lda) {
    return (szg_matrix){.kind = SZG_MATRIX_COMPLEX,
                        .rows = m,
                        .columns = n,
                        .of = {.complex_dense = {.a = a, .lda = lda}}};
}

szg_matrix szg_matrix_hermitian(int64_t n, const szg_c64 *a, int64_t lda) {
    szg_matrix matrix = szg_matrix_complex(n, n, a, lda);
    matrix.kind = SZG_MATRIX_HERMITIAN;
    return matrix;
}

szg_matrix szg_matrix_toeplitz(const szg_toeplitz *toeplitz) {
    szg_matrix matrix = square(SZG_MATRIX_TOEPLITZ, szg_toeplitz_size(toeplitz));
    matrix.of.toeplitz = toeplitz;
    return matrix;
}

szg_matrix szg_matrix_factored(const szg_factored *factored) {
    szg_matrix matrix = square(SZG_MATRIX_FACTORED, factored->n);
    matrix.of.factored = *factored;
    return matrix;
}

szg_matrix szg_matrix_cosines(int64_t n, int64_t count, const double *weight, const double *theta) {
    szg_matrix matrix = square(SZG_MATRIX_COSINES, n);
    matrix.of.cosines.count = count;
    matrix.of.cosines.weight = weight;
    matrix.of.cosines.theta = theta;
    matrix.of.cosines.equal = NAN; /* weights are not optional here */
    return matrix;
}

szg_matrix szg_matrix_rotary_mean(int64_t n, int64_t pairs, const double *theta,
                                  int64_t unrotated) {
    szg_matrix matrix = szg_matrix_cosines(n, pairs, NULL, theta);
    double dimensions = 2 * (double)pairs + (double)unrotated;
    matrix.of.cosines.equal = 2 / dimensions;
    matrix.of.cosines.constant = (double)unrotated / dimensions;
    return matrix;
}

szg_matrix szgi_matrix_closed_form(szg_matrix_kind kind, int64_t n, double parameter) {
    szg_matrix matrix = square(kind, n);
    matrix.of.parameter = parameter;
    return matrix;
}

szg_matrix szg_matrix_kms(int64_t n, double rho) {
    return szgi_matrix_closed_form(SZG_MATRIX_KMS, n, rho);
}

szg_matrix szg_matrix_distance(int64_t n, double slope) {
    return szgi_matrix_closed_form(SZG_MATRIX_DISTANCE, n, slope);
}

szg_matrix szgi_matrix_device(int64_t n, const struct szgi_logit_numbers *numbers) {
    szg_matrix matrix = square(SZG_MATRIX_DEVICE, n);
    matrix.of.numbers = numbers;
    return matrix;
}

szg_status szgi_matrix_own(szg_context *context, szg_matrix *matrix, szg_toeplitz *toeplitz,
                           double *numbers) {
    matrix_store *store;
    SZG_TRY(szgi_memory_alloc(context, 1, &store));
    *store = (matrix_store){toeplitz, numbers};
    matrix->own = store;
    return SZG_OK;
}

void szg_matrix_close(szg_matrix *matrix) {
    if (!matrix)
        return;
    matrix_store *store = matrix->own;
    if (store) {
        szg_toeplitz_close(&store->toeplitz);
        szgi_memory_free(store->numbers);
        szgi_memory_free(store);
    }
    *matrix = (szg_matrix){.kind = SZG_MATRIX_NONE};
}

szg_status szgi_matrix_check(szg_context *context, const szg_matrix *matrix) {
    if (!matrix || matrix->kind == SZG_MATRIX_NONE || !is_known(matrix->kind))
        return szgi_fail(context, SZG_EINVAL,
                         "no matrix: fill it by szg_matrix_dense, szg_matrix_toeplitz or another "
                         "function of <szego/matrix.h>");
    if (matrix->rows < 1 || matrix->columns < 1)
        return szgi_fail(context, SZG_EINVAL,
                         "order %" PRId64 " x %" PRId64 " of a %s matrix: sizes are at least 1",
                         matrix->rows, matrix->columns, names[matrix->kind]);
    return SZG_OK;
}

bool szgi_matrix_is_dense(const szg_matrix *matrix) {
    return matrix->kind == SZG_MATRIX_DENSE || matrix->kind == SZG_MATRIX_SYMMETRIC ||
           szgi_matrix_is_complex(matrix);
}

bool szgi_matrix_is_complex(const szg_matrix *matrix) {
    return matrix->kind == SZG_MATRIX_COMPLEX || matrix->kind == SZG_MATRIX_HERMITIAN;
}

bool szgi_matrix_is_toeplitz(const szg_matrix *matrix) {
    return matrix->kind != SZG_MATRIX_FACTORED && matrix->kind != SZG_MATRIX_DEVICE &&
           !szgi_matrix_is_dense(matrix);
}
