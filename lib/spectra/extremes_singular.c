#include "extremes.h"

/* sigma^2 are the eigenvalues of L^T L. The largest lose nothing by the square: an error of eps
 * ||L||^2 in sigma^2 is one of eps ||L|| in sigma near ||L||. The least lose everything, and their
 * end is the wrong one for Lanczos: they are not attempted. */

static const char residual_meaning[] = "largest ||L^T u - sigma v||_2 over the listed triples, u = "
                                       "L v / sigma, relative to sigma_max: a "
                                       "singular value lies that near to each";

static const char note[] = "the least singular values need the dense matrix: not established";

typedef struct gram_operator {
    const szgi_square_operator *l;
    double *product; /* n numbers */
} gram_operator;

static szg_status gram_product(szg_context *context, void *data, const double *x, double *y) {
    gram_operator *self = data;
    SZG_TRY(self->l->apply(context, self->l->data, 'n', x, self->product));
    return self->l->apply(context, self->l->data, 't', self->product, y);
}

/* sigma = ||L v||, and ||L^T L v - sigma^2 v|| / sigma. y is scratch. */
static szg_status triple(szg_context *context, gram_operator *gram, const double *v, double *y,
                         double *sigma, double *defect) {
    int64_t n = gram->l->n;
    SZG_TRY(gram_product(context, gram, v, y));
    double squares = 0, residual = 0;
    for (int64_t i = 0; i < n; i++)
        squares += gram->product[i] * gram->product[i];
    for (int64_t i = 0; i < n; i++) {
        double difference = y[i] - squares * v[i];
        residual += difference * difference;
    }
    *sigma = sqrt(squares);
    *defect = squares > 0 ? sqrt(residual) / *sigma : 0;
    return SZG_OK;
}

static szg_status fill_triples(szg_context *context, gram_operator *gram, const double *vectors,
                               double *y, int64_t k, szg_spectrum *out) {
    int64_t n = gram->l->n;
    for (int64_t i = 0; i < k; i++) {
        double defect;
        SZG_TRY(triple(context, gram, vectors + i * n, y, &out->re[i], &defect));
        out->residual = szgi_larger(out->residual, defect);
    }
    szgi_sort_descending(k, out->re);
    for (int64_t i = k; i < out->count; i++)
        out->re[i] = NAN;
    if (out->re[0] > 0)
        out->residual /= out->re[0];
    out->residual_meaning = residual_meaning;
    out->method = SZG_METHOD_MATRIX_FREE_SINGULAR;
    out->note = note;
    return SZG_OK;
}

/* A crowded end keeps Lanczos from the first tolerance; the second still bounds the values well,
 * and the residual says how well. */
static const struct {
    double tolerance;
    int64_t spare, restarts; /* basis 2 k + spare */
} attempts[] = {{1e-12, 20, 40}, {1e-4, 60, 100}};

static szg_status run(szg_context *context, gram_operator *gram, double *work, int64_t k,
                      szg_spectrum *out) {
    szgi_operator s = {.n = gram->l->n, .apply = gram_product, .data = gram};
    double *vectors = NULL, *y = work + s.n;
    bool converged = false;
    gram->product = work;
    for (size_t i = 0; !converged && i < sizeof attempts / sizeof *attempts; i++) {
        szgi_lanczos_options options = {.largest = true,
                                        .k = k,
                                        .basis = 2 * k + attempts[i].spare,
                                        .restarts = attempts[i].restarts,
                                        .tolerance = attempts[i].tolerance,
                                        .what = "largest singular values"};
        SZG_TRY(szgi_lanczos(context, &s, &options, out->re, &vectors, &converged));
    }
    if (!converged)
        return szgi_fail(context, SZG_ENOCONV,
                         "Lanczos did not find the largest singular value at n = %lld: ask for all "
                         "of them",
                         (long long)s.n);
    szg_status status = fill_triples(context, gram, vectors, y, k, out);
    szgi_memory_free(vectors);
    return status;
}

szg_status szgi_extremes_singular(szg_context *context, const szgi_square_operator *l,
                                  const szgi_selection *selection, szg_spectrum *out) {
    int64_t k = selection->high;
    gram_operator gram = {.l = l};
    double *work;
    SZG_TRY(szgi_memory_alloc(context, 2 * l->n, &work));
    szg_status status = szgi_spectrum_open(context, l->n, szgi_selection_count(selection),
                                           SZG_SPECTRUM_SINGULAR, false, out);
    if (status == SZG_OK)
        status = run(context, &gram, work, k, out);
    szgi_memory_free(work);
    return szgi_spectrum_finish(status, out);
}
