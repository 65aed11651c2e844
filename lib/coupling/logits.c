#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "rotate_private.h"

/* Queries and keys, n x d. Sides that are the same share one array (`owned` false). */
typedef struct sides {
    double *q, *k;
    bool owned;
} sides;

struct szg_logits {
    int64_t n, d;
    bool causal;
    szgi_rotary rotary; /* pairs = 0 where nothing rotates */
    double *theta;
    sides content;  /* as drawn, in the encoding's own order of dimensions */
    sides position; /* the same of the projected positions, until they are coupled; NULL: none */
    sides coupled;  /* content plus position, rotated: pair t in columns 2t and 2t + 1, unrotated
                       dimensions behind */
    szg_toeplitz *bias;
};

static void close_sides(sides *s) {
    if (s->owned) {
        szgi_memory_free(s->q);
        szgi_memory_free(s->k);
    }
    *s = (sides){0};
}

void szg_logits_close(szg_logits **logits) {
    if (!logits || !*logits)
        return;
    szg_logits *l = *logits;
    close_sides(&l->content);
    close_sides(&l->position);
    close_sides(&l->coupled);
    szg_toeplitz_close(&l->bias);
    szgi_memory_free(l->theta);
    szgi_memory_free(l);
    *logits = NULL;
}

static szg_status open_sides(szg_context *context, const szg_logits *l, sides *s) {
    s->owned = true;
    SZG_TRY(szgi_memory_alloc(context, l->n * l->d, &s->q));
    return szgi_memory_alloc(context, l->n * l->d, &s->k);
}

/* Column of the original order that comes to column `column`. */
static int64_t source_column(const szgi_rotary *rotary, int64_t column) {
    int64_t first, second, rotated = 2 * rotary->pairs;
    if (column < rotated) {
        szgi_rotary_pair_dims(rotary, column / 2, &first, &second);
        return column % 2 ? second : first;
    }
    int64_t rest = column - rotated;
    return rest < rotary->offset ? rest : rest + rotated;
}

static szg_status rotate_side(szg_context *context, const szg_logits *l, const double *plain,
                              double *out) {
    for (int64_t i = 0; i < l->n; i++)
        for (int64_t j = 0; j < l->d; j++)
            out[i * l->d + j] = plain[i * l->d + source_column(&l->rotary, j)];
    szgi_rotary sorted = l->rotary;
    sorted.offset = 0;
    sorted.pairing = SZGI_PAIRING_INTERLEAVED;
    return szgi_rotary_rotate(context, &sorted, 0, l->n, out, l->d);
}

static szg_status rotate_sides(szg_context *context, const szg_logits *l, const sides *plain,
                               sides *out) {
    if (l->rotary.pairs == 0) {
        *out = (sides){plain->q, plain->k, false};
        return SZG_OK;
    }
    SZG_TRY(open_sides(context, l, out));
    SZG_TRY(rotate_side(context, l, plain->q, out->q));
    return rotate_side(context, l, plain->k, out->k);
}

static szg_status add_sides(szg_context *context, szg_logits *l, const sides *c, const sides *p) {
    SZG_TRY(open_sides(context, l, &l->coupled));
    for (int64_t i = 0; i < l->n * l->d; i++) {
        l->coupled.q[i] = c->q[i] + p->q[i];
        l->coupled.k[i] = c->k[i] + p->k[i];
    }
    return SZG_OK;
}

static szg_status couple(szg_context *context, szg_logits *l) {
    if (!l->position.q)
        return rotate_sides(context, l, &l->content, &l->coupled);
    sides c = {0}, p = {0};
    szg_status status = rotate_sides(context, l, &l->content, &c);
    if (status == SZG_OK)
        status = rotate_sides(context, l, &l->position, &p);
    if (status == SZG_OK)
        status = add_sides(context, l, &c, &p);
    close_sides(&c);
    close_sides(&p);
    close_sides(&l->position);
    return status;
}

static szg_status open_rotary(szg_context *context, const szg_encoding *encoding, int64_t head,
                              szg_logits *l) {
    if (!(szgi_encoding_attaches(encoding) & SZGI_ATTACH_ROTARY)) {
        l->rotary = (szgi_rotary){.dim = l->d, .unrotated = l->d, .amplitude = 1};
        return SZG_OK;
    }
    SZG_TRY(szgi_encoding_rotary(context, encoding, head, &l->rotary));
    SZG_TRY(szgi_memory_alloc(context, l->rotary.pairs, &l->theta));
    if (l->rotary.pairs)
        memcpy(l->theta, l->rotary.theta, (size_t)l->rotary.pairs * sizeof(double));
    l->rotary.theta = l->theta;
    return SZG_OK;
}

