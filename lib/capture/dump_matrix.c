/* One matrix of a dump in memory, cut to its real tokens, with its labels. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "coupling/coupling.h"
#include "coupling/look.h"
#include "contraction/lag_share.h"
#include "toeplitz/factored.h"
#include "dump_private.h"

/* Where a matrix stands: the indices along the group's axes, and the tokens that are real. */
typedef struct cut {
    szg_context *context;
    const szgi_dump *dump;
    const szgi_dump_options *options;
    const dump_group *group;
    int64_t at[DUMP_AXES], n;
    dump_reading reading;
    bool *bad; /* set where the failure is of this matrix alone */
} cut;

static void find_place(const dump_group *group, int64_t index, int64_t at[DUMP_AXES]) {
    for (int i = group->axes - 1; i >= 0; i--) {
        at[i] = index % group->size[i];
        index /= group->size[i];
    }
}

/* Index along the axis `name`; -1: there is none. */
static int64_t index_along(const cut *c, char name) {
    for (int i = 0; i < c->group->axes; i++)
        if (c->group->axis[i] == name)
            return c->at[i];
    return -1;
}

/* First element of the matrix; grouped queries share a head of the keys. */
static int64_t first_element(const cut *c, const dump_array *array) {
    int64_t at = 0;
    for (int i = 0; i < c->group->axes; i++) {
        char axis = c->group->axis[i];
        int64_t size = szgi_dump_extent(c->dump, c->group, array, axis);
        at += c->at[i] / (c->group->size[i] / size) *
              szgi_dump_stride(c->dump, c->group, array, axis);
    }
    return at;
}

/* ---- Length ---- */

static szg_status find_length(cut *c) {
    const dump_array *array = c->group->array[DUMP_LENGTHS];
    int64_t batch = index_along(c, 'b'), n = c->group->n;
    if (batch < 0)
        batch = 0;
    if (c->options->lengths > 0)
        n = c->options->length[c->options->lengths > 1 ? batch : 0];
    else if (array)
        SZG_TRY(szgi_tensor_read_integers(c->context, array->tensor, batch, 1, &n));
    if (n < 1 || n > c->group->n) {
        char text[DUMP_TEXT];
        return szgi_fail(c->context, SZG_EDATA,
                         "%s: a length of %" PRId64 " is outside its 1 .. %" PRId64 " positions",
                         szgi_dump_array_text(c->dump, c->group->first, text), n, c->group->n);
    }
    c->n = n;
    return SZG_OK;
}

/* ---- Numbers ---- */

/* "batch 0, head 3, ": which matrix of an array. Returns `text`. */
enum { PLACE_TEXT = 96 };
static const char *place_text(const cut *c, char text[PLACE_TEXT]) {
    static const char *const names[] = {"batch", "layer", "head"};
    text[0] = 0;
    for (int i = 0; i < c->group->axes; i++)
        for (int a = 0; a < 3; a++)
            if (c->group->axis[i] == names[a][0])
                snprintf(text + strlen(text), PLACE_TEXT - strlen(text), "%s %" PRId64 ", ",
                         names[a], c->at[i]);
    return text;
}

static szg_status not_finite(const cut *c, const dump_array *array, int64_t row, int64_t column,
                             double value) {
    char text[DUMP_TEXT], place[PLACE_TEXT];
    return szgi_fail(
        c->context, SZG_EDATA,
        "%s: %srow %" PRId64 ", column %" PRId64
        " is %g: logits are taken before mask and softmax; leave what a mask hides out "
        "with --mask causal, padding with --lengths; any other mask must be left out of the dump",
        szgi_dump_array_text(c->dump, array, text), place_text(c, place), row, column, value);
}

/* Beyond it the squares of numbers, or of products of queries and keys, overflow. */
static const double MOST_LOGIT = 1e140, MOST_SIDE = 1e70;

