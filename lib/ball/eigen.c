#include <stdlib.h>

#include "matrix.h"

/* h <- the Hermitian matrix that the entries on and above the diagonal say, mirrored. */
static void mirror(acb_mat_t h) {
    for (slong i = 0; i < acb_mat_nrows(h); i++) {
        arb_zero(acb_imagref(acb_mat_entry(h, i, i)));
        for (slong j = i + 1; j < acb_mat_ncols(h); j++)
            acb_conj(acb_mat_entry(h, j, i), acb_mat_entry(h, i, j));
    }
}

static double scaled(const arb_t x, slong exponent) {
    arf_t y;
    arf_init(y);
    arf_mul_2exp_si(y, arb_midref(x), -exponent);
    double out = arf_get_d(y, ARF_RND_NEAR);
    arf_clear(y);
    return out;
}

static slong largest_exponent(const acb_mat_t h) {
    slong largest = WORD_MIN;
    for (slong i = 0; i < acb_mat_nrows(h); i++)
        for (slong j = 0; j < acb_mat_ncols(h); j++) {
            acb_srcptr z = acb_mat_entry(h, i, j);
            slong re = arf_abs_bound_lt_2exp_si(arb_midref(acb_realref(z)));
            slong im = arf_abs_bound_lt_2exp_si(arb_midref(acb_imagref(z)));
            largest = FLINT_MAX(largest, FLINT_MAX(re, im));
        }
    return largest;
}

/* x <- approximate eigenvectors of h in its columns, from double arithmetic. */
static szg_status start_vectors(szg_context *context, const acb_mat_t h, acb_mat_t x) {
    const slong n = acb_mat_nrows(h);
    const slong exponent = largest_exponent(h);
    szg_c64 *a = NULL, *v = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, n * n, &a), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, n * n, &v), done);
    for (slong i = 0; i < n && exponent > -ARF_PREC_EXACT; i++)
        for (slong j = 0; j < n; j++)
            a[i * n + j] = (szg_c64){scaled(acb_realref(acb_mat_entry(h, i, j)), exponent),
                                     scaled(acb_imagref(acb_mat_entry(h, i, j)), exponent)};
    SZG_TRY_GOTO(status, szgi_jacobi(context, n, a, v), done);
    for (slong i = 0; i < n; i++)
        for (slong j = 0; j < n; j++)
            acb_set_d_d(acb_mat_entry(x, i, j), v[i * n + j].re, v[i * n + j].im);
done:
    szgi_memory_free(a);
    szgi_memory_free(v);
    return status;
}

/* gram = x^* x and product = x^* h x. */
static void congruence(const acb_mat_t h, const acb_mat_t x, acb_mat_t gram, acb_mat_t product,
                       slong bits) {
    acb_mat_t adjoint;
    acb_mat_init(adjoint, acb_mat_ncols(x), acb_mat_nrows(x));
    acb_mat_transpose(adjoint, x);
    acb_mat_conjugate(adjoint, adjoint);
    acb_mat_mul(gram, adjoint, x, bits);
    acb_mat_mul(product, h, x, bits);
    acb_mat_mul(product, adjoint, product, bits);
    acb_mat_clear(adjoint);
}

/* One entry of the correction: the eigenvector equations where the two eigenvalues are apart, the
 * orthogonality alone otherwise. */
static void correction(acb_t e, const acb_t s, const acb_t g, const arb_t left, const arb_t right,
                       const mag_t threshold, slong bits) {
    arb_t gap;
    arb_init(gap);
    arb_sub(gap, right, left, bits);
    if (arf_cmpabs_mag(arb_midref(gap), threshold) > 0) {
        acb_mul_arb(e, g, right, bits);
        acb_sub(e, s, e, bits);
        acb_div_arb(e, e, gap, bits);
    } else {
        acb_mul_2exp_si(e, g, -1);
        acb_neg(e, e);
    }
    acb_get_mid(e, e);
    arb_clear(gap);
}

/* x <- x + x E, Ogita and Aishima (2018): doubles the digits. Nothing here has to be proved. */
static void improve(acb_mat_t x, acb_mat_t gram, const acb_mat_t product, slong bits) {
    const slong n = acb_mat_nrows(x);
    acb_mat_t e;
    mag_t threshold;
    acb_mat_init(e, n, n);
    mag_init(threshold);
    acb_mat_bound_inf_norm(threshold, product);
    mag_mul_2exp_si(threshold, threshold, -20);
    for (slong i = 0; i < n; i++)
        acb_sub_ui(acb_mat_entry(gram, i, i), acb_mat_entry(gram, i, i), 1, bits);
    for (slong i = 0; i < n; i++)
        for (slong j = 0; j < n; j++)
            correction(acb_mat_entry(e, i, j), acb_mat_entry(product, i, j),
                       acb_mat_entry(gram, i, j), acb_realref(acb_mat_entry(product, i, i)),
                       acb_realref(acb_mat_entry(product, j, j)), threshold, bits);
    acb_mat_mul(e, x, e, bits);
    acb_mat_add(x, x, e, bits);
    acb_mat_get_mid(x, x);
    acb_mat_clear(e);
    mag_clear(threshold);
}