static szg_status fill_content(szg_context *context, const szg_encoding *encoding, int64_t head,
                               const szg_content *content, szg_logits *l) {
    SZG_TRY(open_sides(context, l, &l->content));
    if (!(szgi_encoding_attaches(encoding) & SZGI_ATTACH_INPUT))
        return szgi_content_fill(context, content, head, l->n, l->d, NULL, l->content.q,
                                 l->content.k, NULL, NULL);
    SZG_TRY(open_sides(context, l, &l->position));
    double *p;
    SZG_TRY(szgi_memory_alloc(context, l->n * l->d, &p));
    szg_status status = szgi_encoding_input(context, encoding, l->n, p, l->d);
    if (status == SZG_OK)
        status = szgi_content_fill(context, content, head, l->n, l->d, p, l->content.q,
                                   l->content.k, l->position.q, l->position.k);
    szgi_memory_free(p);
    return status;
}

/* The factor 1/sqrt(d) goes to the queries. */
static void scale_queries(const szg_logits *l, const sides *s) {
    double scale = 1 / sqrt((double)l->d);
    for (int64_t i = 0; s->q && i < l->n * l->d; i++)
        s->q[i] *= scale;
}

static szg_status open_bias(szg_context *context, const szg_encoding *encoding, int64_t head,
                            szg_logits *l) {
    if (!(szgi_encoding_attaches(encoding) & SZGI_ATTACH_BIAS))
        return SZG_OK;
    return szg_encoding_kernel(context, encoding, head, 0, l->n, &l->bias);
}

static szg_status check_arguments(szg_context *context, const szg_encoding *encoding, int64_t head,
                                  int64_t n) {
    szg_kernel_facts facts;
    SZG_TRY(szg_encoding_facts(context, encoding, head, 0, &facts));
    if (n < 1)
        return szgi_fail(context, SZG_EINVAL, "logits of N = %" PRId64 ": N is at least 1", n);
    int64_t rows = szgi_encoding_input_dimension(encoding), d = szgi_encoding_dimension(encoding);
    if (rows && rows != d)
        return szgi_fail(context, SZG_EDOMAIN,
                         "%s adds rows of %" PRId64 " numbers to vectors of %" PRId64
                         ": one head's logits need both alike",
                         szg_encoding_spec(encoding), rows, d);
    if (facts.kind == SZG_TOEPLITZ_HERMITIAN || facts.kind == SZG_TOEPLITZ_COMPLEX)
        return szgi_fail(context, SZG_EDOMAIN,
                         "%s: complex coefficients cannot be a bias of real logits",
                         szg_encoding_spec(encoding));
    return SZG_OK;
}

static int64_t common_dimension(const szg_encoding *encoding, const szg_content *content) {
    enum { DEFAULT_DIMENSION = 64 };
    if (szgi_encoding_dimension(encoding))
        return szgi_encoding_dimension(encoding);
    int64_t own = szgi_content_dimension(content);
    return own ? own : DEFAULT_DIMENSION;
}

/* Queries and keys as they were captured; there are no positions apart. */
static szg_status copy_captured(szg_context *context, const szgi_captured *captured,
                                szg_logits *l) {
    SZG_TRY(open_sides(context, l, &l->content));
    for (int64_t i = 0; i < l->n; i++)
        for (int64_t j = 0; j < l->d; j++) {
            l->content.q[i * l->d + j] = captured->scale * captured->q[i * captured->ldq + j];
            l->content.k[i * l->d + j] = captured->k[i * captured->ldk + j];
        }
    return SZG_OK;
}

/* Where the content of the logits comes from: one of the two. */
typedef struct origin {
    const szg_content *content;
    const szgi_captured *captured;
    bool scaled;
} origin;

static szg_status build(szg_context *context, const szg_encoding *encoding, int64_t head,
                        const origin *from, szg_logits *l) {
    int64_t size;
    SZG_TRY(szgi_memory_product(context, l->n, l->d, &size));
    SZG_TRY(szgi_memory_require(context, size, 4, sizeof(double), "queries and keys",
                                "use a smaller N or dimension"));
    SZG_TRY(open_rotary(context, encoding, head, l));
    if (from->captured)
        SZG_TRY(copy_captured(context, from->captured, l));
    else
        SZG_TRY(fill_content(context, encoding, head, from->content, l));
    if (from->scaled) {
        scale_queries(l, &l->content);
        scale_queries(l, &l->position);
    }
    SZG_TRY(szgi_context_check_cancel(context));
    SZG_TRY(couple(context, l));
    return open_bias(context, encoding, head, l);
}

