#include <inttypes.h>

#include "matrix.h"

static szg_status check_hermitian(szg_context *context, const szgi_ball_matrix *matrix,
                                  const char *what) {
    SZG_TRY(szgi_check_square(context, matrix, what));
    acb_t z;
    acb_init(z);
    szg_status status = SZG_OK;
    for (slong i = 0; i < acb_mat_nrows(matrix->a) && status == SZG_OK; i++)
        for (slong j = i; j < acb_mat_ncols(matrix->a) && status == SZG_OK; j++) {
            acb_conj(z, acb_mat_entry(matrix->a, j, i));
            if (!acb_overlaps(z, acb_mat_entry(matrix->a, i, j)))
                status = szgi_fail(context, SZG_EDATA,
                                   "%s: entries (%ld, %ld) and (%ld, %ld) are not conjugate", what,
                                   (long)i, (long)j, (long)j, (long)i);
        }
    acb_clear(z);
    return status;
}

static void to_intervals(slong count, arb_srcptr values, szg_interval *out) {
    for (slong k = 0; k < count; k++)
        out[k] = szgi_interval_of(values + k);
}

szg_status szgi_ball_matrix_eigenvalues(szg_context *context, const szgi_ball_matrix *matrix,
                                        szg_interval *values) {
    SZG_TRY(check_hermitian(context, matrix, "eigenvalues"));
    const slong n = acb_mat_nrows(matrix->a);
    arb_ptr balls = _arb_vec_init(n);
    szg_status status = szgi_hermitian_eigenvalues(context, matrix->a, matrix->bits, balls);
    if (status == SZG_OK)
        to_intervals(n, balls, values);
    _arb_vec_clear(balls, n);
    return status;
}

static slong smaller_side(const szgi_ball_matrix *matrix) {
    return FLINT_MIN(acb_mat_nrows(matrix->a), acb_mat_ncols(matrix->a));
}

/* The remaining diagonal entry whose modulus is known to be the largest. */
static slong best_pivot(const acb_mat_t a, slong from) {
    slong best = from;
    mag_t largest, size;
    mag_init(largest);
    mag_init(size);
    for (slong i = from; i < acb_mat_nrows(a); i++) {
        arb_get_mag_lower(size, acb_realref(acb_mat_entry(a, i, i)));
        if (mag_cmp(size, largest) > 0) {
            mag_set(largest, size);
            best = i;
        }
    }
    mag_clear(largest);
    mag_clear(size);
    return best;
}

static void swap_symmetrically(acb_mat_t a, slong i, slong j) {
    if (i == j)
        return;
    for (slong k = 0; k < acb_mat_ncols(a); k++)
        acb_swap(acb_mat_entry(a, i, k), acb_mat_entry(a, j, k));
    for (slong k = 0; k < acb_mat_nrows(a); k++)
        acb_swap(acb_mat_entry(a, k, i), acb_mat_entry(a, k, j));
}

/* Schur complement of pivot (k, k), columns k + 1 on. */
static void eliminate(acb_mat_t a, slong k, slong bits) {
    acb_t factor;
    acb_init(factor);
    arb_srcptr pivot = acb_realref(acb_mat_entry(a, k, k));
    for (slong i = k + 1; i < acb_mat_nrows(a); i++) {
        acb_div_arb(factor, acb_mat_entry(a, i, k), pivot, bits);
        for (slong j = k + 1; j < acb_mat_ncols(a); j++)
            acb_submul(acb_mat_entry(a, i, j), factor, acb_mat_entry(a, k, j), bits);
    }
    acb_clear(factor);
}

static szg_status count_signs(szg_context *context, acb_mat_t a, slong bits, int64_t *below,
                              int64_t *above) {
    *below = *above = 0;
    for (slong k = 0; k < acb_mat_nrows(a); k++) {
        swap_symmetrically(a, k, best_pivot(a, k));
        arb_srcptr pivot = acb_realref(acb_mat_entry(a, k, k));
        if (!arb_is_nonzero(pivot))
            return szgi_fail(context, SZG_ENOCONV,
                             "the sign of pivot %ld of %ld is not decided at %ld bits: move the "
                             "shift or take more bits",
                             (long)k, (long)acb_mat_nrows(a), (long)bits);
        if (arb_is_negative(pivot))
            ++*below;
        else
            ++*above;
        eliminate(a, k, bits);
    }
    return SZG_OK;
}

