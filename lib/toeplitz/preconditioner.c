/* The circulants of a Toeplitz matrix: Strang 1986, T. Chan 1988. */
#include "base/memory.h"
#include "toeplitz_private.h"

/* Entry k of the first column, 0 <= k < n. */
static szg_c64 strang_entry(const szg_toeplitz *t, int64_t k) {
    if (2 * k == t->n) {
        szg_c64 up = szg_toeplitz_at(t, k), down = szg_toeplitz_at(t, -k);
        return (szg_c64){(up.re + down.re) / 2, (up.im + down.im) / 2};
    }
    return szg_toeplitz_at(t, 2 * k < t->n ? k : k - t->n);
}

static szg_c64 tchan_entry(const szg_toeplitz *t, int64_t k) {
    szg_c64 up = szg_toeplitz_at(t, k), down = szg_toeplitz_at(t, k - t->n);
    double share = (double)k / (double)t->n;
    return (szg_c64){(1 - share) * up.re + share * down.re, (1 - share) * up.im + share * down.im};
}

szg_status szgi_circulant_eigenvalues(szg_context *context, const szg_toeplitz *t,
                                      szgi_preconditioner which, szg_c64 *w) {
    if (which != SZGI_PRECONDITIONER_STRANG && which != SZGI_PRECONDITIONER_TCHAN)
        return szgi_fail(context, SZG_EINVAL, "circulant %d is neither Strang's nor T. Chan's",
                         (int)which);
    szg_c64 *column;
    SZG_TRY(szgi_memory_alloc(context, t->n, &column));
    for (int64_t k = 0; k < t->n; k++)
        column[k] = which == SZGI_PRECONDITIONER_STRANG ? strang_entry(t, k) : tchan_entry(t, k);
    szg_status status = szgi_transform_once(context, SZGI_FFT_FORWARD, t->n, column, w);
    for (int64_t j = 0; status == SZG_OK && szgi_toeplitz_is_hermitian(t) && j < t->n; j++)
        w[j].im = 0;
    szgi_memory_free(column);
    return status;
}