static szg_status too_large(const cut *c, const dump_array *array, double value, double most) {
    char text[DUMP_TEXT], place[PLACE_TEXT];
    return szgi_fail(c->context, SZG_EDATA,
                     "%s: %sa number of magnitude %g: norms overflow beyond %g; scale the numbers "
                     "down",
                     szgi_dump_array_text(c->dump, array, text), place_text(c, place), fabs(value),
                     most);
}

/* `columns` numbers of row i, which lie `stride` apart in the file. */
static szg_status read_row(const cut *c, const dump_array *array, int64_t first, int64_t stride,
                           int64_t columns, double *out) {
    if (stride == 1)
        return szgi_dump_array_read(c->context, c->dump, array, first, columns, out);
    for (int64_t j = 0; j < columns; j++)
        SZG_TRY(szgi_dump_array_read(c->context, c->dump, array, first + j * stride, 1, out + j));
    return SZG_OK;
}

/* All n rows where a column lies together in the file. */
static szg_status read_columns(const cut *c, const dump_array *array, int64_t stride,
                               int64_t columns, double *out) {
    double *column;
    int64_t first = first_element(c, array);
    szg_status status = szgi_memory_alloc(c->context, c->n, &column);
    for (int64_t j = 0; j < columns && status == SZG_OK; j++) {
        status = szgi_dump_array_read(c->context, c->dump, array, first + j * stride, c->n, column);
        for (int64_t i = 0; i < c->n && status == SZG_OK; i++)
            out[i * columns + j] = column[i];
    }
    szgi_memory_free(column);
    return status;
}

/* The leading n rows and `columns` columns. */
static szg_status read_numbers(const cut *c, const dump_array *array, int64_t columns, bool causal,
                               double *out) {
    int64_t first = first_element(c, array);
    int64_t down = szgi_dump_stride(c->dump, c->group, array, 't'),
            across = szgi_dump_stride(c->dump, c->group, array, 'd');
    if (down == 1 && across != 1)
        return read_columns(c, array, across, columns, out);
    for (int64_t i = 0; i < c->n; i++)
        SZG_TRY(read_row(c, array, first + i * down, across, causal ? i + 1 : columns,
                         out + i * columns));
    return SZG_OK;
}

/* Of causal logits what lies above the diagonal is not looked at. A number that no mask has is the
 * fault of this matrix alone. */
static szg_status check_block(const cut *c, const dump_array *array, int64_t columns, bool causal,
                              double most, const double *out) {
    for (int64_t i = 0; i < c->n; i++)
        for (int64_t j = 0; j < (causal ? i + 1 : columns); j++) {
            double value = out[i * columns + j];
            bool mask = value < -most && columns == c->n && most == MOST_LOGIT;
            if (fabs(value) <= most)
                continue;
            *c->bad = !mask;
            return !isfinite(value) || mask ? not_finite(c, array, i, j, value)
                                            : too_large(c, array, value, most);
        }
    return SZG_OK;
}

static szg_status read_block(const cut *c, const dump_array *array, int64_t columns, bool causal,
                             double most, double *out) {
    SZG_TRY(read_numbers(c, array, columns, causal, out));
    return check_block(c, array, columns, causal, most, out);
}

/* ---- What logits are not ---- */

static szg_status check_mask(const cut *c, const dump_array *array, const double *a) {
    int64_t row, column;
    if (!szgi_logits_hidden(c->n, a, c->n, c->options->causal, &row, &column))
        return SZG_OK;
    return not_finite(c, array, row, column, a[row * c->n + column]);
}

static void warn_softmax(const cut *c, const dump_array *array, const double *a) {
    char text[DUMP_TEXT], place[PLACE_TEXT];
    const char *weights =
        c->reading == DUMP_AGAIN ? NULL : szgi_logits_weights(c->n, a, c->n, c->options->causal);
    if (weights)
        szgi_say(c->context, SZG_WARNING,
                 "%s: %s%s: these look like attention weights, after the softmax; give the logits "
                 "from before it",
                 szgi_dump_array_text(c->dump, array, text), place_text(c, place), weights);
}

