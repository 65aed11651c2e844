/* An encoding's own matrix as an argument: which structure it has. */
#include <inttypes.h>

#include "base/memory.h"
#include "encoding/encoding.h"
#include "toeplitz/matrix.h"

/* Every cosine has the same weight. */
static szg_matrix cosines(const szg_kernel_facts *facts, int64_t n) {
    szg_matrix matrix = szg_matrix_cosines(n, facts->pairs, NULL, facts->theta);
    double constant = (double)facts->unrotated, dim = 2 * (double)facts->pairs + constant;
    matrix.of.cosines.equal = 2 * facts->parameter / dim;
    matrix.of.cosines.constant = facts->parameter * constant / dim;
    return matrix;
}

static szg_status coefficients(szg_context *context, const szg_encoding *encoding, int64_t head,
                               const szg_kernel_facts *facts, int64_t n, szg_matrix *out) {
    szg_toeplitz *toeplitz;
    SZG_TRY(szgi_encoding_kernel_of(context, encoding, head, facts, n, &toeplitz));
    *out = szg_matrix_toeplitz(toeplitz);
    szg_status status = szgi_matrix_own(context, out, toeplitz, NULL);
    if (status != SZG_OK)
        szg_toeplitz_close(&toeplitz);
    return status;
}

static szg_status gram(szg_context *context, const szg_encoding *encoding, int64_t n,
                       szg_matrix *out) {
    int64_t d = szgi_encoding_input_dimension(encoding), size;
    double *p;
    SZG_TRY(szgi_memory_product(context, n, d, &size));
    SZG_TRY(szgi_memory_require(context, n, d, sizeof *p, "the position table", "use a smaller N"));
    SZG_TRY(szgi_memory_alloc(context, size, &p));
    const szg_factored f = {.n = n, .d = d, .a = p, .lda = d, .b = p, .ldb = d};
    *out = szg_matrix_factored(&f);
    szg_status status = szgi_encoding_input(context, encoding, n, p, d);
    if (status == SZG_OK)
        status = szgi_matrix_own(context, out, NULL, p);
    if (status != SZG_OK)
        szgi_memory_free(p);
    return status;
}

static szg_status open_matrix(szg_context *context, const szg_encoding *encoding, int64_t head,
                              const szg_kernel_facts *facts, int64_t n, szg_matrix *out) {
    switch (facts->structure) {
    case SZG_KERNEL_ZERO:
        *out = szg_matrix_zero(n);
        return SZG_OK;
    case SZG_KERNEL_COSINES:
        *out = cosines(facts, n);
        return SZG_OK;
#define SZG_CLOSED_FORM(NAME, name, words, method)                                                 \
    case SZG_KERNEL_##NAME:                                                                        \
        *out = szgi_matrix_closed_form(SZG_MATRIX_##NAME, n, facts->parameter);                    \
        return SZG_OK;
#include <szego/closed_forms.def>
    case SZG_KERNEL_GRAM:
        return gram(context, encoding, n, out);
    default:
        return coefficients(context, encoding, head, facts, n, out);
    }
}

szg_status szg_encoding_matrix(szg_context *context, const szg_encoding *encoding, int64_t head,
                               int64_t matrix, int64_t n, szg_matrix *out) {
    szg_kernel_facts facts;
    *out = (szg_matrix){.kind = SZG_MATRIX_NONE};
    SZGI_ENTER(context);
    SZG_TRY(szg_encoding_facts(context, encoding, head, matrix, &facts));
    if (n < 1)
        return szgi_fail(context, SZG_EINVAL, "%s: N = %" PRId64 " must be at least 1",
                         szg_encoding_spec(encoding), n);
    szg_status status = open_matrix(context, encoding, head, &facts, n, out);
    if (status != SZG_OK) {
        *out = (szg_matrix){.kind = SZG_MATRIX_NONE};
        return status;
    }
    out->name = facts.matrix;
    out->encoding = encoding;
    out->head = head;
    out->index = matrix;
    return SZG_OK;
}