static szg_status open_built(szg_context *context, const szg_encoding *encoding, int64_t head,
                             int64_t n, int64_t d, const origin *from, bool causal,
                             szg_logits **out) {
    szg_logits *l;
    SZG_TRY(szgi_memory_alloc(context, 1, &l));
    l->n = n;
    l->d = d;
    l->causal = causal;
    szg_status status = build(context, encoding, head, from, l);
    if (status != SZG_OK) {
        szg_logits_close(&l);
        return status;
    }
    *out = l;
    return SZG_OK;
}

szg_status szg_logits_open(szg_context *context, const szg_encoding *encoding, int64_t head,
                           const szg_content *content, int64_t n, const szg_logits_options *options,
                           szg_logits **out) {
    *out = NULL;
    SZGI_ENTER(context);
    szg_logits_options own;
    SZG_TRY(SZGI_OPTIONS(context, szg_logits_options, options, &own));
    SZG_TRY(check_arguments(context, encoding, head, n));
    if (szgi_content_is_given(content))
        SZG_TRY(szgi_encoding_need_pairing(context, encoding));
    SZG_TRY(szgi_memory_require(context, n, common_dimension(encoding, content), 2 * sizeof(double),
                                "storing the queries and keys", "use a smaller N (-n)"));
    const origin from = {.content = content, .scaled = !own.unscaled};
    return open_built(context, encoding, head, n, common_dimension(encoding, content), &from,
                      own.causal, out);
}

static szg_status check_captured(szg_context *context, const szg_encoding *encoding,
                                 const szgi_captured *captured) {
    int64_t d = szgi_encoding_dimension(encoding);
    if (szgi_encoding_attaches(encoding) & SZGI_ATTACH_INPUT)
        return szgi_fail(context, SZG_EDOMAIN,
                         "%s adds rows to the tokens, so that queries and keys hold them already: "
                         "capture the logits of two passes, one with the position table zeroed",
                         szg_encoding_spec(encoding));
    if ((szgi_encoding_attaches(encoding) & SZGI_ATTACH_DECOUPLED) && captured->d != d)
        return szgi_fail(context, SZG_EINVAL,
                         "queries and keys of dimension %" PRId64 ", %s acts on %" PRId64
                         ": set content and rope in the SPEC, which make up the dimension",
                         captured->d, szg_encoding_spec(encoding), d);
    if (captured->d < 1 || (d > 0 && d != captured->d))
        return szgi_fail(context, SZG_EINVAL,
                         "queries and keys of dimension %" PRId64 ", %s acts on %" PRId64
                         ": set dim=%" PRId64 " in the SPEC",
                         captured->d, szg_encoding_spec(encoding), d, captured->d);
    if (captured->ldq < captured->d || captured->ldk < captured->d)
        return szgi_fail(context, SZG_EINVAL, "queries or keys: leading dimension below %" PRId64,
                         captured->d);
    return SZG_OK;
}

szg_status szgi_logits_open_captured(szg_context *context, const szg_encoding *encoding,
                                     int64_t head, const szgi_captured *captured, int64_t n,
                                     bool causal, szg_logits **out) {
    *out = NULL;
    SZG_TRY(check_arguments(context, encoding, head, n));
    SZG_TRY(check_captured(context, encoding, captured));
    const origin from = {.captured = captured};
    return open_built(context, encoding, head, n, captured->d, &from, causal, out);
}

/* ---- Views ---- */

/* The product q k^T. */
static szg_factored view(const szg_logits *l, const sides *s) {
    return (szg_factored){
        .n = l->n, .d = l->d, .a = s->q, .b = s->k, .lda = l->d, .ldb = l->d, .causal = l->causal};
}

szg_factored szgi_logits_content(const szg_logits *logits) {
    return view(logits, &logits->content);
}

szg_factored szgi_logits_coupled(const szg_logits *logits) {
    szg_factored f = view(logits, &logits->coupled);
    f.bias = logits->bias;
    return f;
}

szg_matrix szg_logits_matrix(const szg_logits *logits, szg_logits_part part) {
    bool content = part == SZG_LOGITS_CONTENT;
    szg_factored f = content ? szgi_logits_content(logits) : szgi_logits_coupled(logits);
    szg_matrix matrix = szg_matrix_factored(&f);
    matrix.name = content ? "content" : "logits";
    return matrix;
}