/* A new n x n array. */
static szg_status open_square(const cut *c, int64_t *bytes, double **out) {
    int64_t size;
    SZG_TRY(szgi_memory_product(c->context, c->n, c->n, &size));
    SZG_TRY(szgi_memory_require(c->context, c->n, c->n, sizeof **out, "one matrix of the dump",
                                "cut it with --lengths"));
    *bytes += size * (int64_t)sizeof **out;
    return szgi_memory_alloc(c->context, size, out);
}

static szg_status read_dense(const cut *c, int role, int64_t *bytes, double **out) {
    const dump_array *array = c->group->array[role];
    SZG_TRY(open_square(c, bytes, out));
    SZG_TRY(read_block(c, array, c->n, c->options->causal, MOST_LOGIT, *out));
    SZG_TRY(check_mask(c, array, *out));
    warn_softmax(c, array, *out);
    return SZG_OK;
}

/* Queries (the scale on them) and keys of a pair of roles, as a product. */
static szg_status read_sides(const cut *c, int queries, dump_matrix *m, int64_t *bytes,
                             szg_factored *out) {
    int64_t d = szgi_dump_extent(c->dump, c->group, c->group->array[queries], 'd'), size;
    SZG_TRY(szgi_memory_product(c->context, c->n, d, &size));
    SZG_TRY(szgi_memory_require(c->context, size, 2, sizeof(double), "queries and keys of a head",
                                "cut them with --lengths"));
    for (int role = queries; role <= queries + 1; role++) {
        SZG_TRY(szgi_memory_alloc(c->context, size, &m->side[role]));
        SZG_TRY(read_block(c, c->group->array[role], d, false, MOST_SIDE, m->side[role]));
    }
    double scale = c->options->scale > 0 ? c->options->scale : 1 / sqrt((double)d);
    for (int64_t i = 0; i < size; i++)
        m->side[queries][i] *= scale;
    m->scale[queries == SZGI_DUMP_COUPLED_QUERIES] = scale;
    *bytes += 2 * size * (int64_t)sizeof(double);
    *out = (szg_factored){.n = c->n,
                          .d = d,
                          .a = m->side[queries],
                          .lda = d,
                          .b = m->side[queries + 1],
                          .ldb = d,
                          .causal = c->options->causal};
    return SZG_OK;
}

static szg_status densify(const cut *c, const szg_factored *factored, int64_t *bytes,
                          double **out) {
    SZG_TRY(open_square(c, bytes, out));
    return szgi_factored_dense(c->context, factored, *out, c->n);
}

/* ---- Coupling ---- */

static szg_status encoding_head(const cut *c, int64_t head, int64_t *out) {
    int64_t heads = szg_encoding_heads(c->options->encoding);
    bool axis = index_along(c, 'h') >= 0;
    int64_t there = 0;
    for (int i = 0; i < c->group->axes && axis; i++)
        if (c->group->axis[i] == 'h')
            there = c->group->size[i];
    *out = heads == 1 ? 0 : head;
    if (heads == 1 || (axis ? heads == there : head >= 0 && head < heads))
        return SZG_OK;
    char text[DUMP_TEXT];
    return szgi_fail(c->context, SZG_EINVAL,
                     "%s: %s is of %" PRId64 " heads: give heads= in the SPEC as the file has them",
                     szgi_dump_array_text(c->dump, c->group->first, text),
                     szg_encoding_spec(c->options->encoding), heads);
}