/* max_i sum_{j != i} |a_ij|, which bounds the norm of a Hermitian matrix without its diagonal. */
static void off_diagonal_norm(mag_t norm, const acb_mat_t a) {
    mag_t sum, size;
    mag_init(sum);
    mag_init(size);
    mag_zero(norm);
    for (slong i = 0; i < acb_mat_nrows(a); i++) {
        mag_zero(sum);
        for (slong j = 0; j < acb_mat_ncols(a); j++) {
            acb_get_mag(size, acb_mat_entry(a, i, j));
            if (j != i)
                mag_add(sum, sum, size);
        }
        mag_max(norm, norm, sum);
    }
    mag_clear(sum);
    mag_clear(size);
}

static int compare_middles(const void *x, const void *y) {
    return arf_cmp(arb_midref((arb_srcptr)x), arb_midref((arb_srcptr)y));
}

/* The k-th smallest of numbers in balls lies between the k-th smallest lower and upper end. */
static void sort_diagonal(const acb_mat_t product, slong bits, arb_ptr out) {
    const slong n = acb_mat_nrows(product);
    arb_ptr lower = _arb_vec_init(n), upper = _arb_vec_init(n);
    for (slong i = 0; i < n; i++) {
        arb_srcptr x = acb_realref(acb_mat_entry(product, i, i));
        arb_get_lbound_arf(arb_midref(lower + i), x, bits);
        arb_get_ubound_arf(arb_midref(upper + i), x, bits);
    }
    qsort(lower, (size_t)n, sizeof *lower, compare_middles);
    qsort(upper, (size_t)n, sizeof *upper, compare_middles);
    for (slong i = 0; i < n; i++)
        arb_set_interval_arf(out + i, arb_midref(lower + i), arb_midref(upper + i), bits);
    _arb_vec_clear(lower, n);
    _arb_vec_clear(upper, n);
}

/* Ostrowski: lambda_k(x^* h x) = theta_k lambda_k(h), theta_k in [1 - g, 1 + g], g >= ||x^* x -
 * I||. Weyl: lambda_k(x^* h x) is within the norm of its part off the diagonal of the sorted
 * diagonal. */
static szg_status enclose(szg_context *context, acb_mat_t gram, const acb_mat_t product, slong bits,
                          arb_ptr out) {
    const slong n = acb_mat_nrows(gram);
    mag_t defect, rest;
    arb_t theta;
    mag_init(defect);
    mag_init(rest);
    arb_init(theta);
    for (slong i = 0; i < n; i++)
        acb_sub_ui(acb_mat_entry(gram, i, i), acb_mat_entry(gram, i, i), 1, bits);
    acb_mat_bound_inf_norm(defect, gram);
    off_diagonal_norm(rest, product);
    bool regular = mag_cmp_2exp_si(defect, -1) < 0 && mag_is_finite(rest);
    if (regular) {
        sort_diagonal(product, bits, out);
        arb_one(theta);
        arb_add_error_mag(theta, defect);
        for (slong i = 0; i < n; i++) {
            arb_add_error_mag(out + i, rest);
            arb_div(out + i, out + i, theta, bits);
        }
    }
    mag_clear(defect);
    mag_clear(rest);
    arb_clear(theta);
    return regular ? SZG_OK
                   : szgi_fail(context, SZG_ENOCONV,
                               "eigenvectors of a %ld x %ld matrix: not established as independent",
                               (long)n, (long)n);
}

szg_status szgi_hermitian_eigenvalues(szg_context *context, const acb_mat_t h, slong bits,
                                      arb_ptr out) {
    const slong n = acb_mat_nrows(h);
    acb_mat_t a, x, gram, product;
    acb_mat_init(a, n, n);
    acb_mat_init(x, n, n);
    acb_mat_init(gram, n, n);
    acb_mat_init(product, n, n);
    acb_mat_set(a, h);
    mirror(a);
    szg_status status;
    SZG_TRY_GOTO(status, start_vectors(context, a, x), done);
    congruence(a, x, gram, product, bits);
    improve(x, gram, product, bits);
    congruence(a, x, gram, product, bits);
    status = enclose(context, gram, product, bits, out);
done:
    acb_mat_clear(a);
    acb_mat_clear(x);
    acb_mat_clear(gram);
    acb_mat_clear(product);
    return status;
}

szg_status szgi_singular_values(szg_context *context, const acb_mat_t a, slong bits, arb_ptr out) {
    const slong rows = acb_mat_nrows(a), columns = acb_mat_ncols(a), n = rows + columns;
    const slong count = FLINT_MIN(rows, columns);
    acb_mat_t h;
    acb_mat_init(h, n, n);
    for (slong i = 0; i < rows; i++)
        for (slong j = 0; j < columns; j++)
            acb_set(acb_mat_entry(h, i, rows + j), acb_mat_entry(a, i, j));
    mirror(h);
    arb_ptr values = _arb_vec_init(n);
    szg_status status = szgi_hermitian_eigenvalues(context, h, bits, values);
    for (slong k = 0; k < count; k++) {
        arb_swap(out + k, values + n - 1 - k);
        if (!arb_is_nonnegative(out + k))
            arb_nonnegative_part(out + k, out + k);
    }
    _arb_vec_clear(values, n);
    acb_mat_clear(h);
    return status;
}
