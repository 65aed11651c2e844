#include <inttypes.h>
#include <math.h>

#include "matrix.h"

szg_status szgi_ball_matrix_open(szg_context *context, int64_t rows, int64_t columns, int64_t bits,
                                 szgi_ball_matrix **out) {
    *out = NULL;
    SZG_TRY(szgi_check_bits(context, bits));
    if (rows < 1 || columns < 1 || rows > SZGI_BALL_MATRIX_MAX || columns > SZGI_BALL_MATRIX_MAX)
        return szgi_fail(context, SZG_EINVAL,
                         "a matrix of %" PRId64 " x %" PRId64 " balls: each side is 1 .. %d", rows,
                         columns, SZGI_BALL_MATRIX_MAX);
    SZG_TRY(szgi_memory_require(context, rows, columns, 8 * (sizeof(acb_struct) + (size_t)bits / 4),
                                "a matrix of balls", "take a smaller matrix"));
    szgi_ball_matrix *matrix;
    SZG_TRY(szgi_memory_alloc(context, 1, &matrix));
    acb_mat_init(matrix->a, (slong)rows, (slong)columns);
    matrix->bits = (slong)bits;
    *out = matrix;
    return SZG_OK;
}

void szgi_ball_matrix_close(szgi_ball_matrix **matrix) {
    if (!matrix || !*matrix)
        return;
    acb_mat_clear((*matrix)->a);
    szgi_memory_free(*matrix);
    *matrix = NULL;
}

int64_t szgi_ball_matrix_rows(const szgi_ball_matrix *matrix) {
    return acb_mat_nrows(matrix->a);
}

acb_ptr szgi_ball_matrix_entry(szgi_ball_matrix *matrix, int64_t i, int64_t j) {
    return acb_mat_entry(matrix->a, (slong)i, (slong)j);
}

static szg_status check_place(szg_context *context, const szgi_ball_matrix *matrix, int64_t i,
                              int64_t j) {
    if (i < 0 || i >= acb_mat_nrows(matrix->a) || j < 0 || j >= acb_mat_ncols(matrix->a))
        return szgi_fail(context, SZG_EINVAL,
                         "entry (%" PRId64 ", %" PRId64 ") is outside a matrix of %ld x %ld", i, j,
                         (long)acb_mat_nrows(matrix->a), (long)acb_mat_ncols(matrix->a));
    return SZG_OK;
}

szg_status szgi_check_square(szg_context *context, const szgi_ball_matrix *matrix,
                             const char *what) {
    if (acb_mat_nrows(matrix->a) != acb_mat_ncols(matrix->a))
        return szgi_fail(context, SZG_EINVAL, "%s of a matrix of %ld x %ld: it must be square",
                         what, (long)acb_mat_nrows(matrix->a), (long)acb_mat_ncols(matrix->a));
    return SZG_OK;
}

/* c_k of the Toeplitz matrix. */
static szg_status toeplitz_lag(szg_context *context, int64_t k, double w, const szgi_phase *theta,
                               szgi_phase_mode mode, slong bits, acb_t c) {
    if (!isfinite(w))
        return szgi_fail(context, SZG_EDATA, "weight %" PRId64 " is not finite (%g)", k, w);
    acb_one(c);
    if (theta) {
        SZG_TRY(szgi_check_phase(context, theta, "phase", k));
        szgi_phase_exp(c, theta, mode == SZGI_PHASE_PLAIN ? 1 : k, bits);
    }
    arb_t weight;
    arb_init(weight);
    arb_set_d(weight, w);
    acb_mul_arb(c, c, weight, bits);
    arb_clear(weight);
    if (k == 0 && !arb_contains_zero(acb_imagref(c)))
        return szgi_fail(context, SZG_EDATA, "lag 0 is not real: the matrix is not Hermitian");
    if (k == 0)
        arb_zero(acb_imagref(c));
    return SZG_OK;
}

static szg_status fill_toeplitz(szg_context *context, szgi_ball_matrix *matrix, int64_t count,
                                const double *w, const szgi_phase *theta, szgi_phase_mode mode) {
    const int64_t n = acb_mat_nrows(matrix->a);
    acb_t c;
    acb_init(c);
    szg_status status = SZG_OK;
    for (int64_t k = 0; k < count && k < n && status == SZG_OK; k++) {
        status = toeplitz_lag(context, k, w[k], theta ? theta + k : NULL, mode, matrix->bits, c);
        for (int64_t j = 0; j + k < n && status == SZG_OK; j++) {
            acb_set(acb_mat_entry(matrix->a, j + k, j), c);
            acb_conj(acb_mat_entry(matrix->a, j, j + k), c);
        }
    }
    acb_clear(c);
    return status;
}