static szg_status couple(const cut *c, int64_t head, dump_matrix *m, int64_t *bytes) {
    const szg_factored *f = &m->factored_content;
    const szgi_captured captured = {f->d, f->a, f->lda, f->b, f->ldb, 1};
    SZG_TRY(encoding_head(c, head, &head));
    m->encoding_head = head;
    *bytes += 2 * f->n * f->d * (int64_t)sizeof(double);
    szg_status status = szgi_encoding_need_pairing(c->context, c->options->encoding);
    if (status == SZG_OK)
        status = szgi_logits_open_captured(c->context, c->options->encoding, head, &captured, c->n,
                                           c->options->causal, &m->logits);
    char text[DUMP_TEXT];
    if (status != SZG_OK)
        return szgi_fail_prefix(c->context, status, "%s",
                                szgi_dump_array_text(c->dump, c->group->first, text));
    m->factored_content = szgi_logits_content(m->logits);
    m->factored_coupled = szgi_logits_coupled(m->logits);
    m->scale[1] = m->scale[0];
    for (int role = SZGI_DUMP_QUERIES; role <= SZGI_DUMP_KEYS; role++) {
        szgi_memory_free(m->side[role]); /* the logits have copies */
        m->side[role] = NULL;
    }
    return SZG_OK;
}

static szg_status read_matrices(const cut *c, dump_matrix *m, int64_t *bytes) {
    const dump_array *const *array = c->group->array;
    bool content = array[SZGI_DUMP_QUERIES], coupled = array[SZGI_DUMP_COUPLED_QUERIES];
    if (content)
        SZG_TRY(read_sides(c, SZGI_DUMP_QUERIES, m, bytes, &m->factored_content));
    if (coupled)
        SZG_TRY(read_sides(c, SZGI_DUMP_COUPLED_QUERIES, m, bytes, &m->factored_coupled));
    if (array[SZGI_DUMP_CONTENT])
        SZG_TRY(read_dense(c, SZGI_DUMP_CONTENT, bytes, &m->content));
    if (array[SZGI_DUMP_COUPLED])
        SZG_TRY(read_dense(c, SZGI_DUMP_COUPLED, bytes, &m->coupled));
    if (content && coupled && c->options->encoding && c->reading == DUMP_AGAIN)
        SZG_TRY(encoding_head(c, m->pair.labels.head, &m->encoding_head));
    if (content && !coupled && !m->coupled) {
        SZG_TRY(couple(c, m->pair.labels.head, m, bytes));
        coupled = true;
    }
    if ((content && coupled) || c->reading == DUMP_FACTORS) {
        if (content)
            m->pair.content = szg_matrix_factored(&m->factored_content);
        if (coupled)
            m->pair.coupled = szg_matrix_factored(&m->factored_coupled);
        return SZG_OK;
    }
    if (content)
        return densify(c, &m->factored_content, bytes, &m->content);
    return coupled ? densify(c, &m->factored_coupled, bytes, &m->coupled) : SZG_OK;
}

/* ---- With what a mask hides ---- */

/* Was nothing captured above the diagonal: a mask, zeros in its place, padding? */
static bool future_is_missing(int64_t n, const double *a) {
    bool constant = n > 2; /* of one entry nothing is said */
    int64_t row, column;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            if (!(fabs(a[i * n + j]) <= MOST_LOGIT))
                return true;
            constant = constant && a[i * n + j] == a[1];
        }
    return constant || szgi_logits_hidden(n, a, n, false, &row, &column);
}

static szg_status read_whole_dense(const cut *c, dump_matrix *m, int64_t *bytes) {
    const dump_array *array = c->group->array[SZGI_DUMP_COUPLED];
    SZG_TRY(open_square(c, bytes, &m->coupled));
    SZG_TRY(read_numbers(c, array, c->n, false, m->coupled));
    SZG_TRY(check_block(c, array, c->n, c->options->causal, MOST_LOGIT, m->coupled));
    m->masked = future_is_missing(c->n, m->coupled);
    return SZG_OK;
}