szg_status szgi_ball_matrix_inertia(szg_context *context, const szgi_ball_matrix *matrix,
                                    double shift, int64_t *below, int64_t *above) {
    SZG_TRY(check_hermitian(context, matrix, "inertia"));
    acb_mat_t a;
    arb_t x;
    acb_mat_init(a, acb_mat_nrows(matrix->a), acb_mat_ncols(matrix->a));
    arb_init(x);
    acb_mat_set(a, matrix->a);
    arb_set_d(x, shift);
    for (slong i = 0; i < acb_mat_nrows(a); i++)
        acb_sub_arb(acb_mat_entry(a, i, i), acb_mat_entry(a, i, i), x, matrix->bits);
    szg_status status = arb_is_finite(x) ? count_signs(context, a, matrix->bits, below, above)
                                         : szgi_fail(context, SZG_EINVAL, "a shift of %g", shift);
    acb_mat_clear(a);
    arb_clear(x);
    return status;
}

szg_status szgi_ball_matrix_general_eigenvalues(szg_context *context,
                                                const szgi_ball_matrix *matrix, szg_interval *re,
                                                szg_interval *im) {
    SZG_TRY(szgi_check_square(context, matrix, "eigenvalues"));
    const slong n = acb_mat_nrows(matrix->a), bits = matrix->bits;
    acb_ptr start = _acb_vec_init(n), values = _acb_vec_init(n);
    acb_mat_t vectors;
    acb_mat_init(vectors, n, n);
    acb_mat_approx_eig_qr(start, NULL, vectors, matrix->a, NULL, 0, bits);
    bool isolated = acb_mat_eig_simple(values, NULL, NULL, matrix->a, start, vectors, bits);
    for (slong k = 0; k < n && isolated; k++) {
        re[k] = szgi_interval_of(acb_realref(values + k));
        im[k] = szgi_interval_of(acb_imagref(values + k));
    }
    acb_mat_clear(vectors);
    _acb_vec_clear(start, n);
    _acb_vec_clear(values, n);
    return isolated ? SZG_OK
                    : szgi_fail(context, SZG_ENOCONV,
                                "the eigenvalues of a %ld x %ld matrix are multiple, or too close "
                                "for %ld bits",
                                (long)n, (long)n, (long)bits);
}

szg_status szgi_ball_matrix_minor(szg_context *context, const szgi_ball_matrix *matrix,
                                  int64_t order, szg_interval *re, szg_interval *im) {
    if (order < 1 || order > smaller_side(matrix))
        return szgi_fail(context, SZG_EINVAL, "a leading minor of order %" PRId64 ", of 1 .. %ld",
                         order, (long)smaller_side(matrix));
    acb_mat_t leading;
    acb_t det;
    acb_mat_init(leading, (slong)order, (slong)order);
    acb_init(det);
    for (slong i = 0; i < order; i++)
        for (slong j = 0; j < order; j++)
            acb_set(acb_mat_entry(leading, i, j), acb_mat_entry(matrix->a, i, j));
    acb_mat_det(det, leading, matrix->bits);
    *re = szgi_interval_of(acb_realref(det));
    if (im)
        *im = szgi_interval_of(acb_imagref(det));
    acb_mat_clear(leading);
    acb_clear(det);
    return SZG_OK;
}

szg_status szgi_ball_matrix_norm(szg_context *context, const szgi_ball_matrix *matrix,
                                 szgi_ball_norm norm, int64_t k, szg_interval *out) {
    const slong count = smaller_side(matrix);
    if (norm == SZGI_BALL_KY_FAN && (k < 1 || k > count))
        return szgi_fail(context, SZG_EINVAL, "a Ky Fan norm of order %" PRId64 ", of 1 .. %ld", k,
                         (long)count);
    const slong terms = norm == SZGI_BALL_SPECTRAL  ? 1
                        : norm == SZGI_BALL_NUCLEAR ? count
                                                    : (slong)k;
    arb_ptr values = _arb_vec_init(count);
    arb_t sum;
    arb_init(sum);
    szg_status status = SZG_OK;
    if (norm == SZGI_BALL_FROBENIUS) {
        acb_mat_frobenius_norm(sum, matrix->a, matrix->bits);
    } else {
        status = szgi_singular_values(context, matrix->a, matrix->bits, values);
        for (slong i = 0; i < terms; i++)
            arb_add(sum, sum, values + i, matrix->bits);
    }
    if (status == SZG_OK)
        *out = szgi_interval_of(sum);
    _arb_vec_clear(values, count);
    arb_clear(sum);
    return status;
}