szg_status szgi_ball_matrix_open_toeplitz(szg_context *context, int64_t n, int64_t count,
                                          const double *w, const szgi_phase *theta,
                                          szgi_phase_mode mode, int64_t bits,
                                          szgi_ball_matrix **out) {
    *out = NULL;
    if (count < 1)
        return szgi_fail(context, SZG_EINVAL, "a Toeplitz matrix of %" PRId64 " lags", count);
    szgi_ball_matrix *matrix;
    SZG_TRY(szgi_ball_matrix_open(context, n, n, bits, &matrix));
    szg_status status = fill_toeplitz(context, matrix, count, w, theta, mode);
    if (status != SZG_OK)
        szgi_ball_matrix_close(&matrix);
    *out = matrix;
    return status;
}

szg_status szgi_ball_matrix_set(szg_context *context, szgi_ball_matrix *matrix, int64_t i,
                                int64_t j, szg_c64 value) {
    SZG_TRY(check_place(context, matrix, i, j));
    if (!isfinite(value.re) || !isfinite(value.im))
        return szgi_fail(context, SZG_EDATA,
                         "entry (%" PRId64 ", %" PRId64 ") is not finite (%g%+gi)", i, j, value.re,
                         value.im);
    acb_set_d_d(acb_mat_entry(matrix->a, i, j), value.re, value.im);
    return SZG_OK;
}

szg_status szgi_ball_matrix_add_polar(szg_context *context, szgi_ball_matrix *matrix, int64_t i,
                                      int64_t j, double weight, int64_t multiplier,
                                      const szgi_phase *angle) {
    SZG_TRY(check_place(context, matrix, i, j));
    SZG_TRY(szgi_check_phase(context, angle, "row", i));
    if (!isfinite(weight))
        return szgi_fail(context, SZG_EDATA,
                         "the weight of entry (%" PRId64 ", %" PRId64 ") is not finite (%g)", i, j,
                         weight);
    acb_t z;
    acb_init(z);
    szgi_phase_polar(z, weight, multiplier, angle, matrix->bits);
    acb_ptr entry = acb_mat_entry(matrix->a, i, j);
    acb_add(entry, entry, z, matrix->bits);
    acb_clear(z);
    return SZG_OK;
}

static bool shapes_fit(szgi_ball_matrix_op op, const szgi_ball_matrix *r, const szgi_ball_matrix *x,
                       const szgi_ball_matrix *y) {
    const slong rows = acb_mat_nrows(x->a), columns = acb_mat_ncols(x->a);
    if (op == SZGI_BALL_MATRIX_ADJOINT)
        return acb_mat_nrows(r->a) == columns && acb_mat_ncols(r->a) == rows;
    if (!y || acb_mat_nrows(r->a) != rows || acb_mat_ncols(r->a) != acb_mat_ncols(y->a))
        return false;
    if (op == SZGI_BALL_MATRIX_MULTIPLY)
        return columns == acb_mat_nrows(y->a);
    return rows == acb_mat_nrows(y->a) && columns == acb_mat_ncols(y->a);
}

szg_status szgi_ball_matrix_apply(szg_context *context, szgi_ball_matrix_op op, szgi_ball_matrix *r,
                                  const szgi_ball_matrix *x, const szgi_ball_matrix *y) {
    if (op >= SZGI_BALL_MATRIX_OP_COUNT)
        return szgi_fail(context, SZG_EINVAL, "matrix operation %d does not exist", (int)op);
    if (!shapes_fit(op, r, x, y))
        return szgi_fail(context, SZG_EINVAL, "matrix operation %d: the shapes do not fit",
                         (int)op);
    switch (op) {
    case SZGI_BALL_MATRIX_ADD:
        acb_mat_add(r->a, x->a, y->a, r->bits);
        break;
    case SZGI_BALL_MATRIX_SUBTRACT:
        acb_mat_sub(r->a, x->a, y->a, r->bits);
        break;
    case SZGI_BALL_MATRIX_MULTIPLY:
        acb_mat_mul(r->a, x->a, y->a, r->bits);
        break;
    case SZGI_BALL_MATRIX_HADAMARD:
        acb_mat_mul_entrywise(r->a, x->a, y->a, r->bits);
        break;
    default:
        acb_mat_transpose(r->a, x->a);
        acb_mat_conjugate(r->a, r->a);
    }
    return SZG_OK;
}

szg_status szgi_ball_matrix_scale(szg_context *context, szgi_ball_matrix *matrix, int64_t p,
                                  int64_t q) {
    if (q == 0)
        return szgi_fail(context, SZG_EDATA, "%" PRId64 "/0 is not a number", p);
    acb_mat_scalar_mul_si(matrix->a, matrix->a, (slong)p, matrix->bits);
    acb_mat_scalar_div_si(matrix->a, matrix->a, (slong)q, matrix->bits);
    return SZG_OK;
}