/* The labels alone where the order is above the limit. */
static szg_status read_whole(const cut *c, dump_matrix *m, int64_t *bytes) {
    szgi_dump_options all = *c->options;
    cut open = *c;
    all.causal = false;
    open.options = &all;
    m->pair.coupled = (szg_matrix){.rows = c->n, .columns = c->n};
    if (c->n > SZGI_LAG_ORDER)
        return SZG_OK;
    if (c->group->array[SZGI_DUMP_COUPLED])
        return read_whole_dense(c, m, bytes);
    int queries =
        c->group->array[SZGI_DUMP_COUPLED_QUERIES] ? SZGI_DUMP_COUPLED_QUERIES : SZGI_DUMP_QUERIES;
    SZG_TRY(read_sides(&open, queries, m, bytes, &m->factored_coupled));
    if (queries == SZGI_DUMP_QUERIES) {
        m->factored_content = m->factored_coupled;
        SZG_TRY(couple(&open, m->pair.labels.head, m, bytes));
    }
    return densify(&open, &m->factored_coupled, bytes, &m->coupled);
}

/* Of what was computed elsewhere; q and k that are coupled here are taken as they are. */
static double precision_of(const cut *c) {
    double worst = 0;
    for (int role = 0; role < SZGI_DUMP_ROLES; role++) {
        const dump_array *array = c->group->array[role];
        if (array && role != SZGI_DUMP_QUERIES && role != SZGI_DUMP_KEYS)
            worst = fmax(worst, array->tensor ? szgi_tensor_roundoff(array->tensor)
                                              : szgi_npy_roundoff(c->dump->file[array->file].npy));
    }
    return worst;
}

/* ---- Labels ---- */

static void set_probe(const cut *c, dump_matrix *m) {
    int64_t batch = index_along(c, 'b'), probe = c->group->first->place.probe;
    if (probe >= 0 && batch >= 0)
        snprintf(m->probe, sizeof m->probe, "%" PRId64 "/%" PRId64, probe, batch);
    else if (probe >= 0 || batch >= 0)
        snprintf(m->probe, sizeof m->probe, "%" PRId64, probe >= 0 ? probe : batch);
    m->pair.labels.probe = m->probe[0] ? m->probe : NULL;
}

/* The SPEC that the metadata names, or the file, with what of the name is left. */
static szg_status set_source(const cut *c, const dump_file *file, dump_matrix *m) {
    const char *rest = c->group->first->rest, *from = file->source ? file->source : file->path;
    size_t size = strlen(from) + (rest ? strlen(rest) : 0) + 2;
    SZG_TRY(szgi_memory_alloc(c->context, (int64_t)size, &m->source));
    snprintf(m->source, size, "%s%s%s", from, rest && *rest ? ":" : "", rest ? rest : "");
    m->pair.labels.source = m->source;
    m->file = file;
    return SZG_OK;
}

/* A number that is not finite would say that there is none. */
static szg_status read_sink(const cut *c, int64_t index, dump_matrix *m) {
    const dump_array *array = c->group->array[DUMP_SINK_LOGIT];
    m->sink_logit = NAN;
    if (!array)
        return SZG_OK;
    SZG_TRY(szgi_dump_array_read(c->context, c->dump, array, index, 1, &m->sink_logit));
    char text[DUMP_TEXT];
    double value = m->sink_logit;
    if (isfinite(value))
        return SZG_OK;
    *c->bad = true;
    m->sink_logit = NAN;
    return szgi_fail(c->context, SZG_EDATA,
                     "%s: number %" PRId64
                     " is %g: the logit of a learned sink is finite; leave the tensor out if there "
                     "is none",
                     szgi_dump_array_text(c->dump, array, text), index, value);
}

void szgi_dump_matrix_head(const dump_group *group, int64_t index, int64_t *layer, int64_t *head) {
    cut c = {.group = group};
    find_place(group, index, c.at);
    *layer = index_along(&c, 'l') >= 0 ? index_along(&c, 'l') : group->first->place.layer;
    *head = index_along(&c, 'h') >= 0 ? index_along(&c, 'h') : group->first->place.head;
}

static szg_status set_labels(const cut *c, int64_t index, dump_matrix *m) {
    const dump_array *gradient = c->group->array[DUMP_GRAD_NORM],
                     *gradient_qk = c->group->array[DUMP_GRAD_NORM_QK];
    const dump_file *file = &c->dump->file[c->group->first->file];
    szg_contraction_labels *labels = &m->pair.labels;
    *labels = (szg_contraction_labels){SZG_INIT(szg_contraction_labels),
                                       .content_kind = file->content_kind, .step = file->step,
                                       .grad_norm = NAN, .grad_norm_qk = NAN};
    szgi_dump_matrix_head(c->group, index, &labels->layer, &labels->head);
    if (!labels->content_kind && c->group->array[SZGI_DUMP_QUERIES])
        labels->content_kind = "same_qk";
    if (c->group->array[SZGI_DUMP_COUPLED] || c->group->array[SZGI_DUMP_COUPLED_QUERIES])
        labels->pairing = file->pairing;
    else if (c->options->encoding)
        labels->pairing = szgi_encoding_pairing(c->options->encoding);
    set_probe(c, m);
    SZG_TRY(set_source(c, file, m));
    if (gradient)
        SZG_TRY(szgi_dump_array_read(c->context, c->dump, gradient, index, 1, &labels->grad_norm));
    if (gradient_qk)
        SZG_TRY(szgi_dump_array_read(c->context, c->dump, gradient_qk, index, 1,
                                     &labels->grad_norm_qk));
    return read_sink(c, index, m);
}

static void free_numbers(dump_matrix *m) {
    szg_logits_close(&m->logits);
    szgi_memory_free(m->content);
    szgi_memory_free(m->coupled);
    m->content = m->coupled = NULL;
    for (int i = 0; i < SZGI_DUMP_ROLES; i++) {
        szgi_memory_free(m->side[i]);
        m->side[i] = NULL;
    }
}

/* A matrix with labels and order, and no numbers. */
static szg_status keep_problem(const cut *c, dump_matrix *m) {
    szgi_print(m->problem, sizeof m->problem, "%s", szg_context_message(c->context));
    free_numbers(m);
    m->pair.content = m->pair.coupled = (szg_matrix){.rows = c->n, .columns = c->n};
    m->pair.problem = m->problem;
    return SZG_OK;
}

szg_status szgi_dump_matrix_open(szg_context *context, const szgi_dump *dump,
                                 const szgi_dump_options *options, const dump_group *group,
                                 int64_t index, dump_reading reading, dump_matrix *out,
                                 int64_t *bytes) {
    bool bad = false;
    cut c = {.context = context,
             .dump = dump,
             .options = options,
             .group = group,
             .reading = reading,
             .bad = &bad};
    *out = (dump_matrix){0};
    *bytes = 0;
    find_place(group, index, c.at);
    szg_status status = find_length(&c);
    if (status == SZG_OK)
        status = set_labels(&c, index, out);
    if (status == SZG_OK)
        status = reading == DUMP_WHOLE ? read_whole(&c, out, bytes) : read_matrices(&c, out, bytes);
    if (status != SZG_OK && bad)
        status = keep_problem(&c, out);
    out->pair.precision = precision_of(&c);
    if (out->content)
        out->pair.content = szg_matrix_dense(c.n, c.n, out->content, c.n);
    if (out->coupled)
        out->pair.coupled = szg_matrix_dense(c.n, c.n, out->coupled, c.n);
    if (status != SZG_OK)
        szgi_dump_matrix_close(out);
    return status;
}

void szgi_dump_matrix_close(dump_matrix *matrix) {
    free_numbers(matrix);
    szgi_memory_free(matrix->source);
    *matrix = (dump_matrix){0};
}
